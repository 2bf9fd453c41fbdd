"""Stage 7: where each link leaves its upper item and enters its lower one, in cross coordinates."""

from __future__ import annotations

from collections.abc import Sequence

from flowstudio.drawing.columns import Port
from flowstudio.drawing.layers import Kind, Layered


def place_ports(
    graph: Layered, ranges: Sequence[Sequence[tuple[Port, Port]]], x: Sequence[int], step: int
) -> list[list[tuple[int, int]]]:
    """For each link of each gap (in the order of `graph.gaps`), its two cross coordinates.

    Whatever can be straight is straight; the other ports take the free place nearest to where they
    lead. All ports of one box side are in order and apart.
    """
    exits = [0] * len(graph.kind)
    entries = [0] * len(graph.kind)
    for gap in graph.gaps:
        for upper, lower, _ in gap:
            exits[upper] += 1
            entries[lower] += 1
    return [
        _place_gap(graph, gap, found, x, step, exits, entries)
        for gap, found in zip(graph.gaps, ranges, strict=True)
    ]


def _place_gap(
    graph: Layered,
    gap: Sequence[tuple[int, int, int]],
    ranges: Sequence[tuple[Port, Port]],
    x: Sequence[int],
    step: int,
    exits: Sequence[int],
    entries: Sequence[int],
) -> list[tuple[int, int]]:
    straight = _straight(graph, gap, ranges, x, step, exits, entries)
    out: list[int | None] = [straight.get(index) for index in range(len(gap))]
    into: list[int | None] = out[:]
    for end, found, other in ((0, out, into), (1, into, out)):
        groups: dict[int, list[int]] = {}
        for index, link in enumerate(gap):
            groups.setdefault(link[end], []).append(index)
        for item, members in groups.items():
            if graph.kind[item] != Kind.BOX:
                for index in members:
                    found[index] = x[item]
                continue
            wishes: list[int] = []
            for index in members:
                port = ranges[index][end]
                far = other[index]
                if far is None:
                    opposite = gap[index][1 - end]
                    away = ranges[index][1 - end]
                    far = x[opposite] + (away.low + away.high) // 2
                if len(members) == 1:
                    far = x[item] + (port.low + port.high) // 2
                wishes.append(min(max(far, x[item] + port.low), x[item] + port.high))
            _spread(members, found, wishes, ranges, end, x[item], step)
    return [(a or 0, b or 0) for a, b in zip(out, into, strict=True)]


def _straight(
    graph: Layered,
    gap: Sequence[tuple[int, int, int]],
    ranges: Sequence[tuple[Port, Port]],
    x: Sequence[int],
    step: int,
    exits: Sequence[int],
    entries: Sequence[int],
) -> dict[int, int]:
    """The links that can be straight, with their places, chosen from left to right."""
    chosen: dict[int, int] = {}
    last_out: dict[int, tuple[int, int]] = {}
    last_into: dict[int, tuple[int, int]] = {}
    seen_out: dict[int, int] = {}
    seen_into: dict[int, int] = {}
    for index, (upper, lower, _) in enumerate(gap):
        out, into = ranges[index]
        low = max(x[upper] + out.low, x[lower] + into.low)
        high = min(x[upper] + out.high, x[lower] + into.high)
        number_out = seen_out[upper] = seen_out.get(upper, -1) + 1
        number_into = seen_into[lower] = seen_into.get(lower, -1) + 1
        if low > high:
            continue
        for last, item, number in ((last_out, upper, number_out), (last_into, lower, number_into)):
            if item in last:
                place, earlier = last[item]
                low = max(low, place + step * (number - earlier))
        if low > high:
            continue
        wish = _wish(graph, upper, lower, ranges[index], x, exits, entries)
        place = min(max(wish, low), high)
        chosen[index] = place
        last_out[upper] = (place, number_out)
        last_into[lower] = (place, number_into)
    return chosen


def _wish(
    graph: Layered,
    upper: int,
    lower: int,
    ports: tuple[Port, Port],
    x: Sequence[int],
    exits: Sequence[int],
    entries: Sequence[int],
) -> int:
    """The middle of the end that has only this link; the smaller box's if both have."""
    out, into = ports
    top = x[upper] + (out.low + out.high) // 2
    bottom = x[lower] + (into.low + into.high) // 2
    if exits[upper] == 1 and entries[lower] == 1:
        return bottom if into.high - into.low <= out.high - out.low else top
    if entries[lower] == 1:
        return bottom
    if exits[upper] == 1:
        return top
    return (top + bottom) // 2


def _spread(
    members: Sequence[int],
    found: list[int | None],
    wishes: Sequence[int],
    ranges: Sequence[tuple[Port, Port]],
    end: int,
    anchor: int,
    step: int,
) -> None:
    """Give the ports of one box side places near their wishes, between those that stand already."""
    # From the right: the most that each port may take without crowding those behind it.
    most: list[int] = [0] * len(members)
    behind: int | None = None
    for number in range(len(members) - 1, -1, -1):
        index = members[number]
        fixed = found[index]
        room = anchor + ranges[index][end].high
        if fixed is not None:
            room = fixed
        elif behind is not None:
            room = min(room, behind - step)
        most[number] = room
        behind = room
    before: int | None = None
    for number, index in enumerate(members):
        fixed = found[index]
        if fixed is None:
            least = anchor + ranges[index][end].low
            if before is not None:
                least = max(least, before + step)
            fixed = max(least, min(wishes[number], most[number]))
            if fixed > most[number]:
                fixed = most[number]
            found[index] = fixed
        before = fixed
