"""The cheapest places for the items of one layer, in their order and with their gaps.

Each item's cost is convex and piecewise linear in its place. Isotonic regression: an item that
wants to stand left of the block before it joins that block, and both move as one. A block keeps its
cost as two heaps of hinges, those that push it to the right and those that push it to the left: the
cost is least between the tops of the two, and the smaller of two blocks is added to the larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush, heapreplace

type Pull = tuple[int, int, int, int, int, int]
"""The other item, then the lowest, the best and the highest distance from it, and two weights: of
leaving the straight range and of leaving the best place."""
type _Hinges = list[tuple[int, int]]
"""Places (negative ones in the heap that pushes to the right) and weights."""

type _Heaps = tuple[_Hinges, _Hinges]
"""The hinges that push to the right, and those that push to the left."""

_REST = 1
_FEW = 30
"""Bends that are sorted quicker than kept in heaps."""


def settle(
    layer: Sequence[int],
    gaps: Sequence[int],
    pulls: Sequence[list[list[Pull]]],
    x: list[int],
    bounds: tuple[int, int] | None = None,
) -> None:
    """Move the items of one layer to where they cost least.

    `bounds` are the lowest place of the first item and the highest of the last. The cheapest places
    within them are the cheapest without them, cut off: that is so for costs in a fixed order.
    """
    blocks: list[tuple[int, list[tuple[int, int]], int, _Heaps | None, int]] = []
    """Best place, bends, slope before the first of them, heaps (if many), number of items."""
    offset = 0
    for number, item in enumerate(layer):
        if number:
            offset += gaps[number]
        points: list[tuple[int, int]] = []
        slope = 0
        for side in pulls:
            for other, low, middle, high, steep, flat in side[item]:
                base = x[other] - offset
                if low == high:
                    points.append((base + low, 2 * steep))
                    slope -= steep
                    continue
                if steep:
                    points.append((base + low, steep))
                    points.append((base + high, steep))
                    slope -= steep
                if flat:
                    points.append((base + middle, 2 * flat))
                    slope -= flat
        if len(points) > 1:
            points.sort()
            best = lowest(points, slope)
        elif points:
            best = points[0][0]
        else:
            best, slope = x[item] - offset, -_REST
            points.append((best, 2 * _REST))
        size = 1
        heaps: _Heaps | None = None
        while blocks and blocks[-1][0] > best:
            _, more_points, more_slope, more_heaps, count = blocks.pop()
            size += count
            if not heaps and not more_heaps and len(points) + len(more_points) <= _FEW:
                points += more_points
                points.sort()
                slope += more_slope
                best = lowest(points, slope)
                continue
            one = heaps or _split(points, slope)
            other = more_heaps or _split(more_points, more_slope)
            heaps = _join(one, other)
            best = _middle(heaps)
        blocks.append((best, points, slope, heaps, size))
    low, high = (bounds[0], bounds[1] - offset) if bounds else (0, 0)
    number = 0
    offset = 0
    for best, _, _, _, size in blocks:
        if bounds:
            best = max(min(best, high), low)
        for _ in range(size):
            if number:
                offset += gaps[number]
            x[layer[number]] = best + offset
            number += 1


def lowest(points: Sequence[tuple[int, int]], slope: int) -> int:
    """Where a convex cost is least, given by sorted places and bends, and the slope before them."""
    for index, (place, bend) in enumerate(points):
        slope += bend
        if slope > 0:
            return place
        if slope == 0:
            nearest = points[index + 1][0] if index + 1 < len(points) else place
            return (place + nearest) // 2
    return points[-1][0]


def _split(points: Sequence[tuple[int, int]], slope: int) -> _Heaps:
    """The two heaps of a cost given by its sorted bends and the slope before the first of them."""
    left: _Hinges = []
    right: _Hinges = []
    for place, bend in points:
        after = slope + bend
        if after <= 0:
            left.append((-place, bend))
        elif slope < 0:
            left.append((-place, -slope))
            right.append((place, after))
        else:
            right.append((place, bend))
        slope = after
    left.reverse()
    return left, right


def _middle(heaps: _Heaps) -> int:
    """Where the cost is least; the middle if that is a range."""
    left, right = heaps
    if not left:
        return right[0][0]
    if not right:
        return -left[0][0]
    return (right[0][0] - left[0][0]) // 2


def _join(one: _Heaps, other: _Heaps) -> _Heaps:
    """The sum of two costs; takes the place of the larger of them."""
    if len(one[0]) < len(other[0]):
        one, other = other, one
    for mine, across, hinges in ((one[0], one[1], other[0]), (one[1], one[0], other[1])):
        for place, weight in hinges:
            # A hinge beyond the lowest place moves as much weight to the other heap.
            if not across or place + across[0][0] >= 0:
                heappush(mine, (place, weight))
                continue
            heappush(across, (-place, weight))
            left = weight
            while left:
                top, there = across[0]
                if there <= left:
                    heappop(across)
                    heappush(mine, (-top, there))
                    left -= there
                else:
                    heapreplace(across, (top, there - left))
                    heappush(mine, (-top, left))
                    left = 0
    return one
