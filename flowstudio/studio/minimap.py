"""The map of a large drawing in the corner of the flow pane: where the window is, and the run.

A cell of braille shows 2 x 4 dots, each a part of the drawing that holds boxes. The dots are worked
out once for a drawing; afterwards the map costs its few cells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.segment import Segment
from textual import events
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

if TYPE_CHECKING:
    from flowstudio.drawing.drawing import Box, Drawing

type MapGlyphs = Literal["unicode", "ascii"]

_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
"""The bits of a braille character, by column and row."""
_LEAST = Size(40, 14)
"""A view smaller than this has no corner to spare."""
_SHARE = 3
"""The map takes at most a third of the view's width, and of its height."""
_MOST = Size(26, 12)
_SMALL = 4
"""Of a drawing of fewer windows than this one sees so much that a map must cost nothing."""
_FRAMES: Mapping[MapGlyphs, str] = {"unicode": "┌┐└┘─│", "ascii": "++++-|"}
_SIGNS: Mapping[MapGlyphs, tuple[str, str]] = {"unicode": ("▶", "◉"), "ascii": (">", "@")}
"""The current and the selected node."""


def map_size(drawing: Size, view: Size) -> Size | None:
    """Columns and rows of the map of a drawing, in its shape; None where it is not needed, or
    where there is no room for it."""
    if drawing.width <= view.width and drawing.height <= view.height:
        return None
    if view.width < _LEAST.width or view.height < _LEAST.height:
        return None
    most = Size(
        min(view.width // _SHARE, _MOST.width) - 2, min(view.height // _SHARE, _MOST.height) - 2
    )
    columns = round(most.height * drawing.width / drawing.height)
    columns = min(max(columns, min(8, most.width)), most.width)
    rows = min(max(round(columns * drawing.height / drawing.width), 2), most.height)
    return Size(columns, rows)


def is_small(drawing: Size, view: Size) -> bool:
    """Whether the map of a drawing is of so little use that it may hide none of it."""
    return drawing.area < _SMALL * view.area


def place_of_map(corner: Offset, cells: Size) -> Region:
    """What a map of so many cells covers, with its frame."""
    return Region(*corner, cells.width + 2, cells.height + 2)


def rasterise(boxes: Mapping[str, Box], drawing: Size, cells: Size) -> list[list[int]]:
    """The map's cells as braille masks, by row: a dot is set where there are boxes.

    Where there are more boxes than dots, those dots that hold many.
    """
    wide, tall = cells.width * 2, cells.height * 4
    counts = [[0] * wide for _ in range(tall)]
    for box in boxes.values():
        x0, x1 = (x * wide // drawing.width for x in (box.x, box.x + box.width - 1))
        y0, y1 = (y * tall // drawing.height for y in (box.y, box.y + box.height - 1))
        for row in counts[y0 : y1 + 1]:
            for x in range(x0, x1 + 1):
                row[x] += 1
    used = [count for row in counts for count in row if count]
    floor = sum(used) / len(used) / 2 if used else 0
    masks = [[0] * cells.width for _ in range(cells.height)]
    for y, row in enumerate(counts):
        for x, count in enumerate(row):
            if count and count >= floor:
                masks[y // 4][x // 2] |= _DOTS[x % 2][y % 4]
    return masks


class Minimap(Widget):
    """Shows the whole drawing small, with the window as a frame; a click or a drag moves it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "map--boxes",
        "map--window",
        "map--frame",
        "map--now",
        "map--selected",
    }

    DEFAULT_CSS = """
    Minimap {
        display: none; position: absolute; layer: map;
        background: $surface; border: round $role-line; color: $role-dim;
        & .map--boxes { color: $role-dim; }
        & .map--window { color: $role-muted; background: $panel; }
        & .map--frame { color: $role-text; background: $panel; }
        & .map--now { color: $role-now; text-style: bold; }
        & .map--selected { color: $role-accent; text-style: bold; }
    }
    """

    ALLOW_SELECT = False

    class Picked(Message):
        """The user pointed at a place: a cell of the drawing."""

        def __init__(self, x: int, y: int) -> None:
            super().__init__()
            self.x = x
            self.y = y

    def __init__(self, *, id: str | None = None, glyphs: MapGlyphs = "unicode") -> None:
        super().__init__(id=id)
        self.glyphs: MapGlyphs = glyphs
        self._drawing: Drawing | None = None
        self._cells = Size(0, 0)
        self._masks: list[list[int]] = []
        self._window = Region()
        self._now: str | None = None
        self._selected: str | None = None
        self._shown: tuple[Region, dict[tuple[int, int], tuple[str, str]]] | None = None
        """The window's frame and the signs, in the map's cells."""
        self._held = False

    def show(
        self,
        drawing: Drawing,
        cells: Size,
        window: Region,
        *,
        now: str | None = None,
        selected: str | None = None,
    ) -> None:
        """Show a drawing in so many cells, the window over it, and two nodes."""
        if drawing is not self._drawing or cells != self._cells:
            self._drawing, self._cells = drawing, cells
            self._masks = rasterise(drawing.boxes, Size(drawing.width, drawing.height), cells)
            self.styles.width, self.styles.height = cells.width + 2, cells.height + 2
            self._shown = None
        self._window, self._now, self._selected = window, now, selected
        shown = (self._frame(), self._signs())
        if shown != self._shown:  # a cell of the map stands for many of the drawing
            self._shown = shown
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """One row of the map."""
        if y >= len(self._masks) or self._drawing is None:
            return Strip.blank(self.size.width, self.rich_style)
        frame, signs = self._frame(), self._signs()
        segments: list[Segment] = []
        run, run_name = "", ""
        for x, mask in enumerate(self._masks[y]):
            inside = frame.contains(x, y)
            glyph, name = self._glyph(mask), "map--window" if inside else "map--boxes"
            if inside and (edge := self._frame_glyph(frame, x, y)):
                glyph, name = edge, "map--frame"
            if sign := signs.get((x, y)):
                glyph, name = sign
            if name != run_name and run:
                segments.append(Segment(run, self.get_component_rich_style(run_name)))
                run = ""
            run, run_name = run + glyph, name
        segments.append(Segment(run, self.get_component_rich_style(run_name)))
        return Strip(segments, len(self._masks[y]))

    def _glyph(self, mask: int) -> str:
        if self.glyphs == "unicode":
            return chr(0x2800 + mask) if mask else " "
        return " .:#"[min((mask.bit_count() + 2) // 3, 3)]

    def _frame(self) -> Region:
        """The cells that the window covers."""
        assert self._drawing is not None
        columns, rows = self._cells
        width, height = max(self._drawing.width, 1), max(self._drawing.height, 1)
        window = self._window.intersection(Region(0, 0, width, height))
        x0, y0 = window.x * columns // width, window.y * rows // height
        x1 = min(max(-(-window.right * columns // width), x0 + 1), columns)
        y1 = min(max(-(-window.bottom * rows // height), y0 + 1), rows)
        return Region(x0, y0, max(x1 - x0, 1), max(y1 - y0, 1))

    def _frame_glyph(self, frame: Region, x: int, y: int) -> str:
        """The stroke of the frame in a cell; "" inside of it. One row or column has no corners."""
        corners = _FRAMES[self.glyphs]
        left, right = x == frame.x, x == frame.right - 1
        top, bottom = y == frame.y, y == frame.bottom - 1
        if frame.height == 1:
            return "[" if left else "]" if right else ""
        if frame.width == 1:
            return corners[5]
        if (left or right) and (top or bottom):
            return corners[(2 if bottom else 0) + (1 if right else 0)]
        if top or bottom:
            return corners[4]
        return corners[5] if left or right else ""

    def _signs(self) -> dict[tuple[int, int], tuple[str, str]]:
        """The cells of the two nodes, with glyph and style."""
        now, chosen = _SIGNS[self.glyphs]
        found: dict[tuple[int, int], tuple[str, str]] = {}
        for node, sign in (
            (self._selected, (chosen, "map--selected")),
            (self._now, (now, "map--now")),
        ):
            if (cell := self._cell_of(node)) is not None:
                found[cell] = sign
        return found

    def _cell_of(self, node: str | None) -> tuple[int, int] | None:
        drawing = self._drawing
        box = drawing.boxes.get(node) if drawing and node else None
        if drawing is None or box is None:
            return None
        x = (box.x + box.width // 2) * self._cells.width // drawing.width
        y = (box.y + box.height // 2) * self._cells.height // drawing.height
        return x, y

    # Mouse

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Go there, and follow the mouse."""
        event.stop()
        self._held = True
        self.capture_mouse()
        self._pick(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the window along."""
        event.stop()
        if self._held:
            self._pick(event)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let go."""
        event.stop()
        self._held = False
        self.release_mouse()

    def _pick(self, event: events.MouseEvent) -> None:
        drawing = self._drawing
        if drawing is None:
            return
        place = event.screen_offset - self.content_region.offset
        x = min(max(place.x, 0), self._cells.width - 1)
        y = min(max(place.y, 0), self._cells.height - 1)
        self.post_message(
            self.Picked(
                # The first and the last cell mean the very ends, which could not be reached else.
                x * (drawing.width - 1) // max(self._cells.width - 1, 1),
                y * (drawing.height - 1) // max(self._cells.height - 1, 1),
            )
        )


def map_corner(
    view: Size, cells: Size, hides: Callable[[Region], int], now: Offset | None = None
) -> Offset:
    """Where the map goes: the corner where it hides least, the lower right one before others.

    `hides` says how much a place of the view holds that would be hidden. The map stays where it
    is as long as nothing is hidden there: a map that jumps about is worse than none.
    """
    size = place_of_map(Offset(), cells).size
    right, low = view.width - size.width, view.height - size.height
    corners = [Offset(right, low), Offset(right, 0), Offset(0, low), Offset(0, 0)]
    if now is not None and now in corners:
        if not hides(place_of_map(now, cells)):
            return now  # to ask of the other corners costs more than a frame
        corners.insert(0, now)
    return min(corners, key=lambda corner: hides(place_of_map(corner, cells)))
