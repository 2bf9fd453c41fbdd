"""D2's strings: bare, quoted and block. Each method reads one thing at `pos` and moves behind it.

The rules are those of D2 0.9, found by running it. What D2 refuses is read as far as it can mean
one thing only, and reported.
"""

from __future__ import annotations

import re

from flowstudio.flow import codes, d2_codes
from flowstudio.flow.d2_block import trim_block
from flowstudio.flow.d2_findings import Findings
from flowstudio.flow.d2_hints import shorten
from flowstudio.flow.d2_syntax import Part, Scalar, Style, Substitution

_BLANK = re.compile(r"[^\S\n]*")
_LINE_REST = re.compile(r"[^\n]*")
_LINE_FOLDED = re.compile(r"\\\r?\n")
_KEY_RUN = re.compile(r"[^\n;#{}\[\]:.<>&\-\\)]+")
_VALUE_RUN = re.compile(r"[^\n;#{}\[\]\\$]+")
_DOUBLE_RUN = re.compile(r'[^"\\\n$]+')
_DOUBLE_KEY_RUN = re.compile(r'[^"\\\n]+')
_SINGLE_RUN = re.compile(r"[^'\\\n]+")
_SUBSTITUTION = re.compile(r"\$[^\S\n]*\{([^{}\n]*)\}")
_FENCE = re.compile(r"\|([^\s\w]*)(\S*)[^\S\n]*\n?")
_OPENING = re.compile(r":[^\S\n]*$")
_ENDS_STATEMENT = frozenset(["", *"\n;}]#{"])
_ENDS_GROUP = frozenset(["", *"\n;#{}[]:."])
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class Scanner:
    """A text, the place in it, and what was found wrong."""

    def __init__(self, text: str, findings: Findings) -> None:
        self.text = text
        self.pos: int = 0
        self.findings = findings
        self._lone_fences: dict[str, bool] = {}

    @property
    def here(self) -> str:
        """The character at `pos`; empty at the end."""
        return self.text[self.pos : self.pos + 1]

    def skip_blank(self) -> str:
        """Move over space on this line; the character that follows."""
        text, at = self.text, self.pos
        char = text[at : at + 1]
        if char == " ":
            at += 1
            char = text[at : at + 1]
        if not " " < char < "\x7f" and (found := _BLANK.match(text, at)):
            at = found.end()
            char = text[at : at + 1]
        self.pos = at
        return char

    def skip_line(self) -> None:
        """Move to the end of the line."""
        if found := _LINE_REST.match(self.text, self.pos):
            self.pos = found.end()

    # ---- keys -------------------------------------------------------------------------------

    def key(self, *, in_group: bool) -> Part | None:
        """One name of a key; None where none begins here. `in_group`: `)` may end it."""
        start = self.pos
        match self.here:
            case "":
                return None
            case '"' | "'" | "|":
                scalar = self._quoted_or_block(is_key=True, depth=0)
                text = "".join(piece for piece in scalar.pieces if isinstance(piece, str))
                return Part(text, start, self.pos, is_quoted=True)
            case _:
                return self._bare_key(in_group)

    def _bare_key(self, in_group: bool) -> Part | None:
        text, start = self.text, self.pos
        found: list[str] = []
        is_glob = False
        while self.pos < len(text):
            if run := _KEY_RUN.match(text, self.pos):
                found.append(run[0])
                is_glob = is_glob or "*" in run[0]
                self.pos = run.end()
                continue
            char = text[self.pos]
            if char == "\\":
                if not self._escape(found):
                    break
            elif char == "-":
                following = text[self.pos + 1 : self.pos + 2]
                if following in ("", "-", ">", "*"):
                    break
                found.append(char)
                self.pos += 1
                if following in "\n;#{}[]":
                    break
                if following != "\\":  # D2 takes whatever follows a single dash as it stands
                    found.append(following)
                    self.pos += 1
            elif char == ")" and not (in_group and self._closes_group()):
                found.append(char)
                self.pos += 1
            else:
                break
        name = "".join(found).rstrip()
        if not name:
            self.pos = start
            return None
        end = self._trim_end(start)
        self._warn_of_comment(start, end)
        return Part(name, start, end, is_quoted=False, is_glob=is_glob)

    def _closes_group(self) -> bool:
        after = _BLANK.match(self.text, self.pos + 1)
        at = after.end() if after else self.pos + 1
        return self.text[at : at + 1] in _ENDS_GROUP

    # ---- values -----------------------------------------------------------------------------

    def scalar(self, depth: int) -> Scalar | None:
        """A text as a value; None where none begins here. `depth`: how many maps are open."""
        if self.here in ('"', "'", "|"):
            return self._quoted_or_block(is_key=False, depth=depth)
        return self._bare_value()

    def _bare_value(self) -> Scalar | None:
        start = self.pos
        found: list[str | Substitution] = []
        while True:
            if run := _VALUE_RUN.match(self.text, self.pos):
                found.append(run[0])
                self.pos = run.end()
            elif self.here == "$":
                found.append(self._substitution())
            elif self.here != "\\" or not self._escape(found):
                break
        end = self._trim_end(start)
        pieces = _join(found)
        if pieces and isinstance(last := pieces[-1], str):
            pieces = (*pieces[:-1], last.rstrip()) if last.rstrip() else pieces[:-1]
        if not pieces:
            return None
        self._warn_of_comment(start, end)
        return Scalar(pieces, start, end, "bare")

    def _substitution(self) -> str | Substitution:
        start = self.pos
        if found := _SUBSTITUTION.match(self.text, start):
            self.pos = found.end()
            path = tuple(name.strip().strip("'\"") for name in found[1].split("."))
            return Substitution(path, start, self.pos)
        self.pos += 1
        self.findings.add(
            codes.LOOSE_SYNTAX,
            "a bare '$' begins a variable in D2; here it is read as it stands",
            start,
            self.pos,
            r"write \$, or put the text in single quotes",
        )
        return "$"

    def _quoted_or_block(self, *, is_key: bool, depth: int) -> Scalar:
        match self.here:
            case "|":
                return self._block(depth, is_key=is_key)
            case '"':
                return self._quoted('"', _DOUBLE_KEY_RUN if is_key else _DOUBLE_RUN, "double")
            case _:
                return self._quoted("'", _SINGLE_RUN, "single")

    def _quoted(self, quote: str, plain: re.Pattern[str], style: Style) -> Scalar:
        text, start = self.text, self.pos
        found: list[str | Substitution] = []
        self.pos += 1
        while True:
            if run := plain.match(text, self.pos):
                found.append(run[0])
                self.pos = run.end()
            match self.here:
                case "" | "\n":
                    self._report_unclosed_quote(quote, start)
                    break
                case "$":
                    found.append(self._substitution())
                case "\\":
                    if fold := _LINE_FOLDED.match(text, self.pos):
                        self.pos = fold.end()
                    elif style == "double":
                        self._take_escape(found)
                    else:
                        found.append("\\")
                        self.pos += 1
                case _ if text.startswith("''", self.pos) and style == "single":
                    found.append("'")
                    self.pos += 2
                case _:
                    self.pos += 1
                    break
        return Scalar(_join(found), start, self.pos, style)

    def _report_unclosed_quote(self, quote: str, start: int) -> None:
        self.pos = self._trim_end(start)
        kind = "double" if quote == '"' else "single"
        self.findings.add(
            codes.LABEL_UNCLOSED,
            f"the {kind} quote that opens here is not closed on its line",
            start,
            start + 1,
            f"add {quote} at the end of the text; for a text of several lines write |md ... |",
        )

    # ---- blocks -----------------------------------------------------------------------------

    def _block(self, depth: int, *, is_key: bool) -> Scalar:
        """`|md ... |` and its like: D2 takes any signs behind the first bar as a longer fence."""
        text, start = self.text, self.pos
        opening = _FENCE.match(text, start)
        assert opening is not None  # it matches wherever a bar stands
        signs = opening[1]
        fence = signs[-1:] + signs[1:] + "|"
        inside = opening.end()
        is_inline = text[inside - 1] != "\n"
        if opening[2].endswith("|") and not signs:
            return self._take_glued_block(start, opening)
        found = text.find(fence, inside)
        if found < 0:
            self.pos = len(text)
            self.findings.add(
                codes.LABEL_UNCLOSED,
                f"the block that opens here is not closed with {fence}",
                start,
                start + len(fence),
                f"write {fence} on a line of its own behind the text",
            )
            return self._make_block(start, inside, len(text), is_inline, depth)
        self.pos = found + len(fence)
        end = found if is_key else self._recover_block(start, inside, found, fence)
        if end == found and (inside == found or text[inside:found].isspace()):
            self.findings.add(codes.SYNTAX, "this block holds no text", start, self.pos)
        return self._make_block(start, inside, end, is_inline, depth)

    def _take_glued_block(self, start: int, opening: re.Match[str]) -> Scalar:
        self.pos = opening.end(2)
        self.findings.add(
            codes.SYNTAX,
            "D2 reads the word behind the bar as a tag, so this block holds no text",
            start,
            self.pos,
            f"write |md {opening[2][:-1]} |, or put the text in quotes",
        )
        return Scalar((opening[2][:-1],), start, self.pos, "block")

    def _make_block(self, start: int, inside: int, end: int, is_inline: bool, depth: int) -> Scalar:
        indent = "  " * (depth + 1) if is_inline else ""
        content = trim_block(indent + self.text[inside:end].replace("\r\n", "\n"))
        return Scalar((content,), start, self.pos, "block")

    def _recover_block(self, start: int, inside: int, found: int, fence: str) -> int:
        """Where the block's text ends, which is `found` unless the bar there was meant otherwise.

        A bar with more text behind it on its line is either the opening of the next block, so that
        this one was never closed, or a bar inside the text, as in a table.
        """
        text = self.text
        line = text.rfind("\n", inside - 1, found) + 1
        is_one_line = line == 0
        after = _BLANK.match(text, self.pos)
        behind = text[after.end() : after.end() + 1] if after else ""
        if is_one_line or behind in _ENDS_STATEMENT:
            return found
        if _OPENING.search(text, line, found):
            self.findings.add(
                codes.LABEL_UNCLOSED,
                f"the block that opens here is not closed with {fence}",
                start,
                start + len(fence),
                f"write {fence} on a line of its own behind the text",
                [(found, found + 1, "the next block opens here")],
            )
            self.pos = line - 1
            return line - 1
        self.findings.add(
            codes.SYNTAX,
            f"this {fence} closes the block, although more text follows",
            found,
            self.pos,
            f"where the text holds {fence}, open the block with a longer fence such as |{fence}md "
            f"and close it with |{fence}",
            [(start, start + len(fence), "the block opens here")],
        )
        if closing := self._find_lone_fence(fence):
            self.pos = closing.end()
            return closing.start()
        self.skip_line()
        return found

    def _find_lone_fence(self, fence: str) -> re.Match[str] | None:
        if self._lone_fences.get(fence) is False:
            return None
        pattern = re.compile(rf"^[^\S\n]*{re.escape(fence)}(?=[^\S\n]*$)", re.MULTILINE)
        closing = pattern.search(self.text, self.pos)
        self._lone_fences[fence] = closing is not None
        return closing

    # ---- what all of them share ---------------------------------------------------------------

    def _escape(self, found: list[str] | list[str | Substitution]) -> bool:
        """Read an escape of a bare text; False where a folded line ends the text."""
        fold = _LINE_FOLDED.match(self.text, self.pos)
        if not fold:
            self._take_escape(found)
            return True
        self.pos = fold.end()
        return self.skip_blank() not in ("", "\n")

    def _take_escape(self, found: list[str] | list[str | Substitution]) -> None:
        char = self.text[self.pos + 1 : self.pos + 2]
        if not char:
            self.findings.add(
                codes.SYNTAX, "nothing follows the backslash", self.pos, self.pos + 1, r"write \\"
            )
        found.append(_ESCAPES.get(char, char))
        self.pos += 2 if char else 1

    def _trim_end(self, start: int) -> int:
        """The offset behind the last character before `pos` that is not space."""
        end = self.pos
        while end > start and self.text[end - 1].isspace():
            end -= 1
        return end

    def _warn_of_comment(self, start: int, end: int) -> None:
        if self.here != "#" or end != self.pos or end == start:
            return
        rest = _LINE_REST.match(self.text, end)
        self.findings.add(
            d2_codes.COMMENT_IN_WORD,
            f'"{shorten(self.text[start:end])}" ends here, since # begins a comment',
            end,
            rest.end() if rest else end + 1,
            "put the text in quotes if the # belongs to it, or a space before a comment",
        )


def _join(found: list[str | Substitution]) -> tuple[str | Substitution, ...]:
    """The same pieces with neighbouring texts put together."""
    pieces: list[str | Substitution] = []
    texts: list[str] = []
    for piece in found:
        if isinstance(piece, str):
            texts.append(piece)
            continue
        if texts:
            pieces.append("".join(texts))
            texts.clear()
        pieces.append(piece)
    if texts:
        pieces.append("".join(texts))
    return tuple(pieces)
