"""The text that is edited: inks from the readers, marks in the gutter, faults behind their line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Offset, Region
from textual.message import Message
from textual.strip import Strip
from textual.widgets import TextArea

from flowstudio.studio.marks import GLYPHS, style_of
from flowstudio.studio.source_ink import Ink, Inked, Role
from flowstudio.studio.source_text import changed_part, visible
from flowstudio.text import harmless, shorten

if TYPE_CHECKING:
    from flowstudio.flow.diagnostics import Diagnostic

_ROLES: Mapping[Role, tuple[str, str]] = {
    "field": ("accent", ""),
    "value": ("text", ""),
    "heading": ("text", "bold"),
    "fence": ("dim", ""),
    "id": ("accent", "bold"),
    "label": ("text", ""),
    "branch": ("done", ""),
    "arrow": ("muted", ""),
    "word": ("muted", "italic"),
    "comment": ("dim", "italic"),
}
"""Kinds of stretches: colour role, and how else they are told apart."""
_LEAST = 24
"""Columns that a fault's words need behind a line to be worth showing there."""

_MANY = 500
"""Lines above which all are painted anew, rather than to look which of them changed."""
_KEPT = 1_000
"""Painted rows that are kept."""


class SourceArea(TextArea):
    """A TextArea that knows what a SKILL.md is made of."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "flow", tooltip="Back to the flow; closes the completions"),
        Binding("tab", "tab", "complete", tooltip="Take the completion, or go to the next pane"),
        Binding("ctrl+space,ctrl+@", "offer", "words", key_display="^space", tooltip="Complete"),
    ]

    class Left(Message):
        """Escape or tab: `step` is 1 for the next pane, 0 for back to the flow."""

        def __init__(self, step: int = 0) -> None:
            super().__init__()
            self.step = step

    class Offered(Message):
        """The user asks for completions."""

    class Picked(Message):
        """A key for the list of completions: one up (-1), one down (1), or take it (0)."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(
            id=id, soft_wrap=True, show_line_numbers=True, tab_behavior="focus", max_checkpoints=500
        )
        self.inked = Inked()
        self._painted: LRUCache[object, Strip] = LRUCache(_KEPT)
        """Rows apart from the cursor's, by all that they show: Textual's own are void after each
        key."""
        self._look: tuple[object, ...] = ()
        """What all rows of a frame have in common."""
        self._faults: dict[int, Diagnostic] = {}
        self.offers = False
        """True while completions are on offer: then up, down, enter and tab are theirs."""

    # What it shows

    def show_findings(self, inked: Inked, found: Mapping[int, Diagnostic]) -> None:
        """New inks, and the first finding of each line (from 0)."""
        before, faults = self.inked, self._faults
        self.inked, self._faults = inked, dict(found)
        lines = self.document.line_count
        if lines > _MANY or not self.size:
            self.notify_style_update()
            self.refresh()
            return
        looks = [
            row
            for row in range(lines)
            if faults.get(row) != found.get(row)
            or before.of(row, raw := self.document.get_line(row)) != inked.of(row, raw)
        ]
        if not looks:
            return
        # While somebody types, a line or two look otherwise than before.
        self._line_cache.clear()
        for row in looks:
            first = self.wrapped_document.location_to_offset((row, 0)).y
            last = self.wrapped_document.location_to_offset(
                (row, len(self.document.get_line(row)))
            ).y
            self.refresh_lines(first, last - first + 1)

    def take_text(self, text: str) -> None:
        """Exchange the text as one edit that can be undone; cursor and place stay."""
        before = self.text
        start, end, new = changed_part(before, text)
        if start == end and not new:
            return
        self.history.checkpoint()
        self.replace(new, self._location(before, start), self._location(before, end))
        self.history.checkpoint()

    @staticmethod
    def _location(text: str, offset: int) -> tuple[int, int]:
        row = text.count("\n", 0, offset)
        return row, offset - (text.rfind("\n", 0, offset) + 1)

    def get_line(self, line_index: int) -> Text:
        """A line in its inks, with nothing in it that could act on the terminal."""
        raw = self.document.get_line(line_index)
        line = Text(visible(raw), end="", no_wrap=True)
        for one in self.inked.of(line_index, raw):
            line.stylize(self._style(one), one.start, one.end)
        if fault := self._faults.get(line_index):
            end = fault.span.end_column - 1 if fault.span.end_line == fault.span.line else len(raw)
            start = min(fault.span.column - 1, max(len(raw) - 1, 0))
            line.stylize(Style(underline=True), start, max(end, start + 1))
        return line

    def _style(self, one: Ink) -> Style:
        role, more = _ROLES[one.role]
        style = style_of(self, role)
        if more:
            style += Style(bold=more == "bold" or None, italic=more == "italic" or None)
        return style

    def notify_style_update(self) -> None:
        """The theme may be another one."""
        super().notify_style_update()
        self._painted.clear()

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of the window."""
        self._look = (self.rich_style, self.scrollable_content_region.width, self.gutter_width)
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """A row; where neither cursor nor selection is, it stays as long as its line does."""
        at = y + self.scroll_offset.y
        if at >= self.wrapped_document.height:
            return super().render_line(y)
        row, column = self.wrapped_document.offset_to_location(Offset(0, at))
        first, last = sorted(self.selection)
        bracket = self.matching_bracket_location
        if first[0] <= row <= last[0] or (bracket is not None and bracket[0] == row):
            return self._say_fault(super().render_line(y), row, column)
        raw = self.document.get_line(row)
        inks = tuple(self.inked.of(row, raw))
        # Another width is painted before the lines are wrapped for it.
        wrap = tuple(self.wrapped_document.get_offsets(row))
        key = (row, column, raw, wrap, inks, self._faults.get(row), self._look)
        if (strip := self._painted.get(key)) is None:
            strip = self._painted[key] = self._say_fault(super().render_line(y), row, column)
        return strip

    def _say_fault(self, strip: Strip, row: int, column: int) -> Strip:
        """A row with its mark in the gutter, and its fault behind it where there is room."""
        fault = self._faults.get(row)
        if fault is None:
            return strip
        style = style_of(self, "fault" if fault.severity == "error" else "now")
        at = self.gutter_width - 1
        if column == 0 and at > 0:
            mark = Strip([Segment(GLYPHS["fault"], style)])
            strip = Strip.join([strip.crop(0, at - 1), mark, strip.crop(at)])
        used = cell_len(strip.text.rstrip()) + 2
        room = strip.cell_length - used
        ends_here = column + max(strip.cell_length - self.gutter_width, 1) > len(
            self.document.get_line(row)
        )
        if room < _LEAST or not ends_here:
            return strip
        words = shorten(harmless(fault.message), room - 1)
        said = Strip([Segment(words, style + Style(italic=True))])
        rest = strip.crop(used + cell_len(words))
        return Strip.join([strip.crop(0, used), said, rest])

    # Keys

    async def _on_key(self, event: events.Key) -> None:
        """Enter takes the completion on offer."""
        if self.offers and event.key == "enter":
            event.stop()
            event.prevent_default()
            self.post_message(self.Picked(0))
            return
        await super()._on_key(event)

    def action_cursor_up(self, select: bool = False) -> None:
        """One line up, or one up in the completions."""
        if self.offers and not select:
            self.post_message(self.Picked(-1))
        else:
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        """One line down, or one down in the completions."""
        if self.offers and not select:
            self.post_message(self.Picked(1))
        else:
            super().action_cursor_down(select)

    def action_leave(self) -> None:
        """Close the completions, or go back to the flow."""
        self.post_message(self.Left())

    def action_tab(self) -> None:
        """The next pane; where completions are on offer the pane takes the key."""
        self.post_message(self.Left(step=1))

    def action_offer(self) -> None:
        """Ask for completions."""
        self.post_message(self.Offered())

    @property
    def before_cursor(self) -> str:
        """The line up to the cursor."""
        row, column = self.cursor_location
        return self.document.get_line(row)[:column]
