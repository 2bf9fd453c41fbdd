"""The pipeline: from a chart to its drawing, a stage at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from flowstudio.drawing.arrange import arrange
from flowstudio.drawing.canvas import Canvas
from flowstudio.drawing.channels import route_channel
from flowstudio.drawing.columns import place_columns, place_express, port_ranges, stretch_springs
from flowstudio.drawing.cycles import Edge
from flowstudio.drawing.drawing import Box, Drawing, Glyphs, Path, Zoom
from flowstudio.drawing.footprints import DOWN, RIGHT, Style, take_footprints
from flowstudio.drawing.glyphs import glyph_set
from flowstudio.drawing.measure import TITLE_WIDTH, Face, face_of, label_rows
from flowstudio.drawing.memory import Memory, Shape, Trace, edge_keys, remember
from flowstudio.drawing.parts import Part, find_parts, join, pack
from flowstudio.drawing.ports import place_ports
from flowstudio.drawing.routes import Layout, Rect, lay_out
from flowstudio.drawing.spine import find_spine
from flowstudio.drawing.straighten import straighten
from flowstudio.drawing.widen import widen_boxes
from flowstudio.flow.model import Direction, Flow, FlowEdge, FlowNode

if TYPE_CHECKING:
    from flowstudio.flow.chart import Chart

_FULL_WIDTH = 46
_NARROWER = ((1.0, False), (1.0, True), (0.7, True), (0.5, True), (0.35, True))
"""Shares of the usual label widths, and whether lines come close to boxes: tried one after the
other to meet a wished width."""
_MANY = 300
"""Nodes above which only one narrower drawing is tried."""


def draw(
    chart: Chart | Flow,
    *,
    direction: Direction | None = None,
    zoom: Zoom = "full",
    width: int | None = None,
    glyphs: Glyphs = "unicode",
    previous: Drawing | None = None,
    marks: Mapping[str, str] | None = None,
) -> Drawing:
    """The picture of a chart or flow, valid or not.

    `direction` is the chart's own where it is None. `zoom`: whole prompts (`full`), their first
    lines (`title`), or a sign for each node (`dot`). `width` is a wish: labels are wrapped or cut
    narrower where that helps to meet it. `previous` is an earlier drawing of the same chart: nodes
    keep their left-right order as far as that is not paid with many crossings. `marks` are short
    texts for the upper borders of nodes, by node id.

    Edges are numbered as in `Chart.edges` or `Flow.edges`.
    """
    edges = tuple(chart.edges)
    way = direction or chart.direction
    drawing = None
    for share, tight in _NARROWER if len(chart.nodes) <= _MANY else (_NARROWER[0], _NARROWER[-2]):
        style = _style(way, zoom, tight)
        made = _draw(
            chart.nodes, edges, way, zoom, share, style, glyphs, previous, marks or {}, width
        )
        previous = made  # The order is found once: only the sizes change.
        if drawing is None or made.width < drawing.width:
            drawing = made
        if width is None or zoom == "dot" or made.width <= width:
            break
    assert drawing is not None
    return replace(drawing, nodes=chart.nodes)


def choose_direction(
    chart: Chart | Flow, *, zoom: Zoom = "title", width: int, direction: Direction | None = None
) -> Direction:
    """The chart's own direction if its drawing is at most `width` cells wide, else `TD`."""
    way = direction or chart.direction
    if way in ("TD", "BT"):
        return way
    return way if draw(chart, direction=way, zoom=zoom, width=width).width <= width else "TD"


def _draw(
    nodes: Mapping[str, FlowNode],
    flow_edges: tuple[FlowEdge, ...],
    way: Direction,
    zoom: Zoom,
    share: float,
    style: Style,
    glyphs: Glyphs,
    previous: Drawing | None,
    marks: Mapping[str, str],
    width: int | None,
) -> Drawing:
    limit = round((TITLE_WIDTH if zoom == "title" else _FULL_WIDTH) * share)
    faces = [face_of(node, zoom, limit, marks.get(node.id, "")) for node in nodes.values()]
    number = {node_id: index for index, node_id in enumerate(nodes)}
    # Grouped by source, so that a chart and the flow made of it give the same picture.
    given = sorted(range(len(flow_edges)), key=lambda i: number[flow_edges[i].src])
    edges = [(number[flow_edges[i].src], number[flow_edges[i].dst]) for i in given]
    labels = [() if zoom == "dot" else label_rows(flow_edges[i].label) for i in given]

    first = [index for index, face in enumerate(faces) if face.kind == "begin"]
    ids = tuple(nodes)
    parts = find_parts(len(faces), edges, first)
    memory = previous.order if previous else None
    laid = [
        _lay_out_part(part, ids, edges, faces, labels, first, style, memory, width)
        for part in parts
    ]
    layouts = [layout for layout, _ in laid]
    traces = [trace for _, trace in laid]
    places = pack(layouts, style, width)
    layout = join(parts, layouts, places, len(faces), len(edges))
    for trace, (cross, _) in zip(traces, places, strict=True):
        trace.move(cross)
    memory = remember(memory, traces)
    return _finish(layout, way, zoom, faces, flow_edges, given, labels, glyphs, memory)


