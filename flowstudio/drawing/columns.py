"""Stage 6: the cross coordinate of each item, in whole cells from the start.

A link costs nothing while it can be drawn straight, and its excess otherwise; a small second cost
draws it to the middle of its boxes. Layer by layer, with the neighbouring layer held still, the
cheapest places that keep the order and the gaps are found exactly: isotonic regression with convex
piecewise linear costs. Sweeps down and up carry what one layer wants to the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flowstudio.drawing.footprints import Footprints, Style
from flowstudio.drawing.layers import Kind, Layered
from flowstudio.drawing.settle import Pull, lowest, settle

_LINE = (80, 0)
_LINE_TO_BOX = (24, 1)
_LINE_TO_ONLY_PORT = (24, 2)
_CHAIN = (40, 8)
_BOX_TO_BOX = (24, 3)
_AXIS = 30
_REACH = 12
"""Layers over which the axis of two boxes is kept in view."""
_LOOK = 200
_LANE = (1, 0)
_FAR = 1 << 30
_MANY = 4_000
"""Items above which less is tried."""
_SLACK = 1.1
"""How much broader than its broadest layer a drawing may be."""
_SWEEPS = ((150, 6), (800, 5), (4000, 4), (_FAR, 2))
"""Up to how many items how many sweeps are made."""


@dataclass(slots=True)
class Springs:
    """What the places of the items depend on."""

    above: list[list[Pull]]
    """For each item, the pulls of what it is linked to in the layer above, and of its axis."""
    below: list[list[Pull]]
    beside: list[list[Pull]]
    """The pulls of a box on its lanes."""
    gaps: list[list[int]]
    """For each layer, the least distance of each item's anchor from the one before it."""
    tails: list[int]
    """For each layer, the cells behind its last item's anchor."""
    left: int = 0
    right: int = 0
    """The first and the last column that the drawing uses, once its places are known."""
    spare: int = 0
    """Columns at each side that it may use as well, at a price."""


@dataclass(slots=True)
class Port:
    """One end of a link at a box: the range of its place, from the box's anchor."""

    low: int
    high: int


def port_ranges(graph: Layered, prints: Footprints, style: Style) -> list[list[tuple[Port, Port]]]:
    """For each link of each gap, where its two ends may lie relative to their items' anchors.

    The ports of a box stand in the order of where they lead; each leaves room for the others.
    """
    # What is in no layer's list lies beyond one of the ends.
    beyond = len(graph.kind)
    place = [beyond + item for item in range(beyond)]
    for layer in graph.layers:
        for position, item in enumerate(layer):
            place[item] = position
    for item in find_left_express(graph, place):
        place[item] = -item
    ranges: list[list[tuple[Port, Port]]] = []
    for gap in graph.gaps:
        gap.sort(key=lambda link: (place[link[0]], place[link[1]], link[2]))
        exits: dict[int, list[int]] = {}
        entries: dict[int, list[int]] = {}
        for index, (upper, lower, _) in enumerate(gap):
            if graph.kind[upper] == Kind.BOX:
                exits.setdefault(upper, []).append(index)
            if graph.kind[lower] == Kind.BOX:
                entries.setdefault(lower, []).append(index)
        found = [(Port(0, 0), Port(0, 0)) for _ in gap]
        for end, groups in ((0, exits), (1, entries)):
            for box, members in groups.items():
                low = -prints.before[box] + style.inset
                high = prints.box_after[box] - style.inset
                last = len(members) - 1
                step = style.port if high - low >= style.port * last else 1
                for number, index in enumerate(members):
                    port = found[index][end]
                    port.low = low + step * number
                    port.high = high - step * (last - number)
        ranges.append(found)
    return ranges


def place_columns(
    graph: Layered, springs: Springs, style: Style, wish: int | None = None
) -> list[int]:
    """The anchor of each item, not yet counted from the left edge of the drawing.

    `wish` is a breadth that the drawing should not exceed.
    """
    above, below, beside, gaps = springs.above, springs.below, springs.beside, springs.gaps
    x = [0] * len(graph.kind)
    for layer, gap in zip(graph.layers, gaps, strict=True):
        at = 0
        for item, distance in zip(layer, gap, strict=True):
            at += distance
            x[item] = at
    best, kept = None, x
    x = x[:]
    last = len(graph.layers) - 1
    for turn in range(next(sweeps for most, sweeps in _SWEEPS if len(x) <= most)):
        down = turn % 2 == 0
        order = range(1, last + 1) if down else range(last - 1, -1, -1)
        pulls = above if down else below
        for index in order:
            settle(graph.layers[index], gaps[index], [pulls, beside], x)
        cost = _cost(above, x)
        if best is None or cost < best:
            best, kept = cost, x[:]
    x = kept
    _shear(graph, springs, x)
    for order in (range(last + 1), range(last, -1, -1)):
        for index in order:
            settle(graph.layers[index], gaps[index], [above, below, beside], x)
    _squeeze(graph, springs, x, style, wish)
    return x


