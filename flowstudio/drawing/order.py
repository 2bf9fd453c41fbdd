"""Stage 4: the order of the items in each layer, with as few crossings as can be found.

A deterministic start (the author's own order), then barycentre sweeps and transposition of
neighbours. Work goes where lines cross: in a long flow that is a few windows of layers. Everything
stops at no crossings, and the budget counts links looked at, never time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from flowstudio.drawing.crossings import Ordering
from flowstudio.drawing.layers import Kind, Layered
from flowstudio.drawing.memory import Order, Wish
from flowstudio.drawing.reroute import reroute_edges

_BUDGET_EACH = 200
_LEAST_BUDGET = 20_000
_MOST_BUDGET = 400_000
"""Links that may be looked at for a first order: for each item, at least, and at most."""
_MORE_EACH = 180
"""Links that may be looked at for bettering it."""
_SWEEPS = 24
_BEHIND = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
"""What the layer ahead counts in one pair of sweeps after another, over and over: first lines find
their way far, then they settle."""
_PATIENCE = 4
_MORE_PATIENCE = 11
_REACHES = (2, 8)
"""By how many layers a window reaches beyond the crossings in it, in one round after another."""
_REFININGS = 6
_COMBINED = 4
"""Up to how many back edges all ways of sharing them out are tried."""
_FEW = 400
"""Up to how many items many starting orders are tried."""
_TANGLED = 8
"""A chart is tangled if it has a crossing for so many items."""


def order_by_source(ordering: Ordering) -> None:
    """The author's own order, as it is."""
    ordering.restore(_starting_order(ordering.graph, ordering.below))


def order_roughly(ordering: Ordering) -> None:
    """A first order: from the author's own, with repairs where lines cross."""
    items = len(ordering.graph.kind)
    ordering.budget = min(max(_BUDGET_EACH * items, _LEAST_BUDGET), _MOST_BUDGET)
    order_by_source(ordering)
    _improve_windows(ordering)


def order_with_care(ordering: Ordering) -> None:
    """A good order from a rough one, if lines still cross."""
    last = len(ordering.layers) - 1
    if _is_tangled(ordering):
        _improve(ordering, 0, last, _MORE_PATIENCE)
        if len(ordering.graph.kind) > _FEW:
            start = _starting_order(ordering.graph, ordering.above, up=True)
            _try_starts(ordering, [(start, 1)], refine=False)
    _refine(ordering)


def order_more(ordering: Ordering) -> None:
    """A better order, if lines still cross and the chart is not too large for other beginnings."""
    ordering.budget += _MORE_EACH * len(ordering.graph.kind) + _LEAST_BUDGET // 2
    if not ordering.total or len(ordering.graph.kind) > _FEW:
        return
    first = _starting_order(ordering.graph, ordering.below)
    from_end = _starting_order(ordering.graph, ordering.above, up=True)
    starts = [(from_end, 1), (first, 1)]
    starts += [([layer[::-1] for layer in start], -1) for start, _ in starts]
    _try_starts(ordering, starts, refine=True)


def order_again(ordering: Ordering, known: Order) -> Order:
    """The order that this very chart had before, lanes beside their boxes."""
    ordering.turn(known.sides)
    ordering.restore(known.layers)
    _expand(ordering.graph, ordering.place)
    return known


def take_order(ordering: Ordering) -> Order:
    """The finished order of the units; then puts the lanes beside their boxes."""
    order = Order(tuple(tuple(layer) for layer in ordering.layers), ordering.sides())
    _expand(ordering.graph, ordering.place)
    return order


def order_as_before(ordering: Ordering, wish: Wish, allowed: float) -> bool:
    """Sort each layer by the old places, unless more than `allowed` lines would cross."""
    graph = ordering.graph
    last = len(ordering.layers) - 1
    fresh, fresh_sides = ordering.copy(0, last), ordering.sides()
    place = wish.places
    near: dict[int, float] = {}
    for _ in range(2):
        for layer in ordering.layers:
            for unit in layer:
                if place[unit] is None:
                    ends = (*ordering.above[unit], *ordering.below[unit])
                    units = (graph.unit[end] for end in ends)
                    found = [p for one in units if (p := _place_of(place, near, one)) is not None]
                    if found:
                        near[unit] = sum(found) / len(found)
    ordering.turn({**fresh_sides, **wish.sides})
    ordering.restore([_sort_layer(layer, place, near) for layer in fresh])
    new = [place[unit] is None for unit in range(len(graph.kind))]
    ordering.transpose(0, last, only=new)
    if ordering.crossings(0, last) <= allowed:
        return True
    ordering.turn(fresh_sides)
    ordering.restore(fresh)
    return False


def _sort_layer(
    layer: Sequence[int], place: Sequence[float | None], near: Mapping[int, float]
) -> list[int]:
    """The units by their places; one without a place follows the one before it."""
    keys: dict[int, float] = {}
    before = float("-inf")
    for unit in layer:
        found = _place_of(place, near, unit)
        before = keys[unit] = before if found is None else found
    return sorted(layer, key=keys.__getitem__)


def _place_of(place: Sequence[float | None], near: Mapping[int, float], unit: int) -> float | None:
    found = place[unit]
    return near.get(unit) if found is None else found


