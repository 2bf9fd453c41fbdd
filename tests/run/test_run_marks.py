"""From a run's state to the marks on its drawing: one table of states, live runs, moves by hand."""

from __future__ import annotations

from collections import Counter

import pytest

from flowstudio.drawing import Marks
from flowstudio.flow import parse_mermaid_flowchart
from flowstudio.run.marks import make_marks
from flowstudio.run.state import RunState, Visit
from tests.run.rig import FORK, Rig, choose

FLOW = parse_mermaid_flowchart(FORK)
EDGES = list(FLOW.edges)  # B-a, a-q, q-E yes, q-a no
WAY = {(edge.src, edge.dst): index for index, edge in enumerate(EDGES)}


def at(node: str, visit: int = 1, **more: object) -> RunState:
    """A running run that stands on a node for the n-th time."""
    state = RunState(phase="running", current=node)
    state.visits.append(Visit(node, visit, 1, "task", "", 0.0))
    for name, value in more.items():
        setattr(state, name, value)
    return state


def seen(marks: Marks, node: str) -> tuple[str, str, str]:
    return marks.nodes.get(node, "plain"), marks.flags.get(node, ""), marks.tags.get(node, "")


@pytest.mark.parametrize(
    ("state", "look"),
    [
        (at("a"), ("now", "▶", "")),
        (at("a", 3), ("now", "▶", "visit 3")),
        (at("a", phase="paused"), ("now", "⏸", "")),
        (at("a", waits_for="a branch"), ("now", "⏸", "")),
        (at("a", phase="paused", failed={"a"}), ("fault", "⏸", "✗")),
        (at("q", done=Counter(a=1)), ("done", "", "✓")),
        (at("q", done=Counter(a=4)), ("done", "", "✓4")),
        (at("a", done=Counter(a=1)), ("now", "▶", "")),
        (at("a", phase="ended", reason="model_failed", failed={"a"}), ("fault", "✗", "")),
        (at("a", phase="ended", reason="stopped"), ("plain", "", "")),
        (at("a", phase="ended", reason="reached_end"), ("done", "", "✓")),
        (RunState(), ("plain", "", "")),
    ],
)
def test_each_state_of_a_node_has_a_look_and_a_sign(
    state: RunState, look: tuple[str, str, str]
) -> None:
    assert seen(make_marks(EDGES, state), "a") == look


async def test_a_run_marks_the_way_it_went() -> None:
    rig = Rig(FORK, {"q": [choose("no"), choose("no"), choose("yes")]})
    await rig.run()
    marks = make_marks(EDGES, fold(rig))

    assert {node: seen(marks, node) for node in FLOW.nodes} == {
        "B": ("done", "", "✓"),
        "a": ("done", "", "✓3"),
        "q": ("done", "", "✓3"),
        "E": ("done", "", "✓"),
    }
    assert marks.counts == {WAY["B", "a"]: 1, WAY["a", "q"]: 3, WAY["q", "a"]: 2, WAY["q", "E"]: 1}
    assert set(marks.edges.values()) == {"done"}


async def test_a_branch_taken_by_hand_and_a_move_along_no_edge_are_told_apart() -> None:
    rig = Rig(FORK, {"q": choose("yes")}, interactive=True)
    rig.control.toggle_breakpoint("q")
    async with rig.running():
        await rig.paused()
        rig.control.choose("q", "no")
        await rig.paused()
        rig.control.go_to("E")
    marks = make_marks(EDGES, fold(rig))

    assert marks.edges[WAY["q", "a"]] == "forced"
    assert WAY["q", "E"] not in marks.edges
    assert marks.jumps == {("a", "E"): 1}


def fold(rig: Rig) -> RunState:
    state = RunState()
    for event in rig.events:
        state.apply(event)
    return state


def test_a_forced_edge_is_forced_and_counted() -> None:
    key = ("q", "a", "no")
    marks = make_marks(EDGES, at("a", taken=Counter({key: 2}), forced={key}))
    assert marks.edges == {WAY["q", "a"]: "forced"}
    assert marks.counts == {WAY["q", "a"]: 2}


def test_a_move_by_hand_to_a_branchs_target_is_no_taking_of_the_branch() -> None:
    marks = make_marks(EDGES, at("a", taken=Counter({("q", "a", None): 1, ("a", "E", None): 2})))
    assert marks.counts == {}
    assert marks.jumps == {("q", "a"): 1, ("a", "E"): 2}


def test_a_single_exit_is_taken_without_its_label() -> None:
    flow = parse_mermaid_flowchart("flowchart TD\nB([BEGIN]) --> a[x] -->|then| E([END])")
    marks = make_marks(list(flow.edges), at("E", taken=Counter({("a", "E", None): 1})))
    assert marks.counts == {1: 1}


def test_a_branch_that_waits_to_be_taken_is_chosen() -> None:
    marks = make_marks(EDGES, at("a"), forced={"q": "yes"})
    assert marks.edges == {WAY["q", "E"]: "chosen"}


def test_branches_of_the_node_where_the_run_stands_are_numbered() -> None:
    assert make_marks(EDGES, at("q")).numbers == {WAY["q", "E"]: 1, WAY["q", "a"]: 2}
    assert make_marks(EDGES, at("a")).numbers == {}


def test_breakpoints_are_shown_without_a_run_too() -> None:
    marks = make_marks(EDGES, None, breakpoints=frozenset({"a"}))
    assert marks.tag_of("a") == "●"