def _squeeze(
    graph: Layered, springs: Springs, x: list[int], style: Style, wish: int | None
) -> None:
    """Bring everything within the breadth that the broadest layer needs, or little more."""
    reach = [
        (x[layer[0]] - gap[0], x[layer[-1]] + tail)
        for layer, gap, tail in zip(graph.layers, springs.gaps, springs.tails, strict=True)
        if layer
    ]
    if not reach:
        return
    springs.left = min(low for low, _ in reach)
    springs.right = max(high for _, high in reach)
    needed = max(
        sum(gap) + tail + 1 for gap, tail in zip(springs.gaps, springs.tails, strict=True) if gap
    )
    breadth = max(needed, min(max(round(needed * _SLACK), style.easy), wish or _FAR))
    spare = breadth - (springs.right - springs.left + 1)
    if spare >= 0:
        springs.spare = spare // 2
        return
    # The window is where most of the drawing lies in it already.
    points = [(low, 1) for low, _ in reach] + [(high - breadth + 1, 1) for _, high in reach]
    springs.left = lowest(sorted(points), -len(reach))
    springs.right = springs.left + breadth - 1
    every = [springs.above, springs.below, springs.beside]
    last = len(graph.layers) - 1
    orders = (range(last + 1), range(last, -1, -1), range(last + 1))
    for order in orders if len(x) <= _MANY else orders[:1]:
        for index in order:
            layer, gap = graph.layers[index], springs.gaps[index]
            if layer:
                bounds = springs.left + gap[0], springs.right - springs.tails[index]
                settle(layer, gap, every, x, bounds)


def _shear(graph: Layered, springs: Springs, x: list[int]) -> None:
    """Shift all that is below each gap by what suits the links across it, so that nothing drifts.

    Lines that only pass count little here: they can be straightened afterwards.
    """
    spans: list[list[tuple[int, Pull]]] = [[] for _ in graph.layers]
    for layer, items in enumerate(graph.layers):
        for item in items:
            for pull in springs.above[item]:
                if not pull[4]:
                    top = graph.layer[pull[0]]
                    for between in range(top + 1, min(layer, top + _REACH) + 1):
                        spans[between].append((item, pull))
    total = 0
    shifts = [0] * len(graph.layers)
    for layer, items in enumerate(graph.layers):
        points: list[tuple[int, int]] = [(0, 2)]
        slope = -1
        for item in items:
            for other, low, _, high, steep, _ in springs.above[item]:
                if not steep:
                    continue
                weight = 1 if steep == _LINE[0] else steep
                distance = x[item] - x[other]
                points.append((low - distance, weight))
                points.append((high - distance, weight))
                slope -= weight
        for item, (other, _, middle, _, _, flat) in spans[layer]:
            # What the layers between have shifted already counts towards this pair.
            gone = total - shifts[graph.layer[other]]
            points.append((middle - (x[item] - x[other]) - gone, 2 * flat))
            slope -= flat
        points.sort()
        total += lowest(points, slope)
        shifts[layer] = total
    for layer, items in enumerate(graph.layers):
        for item in items:
            x[item] += shifts[layer]


