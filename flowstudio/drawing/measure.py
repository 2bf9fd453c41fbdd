"""How large each box is and what is written in it, by zoom level."""

from __future__ import annotations

from dataclasses import dataclass

from flowstudio.drawing.drawing import Zoom
from flowstudio.drawing.text import clean, fit, shorten, width_of
from flowstudio.flow.model import FlowNode, FlowNodeKind

TITLE_WIDTH = 32
"""Cells that a title takes at most, without the count of hidden lines."""
EDGE_LABEL_WIDTH = 22
_NARROW, _WIDE = 24, 46
_SHAPE = 5.5
"""A full box is about this many times as wide as it is tall: cells are twice as tall as wide."""


@dataclass(frozen=True, slots=True)
class Face:
    """What a box shows: its kind, the rows of its label, and a mark for its upper border."""

    id: str
    kind: FlowNodeKind
    rows: tuple[str, ...]
    hidden: str = ""
    """The count of hidden lines, such as `+3`, at the end of the only row."""
    mark: str = ""

    @property
    def width(self) -> int:
        """Cells that the widest row needs, the glyph and the count of hidden lines included."""
        width = max((width_of(row) for row in self.rows), default=0)
        return width + (width_of(self.hidden) + 1 if self.hidden else 0) + self.indent

    @property
    def indent(self) -> int:
        """Cells before each row of a decision, where its glyph stands."""
        return 2 if self.kind == "decision" else 0


def face_of(node: FlowNode, zoom: Zoom, limit: int, mark: str = "") -> Face:
    """What `node` shows at this zoom level, no row wider than `limit` cells."""
    lines = clean(node.text) or clean(node.id) or ("�",)
    if zoom == "dot":
        return Face(node.id, node.kind, ())
    if zoom == "title":
        hidden = sum(1 for line in lines[1:] if line)
        first = shorten(lines[0].lstrip(), limit)
        return Face(node.id, node.kind, (first,), f"+{hidden}" if hidden else "", mark)
    return Face(node.id, node.kind, _block(lines, limit), "", mark)


def _block(lines: tuple[str, ...], limit: int) -> tuple[str, ...]:
    """All lines, wrapped into a block of a pleasant shape."""
    widths = [width_of(line) for line in lines]
    total = sum(widths)
    wish = round((total * _SHAPE) ** 0.5)
    width = max(min(max(wish, _NARROW), _WIDE, limit), 8)
    rows = fit(lines, width)
    # The same number of rows in less width leaves the last row less ragged.
    for narrower in range(width - 1, max(width - 8, 7), -1):
        tighter = fit(lines, narrower)
        if len(tighter) > len(rows):
            break
        rows = tighter
    return rows


def label_rows(label: str | None, limit: int = EDGE_LABEL_WIDTH) -> tuple[str, ...]:
    """The rows of an edge's label; empty if it has none that can be seen."""
    if not label:
        return ()
    return tuple(row for row in fit(clean(label), limit) if row)
