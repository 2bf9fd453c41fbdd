"""Going on with an earlier run, and forking one: what is done again, and what never is."""

# ruff: noqa: ASYNC240 - small files of the test, in a loop that serves nobody else

from __future__ import annotations

import asyncio
import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flowstudio.flow import parse_mermaid_flowchart
from flowstudio.run import journal as journal_module
from flowstudio.run.control import RunControl
from flowstudio.run.folder import RunFolder
from flowstudio.run.fork import NoSuchVisit, find_move, fork_run
from flowstudio.run.journal import read_journal
from flowstudio.run.lock import RunBusy, RunLock, find_holder
from flowstudio.run.resume import FlowChanged, ResumeRefused, resume_plan
from flowstudio.run.session import RunRequest
from flowstudio.run.state import RunState
from flowstudio.soul import MaxStepsReached
from flowstudio.wire import (
    ChoiceMade,
    NodeEntered,
    NodeLeft,
    Notice,
    PromptSent,
    RunEnded,
    RunPaused,
    RunReopened,
    RunStarted,
)
from tests.run.desk import Bench
from tests.run.rig import FORK, PATIENCE, broken, choose

LINE = "flowchart TD\n B([BEGIN]) --> a[first] --> b[second] --> c[third] --> E([END])\n"


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    file = tmp_path / "project" / "flow.mmd"
    file.parent.mkdir()
    file.write_text(LINE)
    return file


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"


def request(chart: Path, **more: Any) -> RunRequest:
    text = chart.read_text()
    return RunRequest(parse_mermaid_flowchart(text), "flow", chart, text, **more)


async def break_off(runs: Path, chart: Path, node: str, replies: Any = None) -> RunFolder:
    """A run whose process died while `node` was answered."""
    bench = Bench(runs, replies)
    bench.answers.held.add(node)
    task = asyncio.create_task(bench.session.run_flow(request(chart)))
    await bench.answers.asked(node)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return bench.folder


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def asked(bench: Bench) -> list[str | None]:
    return [question.node for question in bench.answers.questions]


def bodies[T](folder: RunFolder, kind: type[T]) -> list[T]:
    events = read_journal(folder.journal).events
    return [event.body for event in events if isinstance(event.body, kind)]


# Resume


@pytest.mark.parametrize("at", ["a", "b", "c"])
async def test_only_the_visit_in_flight_is_run_again(runs: Path, chart: Path, at: str) -> None:
    folder = await break_off(runs, chart, at)
    bench = Bench(runs)
    outcome = await bench.session.resume(folder.path)
    assert (outcome.reason, outcome.path) == ("reached_end", ("B", "a", "b", "c", "E"))
    assert asked(bench) == ["a", "b", "c"]["abc".index(at) :]
    assert bench.folder.id == folder.id
    assert bench.conversation == ["first", "Done.", "second", "Done.", "third", "Done."]
    assert len(list(runs.iterdir())) == 1


async def test_the_journal_goes_on_and_adds_up_to_the_state_of_a_run_without_a_break(
    runs: Path, chart: Path
) -> None:
    folder = await break_off(runs, chart, "b")
    bench = Bench(runs)
    await bench.session.resume(folder.path)
    events = read_journal(folder.journal).events
    numbers = [json.loads(line)["n"] for line in folder.journal.read_bytes().splitlines()]
    assert numbers == list(range(1, len(events) + 1))
    assert [event.type for event in events].count("run_started") == 1
    assert bodies(folder, RunReopened) == [RunReopened("b", 2, "rehearsal", 1, 998)]
    state = RunState()
    for event in events:
        state.apply(event)
    visits = [(one.node, one.visit, one.move, one.is_done) for one in state.visits]
    assert visits == [(node, 1, move, True) for move, node in enumerate("BabcE", 1)]
    assert (state.phase, state.reason) == ("ended", "reached_end")


