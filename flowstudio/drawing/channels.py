"""Stage 8: the tracks between two layers, one for each bend, so that no two lines share a cell.

A link that is not straight comes down at its upper coordinate, runs along one track, and goes down
at its lower one. Where one link's upper coordinate is another's lower one, the first must bend
above the second. Other pairs choose the order in which they cross less. Links whose demands form a
circle are split over two tracks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

type Ends = tuple[int, int]
"""Upper and lower cross coordinate of a link."""

_PAIRS = 20_000
"""Pairs compared in one channel; a channel with more takes an order that is good for most."""


@dataclass(slots=True)
class Channel:
    """The tracks of one gap: their number, and for each link that bends its tracks and turns."""

    tracks: int = 0
    bends: dict[int, list[tuple[int, int]]] = field(
        default_factory=dict[int, list[tuple[int, int]]]
    )
    """Link to (track, the cross coordinate that it leads to), from top to bottom."""


class _Segment:
    __slots__ = ("high", "link", "low", "lower", "part", "upper")

    def __init__(self, link: int, upper: int, lower: int, part: int = 0) -> None:
        self.link = link
        self.upper = upper
        self.lower = lower
        self.part = part
        self.low, self.high = (upper, lower) if upper < lower else (lower, upper)


def route_channel(ends: Sequence[Ends]) -> Channel:
    """Tracks for the links of one gap, given by their ends; straight ones need none."""
    segments = [_Segment(i, a, b) for i, (a, b) in enumerate(ends) if a != b]
    channel = Channel()
    if not segments:
        return channel
    taken = {place for pair in ends for place in pair}
    while True:
        order, stuck = _order(segments)
        if stuck is None:
            break
        segments = _split(segments, stuck, taken)
    tracks = _assign(segments, order)
    channel.tracks = max(tracks) + 1
    for number, segment in sorted(enumerate(segments), key=lambda s: s[1].part):
        channel.bends.setdefault(segment.link, []).append((tracks[number], segment.lower))
    return channel


def _order(segments: Sequence[_Segment]) -> tuple[list[int], int | None]:
    """Segments from top to bottom; or, if demands form a circle, a segment of it to split."""
    count = len(segments)
    if count == 1:
        return [0], None
    followers: list[list[int]] = [[] for _ in segments]
    missing = [0] * count
    for above, below in _demands(segments):
        followers[above].append(below)
        missing[below] += 1
    wants: list[list[int]] = [[] for _ in segments]
    pending = [0] * count
    for above, below in _preferences(segments):
        wants[above].append(below)
        pending[below] += 1
    # Right-going lines first from the right, left-going ones first from the left: among lines that
    # need not cross, none does.
    rule = [(0, -s.upper) if s.lower > s.upper else (1, s.upper) for s in segments]
    order: list[int] = []
    placed = bytearray(count)
    ready = [(pending[n], rule[n], n) for n in range(count) if not missing[n]]
    heapify(ready)
    while ready:
        chosen = heappop(ready)[2]
        if placed[chosen]:
            continue
        placed[chosen] = 1
        order.append(chosen)
        # A segment may stand in the heap several times; the entry with the fewest pending is first.
        for below in wants[chosen]:
            pending[below] -= 1
            if not missing[below] and not placed[below]:
                heappush(ready, (pending[below], rule[below], below))
        for below in followers[chosen]:
            missing[below] -= 1
            if not missing[below]:
                heappush(ready, (pending[below], rule[below], below))
    if len(order) == count:
        return order, None
    return order, _on_circle(followers, missing)


def _on_circle(followers: Sequence[Sequence[int]], missing: Sequence[int]) -> int:
    """A segment on a circle of demands: walking back from any waiting one must meet one."""
    leaders: dict[int, int] = {}
    for above, below in enumerate(followers):
        if missing[above]:
            for number in below:
                leaders.setdefault(number, above)
    at = next(number for number, left in enumerate(missing) if left)
    seen: set[int] = set()
    while at not in seen:
        seen.add(at)
        at = leaders[at]
    return at


def _demands(segments: Sequence[_Segment]) -> Iterable[tuple[int, int]]:
    """(above, below) for segments that would otherwise run over each other at one coordinate."""
    by_upper = {segment.upper: number for number, segment in enumerate(segments)}
    parts: dict[int, int] = {}
    for number, segment in enumerate(segments):
        above = by_upper.get(segment.lower)
        if above is not None and segments[above].link != segment.link:
            yield above, number
        if segment.part:
            yield parts[segment.link], number
        else:
            parts[segment.link] = number


def _preferences(segments: Sequence[_Segment]) -> Iterable[tuple[int, int]]:
    """(above, below) for pairs that cross less in this order. Written out flat: it is much used."""
    by_low = sorted(range(len(segments)), key=lambda n: segments[n].low)
    active: list[tuple[int, int, int, int, int, int]] = []
    compared = 0
    for number in by_low:
        segment = segments[number]
        upper, lower, low, high = segment.upper, segment.lower, segment.low, segment.high
        active = [other for other in active if other[4] >= low]
        compared += len(active)
        if compared > _PAIRS:
            return
        for other, one_upper, one_lower, one_low, one_high, link in active:
            # Of the two verticals of each, which lie within the other's stretch.
            lean = (
                (low < one_lower < high)
                + (one_low < upper < one_high)
                - (one_low < lower < one_high)
                - (low < one_upper < high)
            )
            if lean and link != segment.link:
                yield (other, number) if lean < 0 else (number, other)
        active.append((number, upper, lower, low, high, segment.link))


def _split(segments: Sequence[_Segment], chosen: int, taken: set[int]) -> list[_Segment]:
    """The segments with one of them led over two tracks, by way of a coordinate nobody uses."""
    segment = segments[chosen]
    middle = (segment.upper + segment.lower) // 2
    turn = next(
        place
        for distance in range(len(taken) + 1)
        for place in (middle + distance, middle - distance)
        if place not in taken and place >= 0
    )
    taken.add(turn)
    first = _Segment(segment.link, segment.upper, turn, segment.part)
    second = _Segment(segment.link, turn, segment.lower, segment.part + 1)
    kept = [s for n, s in enumerate(segments) if n != chosen]
    for other in kept:
        if other.link == segment.link and other.part > segment.part:
            other.part += 1
    kept += [first, second]
    kept.sort(key=lambda s: (s.link, s.part))
    return kept


def _assign(segments: Sequence[_Segment], order: Sequence[int]) -> list[int]:
    """The track of each segment: below every earlier one that it meets, one blank cell apart."""
    tracks = [0] * len(segments)
    used: list[list[tuple[int, int]]] = []
    """The stretches on each track, sorted; they do not meet."""
    for number in order:
        segment = segments[number]
        low, high = segment.low, segment.high
        track = len(used)
        while track > 0 and not _meets(used[track - 1], low - 1, high + 1):
            track -= 1
        if track == len(used):
            used.append([])
        stretches = used[track]
        stretches.insert(bisect_left(stretches, (low, high)), (low, high))
        tracks[number] = track
    return tracks


def _meets(stretches: Sequence[tuple[int, int]], low: int, high: int) -> bool:
    at = bisect_left(stretches, (low, low))
    if at < len(stretches) and stretches[at][0] <= high:
        return True
    return at > 0 and stretches[at - 1][1] >= low
