"""A node that is renamed while a run is on stays the same node: for the run, for what the user
wanted of it, for whoever looks on, and for whoever goes on with the run later.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from flowstudio.flow import parse_mermaid_flowchart
from flowstudio.run.control import RunControl
from flowstudio.run.replay import replay
from flowstudio.run.resume import resume_plan
from flowstudio.run.session import RunRequest
from flowstudio.run.state import RunState
from flowstudio.wire import Event, NodeEntered, NodeLeft, RunPaused, StepBegan
from tests.run.desk import Bench, request
from tests.run.rig import Rig, broken, choose

OLD = """flowchart TD
B([BEGIN]) --> a[work] --> q{good?}
q -->|yes| E([END])
q -->|no| a
"""
NEW = OLD.replace("a[work]", "a2[work]").replace("| a", "| a2").replace("q", "q2")
QA, AA = ("q", "q2"), ("a", "a2")
HALF = OLD.replace("q", "q2")
"""Only the decision renamed."""


def rename_both(rig: Rig) -> None:
    for chart, renamed in ((HALF, QA), (NEW, AA)):
        rig.wire.emit(rig.runner.reload(parse_mermaid_flowchart(chart), renamed))


def fold(rig: Rig) -> RunState:
    state = RunState()
    for event in rig.events:
        state.apply(event)
    return state


async def test_what_was_done_and_forced_stays_marked_under_the_new_names() -> None:
    rig = Rig(OLD, {"q": choose("yes"), "q2": choose("yes")}, interactive=True)
    rig.control.breakpoints.add("q")
    async with rig.running():
        await rig.paused()
        rig.control.choose("q", "no")  # taken by hand: B a q a
        await rig.paused()
        rename_both(rig)
        state = fold(rig)
        assert (state.current, state.phase) == ("a2", "paused")
        assert state.done == {"B": 1, "a2": 1, "q2": 1}
        assert state.taken == {
            ("B", "a2", None): 1,
            ("a2", "q2", None): 1,
            ("q2", "a2", "no"): 1,
        }
        assert state.forced == {("q2", "a2", "no")}
        assert [(one.node, one.visit, one.to) for one in state.visits] == [
            ("B", 1, "a2"),
            ("a2", 1, "q2"),
            ("q2", 1, "a2"),
            ("a2", 2, None),
        ]
        rig.control.breakpoints.clear()
        rig.control.go_on()
    after = fold(rig)
    assert after.done == {"B": 1, "a2": 2, "q2": 2, "E": 1}
    assert after.taken["a2", "q2", None] == 2
    assert after.reason == "reached_end"


async def test_visits_are_counted_on_under_the_new_name() -> None:
    rig = Rig(OLD, {"q": choose("no"), "q2": [choose("no"), choose("yes")]}, interactive=True)
    rig.on(
        NodeEntered, lambda event: rename_both(rig) if (event.node, event.visit) == ("a", 2) else 0
    )
    await rig.run()
    entered = [(one.node, one.visit) for one in rig.events if isinstance(one.body, NodeEntered)]
    assert entered == [
        ("B", 1),
        *[("a", 1), ("q", 1), ("a", 2)],
        *[("q2", 2), ("a2", 3), ("q2", 3)],
        ("E", 1),
    ]


async def test_the_visit_in_flight_belongs_to_the_renamed_node() -> None:
    """Its fault, its answer and its end are told under the old id: they are the node's still."""
    rig = Rig(OLD, {"q": broken(), "q2": choose("yes")}, interactive=True)
    rig.on(StepBegan, lambda event: rename_both(rig) if event.node == "q" else None)
    async with rig.running():
        assert await rig.paused() == ("model_failed", "q")
        assert fold(rig).failed == {"q2"}
        rig.control.go_on()
    state = fold(rig)
    assert state.failed == set()
    assert state.done == {"B": 1, "a2": 1, "q2": 1, "E": 1}
    visit = next(one for one in state.visits if one.node == "q2")
    assert (visit.branch, visit.is_done) == ("yes", True)


