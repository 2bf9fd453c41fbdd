"""What a drawing remembers for the next one, so that editing does not stir the picture.

A changed chart is laid out with the known nodes and lines in their old left-right order. A chart
that has been drawn before in the same session (an undo) gets exactly the order that it had.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from flowstudio.drawing.cycles import Edge
from flowstudio.drawing.layers import Kind, Layered

type EdgeKey = tuple[str, str, int]
"""Source, target, and the how manieth of the edges between them."""
type Shape = tuple[tuple[str, ...], tuple[Edge, ...], tuple[bool, ...], tuple[int, ...]]
"""All that the order depends on: node ids, edges, which of them have labels, the first nodes."""

_PAST = 24
"""Charts that are remembered."""


@dataclass(frozen=True, slots=True)
class Order:
    """The finished order of one chart: its layers, and the side of each lane."""

    layers: tuple[tuple[int, ...], ...]
    sides: Mapping[int, int]
    reading: int = 0
    """Which way of following the chart said what leads back."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Places of nodes and lines across the flow, and the orders of the charts drawn so far."""

    nodes: Mapping[str, int] = field(default_factory=dict[str, int])
    lines: Mapping[EdgeKey, tuple[tuple[int, ...], tuple[int, ...]]] = field(
        default_factory=dict[EdgeKey, tuple[tuple[int, ...], tuple[int, ...]]]
    )
    """For each edge, the sides of its two lanes (if it leads back), and its places by layer."""
    past: tuple[Mapping[Shape, Order], ...] = ()
    """The parts of the charts drawn so far, the latest chart first."""
    readings: Mapping[str, int] = field(default_factory=dict[str, int])
    """For each node, the reading of its part."""

    def recall(self, shape: Shape) -> Order | None:
        """The order that this very part of a chart had, if it has been drawn before."""
        return next((parts[shape] for parts in self.past if shape in parts), None)

    def reading_of(self, ids: Sequence[str]) -> int:
        """The reading of the part in which the first known of these nodes was."""
        return next((self.readings[node] for node in ids if node in self.readings), 0)


@dataclass(slots=True)
class Trace:
    """What there is to remember of a part of a chart that has been laid out."""

    shape: Shape
    order: Order
    graph: Layered
    keys: Sequence[EdgeKey]
    x: list[int]

    def move(self, cross: int) -> None:
        """Say that the part stands so far from the drawing's beginning."""
        if cross:
            self.x = [place + cross for place in self.x]


@dataclass(frozen=True, slots=True)
class Wish:
    """Where each unit stood (None: it is new), and at which side of its box each known lane ran."""

    places: tuple[float | None, ...]
    sides: Mapping[int, int]


def edge_keys(ids: Sequence[str], edges: Sequence[Edge]) -> list[EdgeKey]:
    """Names for the edges that an edit elsewhere does not change."""
    seen: dict[tuple[str, str], int] = {}
    keys: list[EdgeKey] = []
    for src, dst in edges:
        ends = (ids[src], ids[dst])
        seen[ends] = seen.get(ends, -1) + 1
        keys.append((*ends, seen[ends]))
    return keys


def wish_for(memory: Memory, graph: Layered, ids: Sequence[str], keys: Sequence[EdgeKey]) -> Wish:
    """What the old places mean for the items of a new chart."""
    places: list[float | None] = [None] * len(graph.kind)
    for node, node_id in enumerate(ids):
        places[node] = memory.nodes.get(node_id)
    sides: dict[int, int] = {}
    for edge, chain in enumerate(graph.chains):
        known = memory.lines.get(keys[edge])
        if not chain or known is None:
            continue
        old_sides, line = known
        if graph.kind[chain[0]] == Kind.LANE:
            if not old_sides:
                continue
            sides[chain[0]], sides[chain[-1]] = old_sides
        inner = [item for item in chain if graph.kind[item] != Kind.BOX]
        for number, item in enumerate(inner):
            if line:
                places[item] = line[number * len(line) // len(inner)]
    return Wish(tuple(places), sides)


def remember(before: Memory | None, parts: Sequence[Trace]) -> Memory:
    """The memory after a chart has been laid out."""
    nodes: dict[str, int] = {}
    lines: dict[EdgeKey, tuple[tuple[int, ...], tuple[int, ...]]] = {}
    readings: dict[str, int] = {}
    for part in parts:
        graph, order, x = part.graph, part.order, part.x
        for node, node_id in enumerate(part.shape[0]):
            nodes[node_id] = x[node]
            readings[node_id] = order.reading
        for edge, chain in enumerate(graph.chains):
            line = tuple(x[item] for item in chain if graph.kind[item] != Kind.BOX)
            lanes = (chain[0], chain[-1]) if chain else ()
            lines[part.keys[edge]] = (
                tuple(order.sides[i] for i in lanes if i in order.sides),
                line,
            )
    now = {part.shape: part.order for part in parts}
    past = [then for then in before.past if then.keys() != now.keys()] if before else []
    return Memory(nodes, lines, (now, *past[: _PAST - 1]), readings)
