"""A list of options that take one row each: hundreds of them are listed within a key.

Textual's own list folds each option to know its rows, and lays the whole screen out anew where
their number changes.
"""

from __future__ import annotations

from textual.geometry import Size
from textual.reactive import Reactive
from textual.widgets import OptionList


class RowList(OptionList):
    """An `OptionList` whose options have no second row, and no line between them."""

    virtual_size = Reactive(Size(0, 0), repaint=False)
    """As in Textual, which lays the screen out anew for it."""

    def _update_lines(self) -> None:
        region = self.scrollable_content_region
        if not region:
            return
        cache = self._line_cache
        lines = cache.lines
        for index in range(len(lines), len(self.options)):
            cache.index_to_line[index] = index
            cache.heights[index] = 1
            lines.append((index, 0))
        self.virtual_size = Size(region.width - self._get_left_gutter_width(), len(lines))

    def watch_virtual_size(self, size: Size) -> None:
        """The scroll bar follows; where it comes or goes, the screen is laid out."""
        if self.is_mounted:
            self._scroll_update(size)
