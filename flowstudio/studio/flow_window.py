"""A window over a picture that may be larger than it: where the picture lies, and how hand and
keys move it.

It knows how large the picture is, not what is in it (`flow_view` does).
"""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.reactive import Reactive
from textual.scroll_view import ScrollView

from flowstudio.studio.framing import frame_axis

_MARGIN = 2
"""Empty columns beside the drawing, so that no box touches the pane's border."""
_DRAG = 2
"""Cells that the mouse may move in a click."""


class FlowWindow(ScrollView, can_focus=True):
    """Pans a picture by keys, by the wheel, and by dragging it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("shift+up,ctrl+up,k", "pan(0,-2)", "Pan up", show=False),
        Binding("shift+down,ctrl+down,j", "pan(0,2)", "Pan down", show=False),
        Binding("shift+left,ctrl+left,h", "pan(-6,0)", "Pan left", show=False),
        Binding("shift+right,ctrl+right,l", "pan(6,0)", "Pan right", show=False),
    ]

    virtual_size = Reactive(Size(0, 0), repaint=False)
    """As in Textual, which lays the whole screen out anew for each drawing."""

    class Panned(Message, namespace="flow_view"):
        """The user moved the picture by hand."""

    class Moved(Message, namespace="flow_view"):
        """Another part of the drawing is in the window, or another drawing."""

    class Zoomed(Message, namespace="flow_view"):
        """The user asked with the mouse for more detail (1) or for less (-1)."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._extent: Size | None = None
        """Columns and rows of the picture; None where there is none."""
        self._shift = Offset(_MARGIN, 1)
        self._kept: Offset | None = None
        """Where the drawing is held against the usual place, until the user moves it."""
        self._grabbed: Offset | None = None
        self._dragged = False

    # Place and size

    @property
    def window(self) -> Region:
        """The part of the drawing that shows, in the drawing's cells."""
        return Region(*(self.scroll_offset - self._shift), *self.size)

    @property
    def _origin(self) -> Offset:
        """The window's cell in which the drawing's first cell is shown."""
        return self._shift - self.scroll_offset

    def _place(self, wanted: Offset | None, *, keep: bool) -> None:
        """Lay the drawing into the window, its origin at the wanted cell where that may be."""
        extent = self._extent
        if extent is None:
            self.virtual_size = Size(0, 0)
            self.scroll_to(0, 0, animate=False, force=True)
            return
        size = self.size
        home = Offset(
            _MARGIN + max(size.width - extent.width - 2 * _MARGIN, 0) // 2,
            1 + max(min((size.height - extent.height - 2) // 3, 4), 0),
        )
        x = frame_axis(
            extent.width, size.width, _MARGIN, home.x, wanted.x if wanted else None, keep=keep
        )
        y = frame_axis(
            extent.height, size.height, 1, home.y, wanted.y if wanted else None, keep=keep
        )
        self._shift = Offset(x.lead, y.lead)
        width = x.virtual
        if width == size.width and y.virtual > size.height:
            width -= 1  # the bar beside it lies on the margin: no reason for one below
        self.virtual_size = Size(width, y.virtual)
        self._kept = wanted
        if wanted is not None:
            self.scroll_to(x.scroll, y.scroll, animate=False, force=True)

    def _let_go(self) -> None:
        """The picture is moved on purpose: hold it no longer where an edit left it."""
        if self._kept is not None:
            origin = self._origin
            self._place(origin, keep=False)
            self._kept = None

    def look_at(self, x: int, y: int) -> None:
        """Bring a cell of the drawing to the middle of the pane, as far as the drawing goes."""
        self._let_go()
        place = self._shift + Offset(x - self.size.width // 2, y - self.size.height // 2)
        self.scroll_to(*place, animate=False, force=True)
        self.post_message(self.Panned())

    def watch_virtual_size(self, size: Size) -> None:
        """The scroll bars follow; where one comes or goes, the screen is laid out."""
        if self.is_mounted:
            self._scroll_update(size)

    def watch_scroll_x(self, old_value: float, new_value: float) -> None:
        """Tell the map."""
        super().watch_scroll_x(old_value, new_value)
        self.post_message(self.Moved())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Tell the map."""
        super().watch_scroll_y(old_value, new_value)
        self.post_message(self.Moved())

    # The picture looks the same with the focus and without it, which its pane's frame shows:
    # what Textual does besides would be to look up all styles and paint all lines anew.

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Nothing changes."""

    def _on_focus(self, event: events.Focus) -> None:
        event.prevent_default()
        self.has_focus = True
        if self.parent is not None:
            self.parent.post_message(events.DescendantFocus(self))

    def _on_blur(self, event: events.Blur) -> None:
        event.prevent_default()
        self.has_focus = False
        if self.parent is not None:
            self.parent.post_message(events.DescendantBlur(self))

    # Keys and mouse

    def action_pan(self, x: int, y: int) -> None:
        """Move the window over the drawing by so many cells."""
        self._let_go()
        self.scroll_to(self.scroll_offset.x + x, self.scroll_offset.y + y, animate=False)
        self.post_message(self.Panned())

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of the picture."""
        self._grabbed, self._dragged = event.screen_offset, False
        self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the picture along."""
        if self._grabbed is None:
            return
        moved = event.screen_offset - self._grabbed
        if not self._dragged and abs(moved.x) < _DRAG and abs(moved.y) < _DRAG:
            return
        self._dragged = True
        self._grabbed = event.screen_offset
        self.action_pan(-moved.x, -moved.y)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let go: without a drag it was a click, which selects."""
        self.release_mouse()
        grabbed, self._grabbed = self._grabbed, None
        if grabbed is None or self._dragged:
            return
        offset = event.get_content_offset(self)
        if offset is not None:
            self._clicked(offset - self._origin)

    def _clicked(self, cell: Offset) -> None:
        """A click on a cell of the drawing."""

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel pans; with ctrl it zooms."""
        self._wheel(event, 1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel pans; with ctrl it zooms."""
        self._wheel(event, -1)

    def _wheel(self, event: events.MouseEvent, step: int) -> None:
        if event.ctrl:
            event.prevent_default()
            event.stop()
            self.post_message(self.Zoomed(step))
        else:
            self._let_go()
