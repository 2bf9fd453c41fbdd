"""The best way of one edge through the layers while all others stand still.

The edge is taken out; how many lines each step from a place in one layer to a place in the next
would cross is counted for all places together, and a shortest path over the layers gives the way
with the fewest crossings. An edge that leads back also gets the better side of each of its boxes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from operator import add

from flowstudio.drawing.crossings import Ordering
from flowstudio.drawing.layers import Kind

_CROSSING = 1 << 16
"""What a crossing costs. A place beyond the present one costs 1: so lines stay near to it."""
_TURNED = 64
"""What the other side of a box costs."""
_PATIENCE = 40
"""Edges in a row that are tried without gain."""
_WEIGHT = 6
"""Places whose costs are added up in the time that looking at a link takes."""


def reroute_edges(ordering: Ordering) -> bool:
    """Give edges that cross others their best ways, the worst first; whether any has changed.

    Ends when the next edges in line do not gain by it any more.
    """
    graph = ordering.graph
    waiting: list[tuple[int, int]] = []
    for edge, chain in enumerate(graph.chains):
        if not chain or (len(chain) == 2 and graph.kind[chain[0]] != Kind.LANE):
            continue
        if not ordering.express or ordering.express.isdisjoint(chain):
            crossed = _crossed(ordering, chain)
            if crossed:
                waiting.append((-crossed, edge))
    waiting.sort()
    better = False
    idle = 0
    for _, edge in waiting:
        if ordering.spent > ordering.budget or not ordering.total or idle > _PATIENCE:
            break
        chain = graph.chains[edge]
        idle += 1
        if _reroute(ordering, chain):
            ordering.crossings(graph.layer[chain[0]], graph.layer[chain[-1]])
            better = True
            idle = 0
    return better


def _reroute(ordering: Ordering, chain: Sequence[int]) -> bool:
    graph = ordering.graph
    cost = _crossed(ordering, chain)
    if not cost:
        return False
    top = graph.layer[chain[0]]
    options = [_options(ordering, chain, number) for number in range(len(chain))]
    costs = _strays(ordering, chain, 0, options[0])
    ways: list[list[int]] = []
    for number in range(len(chain) - 1):
        links = _others(ordering, top + number, chain[number], chain[number + 1])
        ordering.spent += len(links) * (1 + len(costs) // _WEIGHT)
        costs, way = _step(links, options[number], options[number + 1], costs)
        strays = _strays(ordering, chain, number + 1, options[number + 1])
        costs = list(map(add, costs, strays))
        ways.append(way)
    best = min(costs)
    if best >= cost * _CROSSING:
        return False
    choice = [costs.index(best)]
    for way in reversed(ways):
        choice.append(way[choice[-1]])
    choice.reverse()
    _take(ordering, chain, choice, options)
    return True


def _crossed(ordering: Ordering, chain: Sequence[int]) -> int:
    """How many lines the edge crosses now."""
    spot = ordering.spot
    top = ordering.graph.layer[chain[0]]
    found = 0
    for number in range(len(chain) - 1):
        if not ordering.counts[top + number]:
            continue
        links = ordering.gaps[top + number]
        x, y = spot[chain[number]], spot[chain[number + 1]]
        found += sum([(spot[a] - x) * (spot[b] - y) < 0 for a, b in links])
        ordering.spent += len(links)
    return found


def _options(ordering: Ordering, chain: Sequence[int], number: int) -> list[float]:
    """The spots that an item may take, from left to right; between others they lie half-way.

    A box has its own, a lane those at both sides of its box.
    """
    graph = ordering.graph
    item = chain[number]
    if 0 < number < len(chain) - 1:
        own = ordering.place[item]
        others = len(ordering.layers[graph.layer[item]]) - 1
        return [3 * slot - 1.5 if slot <= own else 3 * slot + 1.5 for slot in range(others + 1)]
    if graph.kind[item] != Kind.LANE:
        return [ordering.spot[item]]
    box = ordering.spot[graph.unit[item]]
    return [box - 1, box + 1]


def _strays(
    ordering: Ordering, chain: Sequence[int], number: int, options: Sequence[float]
) -> list[int]:
    """How far each option is from where the item stands now."""
    if 0 < number < len(chain) - 1:
        own = ordering.place[chain[number]]
        return [*range(own, 0, -1), *range(len(options) - own)]
    if len(options) == 1:
        return [0]
    side = ordering.graph.side[chain[number]]
    return [_TURNED * (side > 0), _TURNED * (side < 0)]


def _others(ordering: Ordering, gap: int, upper: int, lower: int) -> list[tuple[int, int]]:
    """The lower and upper spots of a gap's links without the edge's own, from left to right."""
    spot = ordering.spot
    found = [(spot[b], spot[a]) for a, b in ordering.gaps[gap] if b != lower or a != upper]
    found.sort()
    return found


def _step(
    links: Sequence[tuple[int, int]],
    uppers: Sequence[float],
    lowers: Sequence[float],
    costs: Sequence[int],
) -> tuple[list[int], list[int]]:
    """The least costs of each lower option, and the upper option from which it is reached."""
    count = len(uppers)
    lefts = [0] * (count + 1)
    changes: list[list[int]] = []
    """What each link adds to the costs of the uppers when the lower end passes it to its right."""
    for _, end in links:
        at = bisect_left(uppers, end)
        # A link from the very same spot does not cross.
        same = at < count and uppers[at] == end
        changes.append(_change(count, at, same))
        lefts[at + same] += _CROSSING
    column: list[int] = list(map(add, costs, accumulate(lefts)))
    found: list[int] = []
    way: list[int] = []
    passed = 0
    for lower in lowers:
        while passed < len(links) and links[passed][0] < lower:
            column = list(map(add, column, changes[passed]))
            passed += 1
        least: list[int] = column
        level = passed
        while level < len(links) and links[level][0] == lower:
            end = links[level][1]
            least = [c - _CROSSING * (end < u) for c, u in zip(least, uppers, strict=True)]
            level += 1
        best = min(least)
        found.append(best)
        way.append(least.index(best))
    return found, way


@lru_cache(2_000)
def _change(count: int, at: int, same: bool) -> list[int]:
    """What a link from before the option `at` (or from it) costs those left of it more."""
    change = [_CROSSING] * at
    change += [0] * same
    change += [-_CROSSING] * (count - at - same)
    return change


def _take(
    ordering: Ordering,
    chain: Sequence[int],
    choice: Sequence[int],
    options: Sequence[Sequence[float]],
) -> None:
    graph = ordering.graph
    for item, slot in zip(chain[1:-1], choice[1:-1], strict=True):
        index = graph.layer[item]
        layer = ordering.layers[index]
        if slot != ordering.place[item]:
            del layer[ordering.place[item]]
            layer.insert(slot, item)
            ordering.number(index)
    for end in (0, -1):
        if len(options[end]) == 2:
            ordering.turn({chain[end]: 1 if choice[end] else -1})
