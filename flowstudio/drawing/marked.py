"""A chart drawn with its marks in place: nothing is laid over what it would hide.

Tags stand in the upper borders of boxes that are made wide enough for them, counts and the sign of
a forced branch belong to the labels of their edges. So the layout knows of them, and the picture
says the same without colours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import overload

from flowstudio.drawing.drawing import Drawing, EdgeRef, Glyphs, NodeRef, Path, Rows, Run, Zoom
from flowstudio.drawing.marks import (
    BREAK,
    DASHED,
    DOT_BREAK,
    FORCED,
    HEAVY,
    HEAVY_DASHED,
    HOLLOW,
    STARS,
    TILDES,
    Look,
    Marks,
    spell,
)
from flowstudio.drawing.pipeline import draw
from flowstudio.drawing.text import width_of
from flowstudio.flow.chart import Chart
from flowstudio.flow.model import Direction, Flow, FlowEdge

_CROSSES = {(False, False): "┼", (True, False): "┿", (False, True): "╂", (True, True): "╋"}
"""By whether the level line and the upright one are heavy."""
_HEAVY_LOOKS = ("done", "forced")
_STROKES: Mapping[Glyphs, Mapping[Look, Mapping[int, int | str]]] = {
    "unicode": {"done": HEAVY, "forced": HEAVY_DASHED, "chosen": DASHED},
    "ascii": {"forced": TILDES, "chosen": TILDES},
}
"""How the strokes of an edge change with its look."""


def draw_marked(
    chart: Chart | Flow,
    marks: Marks,
    *,
    direction: Direction | None = None,
    zoom: Zoom = "full",
    width: int | None = None,
    glyphs: Glyphs = "unicode",
) -> Drawing:
    """The picture of a chart with its marks. As `draw`; edges are numbered as there."""
    if not marks:
        return draw(chart, direction=direction, zoom=zoom, width=width, glyphs=glyphs)
    edges = tuple(
        replace(edge, label=_label(index, edge, marks, glyphs))
        for index, edge in enumerate(chart.edges)
    )
    drawing = draw(
        Chart("mermaid", chart.nodes, edges, (), chart.direction),
        direction=direction,
        zoom=zoom,
        width=width,
        glyphs=glyphs,
        marks={node: tag for node in chart.nodes if (tag := spell(marks.tag_of(node), glyphs))},
    )
    return replace(drawing, rows=_MarkedRows(drawing, marks, glyphs))


def _label(index: int, edge: FlowEdge, marks: Marks, glyphs: Glyphs) -> str | None:
    """The edge's label with the sign of a forced branch before it and its count behind it."""
    parts = [edge.label] if edge.label else []
    if marks.edges.get(index) in ("forced", "chosen"):
        parts.insert(0, spell(FORCED, glyphs))
    count = marks.counts.get(index, 0)
    # Heavy lines tell what was taken; in ASCII there are none, so the count says it.
    if count > (0 if glyphs == "ascii" else 1):
        parts.append(spell(f"×{count}", glyphs))
    return " ".join(parts) or None


class _MarkedRows:
    """The rows of a drawing with the strokes of its marks."""

    __slots__ = ("_glyphs", "_height", "_marks", "_rows", "_strokes", "_upright", "_zoom")

    def __init__(self, drawing: Drawing, marks: Marks, glyphs: Glyphs) -> None:
        self._rows: Rows = drawing.rows
        self._height = drawing.height
        self._zoom: Zoom = drawing.zoom
        self._marks = marks
        self._glyphs: Glyphs = glyphs
        self._strokes = _STROKES[glyphs]
        self._upright = _find_upright(drawing.paths, marks) if glyphs == "unicode" else {}

    def __len__(self) -> int:
        return self._height

    @overload
    def __getitem__(self, index: int) -> tuple[Run, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[Run, ...]]: ...
    def __getitem__(self, index: int | slice) -> tuple[Run, ...] | Sequence[tuple[Run, ...]]:
        if isinstance(index, slice):
            return [self[y] for y in range(*index.indices(self._height))]
        return self._mark(index % self._height if index < 0 else index, self._rows[index])

    def __iter__(self) -> Iterator[tuple[Run, ...]]:
        return (self._mark(y, row) for y, row in enumerate(self._rows))

    def window(self, x: int, y: int, width: int, height: int) -> tuple[tuple[Run, ...], ...]:
        rows = self._rows.window(x, y, width, height)
        return tuple(self._mark(at, row) for at, row in enumerate(rows, start=y))

    def _mark(self, y: int, row: tuple[Run, ...]) -> tuple[Run, ...]:
        marked: list[Run] = []
        for run in row:
            if isinstance(run.owner, NodeRef):
                marked.extend(self._mark_node(run, run.owner.id))
            else:
                marked.append(self._mark_edge(run, run.owner, y))
        return tuple(marked)

    def _mark_node(self, run: Run, node: str) -> Iterator[Run]:
        if self._zoom == "dot":
            sign = spell(self._marks.sign_of(node).replace(BREAK, DOT_BREAK), self._glyphs)
            yield replace(run, text=sign[0] * run.width) if sign else run
            return
        sign = spell(BREAK, self._glyphs)
        if run.role == "mark" and node in self._marks.breakpoints and run.text.startswith(sign):
            size = width_of(sign)
            yield replace(run, text=sign, width=size)
            if rest := run.text[len(sign) :]:
                yield replace(run, x=run.x + size, text=rest, width=run.width - size)
            return
        if run.role == "border" and self._marks.look_of(run.owner) in ("now", "fault"):
            table = HEAVY if self._glyphs == "unicode" else STARS
            run = replace(run, text=run.text.translate(table))
        yield run

    def _mark_edge(self, run: Run, owner: EdgeRef, y: int) -> Run:
        look = self._marks.look_of(owner)
        if run.role == "crossing" and self._glyphs == "unicode":
            upright = any(low <= y <= high for low, high in self._upright.get(run.x, ()))
            return replace(run, text=_CROSSES[look in _HEAVY_LOOKS, upright])
        if run.role == "arrow" and self._glyphs == "unicode" and look not in _HEAVY_LOOKS:
            return replace(run, text=run.text.translate(HOLLOW))
        if run.role == "edge" and (table := self._strokes.get(look)):
            return replace(run, text=run.text.translate(table))
        return run


def _find_upright(paths: Sequence[Path], marks: Marks) -> dict[int, list[tuple[int, int]]]:
    """The upright stretches of heavy lines by column: the rows that they lie between."""
    found: dict[int, list[tuple[int, int]]] = {}
    for path in paths:
        if marks.edges.get(path.index) not in _HEAVY_LOOKS:
            continue
        for (x0, y0), (x1, y1) in pairwise(path.points):
            if x0 == x1:
                found.setdefault(x0, []).append((min(y0, y1), max(y0, y1)))
    return found
