"""Where the things of a drawing are: what lies at a cell, beside a node, in a window.

Everything is found by rows, so that a question costs what it asks about, however large the drawing
is. Coordinates are the drawing's cells. Pure, and made off the main thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.geometry import Region

from flowstudio.drawing.drawing import NodeRef
from flowstudio.drawing.text import width_of

if TYPE_CHECKING:
    from flowstudio.drawing.drawing import Box, Drawing, Owner, Path

_BAND = 16
"""Rows that share one list of boxes."""
_AGAIN = 8
"""Cells after which a line that leads back says so again: any window shows one such sign."""
_FAR = 10**9
_AGAINST = {"TD": (0, -1, "↑"), "BT": (0, 1, "↓"), "LR": (-1, 0, "←"), "RL": (1, 0, "→")}
"""The way back, as a step and as a glyph, by the direction of the drawing."""


@dataclass(frozen=True, slots=True)
class Note:
    """Where an edge has room for a few characters: before and after its label, if it has one."""

    edge: int
    before: int
    """The column just before the label, or beside the line."""
    after: int
    """The first column after the label and a space, or beside the line."""
    has_label: bool


@dataclass(frozen=True, slots=True)
class Sign:
    """A cell of an edge that leads back, and the glyph that says so."""

    edge: int
    x: int
    glyph: str


class Places:
    """The things of one drawing by their place."""

    __slots__ = ("_bands", "_drawing", "flags", "notes", "signs", "tops")

    def __init__(self, drawing: Drawing) -> None:
        self._drawing = drawing
        self._bands: dict[int, list[Box]] = {}
        self.tops: dict[int, list[Box]] = {}
        """Boxes by their first row."""
        self.flags: dict[int, list[Box]] = {}
        """Boxes by their middle row."""
        self.notes: dict[int, list[Note]] = {}
        """Room beside edges, by row."""
        self.signs: dict[int, list[Sign]] = {}
        """Cells that tell edges that lead back, by row."""
        for box in drawing.boxes.values():
            self.tops.setdefault(box.y, []).append(box)
            self.flags.setdefault(box.y + box.height // 2, []).append(box)
            for band in range(box.y // _BAND, (box.y + box.height - 1) // _BAND + 1):
                self._bands.setdefault(band, []).append(box)
        for path in drawing.paths:
            self._add_note(path)
            if path.back:
                self._add_signs(path)

    def _add_note(self, path: Path) -> None:
        if path.label is not None:
            x, y, lines = path.label
            end = x + max(map(width_of, lines), default=0)
            note = Note(path.index, x - 1, end + 1, True)
        else:
            x, y = path.points[0]
            note = Note(path.index, x - 1, x + 1, False)
        self.notes.setdefault(y, []).append(note)

    def _add_signs(self, path: Path) -> None:
        dx, dy, glyph = _AGAINST[self._drawing.direction]
        for (x0, y0), (x1, y1) in zip(path.points, path.points[1:], strict=False):
            steps = (x1 - x0) * dx + (y1 - y0) * dy
            if steps < 2:
                continue
            first = min(steps // 2, _AGAIN // 2)
            for step in range(first, steps, _AGAIN):
                sign = Sign(path.index, x0 + step * dx, glyph)
                self.signs.setdefault(y0 + step * dy, []).append(sign)

    def node_at(self, x: int, y: int) -> str | None:
        """The node whose outline or inside the cell belongs to."""
        for box in self._bands.get(y // _BAND, ()):
            if box.x <= x < box.x + box.width and box.y <= y < box.y + box.height:
                return box.id
        return None

    def owner_at(self, x: int, y: int) -> Owner | None:
        """What the cell belongs to: a node (its inside too), an edge or its label, or None."""
        node = self.node_at(x, y)
        if node is not None:
            return NodeRef(node)
        for run in self._drawing.window(x, y, 1, 1)[0]:
            return run.owner
        return None

    def is_line(self, x: int, y: int) -> bool:
        """Whether the cell is a plain stretch of one edge: no crossing, no arrowhead."""
        return any(run.role == "edge" for run in self._drawing.window(x, y, 1, 1)[0])

    def is_blank(self, x: int, y: int, width: int) -> bool:
        """Whether nothing is drawn in these cells; a box's inside is not blank."""
        if self._drawing.window(x, y, width, 1)[0]:
            return False
        return not any(self.boxes_in(Region(x, y, width, 1)))

    def boxes_in(self, window: Region) -> Iterator[Box]:
        """The boxes that touch a window, each once."""
        for band in range(window.y // _BAND, (window.bottom - 1) // _BAND + 1):
            for box in self._bands.get(band, ()):
                if max(box.y, window.y) // _BAND != band:
                    continue  # it was given with the band where it comes into the window
                if (
                    box.x < window.right
                    and box.x + box.width > window.x
                    and box.y < window.bottom
                    and box.y + box.height > window.y
                ):
                    yield box

    def toward(self, node: str, direction: str) -> str | None:
        """The nearest node in a direction: up, down, left or right."""
        here = self._drawing.boxes[node]
        measure = _distance(here, direction)
        others = (box for box in self._drawing.boxes.values() if box is not here)
        nearest = min(others, key=measure, default=None)
        return nearest.id if nearest is not None and measure(nearest) < _FAR else None


def nearest_to(boxes: Sequence[Box], x: int, y: int) -> Box | None:
    """The box whose middle is nearest to a cell; rows count twice, as cells are tall."""

    def measure(box: Box) -> int:
        across = abs(box.x * 2 + box.width - 2 * x)
        return across + 2 * abs(box.y * 2 + box.height - 2 * y)

    return min(boxes, key=measure, default=None)


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
