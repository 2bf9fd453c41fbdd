"""Stage 2: the rank of each node, so that forward edges lead from a lower rank to a higher one."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

type Arc = tuple[int, int]

_TIGHTENING_PASSES = 4


def assign_ranks(count: int, arcs: Sequence[Arc]) -> list[int]:
    """Ranks from 0 for a graph without cycles; each arc goes up by at least one.

    Longest path first, then a few passes that shorten arcs.
    """
    ranks, topological = _longest_path(count, arcs)
    _tighten(ranks, topological, arcs)
    lowest = min(ranks, default=0)
    return [rank - lowest for rank in ranks]


def _longest_path(count: int, arcs: Sequence[Arc]) -> tuple[list[int], list[int]]:
    exits: list[list[int]] = [[] for _ in range(count)]
    missing = [0] * count
    for src, dst in arcs:
        exits[src].append(dst)
        missing[dst] += 1
    ranks = [0] * count
    ready = deque(n for n in range(count) if not missing[n])
    topological: list[int] = []
    while ready:
        node = ready.popleft()
        topological.append(node)
        below = ranks[node] + 1
        for dst in exits[node]:
            if ranks[dst] < below:
                ranks[dst] = below
            missing[dst] -= 1
            if not missing[dst]:
                ready.append(dst)
    return ranks, topological


def _tighten(ranks: list[int], topological: Sequence[int], arcs: Sequence[Arc]) -> None:
    """Move nodes with more exits than entrances down, the others up, as far as arcs let them."""
    exits: list[list[int]] = [[] for _ in ranks]
    entries: list[list[int]] = [[] for _ in ranks]
    for src, dst in arcs:
        exits[src].append(dst)
        entries[dst].append(src)
    for _ in range(_TIGHTENING_PASSES):
        moved = False
        for node in reversed(topological):
            if len(exits[node]) > len(entries[node]):
                rank = min(ranks[dst] for dst in exits[node]) - 1
                moved |= rank != ranks[node]
                ranks[node] = rank
        for node in topological:
            if len(entries[node]) > len(exits[node]):
                rank = max(ranks[src] for src in entries[node]) + 1
                moved |= rank != ranks[node]
                ranks[node] = rank
        if not moved:
            break
