"""The characters of a drawing: two sets, one in box-drawing glyphs, one in ASCII."""

from __future__ import annotations

from dataclasses import dataclass

from flowstudio.drawing.drawing import Glyphs
from flowstudio.flow.model import FlowNodeKind

UP, RIGHT, DOWN, LEFT = 1, 2, 4, 8
"""The four directions in which a cell's stroke can leave it, as a mask."""


@dataclass(frozen=True, slots=True)
class Outline:
    """The frame of a box: corners from the upper left clockwise, sides, and where lines leave."""

    corners: str
    across: str
    down: str
    tees: str
    """Tees for a line that leaves up, right, down and left."""
    dot: str
    """What fills the box at the smallest zoom."""


@dataclass(frozen=True, slots=True)
class GlyphSet:
    """All characters of one set."""

    outlines: dict[FlowNodeKind, Outline]
    strokes: dict[int, str]
    """Edge strokes by mask."""
    arrows: dict[int, str]
    """Arrowheads by the direction in which they point."""
    decision: str
    """The sign of a decision, one cell."""


_ROUND = Outline("╭╮╯╰", "─", "│", "┴├┬┤", "●")
_SQUARE = Outline("┌┐┘└", "─", "│", "┴├┬┤", "■")
_DOUBLE = Outline("╔╗╝╚", "═", "║", "╧╟╤╢", "◆")

UNICODE = GlyphSet(
    {"begin": _ROUND, "end": _ROUND, "task": _SQUARE, "decision": _DOUBLE},
    {
        UP | DOWN: "│",
        LEFT | RIGHT: "─",
        DOWN | RIGHT: "╭",
        DOWN | LEFT: "╮",
        UP | LEFT: "╯",
        UP | RIGHT: "╰",
        UP | DOWN | LEFT | RIGHT: "┼",
    },
    {UP: "▲", RIGHT: "►", DOWN: "▼", LEFT: "◄"},
    "◆",
)

_ASCII_ROUND = Outline("..''", "-", "|", "++++", "o")
_ASCII_SQUARE = Outline("++++", "-", "|", "++++", "#")
_ASCII_DOUBLE = Outline("####", "=", "#", "++++", "*")

ASCII = GlyphSet(
    {
        "begin": _ASCII_ROUND,
        "end": _ASCII_ROUND,
        "task": _ASCII_SQUARE,
        "decision": _ASCII_DOUBLE,
    },
    {
        UP | DOWN: "|",
        LEFT | RIGHT: "-",
        DOWN | RIGHT: ".",
        DOWN | LEFT: ".",
        UP | LEFT: "'",
        UP | RIGHT: "'",
        UP | DOWN | LEFT | RIGHT: "+",
    },
    {UP: "^", RIGHT: ">", DOWN: "v", LEFT: "<"},
    "?",
)


def glyph_set(name: Glyphs) -> GlyphSet:
    """The set of that name."""
    return UNICODE if name == "unicode" else ASCII
