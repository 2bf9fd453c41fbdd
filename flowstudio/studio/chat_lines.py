"""Lines of the chat: text in pieces with roles, folded to a width counted in cells.

A piece is a text and what paints it: words such as `done`, `muted bold` or `accent underline`
(`chat_ink` turns them into styles). Signs of Chinese, Japanese and Korean are two cells wide and
may be parted without a blank, but no line begins with a closing sign or ends with an opening one.

A piece without text is a mark: what stands before it in its line was put there to lay it out, and
is not copied; a line with the mark of a fold goes on from the one before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len, get_character_cell_size

type Piece = tuple[str, str]
"""A text without line ends, and its role."""
type Line = list[Piece]
"""One line, not yet or already folded."""

_WIDE = (
    "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
)
_ATOMS = re.compile(rf"[ \t]+|[{_WIDE}]|[^ \t{_WIDE}]+")
_IS_WIDE = re.compile(rf"[{_WIDE}]")
_OPENING = frozenset("（「『【《〈［｛〔")
_CLOSING = frozenset("、。，．！？）」』】》〉］｝〕：；ー々")
BEGIN: Piece = ("", "begin")
"""The mark of a line whose text begins here."""
_FOLD = "fold="
"""The role of a fold's mark, with the count of blanks that went at the end of the line before."""
_LEAST = 8
"""Cells that must be left in a line for a word too long for any line to begin there."""


def width_of(text: str) -> int:
    """Cells that a text takes."""
    return len(text) if text.isascii() else cell_len(text)


def width_of_line(line: Iterable[Piece]) -> int:
    """Cells that a line takes."""
    return sum(width_of(text) for text, _ in line)


def plain(line: Iterable[Piece]) -> str:
    """The text of a line."""
    return "".join(text for text, _ in line)


def unmarked(line: Iterable[Piece]) -> Line:
    """The line without its marks: it is put into something else, where they mean nothing."""
    return [piece for piece in line if piece[0]]


def written(line: Iterable[Piece]) -> tuple[int, int | None]:
    """Where in the text of a line begins what was written, and the blanks that stood before it
    where the line was folded there; None where it was not."""
    at = 0
    for text, role in line:
        if not text:
            blanks = role.removeprefix(_FOLD)
            return at, int(blanks) if blanks != role else None
        at += len(text)
    return 0, None


def pad(line: Line, width: int, role: str) -> Line:
    """The line, filled with blanks of this role to a width."""
    missing = width - width_of_line(line)
    return [*line, (" " * missing, role)] if missing > 0 else line


def plain_lines(text: str, role: str, width: int) -> list[Line]:
    """A text of several lines in one role, folded; blanks at the beginning of lines stay."""
    lines: list[Line] = []
    for line in text.expandtabs(4).split("\n"):
        if line.isascii() and len(line) <= width:
            lines.append([(line, role)] if line else [])
        else:
            lines += wrap([(line, role)], width)
    return lines


def cut(line: Sequence[Piece], width: int) -> Line:
    """The line on one row: what does not fit is cut, with a sign that says so."""
    if width_of_line(line) <= width:
        return list(line)
    kept: Line = []
    room = max(width - 1, 0)
    for text, role in line:
        head, rest = _split(text, room)
        if head:
            kept.append((head, role))
            room -= width_of(head)
        if rest:
            break
    return [*kept, ("…", kept[-1][1] if kept else "dim")]


def wrap(pieces: Sequence[Piece], width: int) -> list[Line]:
    """The pieces of one line folded to lines of at most `width` cells; at least one line."""
    fold = _Fold(max(width, 1))
    for text, role in pieces:
        for atom in _ATOMS.findall(text):
            fold.take(atom, role)
    return fold.end()


class _Fold:
    """Fills lines with words, one after the other."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._lines: list[Line] = []
        self._line: Line = []
        self._used = 0
        self._gap: Piece | None = None
        self._word: Line = []
        self._cells = 0
        self._last = ""

    def take(self, atom: str, role: str) -> None:
        """A blank, a wide sign, or a run of other signs."""
        if atom[0] in " \t":
            self._put_word()
            if self._used or not self._lines:  # blanks that a line was parted at are dropped
                before = self._gap[0] if self._gap else ""
                self._gap = (before + atom, role)
            self._last = ""
            return
        last = self._last[-1:]
        may_part = bool(last) and bool(_IS_WIDE.match(atom) or _IS_WIDE.match(last))
        if may_part and atom[0] not in _CLOSING and last not in _OPENING:
            self._put_word()
        self._word.append((atom, role))
        self._cells += width_of(atom)
        self._last = atom

    def end(self) -> list[Line]:
        """All lines."""
        self._put_word()
        self._lines.append(self._line)
        return self._lines

    def _put_word(self) -> None:
        if not self._word:
            return
        gap = len(self._gap[0]) if self._gap else 0
        if self._used + gap + self._cells <= self._width:
            self._put_gap()
            self._line += self._word
            self._used += self._cells
        elif self._cells <= self._width:
            if self._used:
                self._next_line(gap)
            self._line += self._word
            self._used = self._cells
        else:
            self._chop(gap)
        self._gap = None
        self._word = []
        self._cells = 0

    def _chop(self, gap: int) -> None:
        """A word longer than any line goes on in the next ones."""
        if self._used + gap + _LEAST <= self._width:
            self._put_gap()
        elif self._used:
            self._next_line(gap)
        for text, role in self._word:
            rest = text
            while rest:
                head, rest = _split(rest, self._width - self._used)
                if head:
                    self._line.append((head, role))
                    self._used += width_of(head)
                elif not self._used:
                    # A sign wider than the whole line: better too wide than never shown.
                    self._line.append((rest[0], role))
                    self._used, rest = self._width, rest[1:]
                if rest:
                    self._next_line(0)

    def _put_gap(self) -> None:
        if self._gap is not None:
            self._line.append(self._gap)
            self._used += len(self._gap[0])

    def _next_line(self, gap: int) -> None:
        self._lines.append(self._line)
        self._line = [("", f"{_FOLD}{gap}")]
        self._used = 0


def _split(text: str, width: int) -> tuple[str, str]:
    """What of a text fits into `width` cells, and the rest."""
    if text.isascii():
        return text[:width], text[width:]
    used = 0
    for place, sign in enumerate(text):
        used += get_character_cell_size(sign)
        if used > width:
            return text[:place], text[place:]
    return text, ""
