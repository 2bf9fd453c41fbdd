"""Stage 6c: boxes made one or two cells wider where a line beside them could then be straight.

A line that misses the last place for a port by a cell would need two bends and a row of its own to
get there. If there is room beside the box, the box comes to meet it.
"""

from __future__ import annotations

from collections.abc import Sequence

from flowstudio.drawing.columns import Port, Springs
from flowstudio.drawing.footprints import Footprints
from flowstudio.drawing.layers import Kind, Layered

_MOST = 2


def widen_boxes(
    graph: Layered,
    prints: Footprints,
    springs: Springs,
    ranges: Sequence[Sequence[tuple[Port, Port]]],
    x: Sequence[int],
) -> bool:
    """Widen boxes, in `prints`, where that takes out a jog; whether any was."""
    wider: dict[int, list[int]] = {}
    """By how many cells a box has grown to the left and to the right."""
    places: dict[int, int] = {}
    for layer in graph.layers:
        for number, item in enumerate(layer):
            places[item] = number
    for gap, ports in zip(graph.gaps, ranges, strict=True):
        for (upper, lower, _), (out, into) in zip(gap, ports, strict=True):
            if upper not in places or lower not in places:
                continue
            ahead = x[lower] + into.low - x[upper] - out.high
            behind = x[upper] + out.low - x[lower] - into.high
            missing = max(ahead, behind)
            if not 0 < missing <= _MOST:
                continue
            for item, side in ((upper, ahead > 0), (lower, behind > 0)):
                if graph.kind[item] != Kind.BOX:
                    continue
                grown = wider.get(item, [0, 0])[side]
                more = missing - grown
                if more <= 0 or _room(graph, prints, springs, x, places, item, right=side) >= more:
                    if more > 0:
                        wider.setdefault(item, [0, 0])[side] += more
                        _grow(graph, prints, springs, places, item, more, right=side)
                    break
    return bool(wider)


def _room(
    graph: Layered,
    prints: Footprints,
    springs: Springs,
    x: Sequence[int],
    places: dict[int, int],
    item: int,
    *,
    right: bool,
) -> int:
    """The cells by which the box may grow at this side."""
    layer, gaps = graph.layers[graph.layer[item]], springs.gaps[graph.layer[item]]
    place = places[item]
    if right and place + 1 < len(layer):
        return x[layer[place + 1]] - x[item] - gaps[place + 1]
    if right:
        return springs.right + springs.spare - x[item] - prints.after[item]
    if place:
        return x[item] - x[layer[place - 1]] - gaps[place]
    return x[item] - prints.before[item] - springs.left + springs.spare


def _grow(
    graph: Layered,
    prints: Footprints,
    springs: Springs,
    places: dict[int, int],
    item: int,
    more: int,
    *,
    right: bool,
) -> None:
    gaps = springs.gaps[graph.layer[item]]
    place = places[item] + right
    if place < len(gaps):
        gaps[place] += more
    if right:
        prints.after[item] += more
        prints.box_after[item] += more
    else:
        prints.before[item] += more
