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

_BUDGET = 150_000
"""Links that one chart's ordering may look at."""
_SWEEPS = 24
_PATIENCE = 4
_MORE_PATIENCE = 10
_REACHES = (2, 8, 10_000)
"""By how many layers a window reaches beyond the crossings in it, in one round after another."""
_ROUNDS = 3
_SIFTINGS = 4
_COMBINED = 4
"""Up to how many back edges all ways of sharing them out are tried."""
_MORE_STARTS = 400
"""Up to how many items other starting orders are tried too."""


def order_layers(graph: Layered, known: Order | None = None, wish: Wish | None = None) -> Order:
    """Put the items of each layer in order, lanes beside their boxes; gives the order of the units.

    `known` is taken as it is. `wish` holds old places: they stand, unless that costs more crossings
    than a quarter more than a fresh order's and two.
    """
    ordering = Ordering(graph)
    if known:
        ordering.turn(known.sides)
        ordering.restore(known.layers)
    else:
        _order_afresh(ordering)
        if wish:
            _order_as_before(ordering, wish)
    order = Order(tuple(tuple(layer) for layer in graph.layers), ordering.sides())
    _expand(graph, ordering.place)
    return order


def _order_afresh(ordering: Ordering) -> None:
    ordering.restore(_starting_order(ordering.graph, ordering.below))
    _improve_windows(ordering)
    _combine_sides(ordering)
    _choose_sides(ordering)
    if ordering.total and len(ordering.graph.kind) <= _MORE_STARTS:
        _try_other_starts(ordering)
        _choose_sides(ordering)
        _sift(ordering)


def _order_as_before(ordering: Ordering, wish: Wish) -> None:
    """Sort each layer by the old places, if that does not cost too many crossings."""
    graph = ordering.graph
    last = len(ordering.layers) - 1
    fresh, fresh_sides, allowed = (
        ordering.copy(0, last),
        ordering.sides(),
        ordering.total * 1.25 + 2,
    )
    place = wish.places
    near: dict[int, float] = {}
    for _ in range(2):
        for layer in ordering.layers:
            for unit in layer:
                if place[unit] is None:
                    ends = (*ordering.above[unit], *ordering.below[unit])
                    found = [p for end in ends if (p := _place_of(place, near, end[0])) is not None]
                    if found:
                        near[unit] = sum(found) / len(found)
    ordering.turn({**fresh_sides, **wish.sides})
    ordering.restore([_sort_layer(layer, place, near) for layer in fresh])
    new = [place[unit] is None for unit in range(len(graph.kind))]
    for _ in range(6):
        if not ordering.transpose(0, last, only=new):
            break
    if ordering.crossings(0, last) > allowed:
        ordering.turn(fresh_sides)
        ordering.restore(fresh)


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
    graph: Layered, ends: Sequence[Sequence[tuple[int, int, int]]], *, up: bool = False
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
            for other, _, _ in reversed(ends[unit]):
                if not seen[other]:
                    stack.append(other)
    return found


def _improve_windows(ordering: Ordering) -> None:
    last = len(ordering.layers) - 1
    for reach in _REACHES:
        if not ordering.total:
            return
        windows = _windows([gap for gap, n in enumerate(ordering.counts) if n], reach, last)
        for low, high in windows:
            _improve(ordering, low, high, _PATIENCE)


def _sift(ordering: Ordering) -> None:
    """A last try for what is left: each unit to its best place in its layer."""
    last = len(ordering.layers) - 1
    for _ in range(_SIFTINGS):
        if not ordering.total or not ordering.sift(0, last):
            return
        ordering.crossings(0, last)


def _windows(gaps: Iterable[int], reach: int, last: int) -> list[tuple[int, int]]:
    """First and last layers of the stretches in which something crosses."""
    windows: list[tuple[int, int]] = []
    for gap in gaps:
        low, high = max(gap - reach, 0), min(gap + 1 + reach, last)
        if windows and low <= windows[-1][1] + 1:
            windows[-1] = (windows[-1][0], high)
        else:
            windows.append((low, high))
    return windows


