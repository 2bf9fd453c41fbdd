"""Stage 1: which edges lead back.

Depth first from BEGIN in source order: an edge to a node that is still being followed is a back
edge. So the author's reading order decides, and the same chart always gives the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

type Edge = tuple[int, int]
type ExitOrder = Literal["source", "last", "fewest", "most"]
"""Which exit of a node is followed first: the first or the last in the source, or the one that
leads to the node with the fewest or the most edges."""


def find_back_edges(
    count: int,
    edges: Sequence[Edge],
    first: Sequence[int],
    *,
    sources_first: bool = False,
    exits_by: ExitOrder = "source",
) -> set[int]:
    """The indices of the edges that close a cycle; without them the graph has none.

    Nodes are 0 to `count` - 1 in source order. The search starts at the nodes in `first`, then
    (with `sources_first`) at those that no edge enters, then at whatever is left, in source order.
    Self loops are not counted as back edges.
    """
    exits: list[list[int]] = [[] for _ in range(count)]
    entered = bytearray(count)
    for index, (src, dst) in enumerate(edges):
        if src != dst:
            exits[src].append(index)
            entered[dst] = 1
    if exits_by != "source":
        _sort_exits(exits, edges, exits_by)
    sources = (node for node in range(count) if not entered[node]) if sources_first else ()
    roots = [*first, *sources, *range(count)]
    back: set[int] = set()
    state = bytearray(count)
    """0: not seen, 1: being followed, 2: done."""
    for root in roots:
        if state[root]:
            continue
        state[root] = 1
        stack = [(root, iter(exits[root]))]
        while stack:
            node, ahead = stack[-1]
            for index in ahead:
                target = edges[index][1]
                if state[target] == 0:
                    state[target] = 1
                    stack.append((target, iter(exits[target])))
                    break
                if state[target] == 1:
                    back.add(index)
            else:
                state[node] = 2
                stack.pop()
    return back


def _sort_exits(exits: Sequence[list[int]], edges: Sequence[Edge], by: ExitOrder) -> None:
    lines = [0] * len(exits)
    for src, dst in edges:
        lines[src] += 1
        lines[dst] += 1
    for ahead in exits:
        if by == "last":
            ahead.reverse()
        else:
            ahead.sort(key=lambda index: lines[edges[index][1]], reverse=by == "most")
