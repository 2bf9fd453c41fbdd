"""Fenced code blocks of a Markdown text, as CommonMark has them, and the mask over the rest.

More than CommonMark in one way: a fence may be indented as far as its author likes, since it may
stand in a list within a list. Less in one way: block quotes and list markers are known only on the
fence's own line and, for quotes, before the block's lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowstudio.flow.model import Language

LANGUAGES: dict[str, Language] = {"mermaid": "mermaid", "mmd": "mermaid", "d2": "d2"}
"""The info strings that make a code block a chart."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_TEXT = re.compile(r"[^\r\n]+")
_OPEN = re.compile(
    r"(?P<lead>[ \t]*(?:(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])[ \t]*)*)"
    r"(?P<fence>`{3,}(?=[^`\r\n]*[\r\n]*\Z)|~{3,})(?P<info>[^\r\n]*)"
)
_WORD = re.compile(r"[ \t]*\{?[ \t]*\.?(?P<word>[\w+-]+)")
_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)+")
_FENCE_LIKE = re.compile(r"[ \t>]*(?:`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced code block. All numbers are character offsets into the whole text."""

    info: str
    """The word behind the opening fence in lower case; empty where there is none."""
    open: int
    """Where the opening fence begins."""
    open_end: int
    """Where the opening fence's line ends, its line end not included."""
    start: int
    """Where the content begins."""
    end: int
    """Where the content ends: at the start of the closing fence's line, or of the text's end."""
    closed: bool
    quoted: bool
    """True where the block stands in a block quote, its lines behind `>`."""
    almost_closed: int | None
    """The offset of a line that looks like a closing fence and is none."""

    @property
    def language(self) -> Language | None:
        """The chart's language that the info string names; None for other code."""
        return LANGUAGES.get(self.info)


def find_fences(text: str, start: int = 0) -> Iterator[Fence]:
    """The fenced code blocks from `start` (the start of a line), in order. Linear in the text.

    What stands in an HTML comment that begins its line is commented out.
    """
    opened: tuple[re.Match[str], int, int] | None = None
    almost: int | None = None
    comment: _Comment | None = None
    for found in _LINE.finditer(text, start):
        line = found[0]
        at = found.start()
        if comment is not None:
            if comment.ends_at(line):
                comment = None
        elif opened is None:
            # The cheap question first: most lines of a skill are prose.
            if ("```" in line or "~~~" in line) and (match := _OPEN.match(line)):
                opened = (match, at, found.end())
                almost = None
            elif "<!--" in line:
                body = line.lstrip(" \t>")
                if body.startswith("<!--") and "-->" not in body[4:]:
                    comment = _Comment()
        elif ("```" in line or "~~~" in line) and _FENCE_LIKE.match(line):
            if _closes(line, opened[0]):
                yield _fence(*opened, at, True, None)
                opened = None
            elif almost is None:
                almost = at
    if opened is not None:
        yield _fence(*opened, len(text), False, almost)


@dataclass(slots=True)
class _Comment:
    """An HTML comment that runs over lines.

    By CommonMark the first `-->` ends it, even in a chart that was commented out; its author meant
    the one behind the chart, so the arrows in a code block within the comment do not count.
    """

    opening: re.Match[str] | None = None

    def ends_at(self, line: str) -> bool:
        """Take the next line in; True where it is the comment's last."""
        if self.opening is not None:
            if _closes(line, self.opening):
                self.opening = None
            return line.strip() == "-->"
        self.opening = _OPEN.match(line)
        return self.opening is None and "-->" in line


def _fence(
    match: re.Match[str], at: int, start: int, end: int, closed: bool, almost: int | None
) -> Fence:
    word = _WORD.match(match["info"])
    return Fence(
        word["word"].lower() if word else "",
        at + match.start("fence"),
        at + match.end("info"),
        start,
        end,
        closed,
        ">" in match["lead"],
        almost,
    )


def _closes(line: str, opening: re.Match[str]) -> bool:
    """True where `line` closes the block: the same sign, at least as long, nothing behind.

    Four columns deeper than the opening it is a line of the content, by CommonMark's rule.
    """
    text = line.rstrip()
    if ">" in opening["lead"] and (quote := _QUOTE.match(text)):
        text = text[quote.end() :]
        deepest = 3
    else:
        deepest = _width(opening["lead"]) + 3
    inner = text.lstrip(" \t")
    sign = opening["fence"][0]
    return (
        len(inner) >= len(opening["fence"])
        and inner.count(sign) == len(inner)
        and _width(text[: len(text) - len(inner)]) <= deepest
    )


def _width(lead: str) -> int:
    return len(lead.expandtabs(4))


def mask(text: str, start: int, end: int, *, quoted: bool = False) -> str:
    """`text` up to `end`, with everything before `start` blanked out but for its line ends.

    So a reader of the result speaks of the lines and columns of `text`. What follows `end` is cut,
    lest a finding at the chart's end point behind it. `quoted` turns the `>` before each line into
    spaces.
    """
    content = text[start:end]
    if quoted:
        content = "".join(
            _QUOTE.sub(lambda quote: " " * len(quote[0]), found[0], count=1)
            for found in _LINE.finditer(content)
        )
    return _TEXT.sub("", text[:start]) + content