def _lay_out_part(
    part: Part,
    all_ids: tuple[str, ...],
    all_edges: Sequence[Edge],
    all_faces: Sequence[Face],
    all_labels: Sequence[tuple[str, ...]],
    all_first: Sequence[int],
    style: Style,
    memory: Memory | None,
    width: int | None,
) -> tuple[Layout, Trace]:
    """Everything from the order to the routes, for one part of the chart alone."""
    number = {node: index for index, node in enumerate(part.nodes)}
    ids = tuple(all_ids[node] for node in part.nodes)
    faces = [all_faces[node] for node in part.nodes]
    edges = [(number[src], number[dst]) for src, dst in (all_edges[i] for i in part.edges)]
    labels = [all_labels[index] for index in part.edges]
    first = [number[node] for node in all_first if node in number]
    keys = edge_keys(ids, edges)
    shape: Shape = (ids, tuple(edges), tuple(bool(rows) for rows in labels), tuple(first))
    graph, order = arrange(shape, keys, memory)

    loops: list[list[int]] = [[] for _ in faces]
    for index, (src, dst) in enumerate(edges):
        if src == dst:
            loops[src].append(index)
    spine = find_spine(len(faces), edges, first)
    prints = take_footprints(graph, faces, labels, loops, style)
    ranges = port_ranges(graph, prints, style)
    springs = stretch_springs(graph, prints, ranges, spine, style)
    x = place_columns(graph, springs, style, None if style.across else width)
    straighten(graph, prints, springs, x)
    if not style.across and widen_boxes(graph, prints, springs, ranges, x):
        ranges = port_ranges(graph, prints, style)
    least = min((x[i] - prints.before[i] for layer in graph.layers for i in layer), default=0)
    x = [place - least for place in x]
    place_express(graph, prints, x)
    ports = place_ports(graph, ranges, x, style.port)
    channels = [route_channel(gap) for gap in ports]
    layout = lay_out(graph, prints, edges, labels, x, ports, channels, style)
    return layout, Trace(shape, order, graph, keys, x)


def _style(way: Direction, zoom: Zoom, tight: bool) -> Style:
    style = RIGHT if way in ("LR", "RL") else DOWN
    return replace(style, inset=0 if zoom == "dot" else style.inset, tight=tight)


def _finish(
    layout: Layout,
    way: Direction,
    zoom: Zoom,
    faces: list[Face],
    flow_edges: tuple[FlowEdge, ...],
    given: list[int],
    labels: list[tuple[str, ...]],
    glyphs: Glyphs,
    memory: Memory,
) -> Drawing:
    """From cross and depth to columns and rows, turned to the direction of the drawing."""
    across = way in ("LR", "RL")
    width, height = layout.breadth, layout.length
    if across:
        width, height = height, width

    def corner(rect: Rect) -> tuple[int, int, int, int]:
        x, y, w, h = rect.cross, rect.depth, rect.breadth, rect.length
        if across:
            x, y, w, h = y, x, h, w
        if way == "RL":
            x = width - x - w
        if way == "BT":
            y = height - y - h
        return x, y, w, h

    boxes = {
        face.id: Box(face.id, *corner(rect)) for face, rect in zip(faces, layout.boxes, strict=True)
    }
    paths: list[Path] = []
    for edge, route in enumerate(layout.routes):
        points = [corner(Rect(x, y, 1, 1))[:2] for x, y in route.points]
        label = (*corner(route.label)[:2], labels[edge]) if route.label else None
        source = flow_edges[given[edge]]
        paths.append(Path(given[edge], source.src, source.dst, tuple(points), label, route.back))
    paths.sort(key=lambda path: path.index)
    canvas = Canvas(
        height,
        boxes,
        {face.id: face for face in faces},
        paths,
        glyph_set(glyphs),
        marks_below=way == "BT",
    )
    return Drawing(width, height, boxes, tuple(paths), canvas, way, zoom, memory)
