"""Which boxes should stand below each other: the main line of the chart.

Where every way into `v` comes through `u` and every way out of `u` leads through `v`, the two
enclose a part of the flow (a step, a decision with its branches, a loop), and the eye expects them
on one axis, however the part between them sways.
"""

from __future__ import annotations

from collections.abc import Sequence

from flowstudio.drawing.cycles import Edge


def find_spine(count: int, edges: Sequence[Edge], first: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs (u, v) of which each dominates the other in its direction, in the order of v."""
    exits: list[list[int]] = [[] for _ in range(count + 1)]
    entries: list[list[int]] = [[] for _ in range(count + 1)]
    for src, dst in edges:
        exits[src].append(dst)
        entries[dst].append(src)
    down = _dominators(count, exits, entries, [*first, *_without(entries, count)])
    up = _dominators(count, entries, exits, _without(exits, count))
    return [(u, v) for v, u in enumerate(down) if 0 <= u < count and up[u] == v]


def _without(neighbours: Sequence[Sequence[int]], count: int) -> list[int]:
    return [node for node in range(count) if not neighbours[node]]


def _dominators(
    count: int,
    ahead: Sequence[Sequence[int]],
    behind: Sequence[Sequence[int]],
    roots: Sequence[int],
) -> list[int]:
    """The immediate dominator of each node; `count` stands for the common root, -1 for none.

    Cooper, Harvey and Kennedy's iteration over reverse postorder.
    """
    order = _reverse_postorder(count, ahead, roots)
    number = [-1] * (count + 1)
    for position, node in enumerate(order):
        number[node] = position + 1
    number[count] = 0
    found = [-1] * (count + 1)
    found[count] = count
    is_root = bytearray(count)
    for root in roots:
        is_root[root] = 1
    for _ in range(8):
        changed = False
        for node in order:
            new = count if is_root[node] else -1
            for other in behind[node]:
                if found[other] < 0 or number[other] < 0:
                    continue
                if new < 0:
                    new = other
                    continue
                a, b = other, new
                while a != b:
                    if number[a] > number[b]:
                        a = found[a]
                    else:
                        b = found[b]
                new = a
            if new >= 0 and found[node] != new:
                found[node] = new
                changed = True
        if not changed:
            break
    return found[:count]


def _reverse_postorder(
    count: int, ahead: Sequence[Sequence[int]], roots: Sequence[int]
) -> list[int]:
    seen = bytearray(count)
    post: list[int] = []
    for root in roots:
        if seen[root]:
            continue
        seen[root] = 1
        stack = [(root, iter(ahead[root]))]
        while stack:
            node, rest = stack[-1]
            for other in rest:
                if not seen[other]:
                    seen[other] = 1
                    stack.append((other, iter(ahead[other])))
                    break
            else:
                stack.pop()
                post.append(node)
    return post[::-1]
