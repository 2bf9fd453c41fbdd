"""From a D2 text to statements, whatever the text. Nesting costs no stack.

After a fault the parser goes on behind it, so that each fault is reported once and the rest is
read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flowstudio.flow import codes, d2_codes
from flowstudio.flow.d2_hints import advise, name_end, shorten
from flowstudio.flow.d2_plain import read_plain
from flowstudio.flow.d2_scan import Scanner
from flowstudio.flow.d2_syntax import (
    Array,
    Arrow,
    Import,
    Map,
    Part,
    Path,
    Scalar,
    Statement,
    Substitution,
    Value,
)

if TYPE_CHECKING:
    from flowstudio.flow.d2_findings import Findings

_LONE_CR = re.compile(r"\r(?!\n)")
_BETWEEN = re.compile(r"[\s;]*")
_STRAY_CLOSERS = re.compile(r"\}[\s;}]*")
_JUNK = re.compile(r"[^\n;{}\]#]*")
_IMPORT = re.compile(r"@[^\n;#{}\[\]]*")
_SPREAD = re.compile(r"\.\.\.(?:\$[^\S\n]*\{([^{}\n]*)\}|(@[^\n;#{}\[\]]*))")
_MERMAID_LABEL = re.compile(r"\|([^|\n]*)\|(?=[^\S\n]*[\w\"'])")
_INDEX = re.compile(r"\[[^\S\n]*(\d{1,9}|\*)[^\S\n]*\]")
_ARROW = re.compile(r"(<?)(?:-|\\\r?\n\s*)*([>*]?)")
_BLOCK_COMMENT = '"""'
_ENDS_ITEM = frozenset(["", *"\n;}#"])
_ENDS_PATH = frozenset(["", *"\n(."])
_MOST_UNCLOSED = 3
_DEEPEST = 100
"""How many brackets may be open at once. D2's own charts stay below ten."""


@dataclass(slots=True)
class _Frame:
    """A map or an array that is open."""

    body: Map | Array
    statement: Statement | None
    """The statement whose value it is; None for the whole text and inside arrays."""


def parse(text: str, findings: Findings) -> Map:
    """The statements of `text`; every fault goes to `findings`.

    A single CR ends a line, as it does for editors and for `Source`.
    """
    return _Parser(_LONE_CR.sub("\n", text), findings).parse()


