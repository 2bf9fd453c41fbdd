"""Stage 9: rows and columns: layers and tracks get their depth, edges their points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flowstudio.drawing.channels import Channel
from flowstudio.drawing.cycles import Edge
from flowstudio.drawing.footprints import Footprints, SelfLoop, Style
from flowstudio.drawing.layers import Kind, Layered
from flowstudio.drawing.text import width_of

type Point = tuple[int, int]
"""Cross and depth."""


@dataclass(slots=True)
class Rect:
    """A rectangle of cells in cross and depth."""

    cross: int
    depth: int
    breadth: int
    length: int


@dataclass(slots=True)
class Route:
    """An edge's ends and bends from source to target, and the room of its label."""

    points: list[Point]
    label: Rect | None
    back: bool


@dataclass(slots=True)
class Layout:
    """Where everything is, still in cross and depth."""

    boxes: list[Rect]
    routes: list[Route]
    breadth: int
    length: int


def lay_out(
    graph: Layered,
    prints: Footprints,
    edges: Sequence[Edge],
    labels: Sequence[tuple[str, ...]],
    x: Sequence[int],
    ports: Sequence[Sequence[tuple[int, int]]],
    channels: Sequence[Channel],
    style: Style,
) -> Layout:
    """Depths for the layers and tracks, and from them the boxes and the routes."""
    starts, ends = _depths(graph, prints, ports, channels, x, style)
    boxes = [
        Rect(
            x[node] - prints.before[node],
            starts[graph.layer[node]],
            prints.before[node] + 1 + prints.box_after[node],
            prints.depth[node],
        )
        for node, kind in enumerate(graph.kind)
        if kind == Kind.BOX
    ]
    pieces: list[list[Point]] = [[] for _ in edges]
    for gap, (links, found, channel) in enumerate(zip(graph.gaps, ports, channels, strict=True)):
        for number, (_, _, edge) in enumerate(links):
            cross, lower = found[number]
            piece = pieces[edge]
            piece.append((cross, ends[gap]))
            for track, turn in channel.bends.get(number, ()):
                depth = ends[gap] + style.lead + track
                piece.append((cross, depth))
                piece.append((turn, depth))
                cross = turn
            piece.append((lower, starts[gap + 1] - 1))
    routes: list[Route] = []
    for edge, chain in enumerate(graph.chains):
        if chain:
            routes.append(
                _route(graph, prints, edge, chain, pieces[edge], boxes, starts, x, labels, style)
            )
        else:
            node = edges[edge][0]
            loop = next(one for one in prints.loops[node] if one.edge == edge)
            routes.append(_loop(boxes[node], loop, labels[edge], style))
    breadth = max((x[i] + prints.after[i] + 1 for layer in graph.layers for i in layer), default=0)
    turns = (p[0] + 1 for route in routes for p in route.points)
    return Layout(boxes, routes, max(breadth, *turns, 0), ends[-1] if ends else 0)


def _depths(
    graph: Layered,
    prints: Footprints,
    ports: Sequence[Sequence[tuple[int, int]]],
    channels: Sequence[Channel],
    x: Sequence[int],
    style: Style,
) -> tuple[list[int], list[int]]:
    """Where each layer begins, and where it ends (exclusive)."""
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for index, layer in enumerate(graph.layers):
        if index:
            tracks = channels[index - 1].tracks
            at += tracks + style.lead if tracks else 0
            if graph.boxed[index]:
                at += style.arrow
            else:
                at += _crowds(graph, prints, ports, channels, x, index, above=True)
        starts.append(at)
        kind = Kind.BOX if graph.boxed[index] else Kind.LABEL
        at += max((prints.depth[i] for i in layer if graph.kind[i] == kind), default=0)
        if not graph.boxed[index]:
            at += _crowds(graph, prints, ports, channels, x, index, above=False)
        ends.append(at)
    return starts, ends


