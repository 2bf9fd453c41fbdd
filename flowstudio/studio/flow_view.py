"""The flow view: a drawing that is panned, marked and clicked. One Line-API widget, whatever the
size.

A frame costs what the window shows: each line is built from the drawing's runs that lie in it, and
the marks of the run are laid over single cells. Nothing is laid out again when a state changes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from flowstudio.studio.flow_marks import DASHED, HEAVY, Look, Marks

if TYPE_CHECKING:
    from flowstudio.drawing.drawing import Box, Drawing, Owner, Role, Run

_MARGIN = 2
"""Empty cells around the drawing, so that no box touches the pane's border."""
_DRAG = 2
"""Cells that the mouse may move in a click."""


@dataclass(frozen=True, slots=True)
class _Overlay:
    """Characters laid over the drawing: where (drawing's cells), what, in which style."""

    x: int
    text: str
    style: str


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

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.drawing: Drawing | None = None
        self.marks = Marks()
        self._overlays: dict[int, list[_Overlay]] = {}
        self._owners: dict[tuple[Role, Owner], tuple[Style, dict[int, int] | None]] = {}
        self._shift = Offset(_MARGIN, 1)
        self._grabbed: Offset | None = None
        self._dragged = False
        self._message = ""

    # What is shown

    def show_drawing(self, drawing: Drawing | None, message: str = "") -> None:
        """Show another drawing (None: only `message`); selection and place are kept where they
        can.
        """
        before = self.drawing
        anchor = self.selected
        place = self._place_of(anchor)
        self.drawing, self._message = drawing, message
        self._fit_virtual_size()
        if drawing is None:
            self.scroll_to(0, 0, animate=False)
        elif before is None:
            self.center_on(next(iter(drawing.boxes), None), top=True)
        if anchor is not None and (drawing is None or anchor not in drawing.boxes):
            self.selected = None
        elif place is not None and drawing is not None and anchor is not None:
            # The selected node stays where it was on the screen.
            now = self._place_of(anchor)
            if now is not None:
                moved = now - place
                self.scroll_to(
                    self.scroll_offset.x + moved.x, self.scroll_offset.y + moved.y, animate=False
                )
        self._lay_over()

    def show_marks(self, marks: Marks) -> None:
        """Show another state of the run; only what changed in looks is worth a repaint."""
        if marks != self.marks:
            self.marks = marks
            self._lay_over()

    def center_on(self, node: str | None, *, top: bool = False) -> None:
        """Bring a node to the middle of the pane (or to its top), where the picture is larger."""
        box = self.drawing.boxes.get(node) if self.drawing and node else None
        if box is None:
            return
        x = box.x + self._shift.x + box.width // 2 - self.size.width // 2
        y = box.y + self._shift.y
        y = y - 1 if top else y + box.height // 2 - self.size.height // 2
        self.scroll_to(x, y, animate=False, force=True)

    def reveal(self, node: str) -> None:
        """Centre the node if it is not wholly in view with a few rows below it."""
        box = self.drawing.boxes.get(node) if self.drawing else None
        if box is None:
            return
        region = Region(
            box.x + self._shift.x - 2, box.y + self._shift.y - 1, box.width + 4, box.height + 5
        )
        window = Region(self.scroll_offset.x, self.scroll_offset.y, *self.size)
        if not window.contains_region(region):
            self.center_on(node)

    def node_at(self, offset: Offset) -> str | None:
        """The node at a cell of the widget's content."""
        from flowstudio.drawing.drawing import NodeRef

        owner = self._owner_at(offset)
        return owner.id if isinstance(owner, NodeRef) else None

    # Painting

    def render_line(self, y: int) -> Strip:
        """One line of the window."""
        width = self.size.width
        background = self.rich_style
        if self.drawing is None:
            return self._message_line(y, width, background)
        left = self.scroll_offset.x - self._shift.x
        row = y + self.scroll_offset.y - self._shift.y
        segments: list[Segment] = []
        at = 0
        rows = self.drawing.rows
        runs = rows[row] if 0 <= row < len(rows) else ()
        start = max(bisect_right(runs, left, key=_run_x) - 1, 0)
        for index in range(start, len(runs)):
            run = runs[index]
            x = run.x - left
            if x >= width:
                break
            if x + run.width <= 0:
                continue
            if x > at:
                segments.append(Segment(" " * (x - at), background))
                at = x
            style, table = self._look(run)
            text = run.text.translate(table) if table else run.text
            strip = Strip([Segment(text, style)], run.width)
            if x < 0 or x + run.width > width:
                strip = strip.crop(max(-x, 0), min(run.width, width - x))
            segments.extend(strip)
            at += strip.cell_length
        if at < width:
            segments.append(Segment(" " * (width - at), background))
        strip = Strip(segments, width)
        for over in self._overlays.get(row, ()):
            strip = self._lay(strip, over, left, width)
        return strip

    def _lay(self, strip: Strip, over: _Overlay, left: int, width: int) -> Strip:
        x, length = over.x - left, len(over.text)
        if x < 0 or x + length > width:
            return strip
        style = self._style(over.style)
        before, _, after = strip.divide([x, x + length, width])
        return Strip.join([before, Strip([Segment(over.text, style)], length), after])

    def _message_line(self, y: int, width: int, background: Style) -> Strip:
        lines = self._message.splitlines()
        top = max((self.size.height - len(lines)) // 2, 0)
        text = lines[y - top] if 0 <= y - top < len(lines) else ""
        style = self._style("flow--plain")
        return Strip([Segment(text, style)]).text_align(width, "center").apply_style(background)

    def _style(self, name: str) -> Style:
        if self.stale:
            name = "flow--muted"
        return self.get_component_rich_style(name)

    def _look(self, run: Run) -> tuple[Style, dict[int, int] | None]:
        """The style of a run of cells, and how its glyphs change."""
        key = (run.role, run.owner)
        found = self._owners.get(key)
        if found is None:
            found = self._owners[key] = self._find_look(run)
        return found

    def _find_look(self, run: Run) -> tuple[Style, dict[int, int] | None]:
        from flowstudio.drawing.drawing import NodeRef

        table: dict[int, int] | None = None
        if isinstance(run.owner, NodeRef):
            look: Look = self.marks.nodes.get(run.owner.id, "plain")
            if run.role == "mark" and look not in ("now", "fault"):
                name = "flow--plain"
            elif run.role in ("border", "mark"):
                name = f"flow--{look}"
                if run.owner.id == self.selected and look not in ("now", "fault"):
                    name = "flow--selected"
                table = HEAVY if look in ("now", "fault") else None
            else:
                name = "flow--now" if look == "now" else "flow--label"
                if look == "plain" and self.marks.nodes:
                    name = "flow--plain"
        else:
            look = self.marks.edges.get(run.owner.index, "plain")
            name = f"flow--{look}"
            if run.role == "edge-label" and look == "plain":
                name = "flow--label"
            if look in ("forced", "chosen"):
                table = DASHED
        return self._style(name), table

    def _lay_over(self) -> None:
        """Work out the glyphs of the marks anew and repaint."""
        self._overlays = {}
        self._owners.clear()
        if self.drawing is not None:
            for node, box in self.drawing.boxes.items():
                self._mark_box(node, box)
            for path in self.drawing.paths:
                self._mark_edge(path.index, path.label)
        self.refresh()

    def _mark_box(self, node: str, box: Box) -> None:
        marks = self.marks
        look = marks.nodes.get(node, "plain")
        if tag := marks.tags.get(node):
            x = box.x + box.width - 2 - len(tag)
            if x > box.x:
                self._put(box.y, x, tag, f"flow--{look}")
        middle = box.y + box.height // 2
        if flag := marks.flags.get(node):
            self._put(middle, box.x, flag, f"flow--{look}")
        if node in marks.breakpoints:
            row = box.y if node in marks.flags else middle
            self._put(row, box.x, "●", "flow--fault")

    def _mark_edge(self, index: int, label: tuple[int, int, tuple[str, ...]] | None) -> None:
        if label is None:
            return
        x, y, lines = label
        look = self.marks.edges.get(index, "plain")
        if (number := self.marks.numbers.get(index)) and self._is_blank(y, x - 1, 1):
            self._put(y, x - 1, str(number), "flow--key")
        if (count := self.marks.counts.get(index, 0)) > 1:
            end = x + max(Strip([Segment(line)]).cell_length for line in lines)
            text = f"×{count}"
            if self._is_blank(y, end, len(text) + 2):
                self._put(y, end + 1, text, f"flow--{look}")

    def _put(self, row: int, x: int, text: str, style: str) -> None:
        self._overlays.setdefault(row, []).append(_Overlay(x, text, style))

    def _is_blank(self, row: int, x: int, width: int) -> bool:
        drawing = self.drawing
        if drawing is None or x < -self._shift.x:
            return False
        return all(drawing.at(x + step, row) is None for step in range(width))

    # Place and size

    def _fit_virtual_size(self) -> None:
        drawing = self.drawing
        if drawing is None:
            self.virtual_size = Size(0, 0)
            return
        width, height = drawing.width + 2 * _MARGIN, drawing.height + 2
        self._shift = Offset(
            _MARGIN + max(self.size.width - width, 0) // 2,
            1 + max(min((self.size.height - height) // 3, 4), 0),
        )
        self.virtual_size = Size(width, height)

    def _place_of(self, node: str | None) -> Offset | None:
        box = self.drawing.boxes.get(node) if self.drawing and node else None
        return Offset(box.x, box.y) + self._shift if box else None

    def _owner_at(self, offset: Offset) -> Owner | None:
        if self.drawing is None:
            return None
        x, y = offset + self.scroll_offset - self._shift
        return self.drawing.at(x, y)

    def notify_style_update(self) -> None:
        """A theme changed: the cached styles are of the old one."""
        super().notify_style_update()
        self._owners.clear()

    def on_resize(self) -> None:
        """Centre a small drawing in the new size; the selected node stays in view."""
        self._fit_virtual_size()
        if self.selected is not None:
            self.call_after_refresh(self.reveal, self.selected)
        self.refresh()

    def watch_selected(self) -> None:
        """Paint the outline of the selected node."""
        self._owners.clear()
        self.refresh()

    def watch_stale(self) -> None:
        """Dim or undim the picture."""
        self._owners.clear()

    # Keys and mouse

    def action_pan(self, x: int, y: int) -> None:
        """Move the window over the drawing by so many cells."""
        self.scroll_to(self.scroll_offset.x + x, self.scroll_offset.y + y, animate=False)
        self.post_message(self.Panned())

    def action_select(self, direction: str) -> None:
        """Select the nearest node in a direction."""
        drawing = self.drawing
        if drawing is None or not drawing.boxes:
            return
        here = drawing.boxes.get(self.selected or "")
        if here is None:
            self._select(next(iter(drawing.boxes)))
            return
        boxes = [box for box in drawing.boxes.values() if box is not here]
        nearest = min(boxes, key=_distance(here, direction), default=None)
        if nearest is not None and _distance(here, direction)(nearest) < _FAR:
            self._select(nearest.id)

    def _select(self, node: str | None) -> None:
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
        from flowstudio.drawing.drawing import EdgeRef, NodeRef

        self.release_mouse()
        grabbed, self._grabbed = self._grabbed, None
        if grabbed is None or self._dragged:
            return
        offset = event.get_content_offset(self)
        if offset is None:
            return
        owner = self._owner_at(offset)
        if isinstance(owner, NodeRef):
            self._select(owner.id)
        elif isinstance(owner, EdgeRef) and self.drawing is not None:
            self._select(self.drawing.paths[owner.index].src)
        else:
            self._select(None)


_FAR = 10**9


def _run_x(run: Run) -> int:
    return run.x


def _distance(here: Box, direction: str) -> Callable[[Box], int]:
    """How far a box is in a direction; boxes on another side are `_FAR`."""

    def measure(box: Box) -> int:
        dx = (box.x * 2 + box.width) - (here.x * 2 + here.width)
        dy = ((box.y * 2 + box.height) - (here.y * 2 + here.height)) * 2
        along, across = {
            "up": (-dy, dx),
            "down": (dy, dx),
            "left": (-dx, dy),
            "right": (dx, dy),
        }[direction]
        return along + 2 * abs(across) if along > 0 else _FAR

    return measure


def first_lines(messages: Sequence[str], count: int) -> str:
    """The first few messages as one text, saying how many are left out."""
    shown = list(messages[:count])
    if len(messages) > count:
        shown.append(f"… and {len(messages) - count} more")
    return "\n".join(shown)
