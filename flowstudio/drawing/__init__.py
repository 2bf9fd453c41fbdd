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
from flowstudio.drawing.pipeline import choose_direction, draw
from flowstudio.drawing.svg import LIGHT, Palette

__all__ = [
    "LIGHT",
    "Box",
    "Drawing",
    "EdgeRef",
    "Glyphs",
    "NodeRef",
    "Owner",
    "Palette",
    "Path",
    "Role",
    "Run",
    "Zoom",
    "choose_direction",
    "draw",
]
