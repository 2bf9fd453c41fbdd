"""Stage 6b: the bends that the sweeps have left, taken out one by one where that is possible.

Layer-by-layer sweeps cannot move several layers together. Here a line's straight run, or
everything that hangs on it by straight links, moves as one by just what straightens a link. What is
in the way is pushed aside. A move stays if the drawing has become better by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flowstudio.drawing.columns import Springs
from flowstudio.drawing.footprints import Footprints
from flowstudio.drawing.layers import Kind, Layered
from flowstudio.drawing.settle import Pull

_BEND = 60
_EXCESS = 3
_WIDER = 4
_TOO_WIDE = 400
"""For each cell by which the drawing becomes wider, up to what it may take and beyond that."""
_BUDGET = 6_000
_BUDGET_EACH = 40
"""Items that may be moved on trial in one chart, and for each item of it."""
_MOST = 80
"""Items that one move may shift."""
_PASSES = 6


class _Straightener:
    __slots__ = (
        "above",
        "below",
        "beside",
        "boxed",
        "first",
        "gap",
        "last",
        "layer",
        "left",
        "moves",
        "prints",
        "right",
        "spare",
        "spent",
        "stamp",
        "x",
    )

    def __init__(self, graph: Layered, prints: Footprints, springs: Springs, x: list[int]) -> None:
        self.prints = prints
        self.first = springs.left
        self.last = springs.right
        self.spare = springs.spare
        self.above = springs.above
        self.below = springs.below
        self.beside = springs.beside
        self.x = x
        self.spent = 0
        self.moves = 0
        self.layer = graph.layer
        self.stamp = [0] * len(graph.layers)
        """For each layer, which move changed it last."""
        count = len(x)
        self.boxed = [kind == Kind.BOX for kind in graph.kind]
        self.left = [-1] * count
        self.right = [-1] * count
        self.gap = [0] * count
        for layer, gaps in zip(graph.layers, springs.gaps, strict=True):
            before = -1
            for item, gap in zip(layer, gaps, strict=True):
                self.gap[item] = gap
                self.left[item] = before
                if before >= 0:
                    self.right[before] = item
                before = item

    def run_of(self, item: int) -> list[int]:
        """The straight run of a line through `item`; a box is its own."""
        if self.boxed[item]:
            return [item]
        run = [item]
        for side in (self.above, self.below):
            at = item
            while side[at]:
                beyond = side[at][0][0]
                if self.boxed[beyond] or self.x[beyond] != self.x[at]:
                    break
                run.append(beyond)
                at = beyond
        return run

    def hanging_on(self, item: int, without: int) -> list[int] | None:
        """Everything that straight links connect with `item`, not by way of `without`.

        None if it is too much, or if it comes round to `without`.
        """
        x = self.x
        found = {item: None}
        stack = [item]
        while stack:
            at = stack.pop()
            for side in (self.above, self.below):
                for other, low, _, high, steep, _ in side[at]:
                    if not steep:
                        continue
                    if other == without:
                        if at == item:
                            continue
                        return None
                    if other not in found and low <= x[at] - x[other] <= high:
                        found[other] = None
                        stack.append(other)
                        if len(found) > _MOST:
                            return None
        return list(found)

    def try_move(self, items: Sequence[int], shift: int) -> bool:
        """Move the items and what they push; keep it if the drawing is better."""
        moved = self._closure(items, shift)
        if moved is None:
            return False
        before = self._cost(moved)
        x = self.x
        for item, by in moved.items():
            x[item] += by
        if self._cost(moved) < before:
            self.moves += 1
            for item in moved:
                self.stamp[self.layer[item]] = self.moves
            return True
        for item, by in moved.items():
            x[item] -= by
        return False

    def _closure(self, items: Iterable[int], shift: int) -> dict[int, int] | None:
        """By how much each item moves when `items` move by `shift`; None if that is too many."""
        x = self.x
        moved = dict.fromkeys(items, shift)
        stack = list(moved)
        neighbours = self.right if shift > 0 else self.left
        while stack:
            item = stack.pop()
            other = neighbours[item]
            if other < 0:
                continue
            if shift > 0:
                push = x[item] + moved[item] + self.gap[other] - x[other]
                if push <= moved.get(other, 0):
                    continue
            else:
                push = x[item] + moved[item] - self.gap[item] - x[other]
                if push >= moved.get(other, 0):
                    continue
            for one in self.run_of(other):
                if abs(push) > abs(moved.get(one, 0)):
                    moved[one] = push
                    stack.append(one)
            if len(moved) > _MOST:
                return None
        self.spent += len(moved)
        return moved

    def _cost(self, moved: dict[int, int]) -> int:
        """What the links of the moved items cost. Written out flat: most time is spent here."""
        x = self.x
        total = 0
        for item in moved:
            at = x[item]
            for pulls, once in ((self.above[item], False), (self.below[item], True)):
                for other, low, middle, high, _, flat in pulls:
                    if once and other in moved:
                        continue
                    distance = at - x[other]
                    if distance < low:
                        total += _BEND + _EXCESS * (low - distance)
                    elif distance > high:
                        total += _BEND + _EXCESS * (distance - high)
                    if flat:
                        total += flat * abs(distance - middle)
            for other, low, _, high, steep, _ in self.beside[item]:
                distance = at - x[other]
                total += steep * max(0, low - distance, distance - high)
            if self.left[item] < 0:
                out = self.first - at + self.prints.before[item]
                if out > 0:
                    total += _WIDER * out
                    total += _TOO_WIDE * (out - self.spare) if out > self.spare else 0
            if self.right[item] < 0:
                out = at + self.prints.after[item] - self.last
                if out > 0:
                    total += _WIDER * out
                    total += _TOO_WIDE * (out - self.spare) if out > self.spare else 0
        return total


def straighten(graph: Layered, prints: Footprints, springs: Springs, x: list[int]) -> None:
    """Take out bends, in place; order and gaps are kept."""
    if not graph.layers:
        return
    work = _Straightener(graph, prints, springs, x)
    budget = min(_BUDGET, _BUDGET_EACH * len(x))
    tried = [-1] * len(graph.layers)
    for _ in range(_PASSES):
        better = False
        for index, layer in enumerate(graph.layers):
            # Where nothing has moved near by since the last time, nothing will.
            if tried[index] >= max(work.stamp[max(index - 2, 0) : index + 2]):
                continue
            tried[index] = work.moves
            for item in layer:
                for pull in springs.above[item]:
                    better |= _straighten_link(work, item, pull)
                    if work.spent > budget:
                        return
        for lanes in graph.lanes.values():
            for lane in lanes:
                better |= _draw_in(work, lane)
        if not better:
            return


def _straighten_link(work: _Straightener, item: int, pull: Pull) -> bool:
    other, low, _, high, _, _ = pull
    distance = work.x[item] - work.x[other]
    if low <= distance <= high:
        return False
    shift = low - distance if distance < low else high - distance
    if work.try_move(work.run_of(item), shift) or work.try_move(work.run_of(other), -shift):
        return True
    hanging = work.hanging_on(item, other)
    if hanging is not None and work.try_move(hanging, shift):
        return True
    hanging = work.hanging_on(other, item)
    return hanging is not None and work.try_move(hanging, -shift)


def _draw_in(work: _Straightener, lane: int) -> bool:
    """Bring a lane as near to its box as its neighbours let it."""
    box, low, _, high, _, _ = work.beside[lane][0]
    distance = work.x[lane] - work.x[box]
    excess = distance - high if distance > high else distance - low if distance < low else 0
    if not excess:
        return False
    run = work.run_of(lane)
    x = work.x
    if excess > 0:
        room = min(x[i] - work.gap[i] - x[work.left[i]] for i in run if work.left[i] >= 0)
        return room > 0 and work.try_move(run, -min(excess, room))
    rooms = (x[work.right[i]] - work.gap[work.right[i]] - x[i] for i in run if work.right[i] >= 0)
    room = min(rooms)
    return room > 0 and work.try_move(run, min(-excess, room))