async def test_visits_and_moves_are_counted_on(runs: Path, chart: Path) -> None:
    chart.write_text(FORK)
    folder = await break_off(runs, chart, "q", {"q": "never"})
    bench = Bench(runs, {"q": [choose("no"), choose("no"), choose("yes")]})
    task = asyncio.create_task(bench.session.resume(folder.path))
    await task
    entered = [
        (event.node, event.visit, event.body.move)
        for event in read_journal(folder.journal).events
        if isinstance(event.body, NodeEntered)
    ]
    rest = [("a", 2, 4), ("q", 2, 5), ("a", 3, 6), ("q", 3, 7), ("E", 1, 8)]
    assert entered == [("B", 1, 1), ("a", 1, 2), ("q", 1, 3), ("q", 1, 3), *rest]


async def test_a_run_that_was_broken_off_before_its_first_record_begins(
    runs: Path, chart: Path
) -> None:
    folder = await break_off(runs, chart, "a")
    folder.journal.unlink()
    folder.context.unlink()
    (folder.path / "flow" / "1-flow.mmd").unlink()
    bench = Bench(runs)
    assert (await bench.session.resume(folder.path)).reason == "reached_end"
    assert len(bodies(folder, RunStarted)) == 1
    assert (folder.path / "flow" / "1-flow.mmd").read_text() == LINE
    assert "flow.mmd" not in bench.conversation[0]


async def test_the_input_goes_before_the_first_prompt_once(runs: Path, chart: Path) -> None:
    bench = Bench(runs)
    bench.answers.held.add("b")
    task = asyncio.create_task(bench.session.run_flow(request(chart, input="the bug")))
    await bench.answers.asked("b")
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    again = Bench(runs)
    await again.session.resume(bench.folder.path)
    assert [one.prompt for one in again.answers.questions] == ["second", "third"]


async def by_stop(bench: Bench, chart: Path) -> None:
    bench.answers.held.add("b")
    task = asyncio.create_task(bench.session.run_flow(request(chart)))
    await bench.answers.asked("b")
    bench.session.control.stop()
    await task


async def by_model(bench: Bench, chart: Path) -> None:
    bench.answers.replies["b"] = [broken()]
    await bench.session.run_flow(request(chart))


async def by_bound(bench: Bench, chart: Path) -> None:
    with pytest.raises(MaxStepsReached):
        await bench.session.run_flow(request(chart, max_moves=2))


async def by_a_bug(bench: Bench, chart: Path) -> None:
    bench.answers.replies["b"] = [ZeroDivisionError("a bug")]
    with pytest.raises(ZeroDivisionError):
        await bench.session.run_flow(request(chart))


@pytest.mark.parametrize("end", [by_stop, by_model, by_bound, by_a_bug])
async def test_a_run_that_ended_early_goes_on_where_it_ended(
    runs: Path, chart: Path, end: Callable[[Bench, Path], Any]
) -> None:
    bench = Bench(runs)
    await end(bench, chart)
    again = Bench(runs)
    assert (await again.session.resume(bench.folder.path)).path == ("B", "a", "b", "c", "E")
    assert asked(again) == ["b", "c"]
    assert again.conversation == ["first", "Done.", "second", "Done.", "third", "Done."]


async def test_a_run_that_reached_its_end_is_refused_and_nothing_changes(
    runs: Path, chart: Path
) -> None:
    bench = Bench(runs)
    await bench.session.run_flow(request(chart))
    before = contents(bench.folder.path)
    again = Bench(runs)
    with pytest.raises(ResumeRefused, match="reached END"):
        await again.session.resume(bench.folder.path)
    assert contents(bench.folder.path) == before
    assert not again.session.is_running


async def test_a_dead_end_goes_on_once_the_node_has_an_exit(runs: Path, chart: Path) -> None:
    chart.write_text("flowchart TD\nB([BEGIN]) --> q{way?}\nq -->|on| E([END])\nq -->|hole| x[x]")
    bench = Bench(runs, {"q": choose("hole")})
    assert (await bench.session.run_flow(request(chart))).reason == "dead_end"
    with pytest.raises(ResumeRefused, match="leads on from “x”"):
        await Bench(runs).session.resume(bench.folder.path)
    chart.write_text(chart.read_text() + " --> E")
    outcome = await Bench(runs).session.resume(bench.folder.path, "current")
    assert outcome.path == ("B", "q", "x", "E")


