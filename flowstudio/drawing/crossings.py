"""Orders of layers and what crosses in them: the working state of the ordering stage."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence

from flowstudio.drawing.layers import Kind, Layered

_FAR = 1 << 24
"""More than any spot."""
_TURNS = 6
"""How often neighbours are compared in one transposition."""


class Ordering:
    """The units of each layer in their present order, and the crossings below each layer."""

    __slots__ = (
        "_lanes_in",
        "above",
        "below",
        "budget",
        "counts",
        "express",
        "gaps",
        "graph",
        "lane_ends",
        "layers",
        "place",
        "spent",
        "spot",
        "total",
    )

    def __init__(self, graph: Layered) -> None:
        self.graph = graph
        self.layers = graph.layers
        count = len(graph.kind)
        self.place = [0] * count
        self.spot = [0] * count
        """Where an item stands in its layer: three for each unit before it; lanes one beside."""
        self.above: list[list[int]] = [[] for _ in range(count)]
        """For each unit, the items at the upper ends of its links."""
        self.below: list[list[int]] = [[] for _ in range(count)]
        self.counts = [0] * len(graph.layers)
        """Crossings below each layer, as of when they were last counted."""
        self.total = 0
        self.spent = 0
        self.budget = 0
        """Links that have been looked at, and that may be."""
        self.express = {item for lane in graph.express for item in lane}
        self.gaps: list[list[tuple[int, int]]] = []
        """The links below each layer, without those of express lanes."""
        self.lane_ends: list[tuple[int, int, bool]] = []
        """Each lane, the item next on its edge, and whether that is in the layer below."""
        self._lanes_in: list[list[int]] = [[] for _ in graph.layers]
        for chain in graph.chains:
            if chain and graph.kind[chain[0]] == Kind.LANE:
                self.lane_ends.append((chain[0], chain[1], True))
                self.lane_ends.append((chain[-1], chain[-2], False))
        for lane, _, _ in self.lane_ends:
            self._lanes_in[graph.layer[lane]].append(lane)
        unit, express = graph.unit, self.express
        for links in graph.gaps:
            kept = [(a, b) for a, b, _ in links if not express or not {a, b} & express]
            self.gaps.append(kept)
            for upper, lower in kept:
                self.below[unit[upper]].append(lower)
                self.above[unit[lower]].append(upper)

    def turn(self, sides: Mapping[int, int]) -> None:
        """Move lanes to these sides of their boxes."""
        graph = self.graph
        for lane, side in sides.items():
            graph.side[lane] = side
            self.spot[lane] = 3 * self.place[graph.unit[lane]] + side

    def sides(self) -> dict[int, int]:
        """At which side of its box each lane is."""
        return {lane: self.graph.side[lane] for lane, _, _ in self.lane_ends}

    def copy(self, low: int, high: int) -> list[list[int]]:
        """The orders of the layers from `low` to `high`."""
        return [layer[:] for layer in self.layers[low : high + 1]]

    def restore(self, orders: Sequence[Sequence[int]], low: int = 0) -> None:
        """Take these orders for the layers from `low` on, and count anew."""
        for index, units in enumerate(orders, low):
            self.layers[index][:] = units
            self.number(index)
        self.crossings(low, low + len(orders) - 1)

    def number(self, index: int) -> None:
        """Say where the units and lanes of a layer stand after it has been changed."""
        place, spot = self.place, self.spot
        for position, unit in enumerate(self.layers[index]):
            place[unit] = position
            spot[unit] = 3 * position
        if self._lanes_in[index]:
            unit, side = self.graph.unit, self.graph.side
            for lane in self._lanes_in[index]:
                spot[lane] = spot[unit[lane]] + side[lane]

    def crossings(self, low: int, high: int) -> int:
        """Count what crosses in and beside the layers from `low` to `high`."""
        found = 0
        for gap in range(max(low - 1, 0), min(high + 1, len(self.gaps))):
            count = self._count(gap)
            self.total += count - self.counts[gap]
            self.counts[gap] = count
            found += count
        return found

    def _count(self, gap: int) -> int:
        links = self.gaps[gap]
        if len(links) < 2:
            return 0
        spot = self.spot
        keys = [(spot[a] + 1) * _FAR + spot[b] + 1 for a, b in links]
        keys.sort()
        self.spent += len(links)
        seen: list[int] = []
        found = 0
        for key in keys:
            lower = key % _FAR
            if seen and seen[-1] > lower:
                found += len(seen) - bisect_right(seen, lower)
                insort(seen, lower)
            else:
                seen.append(lower)
        return found

    def sweep(self, low: int, high: int, *, down: bool, behind: float) -> None:
        """Order each layer by the barycentre of its neighbours.

        Those in the layer that the sweep comes from count fully, the others `behind` (0 to 1) as
        much.
        """
        place, spot, layers = self.place, self.spot, self.layers
        near, far = (self.above, self.below) if down else (self.below, self.above)
        step = -1 if down else 1
        for index in range(low, high + 1) if down else range(high, low - 1, -1):
            layer = layers[index]
            if len(layer) < 2:
                continue
            # Places count as shares of their layer's breadth where layers of two breadths meet.
            one = self._ratio(len(layer), index + step) if behind else 1.0
            other = self._ratio(len(layer), index - step) if behind else 1.0
            keys: dict[int, float] = {}
            loose: list[int] = []
            for unit in layer:
                ends = near[unit]
                more = far[unit] if behind else ()
                if more:
                    total = behind * other * sum([spot[end] for end in more])
                    weight = behind * len(more)
                    if ends:
                        total += one * sum([spot[end] for end in ends])
                        weight += len(ends)
                    keys[unit] = total / weight
                elif len(ends) == 1:
                    keys[unit] = one * spot[ends[0]]
                elif ends:
                    keys[unit] = one * sum([spot[end] for end in ends]) / len(ends)
                else:
                    loose.append(unit)
            self.spent += len(layer)
            if not keys:
                continue
            order = sorted(keys, key=keys.__getitem__)
            for unit in loose:
                order.insert(min(place[unit], len(order)), unit)
            layer[:] = order
            self.number(index)

    def _ratio(self, breadth: int, index: int) -> float:
        if not 0 <= index < len(self.layers):
            return 1.0
        return breadth / max(len(self.layers[index]), 1)

    def transpose(
        self, low: int, high: int, only: Sequence[bool] | None = None, *, plateau: bool = False
    ) -> bool:
        """Swap neighbours wherever that removes crossings; whether anything was swapped.

        Goes on where something has changed near by. With `only`, one of the two must be marked in
        it. With `plateau`, neighbours change places once also where nothing is lost by it.
        """
        place, above, below, spot = self.place, self.above, self.below, self.spot
        swapped = False
        waiting = list(range(low, high + 1))
        for turn in range(_TURNS):
            stirred: set[int] = set()
            least = 0 if plateau and not turn else 1
            for index in waiting:
                layer = self.layers[index]
                self.spent += len(layer)
                better = moved = False
                for position in range(len(layer) - 1):
                    left, right = layer[position], layer[position + 1]
                    if only and not only[left] and not only[right]:
                        continue
                    gain = 0
                    one, other = above[left], above[right]
                    if one and other:
                        if len(one) == 1 == len(other):
                            x, y = spot[one[0]], spot[other[0]]
                            gain = (x > y) - (x < y)
                        else:
                            gain = self._gain(one, other)
                    one, other = below[left], below[right]
                    if one and other:
                        if len(one) == 1 == len(other):
                            x, y = spot[one[0]], spot[other[0]]
                            gain += (x > y) - (x < y)
                        else:
                            gain += self._gain(one, other)
                    if gain >= least:
                        layer[position], layer[position + 1] = right, left
                        place[left], place[right] = position + 1, position
                        moved = True
                        better |= gain > 0
                if moved:
                    self.number(index)
                    swapped |= better
                if better:
                    stirred.update((index - 1, index, index + 1))
            waiting = [index for index in sorted(stirred) if low <= index <= high]
            if not waiting:
                break
        return swapped

    def sift(self, low: int, high: int) -> bool:
        """Take each unit out of its layer and put it back where it crosses least."""
        place, above, below = self.place, self.above, self.below
        moved = False
        for index in range(low, high + 1):
            if not self.counts[index] and not (index and self.counts[index - 1]):
                continue
            layer = self.layers[index]
            for unit in layer[:]:
                at = place[unit]
                up, down = above[unit], below[unit]
                best, best_at = 0, at
                for step in (-1, 1):
                    gain = 0
                    position = at + step
                    while 0 <= position < len(layer):
                        other = layer[position]
                        if step > 0:
                            gain += self._gain(up, above[other]) + self._gain(down, below[other])
                        else:
                            gain += self._gain(above[other], up) + self._gain(below[other], down)
                        if gain > best:
                            best, best_at = gain, position
                        position += step
                if best_at != at:
                    layer.insert(best_at, layer.pop(at))
                    self.number(index)
                    moved = True
        return moved

    def flip_lanes(self, low: int, high: int) -> bool:
        """Move lanes to the other side where they cross fewer of their box's lines; whether any."""
        graph, spot = self.graph, self.spot
        moved = False
        for lane, near, down in self.lane_ends:
            if near in self.express or not low <= graph.layer[lane] <= high:
                continue
            box = graph.unit[lane]
            links = self.gaps[graph.layer[lane] - (not down)]
            at, far = spot[lane], spot[near]
            middle = spot[box]
            then = 2 * middle - at
            gain = 0
            for upper, lower in links:
                own, other = (upper, lower) if down else (lower, upper)
                if graph.unit[own] == box and own != lane:
                    x, y = spot[own], spot[other]
                    gain += ((x - at) * (y - far) < 0) - ((x - then) * (y - far) < 0)
            self.spent += len(links)
            if gain > 0:
                self.turn({lane: -graph.side[lane]})
                moved = True
        return moved

    def _gain(self, left: Sequence[int], right: Sequence[int]) -> int:
        """Crossings that go, less those that come, when `left` and `right` change places."""
        if not left or not right:
            return 0
        spot = self.spot
        self.spent += len(left) * len(right)
        gain = 0
        for a in left:
            x = spot[a]
            for b in right:
                y = spot[b]
                if x > y:
                    gain += 1
                elif x < y:
                    gain -= 1
        return gain
