"""The flow view: a drawing that is panned, marked and clicked. One Line-API widget, whatever the
size.

A frame costs what the window shows (`flow_paint`). Nothing is laid out again when a state changes.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from textual.binding import Binding, BindingType
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from flowstudio.studio.flow_anchor import Anchor, Change
from flowstudio.studio.flow_window import FlowWindow
from flowstudio.studio.slide import Placed, Slide, may_move, plan_slide, slide_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textual.timer import Timer

    from flowstudio.drawing.drawing import Drawing, Owner
    from flowstudio.drawing.marks import Marks
    from flowstudio.studio.flow_paint import Painter
    from flowstudio.studio.places import Places

__all__ = ["Change", "FlowView"]

_FRAME = 1 / 30


class FlowView(FlowWindow, can_focus=True):
    """Shows a `Drawing` and what a run has made of it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "select('up')", "Select above", show=False),
        Binding("down", "select('down')", "Select below", show=False),
        Binding("left", "select('left')", "Select left", show=False),
        Binding("right", "select('right')", "Select right", show=False),
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

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.drawing: Drawing | None = None
        self._painter: Painter | None = None
        self._anchor = Anchor()
        self._background = Style()
        self._slide: Slide | None = None
        self._shifts: Mapping[str, Offset] = {}
        self._placed: Sequence[Placed] = ()
        self._clock: Timer | None = None
        self._message = ""

    # What is shown

    @property
    def marks(self) -> Marks:
        """The state of the run that is laid over the drawing."""
        return self._paint().marks

    @property
    def shows_all(self) -> bool:
        """Whether every node is in the window."""
        boxes = self.drawing.boxes.values() if self.drawing is not None else ()
        places = (Region(box.x, box.y, box.width, box.height) for box in boxes)
        return all(map(self.window.contains_region, places))

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
        if before is drawing is None and message == self._message:
            return
        held = self._hold(drawing, change) if drawing else None
        seen = self._seen() if before and drawing and change == "edit" else {}
        if drawing is not None and places is None:
            from flowstudio.studio.places import Places

            places = Places(drawing)
        self.drawing, self._message, self._kept, self._slide = drawing, message, None, None
        self._extent = Size(drawing.width, drawing.height) if drawing else None
        painter = self._paint() if drawing or self._painter else None
        if painter is not None:
            painter.drawing, painter.places = drawing, places
            painter.forget()
        if drawing is None or (self.selected is not None and self.selected not in drawing.boxes):
            self.selected = None
        self._place(held, keep=change == "edit")
        if drawing is not None and before is None:
            self.center_on(next(iter(drawing.boxes), None), top=True)
        self._anchor.settle(self._origin if change == "zoom" and held is not None else None)
        if seen and may_move(self.app.animation_level):
            self._begin_slide(seen)
        self.refresh()
        self.post_message(self.Moved())

    def _hold(self, drawing: Drawing, change: Change) -> Offset | None:
        """Where the new drawing must be for the anchor to stay in its place on the screen."""
        if self.drawing is None or change == "new":
            return None
        places = self._paint().places
        assert places is not None
        return self._anchor.hold(
            self.drawing,
            drawing,
            change,
            places=places,
            window=self.window,
            origin=self._origin,
            selected=self.selected,
        )

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
        from flowstudio.studio.flow_paint import changed_marks

        nodes, edges = changed_marks(before, marks)
        self._refresh_rows(*(self._rows_of(node) for node in nodes))
        if self.drawing is not None:
            # The marks before may be of an earlier drawing, which had more edges.
            for edge in (edge for edge in edges if edge < len(self.drawing.paths)):
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
        if self._slide is not None:
            self._placed = self._slide.place(self._origin, self._shifts)
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """One line of the window."""
        width, background = self.size.width, self._background
        if self.drawing is None:
            return self._message_line(y, width, background)
        origin = self._origin
        painter = self._paint()
        if self._slide is not None:
            return slide_line(self._placed, painter, y, origin, width, background)
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
            self._slide, self._shifts = slide, slide.ways
            if self._clock is None:
                self._clock = self.set_interval(_FRAME, self._tick)
            self._clock.resume()

    def _tick(self) -> None:
        """Paint where a box has come further by a cell, or all have arrived."""
        now, shifts = monotonic(), dict[str, Offset]()
        if self._slide is None or self._slide.is_over(now):
            self._slide = None
            if self._clock is not None:
                self._clock.pause()
        elif (shifts := self._slide.shifts(now)) == self._shifts:
            return
        self._shifts = shifts
        self.refresh()

    # Changes of looks and size

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

    def _clicked(self, cell: Offset) -> None:
        """Select what was clicked."""
        self.select(self._node_for(self._owner_at(cell)))

    def _owner_at(self, cell: Offset) -> Owner | None:
        places = self._paint().places
        return places.owner_at(*cell) if places else None

    def _node_for(self, owner: Owner | None) -> str | None:
        """The node that a click on a thing selects: an edge stands for its source."""
        from flowstudio.drawing.drawing import EdgeRef

        if isinstance(owner, EdgeRef):
            return self.drawing.paths[owner.index].src if self.drawing else None
        return owner.id if owner else None
