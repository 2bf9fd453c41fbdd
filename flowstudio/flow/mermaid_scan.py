"""The place in a Mermaid text that is being read, and the signs that can stand there.

Positions are offsets into the text as given. The scanner looks at a shadow of the text in which
only single characters were exchanged, so that every offset holds for both: line ends are all LF, a
byte order mark is a space, and double quotes inside an HTML tag are single ones (Mermaid does the
same, which is why `["<a href="x">"]` is one string).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flowstudio.flow import codes
from flowstudio.flow.diagnostics import CODES, Related, finding
from flowstudio.flow.source import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowstudio.flow.build import ChartBuilder
    from flowstudio.flow.model import Span

_TAG = re.compile(r"<\w+[^>]*>")
_ATTRIBUTE = re.compile(r'="([^"]*)"')
_BLANK = re.compile(r"[^\S\n]*")
_SPACE = re.compile(r"\s*")
_LINE = re.compile(r"[^\n]*")
_DIRECTIVE_END = "}%%"

ID = re.compile(
    r"(?:[A-Za-z0-9!#$&'*+.`?\\_/,]|%(?!%)|%%+(?=[^\s%])|:(?!::)|-(?![->.])"
    # Any script's letters and most symbols, but not spaces, arrows, lines and the wide forms of
    # ASCII punctuation, which are slips of an input method and never meant as a name.
    r"|[^\x00-\x9f\xad\s\u061c\u180e\ufeff\u2000-\u206f\u2190-\u21ff\u2500-\u257f\u27f0-\u27ff"
    r"\u2900-\u297f\u3000-\u3004\u3008-\u3020\u3030\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40"
    r"\uff5b-\uff65])+"
)
"""A node's id (also a class's name)."""

_WORDS = (
    "style|linkStyle|interpolate|classDef|class|flowchart-elk|swimlane-beta|graph|flowchart"
    "|subgraph|end|_self|_blank|_parent|_top"
)
KEYWORD = re.compile(
    rf"(?:{_WORDS})\b|(?:href|click|call)(?:\s|\Z)|accTitle\s*:|accDescr\s*[:{{]", re.ASCII
)
"""What Mermaid takes for a word of its own wherever an id could begin."""

KEYWORD_INSIDE = re.compile(rf"[^\x00-\x7f]({_WORDS})\b", re.ASCII)
"""The same within an id: behind a sign that is not ASCII, Mermaid looks for a word again."""


MOST_FINDINGS = 1000
"""Errors, and warnings, beyond which a text is so wrong that more would help nobody."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A label, an id or another stretch of the text with what it says."""

    text: str
    start: int
    end: int


class Scanner:
    """A text, a place in it, and the findings about it."""

    __slots__ = (
        "_directives_end",
        "_errors_left",
        "_warnings_left",
        "at",
        "builder",
        "has_edge_ids",
        "has_lost_braces",
        "has_soft_quotes",
        "shadow",
        "source",
        "text",
    )

    def __init__(self, text: str, builder: ChartBuilder) -> None:
        self.text = text
        self.source = Source(text)
        self.shadow = _make_shadow(text)
        self.builder = builder
        self.at = 0
        self._errors_left = self._warnings_left = MOST_FINDINGS
        self.has_edge_ids = "@" in text
        """False where no edge can have an id, which saves looking for one."""
        self.has_soft_quotes = '="' in text
        """False where the shadow has every quote of the text."""
        self.has_lost_braces = False
        """A `@{` was never closed: each later one is looked through on its own line only."""
        self._directives_end = self.shadow.rfind(_DIRECTIVE_END)

    # ---- looking ------------------------------------------------------------------------

    def is_done(self) -> bool:
        """True at the end of the text."""
        return self.at >= len(self.shadow)

    def peek(self, sign: str) -> bool:
        """True where `sign` stands at this place."""
        return self.shadow.startswith(sign, self.at)

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The pattern at this place; nothing is taken."""
        return pattern.match(self.shadow, self.at)

    def span(self, start: int, end: int) -> Span:
        """Offsets as lines and columns."""
        return self.source.span(start, end)

    def find_line_end(self, at: int | None = None) -> int:
        """The offset of the end of the line, without its line break."""
        end = self.shadow.find("\n", self.at if at is None else at)
        return len(self.shadow) if end < 0 else end

    # ---- moving -------------------------------------------------------------------------

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The pattern at this place, moving behind it."""
        found = pattern.match(self.shadow, self.at)
        if found:
            self.at = found.end()
        return found

    def skip_blank(self) -> bool:
        """Go over blanks within the line; True where there were any."""
        start = self.at
        self.take(_BLANK)
        return self.at > start

    def skip_space(self) -> None:
        """Go over blanks and line breaks, as inside a label."""
        self.take(_SPACE)

    def skip_line(self) -> None:
        """Go to the end of the line."""
        self.take(_LINE)

    def skip_gap(self) -> bool:
        """Go over blanks, line breaks, comments and directives; True if a line ended."""
        crossed = False
        is_first = self.at == 0
        while True:
            start = self.at
            self.take(_SPACE)
            crossed = crossed or "\n" in self.shadow[start : self.at]
            if not self.peek("%%"):
                return crossed
            if self.peek("%%{"):
                self._skip_directive()
                continue
            comment = self.at
            self.skip_line()
            if not crossed and not is_first:
                self.loose(
                    comment,
                    self.at,
                    "a comment stands behind a statement",
                    "give the comment a line of its own",
                )

    def _skip_directive(self) -> None:
        start = self.at
        if self._directives_end >= start:
            self.at = self.shadow.index(_DIRECTIVE_END, start) + len(_DIRECTIVE_END)
            return
        self.skip_line()
        self.fault(
            codes.SYNTAX,
            "the directive that begins with '%%{' is not closed",
            start,
            start + 3,
            "add '}%%' at its end",
        )

    # ---- reporting ----------------------------------------------------------------------

    def fault(
        self,
        code: str,
        message: str,
        start: int,
        end: int,
        hint: str = "",
        related: Sequence[Related] = (),
    ) -> None:
        """Report a finding about `text[start:end]`."""
        if CODES[code].severity == "error":
            self._errors_left -= 1
            left = self._errors_left
        else:
            self._warnings_left -= 1
            left = self._warnings_left
        if left >= 0:
            self.builder.report(finding(code, message, self.span(start, end), hint, related))
        elif left == -1:
            message = f"there are more than {MOST_FINDINGS} findings about the text"
            span = self.span(start, end)
            hint = "repair the first ones, then look again"
            self.builder.report(finding(codes.MORE_FINDINGS, message, span, hint))

    def loose(self, start: int, end: int, message: str, hint: str) -> None:
        """Report what Mermaid refuses although it can mean only one thing."""
        self.fault(codes.LOOSE_SYNTAX, f"{message}; Mermaid itself refuses this", start, end, hint)


def _make_shadow(text: str) -> str:
    shadow = text.replace("\r\n", " \n").replace("\r", "\n")
    if shadow.startswith("\ufeff"):
        shadow = " " + shadow[1:]
    if '="' not in shadow:
        return shadow
    # Up to the last `>` only: there each tag that opens also ends, so the search stays linear.
    last = shadow.rfind(">") + 1
    return _TAG.sub(_soften_quotes, shadow[:last]) + shadow[last:]


def _soften_quotes(tag: re.Match[str]) -> str:
    return _ATTRIBUTE.sub(lambda attribute: f"='{attribute[1]}'", tag[0])