async def test_a_branch_a_target_and_a_prompt_are_meant_for_the_node_not_for_its_name() -> None:
    rig = Rig(OLD, {"q2": choose("yes")}, interactive=True)
    rig.control.breakpoints.add("a")
    async with rig.running():
        await rig.paused()
        rig.control.choose("q", "no")
        rig.control.replace_prompt("work in other words")
        rename_both(rig)
        rig.control.breakpoints.clear()
        assert rig.control.forced_at("q2") == "no"
        assert rig.control.waiting_prompt("a2") == "work in other words"
        rig.control.run_to("a2")
        assert await rig.paused() == ("run_to", "a2")
        rig.control.go_on()
    assert [(node, visit) for node, visit, text in rig.prompts if "other words" in text] == [
        ("a", 1)
    ]
    assert [choice[:2] for choice in rig.choices] == [("q2", "no"), ("q2", "yes")]


async def test_where_the_run_is_held_a_branch_is_taken_by_the_new_name() -> None:
    rig = Rig(OLD, interactive=True)
    rig.control.breakpoints.add("q")
    async with rig.running():
        await rig.paused()
        rename_both(rig)
        rig.control.choose("q2", "yes")
    assert rig.path == ["B", "a", "q", "E"]
    assert fold(rig).forced == {("q2", "E", "yes")}


async def test_an_old_name_that_another_node_takes_is_that_other_node() -> None:
    rig = Rig(OLD, {"q2": choose("yes")}, interactive=True)
    rig.control.breakpoints.add("a")
    reused = HALF.replace("a[work]", "a[something else] --> a2[work]").replace("| a", "| a2")
    async with rig.running():
        await rig.paused()
        rename_both(rig)
        rig.wire.emit(rig.runner.reload(parse_mermaid_flowchart(reused)))
        rig.control.breakpoints.clear()
        rig.control.go_on()
    assert rig.path == ["B", "a", "q2", "E"], "it stands on a2, and goes on from there"
    assert fold(rig).done == {"B": 1, "a2": 1, "q2": 1, "E": 1}


@pytest.mark.parametrize("passed", [1, 2])
async def test_a_run_that_is_gone_on_with_later_knows_the_new_names(
    tmp_path: Path, passed: int
) -> None:
    """It is left before its first decision, or before the second visit of its task."""
    bench = Bench(tmp_path / "runs")
    control = RunControl(interactive=True)
    control.breakpoints.add("q")
    task = asyncio.create_task(bench.session.run_flow(request(OLD), control))
    await bench.until(RunPaused)
    if passed == 2:
        control.choose("q", "no")
        control.breakpoints.add("a")
        await bench.until(RunPaused, 2)
    bench.session.reload(parse_mermaid_flowchart(HALF), HALF, QA)
    bench.session.reload(parse_mermaid_flowchart(NEW), NEW, AA)
    if passed == 2:
        control.choose("q2", "yes")
    control.stop()
    await task
    position = resume_plan(bench.folder.path).position
    assert position.node == ("q2" if passed == 1 else "a2")
    assert position.path == (("B", "a2") if passed == 1 else ("B", "a2", "q2"))
    assert dict(position.forced) == ({} if passed == 1 else {"q2": "yes"})


@pytest.mark.parametrize("kind", [NodeEntered, StepBegan, NodeLeft])
async def test_a_run_with_a_rename_is_replayed_strictly(tmp_path: Path, kind: type) -> None:
    bench = Bench(tmp_path / "runs", {"q": choose("no"), "q2": [choose("no"), choose("yes")]})

    def rename(event: Event) -> None:
        if isinstance(event.body, kind) and (event.node, event.visit) == ("a", 2):
            bench.session.reload(parse_mermaid_flowchart(HALF), HALF, QA)
            bench.session.reload(parse_mermaid_flowchart(NEW), NEW, AA)

    bench.wire.subscribe(rename)
    flow = parse_mermaid_flowchart(OLD)
    await bench.session.run_flow(RunRequest(flow, "flow", tmp_path / "flow.mmd", OLD))
    heard: list[Event] = []
    outcome = await replay(bench.folder.path, heard.append, strict=True)
    assert (outcome.mismatch, outcome.reason) == (None, "reached_end")
    assert [one.node for one in heard if isinstance(one.body, NodeEntered)][-4:] == [
        *("q2", "a2", "q2"),
        "E",
    ]