def _improve(ordering: Ordering, low: int, high: int, patience: int) -> None:
    """Sweep and transpose within these layers until nothing crosses or nothing helps."""
    best = ordering.crossings(low, high)
    kept = ordering.copy(low, high)
    idle = 0
    for turn in range(_SWEEPS):
        if not best or idle >= patience or ordering.spent > _BUDGET:
            break
        ordering.sweep(low, high, down=turn % 2 == 0, ties_right=turn % 4 >= 2)
        for _ in range(6):
            if ordering.spent > _BUDGET or not ordering.transpose(low, high):
                break
        now = ordering.crossings(low, high)
        if now < best:
            best = now
            kept = ordering.copy(low, high)
            idle = 0
        else:
            idle += 1
    ordering.restore(kept, low)


def _try_other_starts(ordering: Ordering) -> None:
    """Begin again: from the end, mirrored, and with the lanes at whichever side suits the order."""
    graph = ordering.graph
    last = len(ordering.layers) - 1
    best = ordering.total
    kept = ordering.copy(0, last)
    sides = ordering.sides()
    from_end = _starting_order(graph, ordering.above, up=True)
    for start, side in (
        (_starting_order(graph, ordering.below), 0),
        (from_end, 0),
        (from_end, 1),
        ([layer[::-1] for layer in kept], 1),
    ):
        if not best or ordering.spent > _BUDGET:
            break
        if side == 0 and not sides:
            continue
        ordering.turn(dict.fromkeys(sides, side))
        ordering.restore(start)
        _improve(ordering, 0, last, _MORE_PATIENCE)
        if side == 0:
            ordering.turn(_natural_sides(ordering))
            ordering.crossings(0, last)
            _improve(ordering, 0, last, _MORE_PATIENCE)
        if ordering.total < best:
            best = ordering.total
            kept = ordering.copy(0, last)
            sides = ordering.sides()
    ordering.turn(sides)
    ordering.restore(kept)


def _natural_sides(ordering: Ordering) -> dict[int, int]:
    """For each lane the side of its box on which its line goes on, as the order stands."""
    graph = ordering.graph
    found: dict[int, int] = {}
    for chain in graph.chains:
        if chain and graph.kind[chain[0]] == Kind.LANE:
            for end, near, ends in (
                (chain[0], chain[1], ordering.below),
                (chain[-1], chain[-2], ordering.above),
            ):
                others = sorted(ordering.place[other] for other, _, _ in ends[graph.unit[end]])
                middle = others[len(others) // 2]
                found[end] = 1 if ordering.place[graph.unit[near]] >= middle else -1
    return found


def _choose_sides(ordering: Ordering) -> None:
    """Try each back edge at the other side, one after the other, while that removes crossings."""
    graph = ordering.graph
    last = len(ordering.layers) - 1
    back = [chain for chain in graph.chains if chain and graph.kind[chain[0]] == Kind.LANE]
    for _ in range(_ROUNDS):
        before_round = ordering.total
        for chain in back:
            if not ordering.total or ordering.spent > _BUDGET:
                return
            top, bottom = graph.layer[chain[0]], graph.layer[chain[-1]]
            if not any(ordering.counts[top:bottom]):
                continue
            low, high = max(top - 2, 0), min(bottom + 2, last)
            before = ordering.total
            kept = ordering.copy(low, high)
            old = {lane: graph.side[lane] for lane in (chain[0], chain[-1])}
            side = -old[chain[0]]
            ordering.turn(dict.fromkeys(old, side))
            for item in chain[1:-1]:
                if item in ordering.express:
                    continue
                layer = graph.layers[graph.layer[item]]
                layer.remove(item)
                layer.insert(0 if side < 0 else len(layer), item)
            ordering.restore(ordering.copy(low, high), low)
            _improve(ordering, low, high, 2)
            if ordering.total >= before:
                ordering.turn(old)
                ordering.restore(kept, low)
        if ordering.total == before_round:
            return


def _combine_sides(ordering: Ordering) -> None:
    """With few back edges, try all ways of sharing them out between left and right."""
    graph = ordering.graph
    last = len(ordering.layers) - 1
    back = [chain for chain in graph.chains if chain and graph.kind[chain[0]] == Kind.LANE]
    if not ordering.total or not back or len(back) > _COMBINED:
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
        if not best or ordering.spent > _BUDGET // 2:
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
