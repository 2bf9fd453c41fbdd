"""A short animation after an edit: boxes slide from where they were to where they are now.

Only shows that things moved, and where to: nothing waits for it, and every key works meanwhile.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from textual.geometry import Offset
from textual.strip import Strip

if TYPE_CHECKING:
    from rich.style import Style

    from flowstudio.drawing.drawing import Box
    from flowstudio.studio.flow_paint import Painter

SECONDS = 0.18
"""How long it takes."""
_MANY = 300
"""Boxes in a window above which sliding would be a flicker and not a help."""


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

    def shift(self, node: str, now: float) -> Offset:
        """How far a box still is from its new place."""
        way = self.ways.get(node)
        if way is None:
            return Offset(0, 0)
        left = max(1 - (now - self.started) / SECONDS, 0.0) ** 2
        return Offset(round(way.x * left), round(way.y * left))


def plan_slide(
    before: Mapping[str, Offset], boxes: Sequence[Box], origin: Offset, now: float
) -> Slide | None:
    """The way of each box from its place on the screen to its new one; None if all stay.

    `before` has the old places on the screen, `origin` is the new place of the drawing there.
    """
    ways: dict[str, Offset] = {}
    for box in boxes:
        old = before.get(box.id)
        if old is not None and old != (new := origin + Offset(box.x, box.y)):
            ways[box.id] = old - new
    if not ways or len(boxes) > _MANY:
        return None
    return Slide(now, tuple(boxes), ways)


def slide_line(
    slide: Slide, painter: Painter, y: int, origin: Offset, width: int, background: Style
) -> Strip:
    """One line of the window while boxes slide: the new lines, and the boxes over them, on their
    way."""
    now = monotonic()
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
