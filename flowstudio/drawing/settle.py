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

_REST = 1


def settle(
    layer: Sequence[int], gaps: Sequence[int], pulls: Sequence[list[list[Pull]]], x: list[int]
) -> None:
    """Move the items of one layer to where they cost least."""
    blocks: list[tuple[int, _Hinges, _Hinges, int]] = []
    """Best place, the two heaps, number of items."""
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
            left, right = _split(points, slope)
            best = _middle(left, right)
        else:
            best, bend = points[0] if points else (x[item] - offset, 2 * _REST)
            left, right = [(-best, bend // 2)], [(best, bend // 2)]
        size = 1
        while blocks and blocks[-1][0] > best:
            _, more_left, more_right, count = blocks.pop()
            if len(left) > len(more_left):
                left, right, more_left, more_right = more_left, more_right, left, right
            _join(more_left, more_right, left, right)
            left, right = more_left, more_right
            size += count
            best = _middle(left, right)
        blocks.append((best, left, right, size))
    number = 0
    offset = 0
    for best, _, _, size in blocks:
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


def _split(points: list[tuple[int, int]], slope: int) -> tuple[_Hinges, _Hinges]:
    """The two heaps of a cost given by its bends and the slope before the first of them."""
    points.sort()
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


def _middle(left: _Hinges, right: _Hinges) -> int:
    """Where the cost is least; the middle if that is a range."""
    if not left:
        return right[0][0]
    if not right:
        return -left[0][0]
    return (right[0][0] - left[0][0]) // 2


def _join(left: _Hinges, right: _Hinges, more_left: _Hinges, more_right: _Hinges) -> None:
    """Add the hinges of the second cost to the first, in place."""
    for one, other, hinges in ((left, right, more_left), (right, left, more_right)):
        for place, weight in hinges:
            # A hinge on the far side of the lowest place moves as much weight to the other heap.
            if not other or place + other[0][0] >= 0:
                heappush(one, (place, weight))
                continue
            heappush(other, (-place, weight))
            while weight:
                top, there = other[0]
                if there <= weight:
                    heappop(other)
                    heappush(one, (-top, there))
                    weight -= there
                else:
                    heapreplace(other, (top, there - weight))
                    heappush(one, (-top, weight))
                    weight = 0