def _starting_order(
    graph: Layered, ends: Sequence[Sequence[int]], *, up: bool = False
) -> list[list[int]]:
    """Depth first in source order, so that the author's branches stand from left to right."""
    found: list[list[int]] = [[] for _ in graph.layers]
    seen = bytearray(len(graph.kind))
    left_out = {item for lane in graph.express for item in lane}
    roots = sorted(range(len(graph.kind)), key=lambda i: graph.layer[i], reverse=up)
    for root in roots:
        if graph.unit[root] != root or root in left_out:
            continue
        stack = [root]
        while stack:
            unit = stack.pop()
            if seen[unit]:
                continue
            seen[unit] = 1
            found[graph.layer[unit]].append(unit)
            for item in reversed(ends[unit]):
                other = graph.unit[item]
                if not seen[other]:
                    stack.append(other)
    return found


def _improve_windows(ordering: Ordering) -> None:
    """Sweep where lines cross, in wider and wider windows, until they are few or it is a tangle."""
    before: list[tuple[int, int]] = []
    for reach in _REACHES:
        windows = _windows(ordering, reach)
        for low, high in windows:
            if (low, high) not in before:
                _improve(ordering, low, high, _PATIENCE)
        before = windows
        if _is_tangled(ordering):
            return
        _combine_sides(ordering)
        _refine(ordering)


def _is_tangled(ordering: Ordering) -> bool:
    return ordering.total * _TANGLED > len(ordering.graph.kind)


def _refine(ordering: Ordering) -> None:
    """What sweeps cannot do: whole edges, single units and lanes to where they cross least."""
    for _ in range(_REFININGS):
        before = ordering.total
        if not before or ordering.spent > ordering.budget:
            return
        reroute_edges(ordering)
        for low, high in _windows(ordering, 1):
            if ordering.spent > ordering.budget:
                break
            ordering.sift(low, high)
            ordering.flip_lanes(low, high)
            ordering.transpose(low, high)
            ordering.crossings(low, high)
        if ordering.total >= before:
            return


def _windows(ordering: Ordering, reach: int) -> list[tuple[int, int]]:
    """First and last layers of the stretches in which something crosses."""
    last = len(ordering.layers) - 1
    windows: list[tuple[int, int]] = []
    for gap, crossings in enumerate(ordering.counts):
        if not crossings:
            continue
        low, high = max(gap - reach, 0), min(gap + 1 + reach, last)
        if windows and low <= windows[-1][1] + 1:
            windows[-1] = (windows[-1][0], high)
        else:
            windows.append((low, high))
    return windows


def _improve(
    ordering: Ordering, low: int, high: int, patience: int, *, lanes: bool = False
) -> None:
    """Sweep and transpose within these layers until nothing crosses or nothing helps.

    With `lanes`, they change sides too.
    """
    best = ordering.crossings(low, high)
    kept, sides = ordering.copy(low, high), ordering.sides() if lanes else {}
    idle = 0
    for turn in range(_SWEEPS):
        if not best or idle >= patience or ordering.spent > ordering.budget:
            break
        ordering.sweep(low, high, down=turn % 2 == 0, behind=_BEHIND[turn // 2 % len(_BEHIND)])
        if lanes:
            ordering.flip_lanes(low, high)
        ordering.transpose(low, high, plateau=turn % 3 == 2)
        if lanes and ordering.flip_lanes(low, high):
            ordering.transpose(low, high)
        now = ordering.crossings(low, high)
        if now < best:
            best = now
            kept, sides = ordering.copy(low, high), ordering.sides() if lanes else {}
            idle = 0
        else:
            idle += 1
    if lanes:
        ordering.turn(sides)
    ordering.restore(kept, low)


def _try_starts(
    ordering: Ordering, starts: Iterable[tuple[list[list[int]], int]], *, refine: bool
) -> None:
    """Begin again from these orders, with all lanes at that side; keep the best."""
    last = len(ordering.layers) - 1
    best = ordering.total
    kept, sides = ordering.copy(0, last), ordering.sides()
    for start, side in starts:
        if not best or ordering.spent > ordering.budget:
            break
        ordering.turn(dict.fromkeys(sides, side))
        ordering.restore(start)
        _improve(ordering, 0, last, _MORE_PATIENCE, lanes=True)
        if refine:
            _refine(ordering)
        if ordering.total < best:
            best = ordering.total
            kept, sides = ordering.copy(0, last), ordering.sides()
    ordering.turn(sides)
    ordering.restore(kept)


def _combine_sides(ordering: Ordering) -> None:
    """With few back edges, try all ways of sharing them out between left and right."""
    graph = ordering.graph
    last = len(ordering.layers) - 1
    back = [chain for chain in graph.chains if chain and graph.kind[chain[0]] == Kind.LANE]
    if not ordering.total or not 0 < len(back) <= _COMBINED or len(graph.kind) > _FEW:
        return
    best = ordering.total
    kept = ordering.copy(0, last)
    sides = ordering.sides()
    for number in range(1, 1 << len(back)):
        for place, chain in enumerate(back):
            side = -1 if number >> place & 1 else 1
            ordering.turn({chain[0]: side, chain[-1]: side})
        ordering.restore(kept)
        _improve(ordering, 0, last, _PATIENCE)
        if ordering.total < best:
            best = ordering.total
            kept = ordering.copy(0, last)
            sides = ordering.sides()
        if not best or 2 * ordering.spent > ordering.budget:
            break
    ordering.turn(sides)
    ordering.restore(kept)


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
