"""A text with its line starts: turns offsets into lines and columns."""

from __future__ import annotations

from bisect import bisect_right

from flowstudio.flow.model import Span


class Source:
    """The text that a reader reads. Lines end at LF, CRLF or CR; nothing in it is changed."""

    __slots__ = ("_line", "_line_end", "_line_start", "_starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        starts = [0]
        position = 0
        for line in text.splitlines(keepends=True) if _has_only_newlines(text) else _lines(text):
            position += len(line)
            starts.append(position)
        if position and not text.endswith(("\n", "\r")):
            starts.pop()
        self._starts = starts
        # The line that was last asked for: a reader asks for many places of one line.
        self._line = self._line_start = self._line_end = 0

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, of a character offset (the text's end is allowed)."""
        if not self._line_start <= offset < self._line_end:
            self._find_line(offset)
        return self._line, offset - self._line_start + 1

    def span(self, start: int, end: int) -> Span:
        """The span of `text[start:end]`."""
        if not self._line_start <= start < self._line_end:
            self._find_line(start)
        line, before = self._line, self._line_start - 1
        if end < self._line_end:
            return Span(line, start - before, line, end - before)
        return Span(line, start - before, *self.place(end))

    def _find_line(self, offset: int) -> None:
        starts = self._starts
        line = bisect_right(starts, offset)
        self._line, self._line_start = line, starts[line - 1]
        self._line_end = starts[line] if line < len(starts) else len(self.text) + 1

    def offset(self, line: int, column: int) -> int:
        """The character offset of a line and a column, both from 1: `place` the other way."""
        return self._starts[line - 1] + column - 1


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
