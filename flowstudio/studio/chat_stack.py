"""Entries above each other: where each begins, and the lines of those that were looked at lately.

The height of an entry that was never in view is a guess; it is put right before it comes into view.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from itertools import accumulate

from flowstudio.studio.chat_entries import Entry
from flowstudio.studio.chat_lines import Line

MOST = 2_000
"""Entries that are held; the run's journal has what is older."""
LARGEST = 4_000_000
"""Characters that they hold together."""
_DROPPED = 200
"""Entries that go at once when there are too many."""
_LAID_OUT = 50
"""Entries whose lines are kept."""


class Stack:
    """The entries, oldest first. A row counts from the top of the oldest one that is held."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.dropped = 0
        """Entries that were let go of, from the oldest on."""
        self._heights: list[int] = []
        self._is_exact: list[bool] = []
        self._lengths: list[int] = []
        self._length = 0
        self._tops: list[int] | None = None
        self._places: dict[int, int] = {}
        self._lines: OrderedDict[int, Sequence[Line]] = OrderedDict()
        self._width = 0

    def clear(self) -> None:
        """Hold nothing."""
        width = self._width
        self.__init__()
        self._width = width

    @property
    def width(self) -> int:
        """Cells of a line."""
        return self._width

    @width.setter
    def width(self, width: int) -> None:
        if width == self._width:
            return
        self._width = width
        self._lines.clear()
        self._heights = [self._guess(entry) for entry in self.entries]
        self._is_exact = [False] * len(self.entries)
        self._tops = None

    @property
    def tops(self) -> list[int]:
        """The first row of each entry, and behind them the count of all rows."""
        if self._tops is None:
            self._tops = list(accumulate(self._heights, initial=0))
        return self._tops

    @property
    def height(self) -> int:
        """Rows of all entries."""
        return self.tops[-1]

    def add(self, entry: Entry) -> None:
        """Put an entry below the others."""
        self._places[id(entry)] = len(self.entries) + self.dropped
        self.entries.append(entry)
        self._heights.append(self._guess(entry))
        self._is_exact.append(False)
        self._lengths.append(entry.length)
        self._length += entry.length
        if self._tops is not None:
            self._tops.append(self._tops[-1] + self._heights[-1])

    def renew(self, entry: Entry) -> None:
        """An entry has changed."""
        place = self.place_of(entry)
        if place is None:
            return
        self._lines.pop(id(entry), None)
        self._is_exact[place] = False
        length = entry.length
        self._length += length - self._lengths[place]
        self._lengths[place] = length

    def trim(self) -> int:
        """Let go of the oldest where there are too many; how many rows went with them."""
        if len(self.entries) <= MOST and self._length <= LARGEST:
            return 0
        count = min(_DROPPED, len(self.entries) - 1)
        rows = self.tops[count]
        for entry in self.entries[:count]:
            del self._places[id(entry)]
            self._lines.pop(id(entry), None)
        self._length -= sum(self._lengths[:count])
        for one in (self.entries, self._heights, self._is_exact, self._lengths):
            del one[:count]
        self.dropped += count
        self._tops = None
        return rows

    def place_of(self, entry: Entry | None) -> int | None:
        """Which of the entries it is, counted from 0; None for one that is not held."""
        place = self._places.get(id(entry)) if entry is not None else None
        return place - self.dropped if place is not None else None

    def place_at(self, row: int) -> int:
        """Which entry has a row; the last one for rows behind the end."""
        return max(min(bisect_right(self.tops, row) - 1, len(self.entries) - 1), 0)

    def measure(self, place: int) -> int:
        """Put the height of an entry right; how many rows it has more than was thought."""
        if self._is_exact[place]:
            return 0
        entry = self.entries[place]
        height = 0 if entry.is_gone else len(self.lines_of(place)) + entry.above
        more = height - self._heights[place]
        self._heights[place] = height
        self._is_exact[place] = True
        if more:
            self._tops = None
        return more

    def lines_of(self, place: int) -> Sequence[Line]:
        """The lines of an entry, without the empty ones above it."""
        entry = self.entries[place]
        lines = self._lines.get(id(entry))
        if lines is None:
            lines = self._lines[id(entry)] = () if entry.is_gone else entry.lines(self._width)
            if len(self._lines) > _LAID_OUT:
                self._lines.popitem(last=False)
        else:
            self._lines.move_to_end(id(entry))
        return lines

    def _guess(self, entry: Entry) -> int:
        return 0 if entry.is_gone else entry.estimate(max(self._width, 1)) + entry.above