def stretch_springs(
    graph: Layered,
    prints: Footprints,
    ranges: Sequence[Sequence[tuple[Port, Port]]],
    spine: Sequence[tuple[int, int]],
    style: Style,
) -> Springs:
    """The pulls of all items on each other and the gaps that they must keep.

    `spine` holds pairs of boxes that like to stand on one axis.
    """
    express = {item for lane in graph.express for item in lane}
    exits = [0] * len(graph.kind)
    entries = [0] * len(graph.kind)
    for gap in graph.gaps:
        for upper, lower, _ in gap:
            exits[upper] += 1
            entries[lower] += 1
    above: list[list[Pull]] = [[] for _ in graph.kind]
    below: list[list[Pull]] = [[] for _ in graph.kind]
    beside: list[list[Pull]] = [[] for _ in graph.kind]
    box = [kind == Kind.BOX for kind in graph.kind]
    for gap, ports in zip(graph.gaps, ranges, strict=True):
        for (upper, lower, _), (out, into) in zip(gap, ports, strict=True):
            if upper in express or lower in express:
                continue
            low, high = out.low - into.high, out.high - into.low
            middle = (out.low + out.high - into.low - into.high) // 2
            if not box[upper] and not box[lower]:
                steep, flat = _LINE
            elif box[upper] and box[lower]:
                chain = exits[upper] == 1 and entries[lower] == 1
                steep, flat = _CHAIN if chain else _BOX_TO_BOX
            else:
                only = exits[upper] == 1 if box[upper] else entries[lower] == 1
                steep, flat = _LINE_TO_ONLY_PORT if only else _LINE_TO_BOX
            above[lower].append((upper, low, middle, high, steep, flat))
            below[upper].append((lower, -high, -middle, -low, steep, flat))
    for node, lanes in graph.lanes.items():
        for lane in lanes:
            if graph.side[lane] > 0:
                near = prints.box_after[node] + style.lane
                beside[lane].append((node, -_FAR, near, near, *_LANE))
            else:
                near = -prints.before[node] - style.lane
                beside[lane].append((node, near, near, _FAR, *_LANE))
    for upper, lower in spine:
        if graph.layer[upper] < graph.layer[lower]:
            below[upper].append((lower, -_FAR, 0, _FAR, 0, _AXIS))
            above[lower].append((upper, -_FAR, 0, _FAR, 0, _AXIS))
    gaps = [_gaps(graph, prints, layer, style) for layer in graph.layers]
    tails = [prints.after[layer[-1]] if layer else 0 for layer in graph.layers]
    return Springs(above, below, beside, gaps, tails)


def _gaps(graph: Layered, prints: Footprints, layer: Sequence[int], style: Style) -> list[int]:
    """The least distance of each item's anchor from the one before it."""
    found: list[int] = []
    before = -1
    for item in layer:
        if before < 0:
            found.append(prints.before[item])
        else:
            lines = _is_line(graph, prints, before) + _is_line(graph, prints, item)
            gap = 1 if lines == 2 or (style.tight and lines) else style.gap
            found.append(prints.after[before] + gap + 1 + prints.before[item])
        before = item
    return found


def _is_line(graph: Layered, prints: Footprints, item: int) -> bool:
    return graph.kind[item] != Kind.BOX and not prints.after[item] and not prints.before[item]


def _cost(above: Sequence[Sequence[Pull]], x: Sequence[int]) -> int:
    total = 0
    for item, pulls in enumerate(above):
        for other, low, middle, high, steep, flat in pulls:
            distance = x[item] - x[other]
            if distance < low:
                total += steep * (low - distance + 2)
            elif distance > high:
                total += steep * (distance - high + 2)
            total += flat * abs(distance - middle)
    return total


def find_left_express(graph: Layered, place: Sequence[int]) -> set[int]:
    """The items of the express lanes that cross less on the left side of the drawing."""
    lanes = {first for first, _ in graph.express}
    found: set[int] = set()
    for chain in graph.chains if lanes else ():
        for number in range(1, len(chain) - 2):
            if chain[number] in lanes:
                lean = 0
                for end in (chain[number - 1], chain[number + 2]):
                    lean += 2 * place[end] - len(graph.layers[graph.layer[end]])
                if lean < 0:
                    found.update(chain[number : number + 2])
    return found


def place_express(graph: Layered, prints: Footprints, x: list[int]) -> None:
    """Put the express lanes beyond everything else, two on one column where they do not meet.

    All places are counted from the left edge, and still are afterwards.
    """
    if not graph.express:
        return
    place = [0] * len(graph.kind)
    for layer in graph.layers:
        for position, item in enumerate(layer):
            place[item] = position
    at_left = find_left_express(graph, place)
    edge = max((x[i] + prints.after[i] for layer in graph.layers for i in layer), default=0)
    most = [0, 0]
    for side in (False, True):
        free: list[int] = []
        """For each lane's column, the first layer at which it is free again."""
        lanes = (lane for lane in graph.express if (lane[0] in at_left) == side)
        for first, last in sorted(lanes, key=lambda lane: (graph.layer[lane[0]], lane)):
            top = graph.layer[first]
            column = next((n for n, layer in enumerate(free[:_LOOK]) if layer < top), len(free))
            if column == len(free):
                free.append(0)
            free[column] = graph.layer[last] + 2
            x[first] = x[last] = -3 - 2 * column if side else edge + 3 + 2 * column
        most[side] = len(free)
    if most[1]:
        shift = 2 * most[1] + 1
        x[:] = [at + shift for at in x]
