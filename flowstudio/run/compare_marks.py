"""Two runs on one drawing: which nodes and edges both took, and which only one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from flowstudio.drawing.marks import VISITED, Look, Marks
from flowstudio.run.marks import EdgeIndex
from flowstudio.run.state import RunState

ONE, OTHER = "A", "B"
"""The letters that stand for the two."""


def compare_marks(edges: EdgeIndex, one: RunState, other: RunState) -> Marks:
    """The marks of both runs: what both took looks `done`, what only the first took `now` and
    lettered A, what only the second took `forced` and lettered B.
    """
    visits = (_visits(one), _visits(other))
    nodes: dict[str, Look] = {node: _look(node, *visits) for node in visits[0] | visits[1]}
    tags = {node: _tag(visits[0][node], visits[1][node]) for node in nodes}
    taken = (_edges(edges, one), _edges(edges, other))
    looks: dict[int, Look] = {edge: _look(edge, *taken) for edge in taken[0] | taken[1]}
    letters = {
        edge: ONE if look == "now" else OTHER for edge, look in looks.items() if look != "done"
    }
    counts = {edge: max(taken[0][edge], taken[1][edge]) for edge in looks}
    return Marks(nodes, looks, tags, counts=counts, letters=letters)


def _visits(run: RunState) -> Counter[str]:
    return Counter(visit.node for visit in run.visits)


def _edges(edges: EdgeIndex, run: RunState) -> Counter[int]:
    found: Counter[int] = Counter()
    for key, times in run.taken.items():
        index = edges.named.get(key)
        if index is not None:
            found[index] += times
    return found


def _look[K](key: K, one: Mapping[K, int], other: Mapping[K, int]) -> Look:
    if one.get(key) and other.get(key):
        return "done"
    return "now" if one.get(key) else "forced"


def _tag(one: int, other: int) -> str:
    """What stands in a box's border: `✓`, `✓3`, `A`, `B2`, `A1 B3`."""
    if one == other:
        return VISITED if one == 1 else f"{VISITED}{one}"
    if one and other:
        return f"{ONE}{one} {OTHER}{other}"
    letter, times = (ONE, one) if one else (OTHER, other)
    return letter if times == 1 else f"{letter}{times}"