async def test_what_is_said_in_a_pause_is_there_after_a_resume(runs: Path, chart: Path) -> None:
    bench = Bench(runs)
    control = RunControl(interactive=True)
    control.toggle_breakpoint("b")
    task = asyncio.create_task(bench.session.run_flow(request(chart), control))
    await bench.until(RunPaused)
    await bench.session.say("Mind the tests.")
    bench.answers.held.add("b")
    control.go_on()
    await bench.answers.asked("b")
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    again = Bench(runs)
    await again.session.resume(bench.folder.path)
    assert again.conversation[2:6] == ["Mind the tests.", "Done.", "second", "Done."]


async def test_a_run_that_was_held_is_held_again_where_somebody_can_go_on(
    runs: Path, chart: Path
) -> None:
    bench = Bench(runs)
    control = RunControl(interactive=True)
    control.toggle_breakpoint("b")
    task = asyncio.create_task(bench.session.run_flow(request(chart), control))
    await bench.until(RunPaused)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert resume_plan(bench.folder.path).position.paused == "breakpoint"
    again, control = Bench(runs), RunControl(interactive=True)
    task = asyncio.create_task(again.session.resume(bench.folder.path, control=control))
    await again.until(RunPaused)
    assert asked(again) == []
    control.go_on()
    assert (await task).reason == "reached_end"


async def test_a_branch_that_was_forced_before_the_break_is_still_forced(
    runs: Path, chart: Path
) -> None:
    chart.write_text(FORK)
    bench = Bench(runs)
    bench.answers.held.add("q")
    control = RunControl(interactive=True)
    control.toggle_breakpoint("a")
    task = asyncio.create_task(bench.session.run_flow(request(chart), control))
    await bench.until(RunPaused)
    control.choose("q", "yes")
    control.go_on()
    await bench.until(ChoiceMade)
    await task
    # As if it had died before the choice was acknowledged.
    lines = bench.folder.journal.read_bytes().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if b'"choice_made"' in line)
    bench.folder.journal.write_bytes(b"".join(lines[:at]))
    again = Bench(runs)
    await again.session.resume(bench.folder.path)
    assert asked(again) == []
    assert again.events[-1].body.reason == "reached_end"  # type: ignore[attr-defined]


async def test_a_damaged_tail_is_said_and_kept_beside_the_journal(runs: Path, chart: Path) -> None:
    folder = await break_off(runs, chart, "b")
    whole = folder.journal.read_bytes()
    folder.journal.write_bytes(whole[:-9])
    plan = resume_plan(folder.path)
    assert "1 record (" in plan.warning
    assert folder.journal.read_bytes() == whole[:-9]
    bench = Bench(runs)
    assert (await bench.session.resume(folder.path)).reason == "reached_end"
    assert [one.text for one in bodies(folder, Notice)] == [plan.warning]
    assert len(list(folder.path.glob("journal.jsonl.damaged-*"))) == 1


async def test_a_conversation_that_was_lost_is_refused(runs: Path, chart: Path) -> None:
    folder = await break_off(runs, chart, "b")
    folder.context.write_text("")
    before = contents(folder.path)
    with pytest.raises(ResumeRefused, match="conversation"):
        await Bench(runs).session.resume(folder.path)
    assert contents(folder.path) == before


# The flow's file


async def test_a_flow_that_changed_asks_which_one_is_meant(runs: Path, chart: Path) -> None:
    folder = await break_off(runs, chart, "b")
    chart.write_text(LINE.replace("third", "the new third"))
    assert resume_plan(folder.path).changed
    before = contents(folder.path)
    with pytest.raises(FlowChanged):
        await Bench(runs).session.resume(folder.path)
    assert contents(folder.path) == before


@pytest.mark.parametrize(
    ("which", "prompt", "revision"), [("current", "the new third", 2), ("recorded", "third", 1)]
)
async def test_a_resumed_run_uses_the_flow_that_is_meant_and_names_its_revision(
    runs: Path, chart: Path, which: Any, prompt: str, revision: int
) -> None:
    folder = await break_off(runs, chart, "b")
    chart.write_text(LINE.replace("third", "the new third"))
    bench = Bench(runs)
    await bench.session.resume(folder.path, which)
    assert [one.prompt for one in bench.answers.questions] == ["second", prompt]
    assert [one.revision for one in bodies(folder, NodeLeft)] == [1, 1] + [revision] * 3
    kept = sorted(file.name for file in (folder.path / "flow").iterdir())
    assert kept == [f"{number}-flow.mmd" for number in range(1, revision + 1)]


