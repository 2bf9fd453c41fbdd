"""Stage 3: the layered graph, in which every line leads from one layer to the next.

Boxes stand in box layers, one for each rank. Where a rank has labelled exits, a label layer follows
it: there each label is an item of its own on its edge, so it cannot lie on another's line. An edge
that passes a layer without ending there has a pass item in it. An edge that leads back is turned
round and ends in a *lane* item beside each of its two boxes: from the lane it will reach the box's
side.

In a very large chart the longest edges would need more pass items than all else together. They
become *express* edges: only their first and last pass items exist, outside the layers, on a lane of
their own at the drawing's far side.

A *unit* is what the ordering moves as one: a box with its lanes, or any other item alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise

from flowstudio.drawing.cycles import Edge

type Link = tuple[int, int, int]
"""Upper item, lower item, edge."""


_MOST_PASSES = 12_000
_PASSES_EACH = 2
_SHORTEST_EXPRESS = 6


class Kind(IntEnum):
    """What an item is."""

    BOX = 0
    LABEL = 1
    PASS = 2
    LANE = 3


@dataclass(slots=True)
class Layered:
    """Items by number, in parallel lists, and the links between neighbouring layers."""

    kind: list[Kind] = field(default_factory=list[Kind])
    name: list[int] = field(default_factory=list[int])
    """The node of a box, the edge of anything else."""
    layer: list[int] = field(default_factory=list[int])
    unit: list[int] = field(default_factory=list[int])
    """The item that the ordering moves: the box of a lane, else the item itself."""
    side: list[int] = field(default_factory=list[int])
    """-1 or 1 for a lane at the left or right of its box; 0 for any other item."""
    layers: list[list[int]] = field(default_factory=list[list[int]])
    """The items of each layer from left to right (units only, until they are expanded)."""
    boxed: list[bool] = field(default_factory=list[bool])
    """Which layers hold boxes; the others hold labels."""
    gaps: list[list[Link]] = field(default_factory=list[list[Link]])
    """The links below each layer."""
    chains: list[list[int]] = field(default_factory=list[list[int]])
    """Each edge's items from top to bottom, both ends included; empty for a self loop."""
    lanes: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    """The lane items of each box that has any."""
    express: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """First and last item of each express lane; these items are in no layer's list."""

    def add(
        self,
        kind: Kind,
        name: int,
        layer: int,
        unit: int = -1,
        side: int = 0,
        *,
        listed: bool = True,
    ) -> int:
        """A new item; its number."""
        item = len(self.kind)
        self.kind.append(kind)
        self.name.append(name)
        self.layer.append(layer)
        self.unit.append(item if unit < 0 else unit)
        self.side.append(side)
        if unit < 0 and listed:
            self.layers[layer].append(item)
        return item


def build_layers(
    ranks: Sequence[int], edges: Sequence[Edge], back: set[int], labelled: Sequence[bool]
) -> Layered:
    """The layered graph; item n is the box of node n."""
    graph = Layered()
    with_labels = {
        ranks[src]
        for index, (src, dst) in enumerate(edges)
        if labelled[index] and index not in back and src != dst
    }
    box_layer: list[int] = []
    for rank in range(max(ranks, default=-1) + 1):
        box_layer.append(len(graph.layers))
        graph.layers.append([])
        graph.boxed.append(True)
        if rank in with_labels:
            graph.layers.append([])
            graph.boxed.append(False)
    graph.gaps.extend([] for _ in graph.layers)
    for node, rank in enumerate(ranks):
        graph.add(Kind.BOX, node, box_layer[rank])
    longest = _longest_listed(graph, edges)
    for index, (src, dst) in enumerate(edges):
        chain: list[int] = []
        if src != dst:
            express = abs(graph.layer[src] - graph.layer[dst]) > longest
            if index in back:
                chain = [_lane(graph, index, dst)]
                _pass(graph, index, chain, graph.layer[src], express)
                chain.append(_lane(graph, index, src))
            else:
                chain = [src]
                if labelled[index]:
                    chain.append(graph.add(Kind.LABEL, index, graph.layer[src] + 1))
                _pass(graph, index, chain, graph.layer[dst], express)
                chain.append(dst)
        graph.chains.append(chain)
    for index, chain in enumerate(graph.chains):
        for upper, lower in pairwise(chain):
            if graph.layer[upper] + 1 == graph.layer[lower]:
                graph.gaps[graph.layer[upper]].append((upper, lower, index))
    return graph


def _longest_listed(graph: Layered, edges: Sequence[Edge]) -> int:
    """The most layers that an edge may span without being led on an express lane."""
    spans = sorted(abs(graph.layer[src] - graph.layer[dst]) for src, dst in edges)
    passes = 0
    for number, span in enumerate(spans):
        passes += span
        if passes > _MOST_PASSES + _PASSES_EACH * len(edges):
            return max(spans[number - 1], _SHORTEST_EXPRESS)
    return len(graph.layers)


def _pass(graph: Layered, index: int, chain: list[int], end: int, express: bool) -> None:
    """Lead a chain through the layers between its last item and layer `end`."""
    start = graph.layer[chain[-1]] + 1
    if not express:
        for layer in range(start, end):
            chain.append(graph.add(Kind.PASS, index, layer))
        return
    first = graph.add(Kind.PASS, index, start, listed=False)
    last = graph.add(Kind.PASS, index, end - 1, listed=False)
    chain += [first, last]
    graph.express.append((first, last))


def _lane(graph: Layered, index: int, box: int) -> int:
    item = graph.add(Kind.LANE, index, graph.layer[box], unit=box, side=1)
    graph.lanes.setdefault(box, []).append(item)
    return item
