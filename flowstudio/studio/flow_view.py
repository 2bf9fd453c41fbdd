"""The flow view: a drawing that is panned, marked and clicked. One Line-API widget, whatever the
size.

A frame costs what the window shows (`flow_paint`). Nothing is laid out again when a state changes.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from flowstudio.studio.framing import frame_axis
from flowstudio.studio.slide import Slide, may_move, plan_slide

if TYPE_CHECKING:
    from textual.timer import Timer

    from flowstudio.drawing.drawing import Box, Drawing, Owner
    from flowstudio.drawing.marks import Marks
    from flowstudio.studio.flow_paint import Painter
    from flowstudio.studio.places import Places

type Change = Literal["new", "edit", "zoom"]
"""Why another drawing is shown: of another chart, of the edited one, at another zoom level."""

_MARGIN = 2
"""Empty columns beside the drawing, so that no box touches the pane's border."""
_DRAG = 2
"""Cells that the mouse may move in a click."""
_FRAME = 1 / 30


class FlowView(ScrollView, can_focus=True):
    """Shows a `Drawing` and what a run has made of it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "select('up')", "Select above", show=False),
        Binding("down", "select('down')", "Select below", show=False),
        Binding("left", "select('left')", "Select left", show=False),
        Binding("right", "select('right')", "Select right", show=False),
        Binding("shift+up,ctrl+up,k", "pan(0,-2)", "Pan up", show=False),
        Binding("shift+down,ctrl+down,j", "pan(0,2)", "Pan down", show=False),
        Binding("shift+left,ctrl+left,h", "pan(-6,0)", "Pan left", show=False),
        Binding("shift+right,ctrl+right,l", "pan(6,0)", "Pan right", show=False),
    ]

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "flow--plain",
        "flow--muted",
        "flow--label",
        "flow--done",
        "flow--now",
        "flow--forced",
        "flow--chosen",
        "flow--fault",
        "flow--selected",
        "flow--key",
    }

    DEFAULT_CSS = """
    FlowView {
        background: $background;
        scrollbar-size: 1 1;
        & .flow--plain { color: $role-muted; }
        & .flow--muted { color: $role-dim; }
        & .flow--label { color: $role-text; }
        & .flow--done { color: $role-done; }
        & .flow--now { color: $role-now; text-style: bold; }
        & .flow--forced { color: $role-forced; }
        & .flow--chosen { color: $role-forced; text-style: bold; }
        & .flow--fault { color: $role-fault; text-style: bold; }
        & .flow--selected { color: $role-accent; text-style: bold; }
        & .flow--key { color: $background; background: $role-now; text-style: bold; }
    }
    """

    selected: reactive[str | None] = reactive[str | None](None, repaint=False)
    """The id of the selected node."""
    stale: reactive[bool] = reactive(False)
    """True while the file is broken: the last good drawing is shown dimmed."""

    class Selected(Message):
        """A node was selected, by key or mouse; None where nothing is."""

        def __init__(self, view: FlowView, node: str | None) -> None:
            super().__init__()
            self.view = view
            self.node = node

        @property
        def control(self) -> FlowView:
            """The view."""
            return self.view

    class Panned(Message):
        """The user moved the picture by hand."""

    class Moved(Message):
        """Another part of the drawing is in the window, or another drawing."""

    class Zoomed(Message):
        """The user asked with the mouse for more detail (1) or for less (-1)."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.drawing: Drawing | None = None
        self._painter: Painter | None = None
        self._shift = Offset(_MARGIN, 1)
        self._kept: Offset | None = None
        """Where the drawing is held against the usual place, until the user moves it."""
        self._anchor: tuple[str, Offset, Offset] | None = None
        """The node that a zoom holds in its place, that place, and the origin that came of it."""
        self._background = Style()
        self._slide: Slide | None = None
        self._clock: Timer | None = None
        self._grabbed: Offset | None = None
        self._dragged = False
        self._message = ""

    # What is shown

    @property
    def marks(self) -> Marks:
        """The state of the run that is laid over the drawing."""
        return self._paint().marks

    @property
    def window(self) -> Region:
        """The part of the drawing that shows, in the drawing's cells."""
        return Region(*(self.scroll_offset - self._shift), *self.size)

    @property
    def _origin(self) -> Offset:
        """The window's cell in which the drawing's first cell is shown."""
        return self._shift - self.scroll_offset

    def _paint(self) -> Painter:
        if self._painter is None:
            from flowstudio.studio.flow_paint import Painter

            self._painter = Painter(self._style)
        return self._painter

    def show_drawing(
        self,
        drawing: Drawing | None,
        message: str = "",
        *,
        places: Places | None = None,
        change: Change = "new",
    ) -> None:
        """Show another drawing (None: only `message`). After an edit or a zoom the selected node,
        else the one in the middle, stays where it is on the screen.
        """
        before = self.drawing
        held = self._hold(drawing, change) if before and drawing and change != "new" else None
        seen = self._seen() if before and drawing and change == "edit" else {}
        if drawing is not None and places is None:
            from flowstudio.studio.places import Places

            places = Places(drawing)
        self.drawing, self._message, self._kept, self._slide = drawing, message, None, None
        painter = self._paint() if drawing or self._painter else None
        if painter is not None:
            painter.drawing, painter.places = drawing, places
            painter.forget()
        if drawing is None or (self.selected is not None and self.selected not in drawing.boxes):
            self.selected = None
        self._place(held, keep=change == "edit")
        if drawing is not None and before is None:
            self.center_on(next(iter(drawing.boxes), None), top=True)
        if change == "zoom" and held is not None and self._anchor is not None:
            self._anchor = (*self._anchor[:2], self._origin)
        else:
            self._anchor = None
        if seen and may_move(self.app.animation_level):
            self._begin_slide(seen)
        self.refresh()
        self.post_message(self.Moved())

    def _hold(self, drawing: Drawing, change: Change) -> Offset | None:
        """Where the new drawing must be for the anchor to stay in its place on the screen."""
        if change == "zoom" and self._anchor and self._anchor[2] == self._origin:
            node, place, _ = self._anchor  # zooming on: the picture comes back to where it was
        else:
            node = self._find_anchor(drawing)
            if node is None or self.drawing is None:
                return None
            place = _grip(self.drawing.boxes[node], change) + self._origin
        if node not in drawing.boxes:
            return None
        if change == "zoom":
            self._anchor = (node, place, self._origin)
        return place - _grip(drawing.boxes[node], change)

    def _find_anchor(self, drawing: Drawing) -> str | None:
        """The selected node if it is in view, else the node nearest to the middle of the window,
        of those that the other drawing has too."""
        from flowstudio.studio.places import nearest_to

        window, places = self.window, self._paint().places
        assert self.drawing is not None
        assert places is not None
        boxes = [box for box in places.boxes_in(window) if box.id in drawing.boxes]
        if any(box.id == self.selected for box in boxes):
            return self.selected
        if not boxes:
            boxes = [box for box in self.drawing.boxes.values() if box.id in drawing.boxes]
        near = nearest_to(boxes, window.x + window.width // 2, window.y + window.height // 2)
        return near.id if near else None

    def show_marks(self, marks: Marks) -> None:
        """Show another state of the run; only what changed in looks is worth a repaint."""
        painter = self._paint()
        before = painter.marks
        if marks == before:
            return
        painter.marks = marks
        painter.forget()
        if bool(marks.nodes) != bool(before.nodes) or bool(marks.edges) != bool(before.edges):
            self.refresh()  # what is not marked looks otherwise beside what is
            return
        nodes, edges = changed_marks(before, marks)
        self._refresh_rows(*(self._rows_of(node) for node in nodes))
        if self.drawing is not None:
            for edge in edges:
                rows = [y for _, y in self.drawing.paths[edge].points]
                self._refresh_rows((min(rows) - 1, max(rows) + 2))

    def _rows_of(self, node: str | None) -> tuple[int, int]:
        """The first row of a node in the drawing, and the row after it."""
        box = self.drawing.boxes.get(node) if self.drawing and node else None
        return (box.y, box.y + box.height) if box else (0, 0)

    def _refresh_rows(self, *rows: tuple[int, int]) -> None:
        """Paint these rows of the drawing anew, as far as they are in the window."""
        width, height = self.size
        for first, end in rows:
            top, bottom = max(first + self._origin.y, 0), min(end + self._origin.y, height)
            if top < bottom:
                self.refresh(Region(0, top, width, bottom - top))

    def center_on(self, node: str | None, *, top: bool = False) -> None:
        """Bring a node to the middle of the pane (or to its top), where the picture is larger."""
        box = self.drawing.boxes.get(node) if self.drawing and node else None
        if box is None:
            return
        self._let_go()
        x = box.x + self._shift.x + box.width // 2 - self.size.width // 2
        y = box.y + self._shift.y
        y = y - 1 if top else y + box.height // 2 - self.size.height // 2
        self.scroll_to(x, y, animate=False, force=True)

    def look_at(self, x: int, y: int) -> None:
        """Bring a cell of the drawing to the middle of the pane, as far as the drawing goes."""
        self._let_go()
        place = self._shift + Offset(x - self.size.width // 2, y - self.size.height // 2)
        self.scroll_to(*place, animate=False, force=True)
        self.post_message(self.Panned())

    def reveal(self, node: str) -> None:
        """Centre the node if it is not wholly in view with a few rows below it."""
        box = self.drawing.boxes.get(node) if self.drawing else None
        if box is None:
            return
        region = Region(box.x - 2, box.y - 1, box.width + 4, box.height + 5)
        if not self.window.contains_region(region):
            self.center_on(node)

    def node_at(self, offset: Offset) -> str | None:
        """The node at a cell of the widget's content."""
        places = self._paint().places
        return places.node_at(*(offset - self._origin)) if places else None

    # Painting

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of the window; what they have in common is looked up once."""
        self._background = self.rich_style
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """One line of the window."""
        width, background = self.size.width, self._background
        if self.drawing is None:
            return self._message_line(y, width, background)
        origin = self._origin
        painter = self._paint()
        if self._slide is not None:
            return self._slide_line(self._slide, y, width, background)
        return painter.line(y - origin.y, -origin.x, width, background)

    def _message_line(self, y: int, width: int, background: Style) -> Strip:
        lines = self._message.splitlines()
        top = max((self.size.height - len(lines)) // 2, 0)
        if not 0 <= y - top < len(lines):
            return Strip.blank(width, background)
        from flowstudio.studio.flow_paint import message_line

        return message_line(lines[y - top], width, self._style("flow--plain"), background)

    def _style(self, name: str) -> Style:
        if self.stale:
            name = "flow--muted"
        return self.get_component_rich_style(name)

    def _slide_line(self, slide: Slide, y: int, width: int, background: Style) -> Strip:
        """One line while boxes slide: the new lines, and the boxes over them, on their way."""
        now = monotonic()
        origin, painter = self._origin, self._paint()
        strip = painter.edges_only(y - origin.y, -origin.x, width, background)
        for box in slide.boxes:
            x, top = origin + Offset(box.x, box.y) + slide.shift(box.id, now)
            if not top <= y < top + box.height or x >= width or x + box.width <= 0:
                continue
            row = painter.box_row(box, y - top, background)
            row = row.crop(max(-x, 0), min(box.width, width - x))
            x = max(x, 0)
            end = x + row.cell_length
            strip = Strip.join([strip.crop(0, x), row, strip.crop(end, width)])
        return strip

    def _seen(self) -> dict[str, Offset]:
        """Where each node in the window is on the screen."""
        places = self._paint().places
        boxes = places.boxes_in(self.window) if places else ()
        return {box.id: self._origin + Offset(box.x, box.y) for box in boxes}

    def _begin_slide(self, seen: dict[str, Offset]) -> None:
        places, drawing = self._paint().places, self.drawing
        assert places is not None
        assert drawing is not None
        boxes = {box.id: box for box in places.boxes_in(self.window)}
        boxes |= {node: drawing.boxes[node] for node in seen if node in drawing.boxes}
        slide = plan_slide(seen, list(boxes.values()), self._origin, monotonic())
        if slide is not None:
            self._slide = slide
            if self._clock is None:
                self._clock = self.set_interval(_FRAME, self._tick)
            self._clock.resume()

    def _tick(self) -> None:
        if self._slide is None or self._slide.is_over(monotonic()):
            self._slide = None
            if self._clock is not None:
                self._clock.pause()
        self.refresh()

    # Place and size

    def _place(self, wanted: Offset | None, *, keep: bool) -> None:
        """Lay the drawing into the window, its origin at the wanted cell where that may be."""
        drawing = self.drawing
        if drawing is None:
            self.virtual_size = Size(0, 0)
            self.scroll_to(0, 0, animate=False, force=True)
            return
        size = self.size
        home = Offset(
            _MARGIN + max(size.width - drawing.width - 2 * _MARGIN, 0) // 2,
            1 + max(min((size.height - drawing.height - 2) // 3, 4), 0),
        )
        x = frame_axis(
            drawing.width, size.width, _MARGIN, home.x, wanted.x if wanted else None, keep=keep
        )
        y = frame_axis(
            drawing.height, size.height, 1, home.y, wanted.y if wanted else None, keep=keep
        )
        self._shift = Offset(x.lead, y.lead)
        self.virtual_size = Size(x.virtual, y.virtual)
        self._kept = wanted
        if wanted is not None:
            self.scroll_to(x.scroll, y.scroll, animate=False, force=True)

    def _let_go(self) -> None:
        """The picture is moved on purpose: hold it no longer where an edit left it."""
        if self._kept is not None:
            origin = self._origin
            self._place(origin, keep=False)
            self._kept = None

    def watch_scroll_x(self, old_value: float, new_value: float) -> None:
        """Tell the map."""
        super().watch_scroll_x(old_value, new_value)
        self.post_message(self.Moved())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Tell the map."""
        super().watch_scroll_y(old_value, new_value)
        self.post_message(self.Moved())

    def notify_style_update(self) -> None:
        """A theme changed: the cached styles are of the old one."""
        super().notify_style_update()
        if self._painter is not None:
            self._painter.forget()

    def on_resize(self) -> None:
        """Centre a small drawing in the new size; the selected node stays in view."""
        kept = self._kept
        self._place(kept, keep=True)
        if kept is None and self.selected is not None:
            self.call_after_refresh(self.reveal, self.selected)
        self.refresh()
        self.post_message(self.Moved())

    def watch_selected(self, before: str | None, selected: str | None) -> None:
        """Paint the outline of the selected node."""
        if self._painter is not None:
            self._painter.selected = selected
            self._painter.forget()
        self._refresh_rows(self._rows_of(before), self._rows_of(selected))
        self.post_message(self.Moved())

    def watch_stale(self) -> None:
        """Dim or undim the picture."""
        if self._painter is not None:
            self._painter.forget()

    # Keys and mouse

    def action_pan(self, x: int, y: int) -> None:
        """Move the window over the drawing by so many cells."""
        self._let_go()
        self.scroll_to(self.scroll_offset.x + x, self.scroll_offset.y + y, animate=False)
        self.post_message(self.Panned())

    def action_select(self, direction: str) -> None:
        """Select the nearest node in a direction."""
        drawing, places = self.drawing, self._paint().places
        if drawing is None or places is None or not drawing.boxes:
            return
        if self.selected is None:
            self.select(next(iter(drawing.boxes)))
        elif nearest := places.toward(self.selected, direction):
            self.select(nearest)

    def select(self, node: str | None) -> None:
        """Select a node and bring it into view, as the user's keys do."""
        if node is not None:
            self.reveal(node)
        self.selected = node
        self.post_message(self.Selected(self, node))

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
            self.select(self._node_for(self._owner_at(offset)))

    def _owner_at(self, offset: Offset) -> Owner | None:
        places = self._paint().places
        return places.owner_at(*(offset - self._origin)) if places else None

    def _node_for(self, owner: Owner | None) -> str | None:
        """The node that a click on a thing selects: an edge stands for its source."""
        from flowstudio.drawing.drawing import EdgeRef

        if isinstance(owner, EdgeRef):
            return self.drawing.paths[owner.index].src if self.drawing else None
        return owner.id if owner else None

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


def changed_marks(before: Marks, now: Marks) -> tuple[set[str], set[int]]:
    """The nodes and the edges that look otherwise than before."""
    nodes = {
        node
        for old, new in (
            (before.nodes, now.nodes),
            (before.tags, now.tags),
            (before.flags, now.flags),
        )
        for node, _ in old.items() ^ new.items()
    }
    edges = {
        edge
        for old, new in (
            (before.edges, now.edges),
            (before.counts, now.counts),
            (before.numbers, now.numbers),
        )
        for edge, _ in old.items() ^ new.items()
    }
    return nodes | (before.breakpoints ^ now.breakpoints), edges


def _grip(box: Box, change: Change) -> Offset:
    """The cell of a box that keeps its place: boxes change their size with the zoom in all
    directions, with an edit of their text downwards."""
    height = box.height // 2 if change == "zoom" else 0
    return Offset(box.x + box.width // 2, box.y + height)