class _Parser(Scanner):
    def parse(self) -> Map:
        root = Map(0, len(self.text))
        self._frames = [_Frame(root, None)]
        if self.text.startswith("\ufeff"):
            self.pos = 1
        while True:
            if between := _BETWEEN.match(self.text, self.pos):
                self.pos = between.end()
            if not self.here:
                break
            match self._body:
                case _ if self.here in "]}" and self._close():
                    pass
                case Map() as body:
                    self._map_item(body)
                case body:
                    self._array_item(body)
        self._report_unclosed()
        return root

    @property
    def _body(self) -> Map | Array:
        return self._frames[-1].body

    # ---- open and close ---------------------------------------------------------------------

    def _open(self, body: Map | Array, statement: Statement | None) -> None:
        """Open what begins at `pos`; the reader gives up where that is too deep."""
        start = body.start
        if len(self._frames) > _DEEPEST:
            self.findings.add(
                d2_codes.NESTING_TOO_DEEP,
                f"more than {_DEEPEST} brackets are open here; the rest of the text is not read",
                start,
                start + 1,
                "close the brackets that are open, or nest less deeply",
            )
            self.pos = len(self.text)
            return
        self.pos = start + 1
        self._frames.append(_Frame(body, statement))

    def _close(self) -> bool:
        """Close what the bracket at `pos` closes; False where it closes nothing and is junk."""
        start = self.pos
        closes_map = self.here == "}"
        if closes_map and isinstance(self._body, Array):
            self._report_unclosed_frame(self._frames.pop())
        if len(self._frames) > 1 and isinstance(self._body, Map) == closes_map:
            frame = self._frames.pop()
            self.pos += 1
            frame.body.end = self.pos
            if frame.statement:
                frame.statement.end = self.pos
            self._end_item("the bracket")
            return True
        if not closes_map:
            return False
        if stray := _STRAY_CLOSERS.match(self.text, start):
            self.pos = stray.end()
        self.findings.add(
            codes.SYNTAX,
            "this } closes nothing",
            start,
            start + 1,
            "remove it, or put the text in quotes if it belongs to a label",
        )
        return True

    def _report_unclosed(self) -> None:
        for frame in self._frames[1 : 1 + _MOST_UNCLOSED]:
            self._report_unclosed_frame(frame)

    def _report_unclosed_frame(self, frame: _Frame) -> None:
        start = frame.body.start
        closer = "}" if isinstance(frame.body, Map) else "]"
        frame.body.end = self.pos
        self.findings.add(
            codes.SYNTAX,
            f"the {self.text[start]} that opens here is not closed",
            start,
            start + 1,
            f"add {closer}, or put the text in quotes if the bracket belongs to a label",
        )

    # ---- items ------------------------------------------------------------------------------

    def _map_item(self, body: Map) -> None:
        start = self.pos
        while plain := read_plain(self.text, self.pos):
            statement, self.pos = plain
            body.items.append(statement)
        if self.pos > start:
            return
        if self._skip_comment():
            return
        if spread := _SPREAD.match(self.text, self.pos):
            body.items.append(self._spread(spread))
            self._end_item("it")
            return
        start = self.pos
        statement = Statement(start, start)
        opened = self._statement(statement)
        if statement.path or statement.arrows:
            body.items.append(statement)
        if opened:
            return
        statement.end = self._trim_end(start)
        if self.pos == start:
            self._report_junk_key()
        else:
            self._end_item(name_end(statement))

    def _array_item(self, body: Array) -> None:
        if self._skip_comment():
            return
        if spread := _SPREAD.match(self.text, self.pos):
            body.values.append(self._spread(spread))
        else:
            start = self.pos
            value = self._value()
            if value is not None:
                body.values.append(value)
            if isinstance(value, Map | Array):
                self._open(value, None)
                return
            if self.pos == start:
                self._report_junk_key()
                return
        self._end_item("the value")

    def _skip_comment(self) -> bool:
        if self.here == "#":
            self.skip_line()
            return True
        if not self.text.startswith(_BLOCK_COMMENT, self.pos):
            return False
        start = self.pos
        end = self.text.find(_BLOCK_COMMENT, start + 3)
        if end < 0:
            self.pos = len(self.text)
            self.findings.add(
                codes.SYNTAX,
                "the comment that opens here is not closed",
                start,
                start + 3,
                'add """ behind the comment',
            )
        else:
            self.pos = end + 3
        return True

    def _spread(self, spread: re.Match[str]) -> Substitution | Import:
        self.pos = spread.end()
        if spread[2]:
            return Import(spread.start(), self._trim_end(spread.start()))
        names = tuple(name.strip() for name in spread[1].split("."))
        return Substitution(names, spread.start(), spread.end())

    def _end_item(self, what: str) -> None:
        """Move to the end of the statement, reporting whatever else stands there."""
        follows = self.skip_blank()
        if follows in _ENDS_ITEM or (follows == "]" and isinstance(self._body, Array)):
            return
        start = self.pos
        if junk := _JUNK.match(self.text, start):
            self.pos = junk.end()
        if self.here == "]":
            self.pos += 1
            if more := _JUNK.match(self.text, self.pos):
                self.pos = more.end()
        end = max(self._trim_end(start), start + 1)
        shown = self.text[start:end]
        self.findings.add(
            codes.SYNTAX,
            f"unexpected text behind {what}: {shorten(shown)}",
            start,
            end,
            advise(shown, what),
        )
        if self.here == "{":  # keep the brackets in balance, so that this stays one fault
            self._open(Map(self.pos, self.pos), None)

    def _report_junk_key(self) -> None:
        start = self.pos
        self.pos += 1
        if junk := _JUNK.match(self.text, self.pos):
            self.pos = junk.end()
        end = self._trim_end(start)
        shown = self.text[start:end]
        self.findings.add(
            codes.SYNTAX,
            f"no key can begin like this: {shorten(shown)}",
            start,
            end,
            advise(shown, ""),
        )
        if self.text[start] == "{":
            self._open(Map(start, start), None)
        elif self.here == "{":
            self._open(Map(self.pos, self.pos), None)

    # ---- statements -------------------------------------------------------------------------

    def _statement(self, statement: Statement) -> bool:
        """Read a key with its arrows and value; True where a map or an array was opened."""
        for sign in ("!&", "&"):
            if self.text.startswith(sign, self.pos):
                statement.is_filter = True
                self.pos += len(sign)
                break
        if self.here != "(":
            path = self._path(in_group=False)
            follows = self.skip_blank()
            if follows and follows in "<-":
                self._arrows(statement, path, in_group=False)
                return self._assignment(statement)
            statement.path = path
            if follows != "(" or not path:
                return self._assignment(statement)
        return self._edge_group(statement)

    def _path(self, *, in_group: bool) -> Path:
        parts: list[Part] = []
        while self.skip_blank() not in _ENDS_PATH:
            part = self.key(in_group=in_group)
            if part is None:
                break
            parts.append(part)
            if self.skip_blank() != ".":
                break
            self.pos += 1
        if parts and parts[0].text.startswith("@") and not parts[0].is_quoted:
            self.findings.add(
                d2_codes.IMPORT_UNREAD,
                "an import is not read",
                parts[0].start,
                parts[0].end,
                "copy what the file holds into this chart",
            )
        return tuple(parts)

    def _arrows(self, statement: Statement, src: Path, *, in_group: bool) -> None:
        while (follows := self.skip_blank()) and follows in "<-":
            start = self.pos
            arrow = _ARROW.match(self.text, start)
            if arrow is None:
                return
            self.pos = arrow.end()
            if self.here == "\\" and not arrow[2]:
                message = "in an arrow, only the end of a line may be escaped"
                self.findings.add(codes.SYNTAX, message, self.pos, self.pos + 1, "write ->")
                self.skip_line()
                return
            self._skip_mermaid_label()
            dst = self._path(in_group=in_group)
            if not src and start == statement.start:
                message = "nothing stands before the arrow"
                self.findings.add(codes.SYNTAX, message, start, arrow.end(), "write a -> b")
            if not dst:
                message = "nothing stands behind the arrow"
                self.findings.add(codes.SYNTAX, message, start, arrow.end(), "write a -> b")
            if src and dst:
                statement.arrows.append(Arrow(src, dst, arrow[1] == "<", arrow[2] == ">"))
            src = dst

    def _skip_mermaid_label(self) -> None:
        self.skip_blank()
        if label := _MERMAID_LABEL.match(self.text, self.pos):
            self.pos = label.end()
            self.findings.add(
                codes.SYNTAX,
                "D2 has no label between the arrow and the target",
                label.start(),
                label.end(),
                f"write the label behind the target:  a -> b: {shorten(label[1].strip())}",
            )

    def _edge_group(self, statement: Statement) -> bool:
        opening = self.pos
        self.pos += 1
        self._arrows(statement, self._path(in_group=True), in_group=True)
        follows = self.skip_blank()
        if follows in ("", "\n") and statement.arrows:
            return False
        if follows != ")":
            message = "the ( that opens here is not closed"
            self.findings.add(codes.SYNTAX, message, opening, opening + 1, "write (a -> b)[0]")
            return self._assignment(statement)
        self.pos += 1
        if not statement.arrows:
            message = "only edges may stand in parentheses"
            self.findings.add(
                codes.SYNTAX, message, opening, self.pos, "put the name in quotes if it is a node"
            )
        if self.skip_blank() == "[":
            if index := _INDEX.match(self.text, self.pos):
                statement.index = "*" if index[1] == "*" else int(index[1])
                self.pos = index.end()
            else:
                statement.arrows.clear()
                return False
        if self.skip_blank() == ".":
            self.pos += 1
            statement.arrow_path = self._path(in_group=False)
        return self._assignment(statement)

    def _assignment(self, statement: Statement) -> bool:
        has_key = bool(statement.path or statement.arrows)
        colon = self.pos
        match self.skip_blank():
            case ":":
                colon = self.pos
                self.pos += 1
                self.skip_blank()
                if not has_key and colon == statement.start:
                    message = "nothing stands before the colon"
                    self.findings.add(codes.SYNTAX, message, colon, colon + 1, "write a: text")
            case "{" if has_key:
                pass
            case _:
                return False
        value = self._value()
        if value is None:
            if self.here in _ENDS_ITEM:
                self.findings.add(
                    codes.SYNTAX,
                    "no value stands behind the colon",
                    colon,
                    colon + 1,
                    "write the label on the same line, or remove the colon",
                )
            return False
        if isinstance(value, Scalar) and self.skip_blank() == "{":
            statement.primary = value
            value = Map(self.pos, self.pos)
        statement.value = value
        if isinstance(value, Map | Array):
            self._open(value, statement)
            return True
        return False

    def _value(self) -> Value | None:
        """The value at `pos`. Of a map or an array only the opening bracket is looked at."""
        match self.here:
            case "{":
                return Map(self.pos, self.pos)
            case "[":
                return Array(self.pos, self.pos)
            case "@":
                start = self.pos
                if found := _IMPORT.match(self.text, start):
                    self.pos = found.end()
                return Import(start, self._trim_end(start))
            case _:
                return self.scalar(len(self._frames) - 1)
