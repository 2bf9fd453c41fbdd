"""A short animation after an edit: boxes slide from where they were to where they are now.

Only shows that things moved, and where to: nothing waits for it, and every key works meanwhile.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.geometry import Offset
from textual.strip import Strip

if TYPE_CHECKING:
    from rich.style import Style

    from flowstudio.drawing.drawing import Box
    from flowstudio.studio.flow_paint import Painter

SECONDS = 0.18
"""How long it takes."""
_LEAST = 2
"""Cells of the longest way that is worth sliding: one cell is a jump however it is painted."""
_MANY = 300
"""Boxes in a window above which sliding would be a flicker and not a help."""


type Placed = tuple[Box, Offset]
"""A box, and the cell of the window where it begins."""


def may_move(level: str) -> bool:
    """Whether things may move: `NO_ANIMATION` and `TEXTUAL_ANIMATIONS=none` say no; `level` is
    the app's."""
    return level != "none" and not os.environ.get("NO_ANIMATION")


@dataclass(frozen=True, slots=True)
class Slide:
    """Boxes on their way."""

    started: float
    """Seconds of a monotonic clock."""
    boxes: tuple[Box, ...]
    """Every box that is in the window before or after, at its new place in the drawing."""
    ways: Mapping[str, Offset]
    """For each box that moves, where it came from, as seen from where it goes to."""

    def is_over(self, now: float) -> bool:
        """Whether all have arrived."""
        return now >= self.started + SECONDS

    def shifts(self, now: float) -> Mapping[str, Offset]:
        """How far each box still is from its new place: all that a frame depends on."""
        left = max(1 - (now - self.started) / SECONDS, 0.0) ** 2
        return {
            node: Offset(round(way.x * left), round(way.y * left))
            for node, way in self.ways.items()
        }

    def place(self, origin: Offset, shifts: Mapping[str, Offset]) -> Sequence[Placed]:
        """Where each box is in the window now, the drawing's new place there being `origin`."""
        there = Offset(0, 0)
        return [
            (box, origin + Offset(box.x, box.y) + shifts.get(box.id, there)) for box in self.boxes
        ]


def plan_slide(
    before: Mapping[str, Offset], boxes: Sequence[Box], origin: Offset, now: float
) -> Slide | None:
    """The way of each box from its place on the screen to its new one; None if all stay there, or
    almost.

    `before` has the old places on the screen, `origin` is the new place of the drawing there.
    """
    ways: dict[str, Offset] = {}
    for box in boxes:
        old = before.get(box.id)
        if old is not None and old != (new := origin + Offset(box.x, box.y)):
            ways[box.id] = old - new
    longest = max((max(abs(way.x), abs(way.y)) for way in ways.values()), default=0)
    if longest < _LEAST or len(boxes) > _MANY:
        return None
    return Slide(now, tuple(boxes), ways)


def slide_line(
    placed: Sequence[Placed], painter: Painter, y: int, origin: Offset, width: int, ground: Style
) -> Strip:
    """One line of the window while boxes slide: the new lines, and the boxes over them, on their
    way."""
    strip = painter.edges_only(y - origin.y, -origin.x, width, ground)
    for box, (x, top) in placed:
        if not top <= y < top + box.height or x >= width or x + box.width <= 0:
            continue
        row = painter.box_row(box, y - top, ground)
        row = row.crop(max(-x, 0), min(box.width, width - x))
        x = max(x, 0)
        end = x + row.cell_length
        strip = Strip.join([strip.crop(0, x), row, strip.crop(end, width)])
    return strip
