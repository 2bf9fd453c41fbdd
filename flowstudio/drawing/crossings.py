"""Orders of layers and what crosses in them: the working state of the ordering stage."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence

from flowstudio.drawing.layers import Kind, Layered

type Ends = list[list[tuple[int, int, int]]]
"""For each unit: the unit at the other end of each link, that end's side, and this end's side."""


class Ordering:
    """The units of each layer in their present order, and the crossings below each layer."""

    __slots__ = (
        "_gaps",
        "_leads_down",
        "above",
        "below",
        "counts",
        "express",
        "graph",
        "layers",
        "place",
        "spent",
        "total",
    )

    def __init__(self, graph: Layered) -> None:
        self.graph = graph
        self.layers = graph.layers
        self.place = [0] * len(graph.kind)
        self.above: Ends = [[] for _ in graph.kind]
        self.below: Ends = [[] for _ in graph.kind]
        self.counts = [0] * len(graph.layers)
        """Crossings below each layer, as of when they were last counted."""
        self.total = 0
        self.spent = 0
        self._leads_down = {
            chain[end]: end == 0
            for chain in graph.chains
            for end in (0, -1)
            if chain and graph.kind[chain[end]] == Kind.LANE
        }
        self.express = {item for lane in graph.express for item in lane}
        self._gaps: list[list[tuple[int, int, int, int]]] = [[] for _ in graph.layers]
        for gap in range(len(graph.gaps)):
            self._connect(gap)

    def _connect(self, gap: int) -> None:
        unit, side = self.graph.unit, self.graph.side
        ends: list[tuple[int, int, int, int]] = []
        express = self.express
        for upper, lower, _ in self.graph.gaps[gap]:
            if upper in express or lower in express:
                continue
            a, b, s, t = unit[upper], unit[lower], side[upper], side[lower]
            ends.append((a, s, b, t))
            self.below[a].append((b, t, s))
            self.above[b].append((a, s, t))
        self._gaps[gap] = ends

    def turn(self, sides: Mapping[int, int]) -> None:
        """Move lanes to these sides of their boxes."""
        graph = self.graph
        changed: set[int] = set()
        for lane, side in sides.items():
            if graph.side[lane] != side:
                graph.side[lane] = side
                layer = graph.layer[lane]
                changed.add(layer if self._leads_down[lane] else layer - 1)
        for gap in changed:
            for upper, lower, _ in graph.gaps[gap]:
                self.below[graph.unit[upper]].clear()
                self.above[graph.unit[lower]].clear()
            self._connect(gap)

    def sides(self) -> dict[int, int]:
        """At which side of its box each lane is."""
        return {lane: self.graph.side[lane] for lane in self._leads_down}

    def copy(self, low: int, high: int) -> list[list[int]]:
        """The orders of the layers from `low` to `high`."""
        return [layer[:] for layer in self.layers[low : high + 1]]

    def restore(self, orders: Sequence[Sequence[int]], low: int = 0) -> None:
        """Take these orders for the layers from `low` on, and count anew."""
        for index, units in enumerate(orders, low):
            self.layers[index][:] = units
            self._number(self.layers[index])
        self.crossings(low, low + len(orders) - 1)

    def _number(self, layer: Sequence[int]) -> None:
        place = self.place
        for position, unit in enumerate(layer):
            place[unit] = position

    def crossings(self, low: int, high: int) -> int:
        """Count what crosses in and beside the layers from `low` to `high`."""
        found = 0
        for gap in range(max(low - 1, 0), min(high + 1, len(self._gaps))):
            count = self._count(gap)
            self.total += count - self.counts[gap]
            self.counts[gap] = count
            found += count
        return found

    def _count(self, gap: int) -> int:
        links = self._gaps[gap]
        if len(links) < 2:
            return 0
        place = self.place
        keys = [(3 * place[a] + s, 3 * place[b] + t) for a, s, b, t in links]
        keys.sort()
        self.spent += len(links)
        seen: list[int] = []
        found = 0
        for _, lower in keys:
            if seen and seen[-1] > lower:
                found += len(seen) - bisect_right(seen, lower)
                insort(seen, lower)
            else:
                seen.append(lower)
        return found

    def sweep(self, low: int, high: int, *, down: bool, ties_right: bool) -> None:
        """Order each layer by the barycentre of its neighbours in the layer before it."""
        place = self.place
        neighbours = self.above if down else self.below
        for index in range(low, high + 1) if down else range(high, low - 1, -1):
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
            if not keys:
                continue
            order = sorted(keys, key=lambda u: -place[u]) if ties_right else list(keys)
            order.sort(key=keys.__getitem__)
            for unit in loose:
                order.insert(min(place[unit], len(order)), unit)
            layer[:] = order
            self._number(layer)

    def transpose(self, low: int, high: int, only: Sequence[bool] | None = None) -> bool:
        """Swap neighbours wherever that removes crossings; whether anything was swapped.

        With `only`, one of the two must be marked in it.
        """
        place, above, below = self.place, self.above, self.below
        swapped = False
        for layer in self.layers[low : high + 1]:
            for position in range(len(layer) - 1):
                left, right = layer[position], layer[position + 1]
                if only and not only[left] and not only[right]:
                    continue
                gain = self._gain(above[left], above[right])
                gain += self._gain(below[left], below[right])
                if gain > 0:
                    layer[position], layer[position + 1] = right, left
                    place[left], place[right] = position + 1, position
                    swapped = True
        return swapped

    def sift(self, low: int, high: int) -> bool:
        """Take each unit out of its layer and put it back where it crosses least."""
        place, above, below = self.place, self.above, self.below
        moved = False
        for layer in self.layers[low : high + 1]:
            for unit in layer[:]:
                at = place[unit]
                best, best_at = 0, at
                for step in (-1, 1):
                    gain = 0
                    position = at + step
                    while 0 <= position < len(layer):
                        other = layer[position]
                        first, second = (unit, other) if step > 0 else (other, unit)
                        gain += self._gain(above[first], above[second])
                        gain += self._gain(below[first], below[second])
                        if gain > best:
                            best, best_at = gain, position
                        position += step
                if best_at != at:
                    layer.insert(best_at, layer.pop(at))
                    self._number(layer)
                    moved = True
        return moved

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