async def test_an_edit_that_leaves_the_flow_as_it_was_asks_nothing(runs: Path, chart: Path) -> None:
    folder = await break_off(runs, chart, "b")
    chart.write_text("%% a note\n" + LINE)
    assert not resume_plan(folder.path).changed
    assert (await Bench(runs).session.resume(folder.path)).reason == "reached_end"


@pytest.mark.parametrize("text", [None, "flowchart TD\n B([BEGIN]) --> a["])
async def test_without_the_file_or_with_a_broken_one_the_recorded_flow_still_goes_on(
    runs: Path, chart: Path, text: str | None
) -> None:
    folder = await break_off(runs, chart, "b")
    chart.unlink() if text is None else chart.write_text(text)
    with pytest.raises(FlowChanged, match=r"flow\.mmd"):
        await Bench(runs).session.resume(folder.path)
    with pytest.raises(ResumeRefused, match=r"flow\.mmd"):
        await Bench(runs).session.resume(folder.path, "current")
    assert (await Bench(runs).session.resume(folder.path, "recorded")).reason == "reached_end"


async def test_a_node_that_is_gone_is_told_and_ends_a_headless_run(runs: Path, chart: Path) -> None:
    folder = await break_off(runs, chart, "b")
    chart.write_text(LINE.replace("b[second]", "z[second]"))
    assert resume_plan(folder.path).node_gone
    outcome = await Bench(runs).session.resume(folder.path, "current")
    assert outcome.reason == "dead_end"
    assert "“b” is no longer in the flow" in outcome.message


async def test_a_flow_without_a_file_goes_on_from_what_was_recorded(runs: Path) -> None:
    bench = Bench(runs)
    bench.answers.held.add("b")
    flow = parse_mermaid_flowchart(LINE)
    task = asyncio.create_task(bench.session.run_flow(RunRequest(flow, "loop")))
    await bench.answers.asked("b")
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    again = Bench(runs)
    assert (await again.session.resume(bench.folder.path)).reason == "reached_end"
    assert asked(again) == ["b", "c"]


# One writer


async def test_a_run_that_is_on_can_be_looked_at_and_not_written(runs: Path, chart: Path) -> None:
    bench = Bench(runs)
    bench.answers.held.add("b")
    task = asyncio.create_task(bench.session.run_flow(request(chart)))
    await bench.answers.asked("b")
    before = contents(bench.folder.path)
    plan = resume_plan(bench.folder.path)
    assert plan.holder is not None
    with pytest.raises(RunBusy, match=f"process {plan.holder.pid}"):
        await Bench(runs).session.resume(bench.folder.path)
    assert contents(bench.folder.path) == before
    bench.answers.release()
    assert (await task).reason == "reached_end"
    assert find_holder(bench.folder.path) is None


