"""Stage 3: the layered graph, in which every line leads from one layer to the next.

Boxes stand in box layers, one for each rank. Where a rank has labelled exits, a label layer follows
it: there each label is an item of its own on its edge, so it cannot lie on another's line. An edge
that passes a layer without ending there has a pass item in it. An edge that leads back is turned
round and ends in a *lane* item beside each of its two boxes: from the lane it will reach the box's
side.

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

    def add(self, kind: Kind, name: int, layer: int, unit: int = -1, side: int = 0) -> int:
        """A new item; its number."""
        item = len(self.kind)
        self.kind.append(kind)
        self.name.append(name)
        self.layer.append(layer)
        self.unit.append(item if unit < 0 else unit)
        self.side.append(side)
        if unit < 0:
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
    for index, (src, dst) in enumerate(edges):
        if src == dst:
            graph.chains.append([])
        elif index in back:
            graph.chains.append(_back_chain(graph, index, dst, src))
        else:
            graph.chains.append(_forward_chain(graph, index, src, dst, labelled[index]))
    for index, chain in enumerate(graph.chains):
        for upper, lower in pairwise(chain):
            graph.gaps[graph.layer[upper]].append((upper, lower, index))
    return graph


def _forward_chain(graph: Layered, index: int, src: int, dst: int, labelled: bool) -> list[int]:
    chain = [src]
    for layer in range(graph.layer[src] + 1, graph.layer[dst]):
        is_label = labelled and len(chain) == 1
        chain.append(graph.add(Kind.LABEL if is_label else Kind.PASS, index, layer))
    chain.append(dst)
    return chain


def _back_chain(graph: Layered, index: int, upper: int, lower: int) -> list[int]:
    chain = [_lane(graph, index, upper)]
    for layer in range(graph.layer[upper] + 1, graph.layer[lower]):
        chain.append(graph.add(Kind.PASS, index, layer))
    chain.append(_lane(graph, index, lower))
    return chain


def _lane(graph: Layered, index: int, box: int) -> int:
    item = graph.add(Kind.LANE, index, graph.layer[box], unit=box, side=1)
    graph.lanes.setdefault(box, []).append(item)
    return item
