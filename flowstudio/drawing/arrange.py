"""Stages 1 to 4 together: which edges lead back, ranks, layers, and the order in each layer.

The author's order of reading decides which edges lead back. In a chart without that structure
(cycles with several entries) another way of following it may give a picture with half the
crossings, so where lines cross after all, other ways are tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flowstudio.drawing.crossings import Ordering
from flowstudio.drawing.cycles import ExitOrder, find_back_edges
from flowstudio.drawing.layers import Layered, build_layers
from flowstudio.drawing.memory import EdgeKey, Memory, Order, Shape, wish_for
from flowstudio.drawing.order import (
    order_again,
    order_as_before,
    order_by_source,
    order_more,
    order_roughly,
    order_with_care,
    take_order,
)
from flowstudio.drawing.ranks import assign_ranks

_EXITS: tuple[ExitOrder, ...] = ("source", "last", "fewest", "most")
_READINGS: tuple[tuple[ExitOrder, bool], ...] = tuple(
    (exits_by, first) for first in (False, True) for exits_by in _EXITS
)
"""Ways of following a chart: by `ExitOrder`, and whether nodes that no edge enters come first."""
_PROMISING = 3
_BEST = 3
"""How many of the other readings are ordered with care, and how many of all are tried further."""
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
        old_reading = memory.reading_of(ids)
        if old_reading == reading:
            order_as_before(ordering, wish_for(memory, ordering.graph, ids, keys), allowed)
        else:
            graph = _read(shape, old_reading)[0]
            old = Ordering(graph)
            order_by_source(old)
            if order_as_before(old, wish_for(memory, graph, ids, keys), allowed):
                ordering, reading = old, old_reading
    return ordering.graph, replace(take_order(ordering), reading=reading)


def _arrange_afresh(shape: Shape) -> tuple[Ordering, int]:
    """The best order that can be found, and the reading that it belongs to."""
    graph, back = _read(shape, 0)
    ordering = Ordering(graph)
    order_roughly(ordering)
    found = [(ordering, 0)]
    rough = ordering.total
    order_with_care(ordering)
    if ordering.total > _FEW and len(graph.kind) <= _MOST_ITEMS:
        found += _promising(shape, back, rough)
        for ordering, _ in found[1:]:
            order_with_care(ordering)
        found.sort(key=_crossings)
    for ordering, _ in found[:_BEST]:
        order_more(ordering)
    return min(found, key=_crossings)


def _crossings(found: tuple[Ordering, int]) -> int:
    return found[0].total


def _promising(shape: Shape, author: set[int], most: int) -> list[tuple[Ordering, int]]:
    """Other readings that have the fewest crossings at first sight, at most twice the author's."""
    tried = [author]
    found: list[tuple[Ordering, int]] = []
    for reading in range(1, len(_READINGS)):
        back = _find_back(shape, reading)
        if back not in tried:
            tried.append(back)
            ordering = Ordering(_layer(shape, back, exact=False))
            order_roughly(ordering)
            if ordering.total <= 2 * most:
                found.append((ordering, reading))
    found.sort(key=_crossings)
    return [_in_best_ranks(shape, reading) for _, reading in found[:_PROMISING]]


def _in_best_ranks(shape: Shape, reading: int) -> tuple[Ordering, int]:
    ordering = Ordering(_read(shape, reading)[0])
    order_roughly(ordering)
    return ordering, reading


def _read(shape: Shape, reading: int) -> tuple[Layered, set[int]]:
    """The layers of a chart that is followed in this way, and which edges lead back in it."""
    back = _find_back(shape, reading)
    return _layer(shape, back, exact=True), back


def _find_back(shape: Shape, reading: int) -> set[int]:
    ids, edges, _, first = shape
    exits_by, sources_first = _READINGS[reading]
    return find_back_edges(len(ids), edges, first, sources_first=sources_first, exits_by=exits_by)


def _layer(shape: Shape, back: set[int], *, exact: bool) -> Layered:
    ids, edges, labelled, _ = shape
    arcs = [
        (dst, src) if index in back else (src, dst)
        for index, (src, dst) in enumerate(edges)
        if src != dst
    ]
    return build_layers(assign_ranks(len(ids), arcs, exact=exact), edges, back, labelled)
