"""What a stream of events adds up to, for any front end."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from flowstudio.run.journal import JournalWriter, read_journal
from flowstudio.run.state import RunState
from flowstudio.wire import (
    ApprovalAsked,
    ApprovalGiven,
    Event,
    RunPaused,
    UserAnswered,
    UserAsked,
    Wire,
)
from tests.run.rig import FORK, LINE, Rig, broken, choose


def fold(events: Iterable[Event]) -> RunState:
    state = RunState()
    for event in events:
        state.apply(event)
    return state


async def walked() -> Rig:
    rig = Rig(FORK, {"q": ["hm", choose("no"), choose("yes")]}, interactive=True)
    rig.control.breakpoints.add("a")
    async with rig.running():
        await rig.paused()
        rig.control.go_on()
        await rig.paused()
        rig.control.go_on()
    return rig


async def test_the_state_of_a_run_from_its_journal_is_that_of_the_live_run(tmp_path: Path) -> None:
    rig = Rig(FORK, {"q": ["hm", choose("no"), broken(), choose("no")]}, interactive=True)
    writer = JournalWriter(tmp_path / "journal.jsonl")
    rig.wire.subscribe(writer)
    async with rig.running():
        assert await rig.paused() == ("model_failed", "q")
        rig.control.breakpoints.add("a")
        rig.control.choose("q", "no")
        await rig.paused()
        rig.control.go_to("q")
        await rig.answers.asked("q", times=4)
        rig.control.stop()
    writer.close()
    live, read = fold(rig.events), fold(read_journal(tmp_path / "journal.jsonl").events)
    assert read == live
    assert live.tokens > 0
    assert live.forced == {("q", "a", "no")}


async def test_the_state_at_each_pause_is_the_journals_too(tmp_path: Path) -> None:
    rig = Rig(LINE, interactive=True)
    rig.control.mode = "step"
    writer = JournalWriter(tmp_path / "journal.jsonl")
    rig.wire.subscribe(writer, first=True)
    async with rig.running():
        for _ in range(2):
            await rig.paused()
            assert fold(read_journal(tmp_path / "journal.jsonl").events) == fold(rig.events)
            rig.control.step()
    writer.close()


async def test_visits_hold_their_prompt_answer_branch_and_retries() -> None:
    state = fold((await walked()).events)
    assert [(one.node, one.visit, one.move) for one in state.visits] == [
        ("B", 1, 1),
        ("a", 1, 2),
        ("q", 1, 3),
        ("a", 2, 4),
        ("q", 2, 5),
        ("E", 1, 6),
    ]
    asked = state.visits[2]
    assert asked.prompt is not None
    assert asked.prompt.startswith("good?")
    assert (asked.branch, asked.by, asked.retries, asked.to) == ("no", "script", 1, "a")
    assert asked.answer == choose("no")
    assert all(one.is_done for one in state.visits)


async def test_taken_edges_and_finished_nodes_are_counted() -> None:
    state = fold((await walked()).events)
    assert state.taken == {
        ("B", "a", None): 1,
        ("a", "q", None): 2,
        ("q", "a", "no"): 1,
        ("q", "E", "yes"): 1,
    }
    assert state.done == {"B": 1, "a": 2, "q": 2, "E": 1}
    assert state.model_calls == 5


async def test_a_run_that_ended_knows_how() -> None:
    state = fold((await walked()).events)
    assert (state.phase, state.reason, state.why) == ("ended", "reached_end", "the run reached END")
    assert state.ended is not None
    assert state.ended >= state.started


async def test_a_pause_says_why_and_a_failure_marks_its_node_until_the_run_goes_on() -> None:
    rig = Rig(LINE, {"b": [broken("dead"), "Done."]}, interactive=True)
    async with rig.running():
        await rig.paused()
        state = fold(rig.events)
        assert (state.phase, state.reason, state.why) == ("paused", "model_failed", "dead")
        assert state.failed == {"b"}
        rig.control.go_on()
    state = fold(rig.events)
    assert state.failed == set()


async def test_a_branch_taken_by_hand_marks_its_edge() -> None:
    rig = Rig(FORK, {"q": choose("yes")}, interactive=True)
    rig.control.choose("q", "no")
    async with rig.running():
        pass
    state = fold(rig.events)
    assert state.forced == {("q", "a", "no")}
    assert [one.forced for one in state.visits if one.node == "q"] == [True, False]


def test_what_the_user_is_asked_stands_until_it_is_answered_or_cut() -> None:
    wire = Wire("run-1")
    state = RunState()
    wire.subscribe(state.apply)
    wire.emit(UserAsked("1", "Which one?"))
    assert state.waits_for == "Which one?"
    wire.emit(UserAnswered("1", "that"))
    assert state.waits_for == ""
    wire.emit(ApprovalAsked("2", "Shell", "run shell command", "rm x"))
    assert state.waits_for == "may Shell run shell command?"
    wire.emit(ApprovalGiven("2", "allow"))
    assert state.waits_for == ""


async def test_a_question_that_a_jump_cut_short_no_longer_waits() -> None:
    rig = Rig(LINE, interactive=True)
    rig.answers.held.add("a")
    async with rig.running():
        await rig.answers.asked("a")
        rig.wire.emit(UserAsked("1", "Which one?"))
        rig.control.go_to("b")
        await rig.answers.asked("b")
        assert fold(rig.events).waits_for == ""


def test_events_before_any_visit_do_no_harm() -> None:
    wire = Wire("run-1")
    state = RunState()
    wire.subscribe(state.apply)
    wire.emit(RunPaused("pause", "why"))
    assert (state.now, state.phase) == (None, "paused")