def test_a_lock_that_was_left_is_taken_over(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text('{"pid": 1, "host": "elsewhere", "since": "2026"}')
    assert find_holder(tmp_path) is None
    with RunLock(tmp_path):
        holder = find_holder(tmp_path)
        assert holder is not None
        assert holder.pid != 1
    assert find_holder(tmp_path) is None


@pytest.mark.parametrize("text", ["", "no json", "[]", '{"pid": "x"}'])
def test_a_lock_whose_file_says_nonsense_still_holds(tmp_path: Path, text: str) -> None:
    with RunLock(tmp_path):
        (tmp_path / "lock").write_text(text)
        with pytest.raises(RunBusy, match="another process"):
            RunLock(tmp_path)


# A disk that refuses


class Disk:
    """Syncs of the journal fail while `error` is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.error: int | None = None
        monkeypatch.setattr(journal_module, "_sync_file", self._sync)

    def _sync(self, _: int) -> None:
        if self.error is not None:
            raise OSError(self.error, "the disk refuses")


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EROFS])
async def test_a_run_waits_for_the_disk_and_loses_nothing(
    runs: Path, chart: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    disk = Disk(monkeypatch)
    bench = Bench(runs)
    bench.answers.held.add("b")
    control = RunControl(interactive=True)
    task = asyncio.create_task(bench.session.run_flow(request(chart), control))
    await bench.answers.asked("b")
    disk.error = error
    bench.answers.release()
    for times in (1, 2):
        await bench.until(RunPaused, times)
        paused = [one.body for one in bench.events if isinstance(one.body, RunPaused)][-1]
        assert (paused.why, "the disk refuses" in paused.message) == ("disk", True)
        done = [one.node for one in bench.events if isinstance(one.body, NodeLeft)]
        assert done == ["B", "a"]
        if times == 2:
            disk.error = None
        control.go_on()
    assert (await task).reason == "reached_end"
    assert asked(bench) == ["a", "b", "c"]
    kept = [one for one in read_journal(bench.folder.journal).events if one.type != "text"]
    assert kept == [one for one in bench.events if one.type != "text"]


async def test_a_jump_while_the_disk_refuses_is_made_when_it_takes_again(
    runs: Path, chart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch)
    bench = Bench(runs)
    bench.answers.held.add("a")
    control = RunControl(interactive=True)
    task = asyncio.create_task(bench.session.run_flow(request(chart), control))
    await bench.answers.asked("a")
    disk.error = errno.ENOSPC
    bench.answers.release()
    await bench.until(RunPaused)
    control.go_to("c")
    await bench.until(RunPaused, 2)
    disk.error = None
    control.go_on()
    async with asyncio.timeout(PATIENCE):
        assert (await task).path == ("B", "a", "c", "E")


async def test_a_headless_run_ends_when_the_disk_refuses_and_goes_on_later(
    runs: Path, chart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch)
    bench = Bench(runs)
    bench.answers.held.add("b")
    task = asyncio.create_task(bench.session.run_flow(request(chart)))
    await bench.answers.asked("b")
    disk.error = errno.ENOSPC
    bench.answers.release()
    assert (await task).reason == "disk"
    assert [one.body.reason for one in bench.events if isinstance(one.body, RunEnded)] == ["disk"]
    disk.error = None
    again = Bench(runs)
    assert (await again.session.resume(bench.folder.path)).reason == "reached_end"
    assert asked(again) == ["b", "c"]


async def test_a_conversation_that_cannot_be_written_holds_the_run_too(
    runs: Path, chart: Path
) -> None:
    bench = Bench(runs)
    bench.answers.held.add("b")
    control = RunControl(interactive=True)
    task = asyncio.create_task(bench.session.run_flow(request(chart), control))
    await bench.answers.asked("b")
    away = bench.folder.path / "away"
    bench.folder.context.rename(away)
    bench.folder.context.mkdir()
    bench.answers.release()
    await bench.until(RunPaused)
    assert [one.node for one in bench.events if isinstance(one.body, NodeLeft)] == ["B", "a"]
    bench.folder.context.rmdir()
    away.rename(bench.folder.context)
    control.go_on()
    assert (await task).reason == "reached_end"
    assert bench.conversation == ["first", "Done.", "second", "Done.", "third", "Done."]


# Forks


async def looped(runs: Path, chart: Path) -> RunFolder:
    """B a q a q E: no, then yes."""
    chart.write_text(FORK)
    bench = Bench(runs, {"q": [choose("no"), choose("yes")]})
    await bench.session.run_flow(request(chart))
    return bench.folder


@pytest.mark.parametrize("move", range(1, 7))
async def test_a_fork_runs_from_its_visit_on_and_never_changes_its_parent(
    runs: Path, chart: Path, move: int
) -> None:
    parent = await looped(runs, chart)
    before = contents(parent.path)
    fork = fork_run(parent.path, move)
    assert (fork.header.parent, fork.header.parent_move) == (parent.id, move)
    bench = Bench(runs, {"q": choose("yes")})
    outcome = await bench.session.resume(fork.path)
    path = ("B", "a", "q", "a", "q", "E")
    ahead = ("a", "q", "E") if move in (2, 4) else ("q", "E") if move in (3, 5) else ("E",)
    ahead = ("B", "a", "q", "E") if move == 1 else ahead
    assert outcome.path == path[: move - 1] + ahead
    assert contents(parent.path) == before
    assert fork.journal.read_bytes().startswith(before["journal.jsonl"][:200])
    assert fork.id != parent.id


async def test_a_fork_takes_a_branch_by_hand(runs: Path, chart: Path) -> None:
    parent = await looped(runs, chart)
    fork = fork_run(parent.path, 3, branch="YES")
    bench = Bench(runs)
    assert (await bench.session.resume(fork.path)).path == ("B", "a", "q", "E")
    assert asked(bench) == []
    assert bodies(fork, ChoiceMade)[-1].forced


async def test_a_fork_sends_another_prompt_at_its_visit_only(runs: Path, chart: Path) -> None:
    parent = await looped(runs, chart)
    fork = fork_run(parent.path, 4, prompt="work harder")
    bench = Bench(runs, {"q": [choose("no"), choose("yes")]})
    await bench.session.resume(fork.path)
    prompts = [one.prompt for one in bench.answers.questions if one.node == "a"]
    assert prompts == ["work harder", "work"]


async def test_a_fork_holds_the_conversation_as_it_was_and_can_be_forked(
    runs: Path, chart: Path
) -> None:
    parent = await looped(runs, chart)
    fork = fork_run(parent.path, 4)
    bench = Bench(runs, {"q": [choose("no"), choose("yes")]})
    await bench.session.resume(fork.path)
    said = bench.conversation
    assert said[:4] == ["work", "Done.", said[2], choose("no")]
    again = fork_run(fork.path, 6)
    bench = Bench(runs, {"q": [choose("yes")]})
    await bench.session.resume(again.path)
    assert bench.conversation[: len(said) - 4] == said[:-4]


@pytest.mark.parametrize(
    ("visit", "move"), [("1", 1), ("5", 5), ("q:1", 3), ("q:2", 5), ("q", 5), ("B", 1), ("E:1", 6)]
)
async def test_a_visit_is_named_by_its_move_or_by_node_and_number(
    runs: Path, chart: Path, visit: str, move: int
) -> None:
    assert find_move((await looped(runs, chart)).path, visit) == move


@pytest.mark.parametrize("visit", ["0", "7", "99", "z", "q:3", "q:x", ""])
async def test_a_visit_that_never_was_is_refused(runs: Path, chart: Path, visit: str) -> None:
    parent = await looped(runs, chart)
    with pytest.raises(NoSuchVisit):
        find_move(parent.path, visit)
    with pytest.raises(NoSuchVisit):
        fork_run(parent.path, 7)


async def test_a_branch_that_the_node_does_not_have_is_refused_and_leaves_nothing(
    runs: Path, chart: Path
) -> None:
    parent = await looped(runs, chart)
    for move, branch, said in ((3, "maybe", "it has: yes, no"), (2, "yes", "single exit")):
        with pytest.raises(ResumeRefused, match=said):
            fork_run(parent.path, move, branch=branch)
    assert list(runs.iterdir()) == [parent.path]


async def test_a_run_that_is_on_can_be_forked(runs: Path, chart: Path) -> None:
    bench = Bench(runs)
    bench.answers.held.add("b")
    task = asyncio.create_task(bench.session.run_flow(request(chart)))
    await bench.answers.asked("b")
    fork = fork_run(bench.folder.path, 3)
    bench.answers.release()
    await task
    again = Bench(runs)
    assert (await again.session.resume(fork.path)).reason == "reached_end"
    assert asked(again) == ["b", "c"]


async def test_a_fork_that_cannot_be_written_leaves_no_folder(
    runs: Path, chart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent = await looped(runs, chart)
    disk = Disk(monkeypatch)
    disk.error = errno.ENOSPC
    with pytest.raises(OSError):
        fork_run(parent.path, 3)
    assert list(runs.iterdir()) == [parent.path]


async def test_a_prompt_is_sent_after_the_visits_that_are_done_and_no_other(
    runs: Path, chart: Path
) -> None:
    """The order of the journal: nothing of the parent's later visits is in the fork."""
    parent = await looped(runs, chart)
    fork = fork_run(parent.path, 3)
    assert [one.prompt for one in bodies(fork, PromptSent)] == ["work"]
