"""What the flow view shows on top of the drawing: the state of each node and edge.

Pure: from a run's state and the user's marks to a style name and a glyph per thing. A colour never
stands alone, each state has its glyph too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from flowstudio.flow.model import FlowEdge
    from flowstudio.run.state import RunState

type Look = Literal["plain", "done", "now", "fault", "forced", "chosen", "muted"]

HEAVY = str.maketrans(
    "─│┌┐└┘╭╮╰╯┬┴├┤┼═║╔╗╚╝╤╧╟╢╥╨╞╡╦╩╠╣",
    "━┃┏┓┗┛┏┓┗┛┳┻┣┫╋━┃┏┓┗┛┳┻┣┫┳┻┣┫┳┻┣┫",
)
"""Outline of the current node."""
DASHED = str.maketrans("─│━┃", "╌╎╍╏")
"""Line of an edge that was forced."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Everything that is laid over a drawing; edges go by their index in the drawing."""

    nodes: Mapping[str, Look] = field(default_factory=dict[str, Look])
    edges: Mapping[int, Look] = field(default_factory=dict[int, Look])
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """A few characters for a box's upper border: `✓3`, `visit 3`."""
    flags: Mapping[str, str] = field(default_factory=dict[str, str])
    """One glyph for a box's left border: ▶ or ⏸ or ✗."""
    counts: Mapping[int, int] = field(default_factory=dict[int, int])
    """How often each taken edge was taken."""
    numbers: Mapping[int, int] = field(default_factory=dict[int, int])
    """The digit that takes each branch of the node where the run stands."""
    breakpoints: frozenset[str] = frozenset()


def make_marks(
    edges: Sequence[FlowEdge],
    run: RunState | None,
    *,
    breakpoints: frozenset[str] = frozenset(),
    forced: Mapping[str, str] | None = None,
) -> Marks:
    """The marks of a run on a flow with these edges; `forced` are branches that wait, by node."""
    forced = forced or {}
    if run is None:
        return Marks(breakpoints=breakpoints)
    nodes: dict[str, Look] = dict.fromkeys(run.done, "done")
    tags = {node: f"✓{count}" if count > 1 else "✓" for node, count in run.done.items()}
    flags: dict[str, str] = {}
    for node in run.failed:
        nodes[node], flags[node] = "fault", "✗"
    current = run.current if run.phase in ("running", "paused") else None
    if current is not None:
        nodes[current] = "fault" if current in run.failed else "now"
        waits = run.phase == "paused" or bool(run.waits_for)
        flags[current] = "⏸" if waits else "▶"
        if run.now is not None and run.now.visit > 1:
            tags[current] = f"visit {run.now.visit}"
    elif run.reason == "reached_end" and run.current is not None:
        nodes[run.current], tags[run.current] = "done", "✓"
    looks: dict[int, Look] = {}
    counts: dict[int, int] = {}
    numbers: dict[int, int] = {}
    exits = 0
    several = sum(edge.src == current for edge in edges) > 1
    for index, edge in enumerate(edges):
        keys = ((edge.src, edge.dst, edge.label), (edge.src, edge.dst, None))
        count = sum(run.taken[key] for key in set(keys))
        if count:
            looks[index], counts[index] = "done", count
        if any(key in run.forced for key in keys):
            looks[index] = "forced"
        if edge.src == current and several:
            exits += 1
            if exits <= 9:
                numbers[index] = exits
        if edge.label is not None and forced.get(edge.src) == edge.label:
            looks[index] = "chosen"
    return Marks(nodes, looks, tags, flags, counts, numbers, breakpoints)
