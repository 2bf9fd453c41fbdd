"""Stage 4: the order of the items in each layer, with as few crossings as can be found.

A deterministic start (the author's own order), barycentre sweeps, then transposition of neighbours.
It stops at no crossings, and its budget counts operations, never time.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence

from flowstudio.drawing.layers import Kind, Layered

type _Ends = list[list[tuple[int, int, int]]]
"""For each unit: the unit at the other end, that end's side, and this end's side."""

_SWEEPS = 24
_PATIENCE = 4
_BUDGET = 400_000
"""Links that one chart's ordering may look at."""


class _Ordering:
    """The units of each layer in their present order, and what the sweeps need of the links."""

    __slots__ = ("above", "below", "gaps", "graph", "layers", "place", "spent")

    def __init__(self, graph: Layered) -> None:
        self.graph = graph
        self.layers = graph.layers
        self.place = [0] * len(graph.kind)
        self.gaps: list[list[tuple[int, int, int, int]]] = []
        self.above: _Ends = []
        self.below: _Ends = []
        self.spent = 0
        self.connect()
        for layer in self.layers:
            self.number(layer)

    def connect(self) -> None:
        """Read the links again, after a side has changed."""
        unit, side = self.graph.unit, self.graph.side
        self.above = [[] for _ in unit]
        self.below = [[] for _ in unit]
        self.gaps = []
        for gap in self.graph.gaps:
            ends: list[tuple[int, int, int, int]] = []
            for upper, lower, _ in gap:
                a, b, s, t = unit[upper], unit[lower], side[upper], side[lower]
                ends.append((a, s, b, t))
                self.below[a].append((b, t, s))
                self.above[b].append((a, s, t))
            self.gaps.append(ends)

    def number(self, layer: Sequence[int]) -> None:
        place = self.place
        for position, unit in enumerate(layer):
            place[unit] = position

    def crossings_in(self, gap: int) -> int:
        """How many pairs of links cross below layer `gap`."""
        links = self.gaps[gap]
        if len(links) < 2:
            return 0
        place = self.place
        keys = sorted((3 * place[a] + s, 3 * place[b] + t) for a, s, b, t in links)
        seen: list[int] = []
        found = 0
        for _, lower in keys:
            if seen and seen[-1] > lower:
                found += len(seen) - bisect_right(seen, lower)
                insort(seen, lower)
            else:
                seen.append(lower)
        self.spent += len(links)
        return found

    def crossings(self) -> int:
        return sum(self.crossings_in(gap) for gap in range(len(self.gaps)))

    def sweep(self, down: bool, ties_right: bool) -> None:
        """Order each layer by the barycentre of its neighbours in the layer before it."""
        place = self.place
        neighbours = self.above if down else self.below
        indices = range(1, len(self.layers)) if down else range(len(self.layers) - 2, -1, -1)
        for index in indices:
            layer = self.layers[index]
            if len(layer) < 2:
                continue
            keys: dict[int, float] = {}
            loose: list[int] = []
            for unit in layer:
                ends = neighbours[unit]
                if not ends:
                    loose.append(unit)
                    continue
                total = 0
                for other, side, own in ends:
                    total += 3 * place[other] + side - own
                keys[unit] = total / len(ends)
            self.spent += len(layer)
            if len(loose) == len(layer):
                continue
            tied = sorted(keys, key=lambda u: -place[u] if ties_right else place[u])
            tied.sort(key=keys.__getitem__)
            if loose:
                for unit in loose:
                    tied.insert(min(place[unit], len(tied)), unit)
            layer[:] = tied
            self.number(layer)

    def transpose(self) -> bool:
        """Swap neighbours wherever that removes crossings; whether anything was swapped."""
        place = self.place
        swapped = False
        for layer in self.layers:
            for position in range(len(layer) - 1):
                left, right = layer[position], layer[position + 1]
                gain = self._gain(self.above[left], self.above[right])
                gain += self._gain(self.below[left], self.below[right])
                if gain > 0:
                    layer[position], layer[position + 1] = right, left
                    place[left], place[right] = position + 1, position
                    swapped = True
        return swapped

    def _gain(
        self, left: Sequence[tuple[int, int, int]], right: Sequence[tuple[int, int, int]]
    ) -> int:
        """Crossings that go, less those that come, when `left` and `right` change places."""
        if not left or not right:
            return 0
        place = self.place
        self.spent += len(left) * len(right)
        gain = 0
        for a, s, _ in left:
            x = 3 * place[a] + s
            for b, t, _ in right:
                y = 3 * place[b] + t
                if x > y:
                    gain += 1
                elif x < y:
                    gain -= 1
        return gain


