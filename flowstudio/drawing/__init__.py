"""A flow as characters: layout, routes and canvas; exports to text and SVG. Knows no screens."""

from flowstudio.drawing.drawing import (
    Box,
    Drawing,
    EdgeRef,
    Glyphs,
    NodeRef,
    Owner,
    Path,
    Role,
    Run,
    Zoom,
)
from flowstudio.drawing.marked import draw_marked
from flowstudio.drawing.marks import Marks
from flowstudio.drawing.palette import LIGHT, Palette
from flowstudio.drawing.pipeline import choose_direction, draw

__all__ = [
    "LIGHT",
    "Box",
    "Drawing",
    "EdgeRef",
    "Glyphs",
    "Marks",
    "NodeRef",
    "Owner",
    "Palette",
    "Path",
    "Role",
    "Run",
    "Zoom",
    "choose_direction",
    "draw",
    "draw_marked",
]
