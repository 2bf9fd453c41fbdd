"""Rows of the chat as they are painted: the bar, the words, what is chosen and what is marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from flowstudio.studio.chat_lines import Line, plain, written

if TYPE_CHECKING:
    from textual.selection import Selection

    from flowstudio.studio.chat_entries import Entry
    from flowstudio.studio.chat_ink import Ink
    from flowstudio.studio.chat_stack import Stack

BAR = 2
"""Columns of the bar at the left, and of the blank behind it."""


class Painter:
    """Paints rows of a stack in one theme."""

    def __init__(self, stack: Stack, ink: Ink, mark: Style) -> None:
        self._stack = stack
        self._ink = ink
        self._mark = mark
        self.chosen: Entry | None = None
        """The entry that the keys are about."""
        self.marked: Selection | None = None
        """The text that the mouse has marked."""

    def row(self, row: int, width: int) -> Strip:
        """A row of the stack, as wide as the window."""
        base = self._ink.base
        found = self._find(row)
        if found is None:
            return Strip.blank(width, base)
        entry, line = found
        content = self._ink.strip(line)
        if self.marked is not None:
            content = self._show_mark(content, row, self.marked)
        strip = Strip([self._bar(entry), *content], BAR + content.cell_length)
        return strip.adjust_cell_length(width, base)

    def row_with_places(self, row: int) -> Strip:
        """The row, its signs with their places: Textual asks for it where text is marked."""
        base = self._ink.base
        bar = [Segment(" ", base + Style.from_meta({"offset": (0, row)}))] * BAR
        found = self._find(row)
        line = found[1] if found else []
        return Strip([*bar, *self._ink.strip(line or [(" ", "text")]).apply_offsets(0, row)])

    def text_of(self, marked: Selection) -> str:
        """The text that is marked, as it was written: without the blanks that fill lines, and with
        no line end where the window folded one."""
        last = self._stack.height - 1
        first = max(marked.start.y if marked.start else 0, 0)
        end = min(marked.end.y, last) if marked.end else last
        lines: list[str] = []
        for row in range(first, end + 1):
            found = self._find(row)
            line = found[1] if found else []
            begin, blanks = written(line)
            left, right = marked.get_span(row) or (0, 0)
            text = plain(line)[max(left, begin) : None if right == -1 else right].rstrip()
            if blanks is None or row == first:
                lines.append(text)
            else:
                lines[-1] += " " * blanks + text if text else ""
        return "\n".join(lines)

    def _bar(self, entry: Entry) -> Segment:
        if entry is self.chosen:
            return Segment("▌ ", self._ink.style("accent"))
        if entry.bar:
            return Segment("▎ ", self._ink.style(entry.bar))
        return Segment("  ", self._ink.base)

    def _find(self, row: int) -> tuple[Entry, Line] | None:
        """The entry of a row, and its line there; None for a row without any."""
        stack = self._stack
        if not 0 <= row < stack.height:
            return None
        place = stack.place_at(row)
        entry = stack.entries[place]
        within = row - stack.tops[place] - entry.above
        lines = stack.lines_of(place)
        return (entry, lines[within]) if 0 <= within < len(lines) else None

    def _show_mark(self, content: Strip, row: int, marked: Selection) -> Strip:
        span = marked.get_span(row)
        if span is None:
            return content
        text, width = content.text, content.cell_length
        left = cell_len(text[: span[0]])
        right = width if span[1] == -1 else cell_len(text[: span[1]])
        if left >= right:
            return content
        middle = Strip(
            Segment(part.text, (part.style or self._mark) + self._mark)
            for part in content.crop(left, right)
        )
        return Strip.join([content.crop(0, left), middle, content.crop(right, width)])
