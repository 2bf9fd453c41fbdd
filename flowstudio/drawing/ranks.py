"""Stage 2: the rank of each node, so that forward edges lead from a lower rank to a higher one.

The best ranks make all edges together as short as can be. Longest path and a few tightening passes
find them for nearly every flow that a person writes, and that can be proved. Where they do not, the
ranks are the dual of a min-cost flow, which networkx solves; it is imported only then.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

type Arc = tuple[int, int]

_TIGHTENING_PASSES = 4
_MOST_FOR_SIMPLEX = 1_000
_STEPS_EACH = 40
"""Steps for each arc that the proof may take."""


def assign_ranks(count: int, arcs: Sequence[Arc], *, exact: bool = True) -> list[int]:
    """Ranks from 0 for a graph without cycles; each arc goes up by at least one.

    Without `exact` they may be a little longer than the best.
    """
    ranks, topological = _longest_path(count, arcs)
    _tighten(ranks, topological, arcs)
    if exact and count <= _MOST_FOR_SIMPLEX and not _is_shortest(ranks, arcs):
        better = _solve(count, arcs)
        if _length(better, arcs) < _length(ranks, arcs):
            ranks = better
    lowest = min(ranks, default=0)
    return [rank - lowest for rank in ranks]


def _length(ranks: Sequence[int], arcs: Sequence[Arc]) -> int:
    return sum(ranks[dst] - ranks[src] for src, dst in arcs)


def _is_shortest(ranks: Sequence[int], arcs: Sequence[Arc]) -> bool:
    """Whether the ranks are proved to be the best.

    They are if the dual problem has a flow on arcs of length one alone: so the unit of each longer
    arc is led another way, one after the other. False also if that takes too many steps.
    """
    flow: dict[Arc, int] = {}
    tight: list[list[int]] = [[] for _ in ranks]
    long: list[Arc] = []
    for src, dst in arcs:
        if ranks[dst] - ranks[src] > 1:
            long.append((src, dst))
        else:
            if (src, dst) not in flow:
                tight[src].append(dst)
                tight[dst].append(src)
            flow[src, dst] = flow.get((src, dst), 0) + 1
    left = _STEPS_EACH * len(arcs)
    for src, dst in long:
        came: dict[int, int] = {src: src}
        waiting = deque([src])
        while waiting and dst not in came:
            node = waiting.popleft()
            for other in tight[node]:
                left -= 1
                # Forward without limit, backward as far as there is flow to take back.
                if other not in came and (ranks[other] > ranks[node] or flow[other, node]):
                    came[other] = node
                    waiting.append(other)
            if left < 0:
                return False
        if dst not in came:
            return False
        node = dst
        while node != src:
            before = came[node]
            if ranks[before] < ranks[node]:
                flow[before, node] += 1
            else:
                flow[node, before] -= 1
            node = before
    return True


def _solve(count: int, arcs: Sequence[Arc]) -> list[int]:
    """Optimal ranks: arcs that carry flow in the dual problem's solution have length one."""
    import networkx as nx

    weight: dict[Arc, int] = {}
    demand = [0] * count
    for src, dst in arcs:
        demand[src] -= 1
        demand[dst] += 1
        weight[src, dst] = -1
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from((node, {"demand": demand[node]}) for node in range(count))
    graph.add_edges_from((src, dst, {"weight": cost}) for (src, dst), cost in weight.items())
    flows: Mapping[int, Mapping[int, int]] = nx.network_simplex(graph)[1]
    ahead: list[list[Arc]] = [[] for _ in range(count)]
    for src, dst in weight:
        ahead[src].append((dst, 1))
        if flows[src][dst]:
            ahead[dst].append((src, -1))
    ranks = [0] * count
    waiting = deque(range(count))
    queued = bytearray(b"\1") * count
    while waiting:
        node = waiting.popleft()
        queued[node] = 0
        for other, step in ahead[node]:
            if ranks[other] < ranks[node] + step:
                ranks[other] = ranks[node] + step
                if not queued[other]:
                    queued[other] = 1
                    waiting.append(other)
    return ranks


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