def order_layers(graph: Layered) -> int:
    """Put the items of each layer in order, lanes beside their boxes; the number of crossings."""
    ordering = _Ordering(graph)
    _start(ordering)
    best = _improve(ordering)
    best = _choose_sides(ordering, best)
    _expand(graph, ordering.place)
    return best


def _start(ordering: _Ordering) -> None:
    """Depth first in source order: the author's branches stand from left to right."""
    graph = ordering.graph
    found: list[list[int]] = [[] for _ in graph.layers]
    seen = bytearray(len(graph.kind))
    tops = sorted(range(len(graph.kind)), key=lambda i: graph.layer[i])
    for top in tops:
        if seen[top] or graph.unit[top] != top:
            continue
        stack = [top]
        while stack:
            unit = stack.pop()
            if seen[unit]:
                continue
            seen[unit] = 1
            found[graph.layer[unit]].append(unit)
            for other, _, _ in reversed(ordering.below[unit]):
                if not seen[other]:
                    stack.append(other)
    for layer, units in zip(graph.layers, found, strict=True):
        layer[:] = units
        ordering.number(layer)


def _improve(ordering: _Ordering) -> int:
    """Sweep and transpose until nothing crosses or nothing helps; leaves the best order found."""
    best = ordering.crossings()
    kept = [layer[:] for layer in ordering.layers]
    idle = 0
    for turn in range(_SWEEPS):
        if not best or idle >= _PATIENCE or ordering.spent > _BUDGET:
            break
        ordering.sweep(down=turn % 2 == 0, ties_right=turn % 4 >= 2)
        for _ in range(8):
            if ordering.spent > _BUDGET or not ordering.transpose():
                break
        now = ordering.crossings()
        if now < best:
            best = now
            kept = [layer[:] for layer in ordering.layers]
            idle = 0
        else:
            idle += 1
    _restore(ordering, kept)
    return best


def _restore(ordering: _Ordering, kept: Sequence[Sequence[int]]) -> None:
    for layer, units in zip(ordering.layers, kept, strict=True):
        layer[:] = units
        ordering.number(layer)


def _choose_sides(ordering: _Ordering, best: int) -> int:
    """Try each back edge at the left, one after the other, while that removes crossings."""
    graph = ordering.graph
    back = [
        e for e, chain in enumerate(graph.chains) if chain and graph.kind[chain[0]] == Kind.LANE
    ]
    for edge in back:
        if not best or ordering.spent > _BUDGET:
            break
        kept = [layer[:] for layer in ordering.layers]
        _turn(graph, edge, -1)
        ordering.connect()
        for item in graph.chains[edge][1:-1]:
            layer = graph.layers[graph.layer[item]]
            layer.remove(item)
            layer.insert(0, item)
            ordering.number(layer)
        now = _improve(ordering)
        if now < best:
            best = now
            continue
        _turn(graph, edge, 1)
        ordering.connect()
        _restore(ordering, kept)
    return best


def _turn(graph: Layered, edge: int, side: int) -> None:
    chain = graph.chains[edge]
    graph.side[chain[0]] = graph.side[chain[-1]] = side


def _expand(graph: Layered, place: Sequence[int]) -> None:
    """Put the lanes beside their boxes, the inner ones first, in the order of where they lead."""
    if not graph.lanes:
        return
    toward: dict[int, int] = {}
    for chain in graph.chains:
        if chain and graph.kind[chain[0]] == Kind.LANE:
            for end, near in ((chain[0], chain[1]), (chain[-1], chain[-2])):
                toward[end] = 3 * place[graph.unit[near]] + graph.side[near]
    for layer in graph.layers:
        row: list[int] = []
        for unit in layer:
            lanes = graph.lanes.get(unit)
            if not lanes:
                row.append(unit)
                continue
            row.extend(sorted((i for i in lanes if graph.side[i] < 0), key=toward.__getitem__))
            row.append(unit)
            row.extend(sorted((i for i in lanes if graph.side[i] > 0), key=toward.__getitem__))
        layer[:] = row