def _crowds(
    graph: Layered,
    prints: Footprints,
    ports: Sequence[Sequence[tuple[int, int]]],
    channels: Sequence[Channel],
    x: Sequence[int],
    layer: int,
    *,
    above: bool,
) -> int:
    """1 if the track next to a label layer runs past the label of another edge, else 0."""
    gap = layer - 1 if above else layer
    channel = channels[gap]
    track = channel.tracks - 1 if above else 0
    stretches: list[tuple[int, int, int]] = []
    for number, bends in channel.bends.items():
        cross = ports[gap][number][0]
        for at, turn in bends:
            if at == track:
                stretches.append((min(cross, turn), max(cross, turn), graph.gaps[gap][number][2]))
            cross = turn
    if not stretches:
        return 0
    stretches.sort()
    number = 0
    for item in graph.layers[layer]:
        if graph.kind[item] != Kind.LABEL:
            continue
        low, high = x[item] - prints.before[item], x[item] + prints.after[item]
        while number < len(stretches) and stretches[number][1] < low:
            number += 1
        for start, end, edge in stretches[number : number + 3]:
            if start <= high and end >= low and edge != graph.name[item]:
                return 1
    return 0


def _route(
    graph: Layered,
    prints: Footprints,
    edge: int,
    chain: Sequence[int],
    piece: list[Point],
    boxes: Sequence[Rect],
    starts: Sequence[int],
    x: Sequence[int],
    labels: Sequence[tuple[str, ...]],
    style: Style,
) -> Route:
    first, last = chain[0], chain[-1]
    if graph.kind[first] != Kind.LANE:
        box = boxes[graph.name[first]]
        piece[0] = (piece[0][0], box.depth + box.length)
        label = None
        if labels[edge]:
            label = _label_beside(x[chain[1]], starts[graph.layer[chain[1]]], labels[edge], style)
        return Route(_simplify(piece), label, back=False)
    for lane, at_start in ((first, True), (last, False)):
        box = boxes[graph.unit[lane]]
        depth = box.depth + prints.port_at[lane]
        side = box.cross + box.breadth if graph.side[lane] > 0 else box.cross - 1
        ends = [(side, depth), (x[lane], depth)]
        piece = ends + piece if at_start else piece + ends[::-1]
    label = None
    if labels[edge]:
        rows = labels[edge]
        depth = starts[graph.layer[last]]
        if graph.side[last] > 0 and not style.across:
            label = _label_beside(x[last], depth, rows, style)
        else:
            size = _label_size(rows, style)
            ahead = -size[0] if style.across else -size[0] - 1
            cross = x[last] + (1 if graph.side[last] > 0 else ahead)
            label = Rect(cross, depth, *size)
    return Route(_simplify(piece[::-1]), label, back=True)


def _loop(box: Rect, loop: SelfLoop, rows: tuple[str, ...], style: Style) -> Route:
    near = box.cross + box.breadth
    far = near + loop.reach - 1
    out, into = box.depth + loop.out_at, box.depth + loop.in_at
    label = None
    if rows:
        cross = far + 1 if style.across else far + 2
        label = Rect(cross, out, *_label_size(rows, style))
    return Route([(near, out), (far, out), (far, into), (near, into)], label, back=True)


def _label_size(rows: tuple[str, ...], style: Style) -> tuple[int, int]:
    width = max(width_of(row) for row in rows)
    return (len(rows), width) if style.across else (width, len(rows))


def _label_beside(line: int, depth: int, rows: tuple[str, ...], style: Style) -> Rect:
    """Right of a line that goes down, above a line that goes right."""
    size = _label_size(rows, style)
    if style.across:
        return Rect(line - len(rows), depth + 1, *size)
    return Rect(line + 2, depth, *size)


def _simplify(points: Sequence[Point]) -> list[Point]:
    """The ends and the true bends."""
    found: list[Point] = []
    for point in points:
        if found and found[-1] == point:
            continue
        while len(found) > 1 and (
            found[-2][0] == found[-1][0] == point[0] or found[-2][1] == found[-1][1] == point[1]
        ):
            found.pop()
        found.append(point)
    return found
