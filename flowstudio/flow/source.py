"""A text with its line starts: turns offsets into lines and columns."""

from __future__ import annotations

from bisect import bisect_right

from flowstudio.flow.model import Span


class Source:
    """The text that a reader reads. Lines end at LF, CRLF or CR; nothing in it is changed."""

    __slots__ = ("_starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        starts = [0]
        position = 0
        for line in text.splitlines(keepends=True) if _has_only_newlines(text) else _lines(text):
            position += len(line)
            starts.append(position)
        self._starts = starts

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, of a character offset (the text's end is allowed)."""
        line = bisect_right(self._starts, offset) - 1
        if line == len(self._starts) - 1 and line > 0 and not self._ends_with_newline():
            line -= 1
        return line + 1, offset - self._starts[line] + 1

    def span(self, start: int, end: int) -> Span:
        """The span of `text[start:end]`."""
        return Span(*self.place(start), *self.place(end))

    def offset(self, line: int, column: int) -> int:
        """The character offset of a line and a column, both from 1: `place` the other way."""
        return self._starts[line - 1] + column - 1

    def _ends_with_newline(self) -> bool:
        return self.text.endswith(("\n", "\r"))


def _has_only_newlines(text: str) -> bool:
    """True where `str.splitlines` splits at line ends alone; it knows more separators."""
    return not any(c in text for c in "\v\f\x1c\x1d\x1e\x85\u2028\u2029")


def _lines(text: str) -> list[str]:
    lines: list[str] = []
    start = 0
    at = 0
    while at < len(text):
        if text[at] == "\n" or (text[at] == "\r" and text[at + 1 : at + 2] != "\n"):
            lines.append(text[start : at + 1])
            start = at + 1
        at += 1
    if start < len(text):
        lines.append(text[start:])
    return lines
