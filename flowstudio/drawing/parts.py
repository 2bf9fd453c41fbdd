"""Parts of a chart that no edge connects: found, laid out alone, and packed into shelves.

So nothing of one part crosses another's lines, and an edit in one does not stir the others. The
part with BEGIN stands first, the others follow in source order, as far as a shelf has room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt

from flowstudio.drawing.cycles import Edge
from flowstudio.drawing.footprints import Style
from flowstudio.drawing.routes import Layout, Rect, Route

_EASY_WIDTH = 80
_APART = 2
"""Blank cells between two parts on a shelf; between shelves there is one row less."""
_TALL = 2
"""A cell is about twice as tall as wide."""


@dataclass(frozen=True, slots=True)
class Part:
    """Nodes and edges of a part, by their numbers in the chart, in source order."""

    nodes: list[int]
    edges: list[int]


def find_parts(count: int, edges: Sequence[Edge], first: Sequence[int]) -> list[Part]:
    """The connected parts of a chart; those with a node in `first` come first."""
    leader = list(range(count))

    def find(node: int) -> int:
        while leader[node] != node:
            leader[node] = leader[leader[node]]
            node = leader[node]
        return node

    for src, dst in edges:
        one, other = find(src), find(dst)
        if one != other:
            leader[max(one, other)] = min(one, other)
    found: dict[int, Part] = {}
    for node in (*first, *range(count)):
        found.setdefault(find(node), Part([], []))
    for node in range(count):
        found[find(node)].nodes.append(node)
    for index, (src, _) in enumerate(edges):
        found[find(src)].edges.append(index)
    return list(found.values())


def pack(layouts: Sequence[Layout], style: Style, width: int | None) -> list[tuple[int, int]]:
    """Where each part begins, in cross and depth: shelf under shelf, each filled from the left.

    `width` is a wish in columns. Without one, the whole becomes about as broad as it looks tall.
    """
    sizes = [
        (one.length, one.breadth) if style.across else (one.breadth, one.length) for one in layouts
    ]
    areas = [(w + _APART) * (h + 1) for w, h in sizes]
    # The largest part has its own shape: what is left over should look as broad as tall.
    area = sum(areas) - max(areas, default=0)
    widest = max((w for w, _ in sizes), default=0)
    most = max(widest, width or max(_EASY_WIDTH, isqrt(_TALL * area)))
    places: list[tuple[int, int]] = []
    x = y = tallest = 0
    for w, h in sizes:
        if x and x + w > most:
            y += tallest + (_APART - 1)
            x = tallest = 0
        places.append((y, x) if style.across else (x, y))
        x += w + _APART
        tallest = max(tallest, h)
    return places


def join(
    parts: Sequence[Part],
    layouts: Sequence[Layout],
    places: Sequence[tuple[int, int]],
    nodes: int,
    edges: int,
) -> Layout:
    """One layout of all parts at their places."""
    if len(layouts) == 1:
        return layouts[0]
    boxes = [Rect(0, 0, 0, 0)] * nodes
    routes = [Route([], None, back=False)] * edges
    breadth = length = 0
    for part, layout, (cross, depth) in zip(parts, layouts, places, strict=True):
        breadth = max(breadth, cross + layout.breadth)
        length = max(length, depth + layout.length)
        for node, box in zip(part.nodes, layout.boxes, strict=True):
            boxes[node] = _moved(box, cross, depth)
        for edge, route in zip(part.edges, layout.routes, strict=True):
            points = [(x + cross, y + depth) for x, y in route.points]
            label = _moved(route.label, cross, depth) if route.label else None
            routes[edge] = Route(points, label, route.back)
    return Layout(boxes, routes, breadth, length)


def _moved(rect: Rect, cross: int, depth: int) -> Rect:
    return Rect(rect.cross + cross, rect.depth + depth, rect.breadth, rect.length)
