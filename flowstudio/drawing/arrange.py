"""Stages 1 to 4 together: which edges lead back, ranks, layers, and the order in each layer.

The author's order of reading decides which edges lead back. In a chart without that structure
(cycles with several entries) another way of following it may give a picture with half the
crossings, so where lines cross after all, other ways are tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flowstudio.drawing.crossings import Ordering
from flowstudio.drawing.cycles import find_back_edges
from flowstudio.drawing.layers import Layered, build_layers
from flowstudio.drawing.memory import EdgeKey, Memory, Order, Shape, wish_for
from flowstudio.drawing.order import (
    order_again,
    order_as_before,
    order_by_source,
    order_first,
    order_more,
    take_order,
)
from flowstudio.drawing.ranks import assign_ranks

_READINGS = ((False, False), (True, True), (False, True))
"""Ways of following a chart: whether nodes that no edge enters come first, and whether the exits of
a node are followed from the last one."""
_FEW = 2
"""Crossings that are not worth another reading."""
_MOST_ITEMS = 1_200
"""Items above which no other reading is tried."""


def arrange(shape: Shape, keys: Sequence[EdgeKey], memory: Memory | None) -> tuple[Layered, Order]:
    """The layered graph of a chart with everything in order, lanes beside their boxes.

    What `memory` knows of this very chart is taken as it is; what it knows of an earlier state of
    the chart stands, unless that costs more crossings than a quarter more than a fresh order's and
    two.
    """
    known = memory.recall(shape) if memory else None
    if known:
        graph = _read(shape, known.reading)[0]
        return graph, order_again(Ordering(graph), known)
    ordering, reading = _arrange_afresh(shape)
    ids = shape[0]
    if memory and 2 * sum(node_id in memory.nodes for node_id in ids) >= len(ids):
        allowed = ordering.total * 1.25 + 2
        if memory.reading == reading:
            order_as_before(ordering, wish_for(memory, ordering.graph, ids, keys), allowed)
        else:
            graph = _read(shape, memory.reading)[0]
            old = Ordering(graph)
            order_by_source(old)
            if order_as_before(old, wish_for(memory, graph, ids, keys), allowed):
                ordering, reading = old, memory.reading
    return ordering.graph, replace(take_order(ordering), reading=reading)


def _arrange_afresh(shape: Shape) -> tuple[Ordering, int]:
    """The best order that can be found, and the reading that it belongs to."""
    best: Ordering | None = None
    chosen = 0
    tried: list[set[int]] = []
    for reading in range(len(_READINGS)):
        graph, back = _read(shape, reading)
        if back in tried:
            continue
        tried.append(back)
        ordering = Ordering(graph)
        order_first(ordering)
        if best is None or ordering.total < best.total:
            best, chosen = ordering, reading
        if best.total <= _FEW or len(graph.kind) > _MOST_ITEMS:
            break
    assert best is not None
    order_more(best)
    return best, chosen


def _read(shape: Shape, reading: int) -> tuple[Layered, set[int]]:
    ids, edges, labelled, first = shape
    count = len(ids)
    sources_first, from_last = _READINGS[reading]
    back = find_back_edges(count, edges, first, sources_first=sources_first, from_last=from_last)
    arcs = [
        (dst, src) if index in back else (src, dst)
        for index, (src, dst) in enumerate(edges)
        if src != dst
    ]
    return build_layers(assign_ranks(count, arcs), edges, back, labelled), back
