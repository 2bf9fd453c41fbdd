"""From a run's state to the marks on the drawing of its flow.

The one place that says which state looks how; the studio and the exports show the same marks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flowstudio.drawing.marks import FAILED, NOW, PAUSED, VISITED, Look, Marks
from flowstudio.flow.model import FlowEdge
from flowstudio.run.state import RunState


class EdgeIndex:
    """The edges of a flow by their ends and labels, so that a state looks only at those it names.

    Made once for a flow; what a state then costs depends on what the run has done, not on the flow.
    """

    __slots__ = ("exits", "labels", "named")

    def __init__(self, edges: Sequence[FlowEdge] = ()) -> None:
        self.named: dict[tuple[str, str, str | None], int] = {}
        """An edge by its source, target and label."""
        self.exits: dict[str, list[int]] = {}
        """Edges by their source, in the flow's order."""
        self.labels = [edge.label for edge in edges]
        for index, edge in enumerate(edges):
            self.exits.setdefault(edge.src, []).append(index)
        for index, edge in enumerate(edges):
            self.named.setdefault((edge.src, edge.dst, edge.label), index)
            if len(self.exits[edge.src]) == 1:
                # A single exit is recorded without its label.
                self.named.setdefault((edge.src, edge.dst, None), index)


def make_marks(
    edges: Sequence[FlowEdge] | EdgeIndex,
    run: RunState | None,
    *,
    breakpoints: frozenset[str] = frozenset(),
    forced: Mapping[str, str] | None = None,
) -> Marks:
    """The marks of a run on a flow with these edges; `forced` are branches that wait, by node."""
    if run is None:
        return Marks(breakpoints=breakpoints)
    known = edges if isinstance(edges, EdgeIndex) else EdgeIndex(edges)
    nodes: dict[str, Look] = dict.fromkeys(run.done, "done")
    tags = {node: f"{VISITED}{times}" if times > 1 else VISITED for node, times in run.done.items()}
    flags: dict[str, str] = {}
    for node in run.failed:
        nodes[node], flags[node] = "fault", FAILED
        tags.pop(node, None)
    current = run.current if run.phase in ("running", "paused") else None
    if current is not None:
        nodes[current] = "fault" if current in run.failed else "now"
        waits = run.phase == "paused" or bool(run.waits_for)
        flags[current] = PAUSED if waits else NOW
        tags.pop(current, None)
        if current in run.failed:
            tags[current] = FAILED
        if run.now is not None and run.now.visit > 1:
            tags[current] = f"{tags.get(current, '')} visit {run.now.visit}".lstrip()
    elif run.reason == "reached_end" and run.current is not None:
        nodes[run.current] = "done"
        tags.setdefault(run.current, VISITED)
    counts, by_hand, jumps = _count_edges(known, run)
    looks: dict[int, Look] = dict.fromkeys(counts, "done")
    looks.update(dict.fromkeys(by_hand, "forced"))
    exits = known.exits.get(current, []) if current is not None else []
    numbers = {index: number for number, index in enumerate(exits[:9], start=1)}
    for node, branch in (forced or {}).items():
        for index in known.exits.get(node, ()):
            if known.labels[index] == branch:
                looks[index] = "chosen"
    if len(exits) < 2:
        numbers = {}
    return Marks(nodes, looks, tags, flags, counts, numbers, breakpoints, jumps)


def _count_edges(
    edges: EdgeIndex, run: RunState
) -> tuple[dict[int, int], set[int], dict[tuple[str, str], int]]:
    """How often each edge was taken, which were forced, and the moves along no edge."""
    places = edges.named
    counts: dict[int, int] = {}
    jumps: dict[tuple[str, str], int] = {}
    for key, times in run.taken.items():
        index = places.get(key)
        if index is None:
            jumps[key[:2]] = jumps.get(key[:2], 0) + times
        else:
            counts[index] = counts.get(index, 0) + times
    by_hand = {places[key] for key in run.forced if key in places}
    return counts, by_hand, jumps
