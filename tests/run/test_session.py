"""A session: its runs one after another, their folders, the model and the talk between."""

from __future__ import annotations

import asyncio
import errno
import json
from pathlib import Path
from typing import Any

import pytest

from flowstudio.flow import parse_mermaid_flowchart
from flowstudio.run import journal as journal_module
from flowstudio.run.control import RunControl
from flowstudio.run.folder import open_run
from flowstudio.run.journal import read_journal
from flowstudio.soul import MaxStepsReached
from flowstudio.soul.slash import SlashCommand
from flowstudio.wire import Event, NodeEntered, Notice, PromptSent, RunEnded, RunPaused
from tests.run.desk import Bench, request
from tests.run.rig import FORK, LINE, SELF_LOOP, broken, choose


def count_runs(runs_dir: Path) -> int:
    return len(list(runs_dir.iterdir()))


async def test_a_run_is_a_folder_with_header_journal_context_and_the_flows_source(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path)
    await bench.session.run_flow(request(input="the bug"))
    folder = bench.folder
    assert folder.path.parent == tmp_path
    header = open_run(folder.path).header
    assert (header.flow, header.input, header.model) == ("审查", "the bug", "rehearsal")
    assert (folder.path / "flow" / "1-SKILL.md").read_text() == LINE
    assert sorted(file.name for file in folder.path.iterdir()) == [
        "context.jsonl",
        "flow",
        "journal.jsonl",
        "lock",
        "run.json",
    ]


async def test_the_journal_holds_the_run_from_its_first_event_to_its_last(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"q": ["hm", choose("no"), choose("yes")]})
    await bench.session.run_flow(request(FORK))
    events = read_journal(bench.folder.journal).events
    assert (events[0].type, events[-1].type) == ("run_started", "run_ended")
    assert {event.run for event in events} == {bench.folder.id}
    told = [event for event in bench.events if event.type != "text"]
    assert [event for event in events if event.type != "text"] == told


async def test_the_header_is_on_disk_before_the_first_prompt_is_sent(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    seen: list[bool] = []
    bench.wire.subscribe(
        lambda event: (
            seen.append(open_run(bench.folder.path).id == event.run)
            if isinstance(event.body, PromptSent)
            else None
        )
    )
    await bench.session.run_flow(request())
    assert seen == [True, True]


async def test_a_visit_is_in_the_journal_before_a_front_end_hears_that_it_is_over(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path)
    seen: list[bool] = []

    def compare(event: Event) -> None:
        if event.type == "node_left":
            seen.append(read_journal(bench.folder.journal).events[-1] == event)

    bench.wire.subscribe(compare)
    await bench.session.run_flow(request())
    assert seen == [True] * 4


async def test_two_runs_in_a_row_have_folders_and_conversations_of_their_own(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path, {"a": ["one", "two"]})
    await bench.session.run_flow(request())
    first, said = bench.folder, bench.conversation
    await bench.session.run_flow(request())
    assert bench.folder.id != first.id
    assert said == ["first", "one", "second", "Done."]
    assert bench.conversation == ["first", "two", "second", "Done."]
    first_events = read_journal(first.journal).events
    assert first_events[-1].type == "run_ended"
    assert {event.run for event in first_events} == {first.id}


async def test_the_agent_is_told_where_the_flows_own_files_lie(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    await bench.session.run_flow(request())
    opening = bench.session.soul.context.history[0].extract_text()
    assert "skills/审查" in opening


async def test_the_user_may_talk_on_when_the_run_is_over(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    await bench.session.run_flow(request())
    await bench.session.say("What did you do?")
    assert bench.conversation[-2:] == ["What did you do?", "Done."]
    assert read_journal(bench.folder.journal).events[-1].type == "run_ended"


async def test_the_user_may_talk_between_two_nodes(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    control = RunControl(interactive=True)
    control.breakpoints.add("b")
    task = asyncio.create_task(bench.session.run_flow(request(), control))
    await bench.until(RunPaused)
    assert bench.session.is_running
    await bench.session.say("Mind the tests.")
    control.go_on()
    assert (await task).reason == "reached_end"
    assert bench.conversation[::2] == ["first", "Mind the tests.", "second"]
    assert not bench.session.is_running


async def test_without_a_place_for_runs_nothing_is_kept() -> None:
    bench = Bench(None)
    assert (await bench.session.run_flow(request())).reason == "reached_end"
    assert bench.session.folder is None


async def test_a_second_run_beside_one_that_is_on_is_refused_and_harms_neither(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path)
    bench.answers.held.add("a")
    task = asyncio.create_task(bench.session.run_flow(request()))
    await bench.answers.asked("a")
    with pytest.raises(RuntimeError, match="on already"):
        await bench.session.run_flow(request())
    bench.answers.release()
    assert (await task).reason == "reached_end"
    assert count_runs(tmp_path) == 1


# However a run ends, the next one can begin


async def ends_by_bound(bench: Bench) -> None:
    with pytest.raises(MaxStepsReached):
        await bench.session.run_flow(request(SELF_LOOP, max_moves=2))


async def ends_by_model(bench: Bench) -> None:
    bench.answers.replies["a"] = [broken(), "Done."]
    assert (await bench.session.run_flow(request())).reason == "model_failed"


async def ends_by_stop(bench: Bench) -> None:
    bench.answers.held.add("a")
    task = asyncio.create_task(bench.session.run_flow(request()))
    await bench.answers.asked("a")
    bench.session.control.stop()
    assert (await task).reason == "stopped"
    bench.answers.release()


async def ends_by_cancelling(bench: Bench) -> None:
    bench.answers.held.add("a")
    task = asyncio.create_task(bench.session.run_flow(request()))
    await bench.answers.asked("a")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    bench.answers.release()


async def ends_by_a_bug(bench: Bench) -> None:
    bench.answers.replies["a"] = [ZeroDivisionError("a bug"), "Done."]
    with pytest.raises(ZeroDivisionError):
        await bench.session.run_flow(request())


@pytest.mark.parametrize(
    "end", [ends_by_bound, ends_by_model, ends_by_stop, ends_by_cancelling, ends_by_a_bug]
)
async def test_after_any_end_the_session_is_free_and_runs_again(tmp_path: Path, end: Any) -> None:
    bench = Bench(tmp_path, {"w": choose("not yet")})
    before = len(bench.wire._consumers)
    await end(bench)
    assert not bench.session.is_running
    assert len(bench.wire._consumers) == before
    assert (await bench.session.run_flow(request())).reason == "reached_end"


async def test_a_bug_is_said_as_the_end_of_the_run_and_journaled(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    await ends_by_a_bug(bench)
    last = read_journal(bench.folder.journal).events[-1].body
    assert last == RunEnded("failed", "the run broke off: a bug", 1)


async def test_a_journal_that_cannot_be_written_ends_a_headless_run_and_everybody_hears_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path)
    left = iter(range(3))

    def sync(_: int) -> None:
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(journal_module, "_sync_file", sync)
    assert (await bench.session.run_flow(request())).reason == "disk"
    ends = [event.body for event in bench.events if isinstance(event.body, RunEnded)]
    assert [body.reason for body in ends] == ["disk"]
    assert "No space left" in ends[0].message
    assert not bench.session.is_running


async def test_runs_that_cannot_be_kept_are_refused_before_anything_is_sent(tmp_path: Path) -> None:
    occupied = tmp_path / "file"
    occupied.write_text("")
    bench = Bench(occupied)
    with pytest.raises(OSError):
        await bench.session.run_flow(request())
    assert bench.events == []
    assert not bench.session.is_running


# What may be changed


async def test_another_model_answers_from_the_next_step_on_and_heads_the_next_run(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path)
    bench.session.set_model(bench.llm("other"))
    await bench.session.run_flow(request())
    assert bench.folder.header.model == "other"
    assert bench.session.llm is not None
    assert bench.session.llm.name == "other"


async def test_a_run_without_a_model_fails_with_a_sentence(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.session.set_model(None)
    outcome = await bench.session.run_flow(request())
    assert (outcome.reason, outcome.message[:21]) == ("model_failed", "No model is chosen. C")


async def test_thinking_and_commands_are_the_same_in_a_runs_conversation(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    called: list[str] = []

    async def note(soul: object, args: str) -> None:
        called.append(args)

    bench.session.add_commands(
        lambda: [SlashCommand(name="note", func=note, description="Notes it.")]
    )
    bench.session.set_model(bench.llm("thinker", capabilities=frozenset({"thinking"})))
    bench.session.soul.set_thinking(True)
    await bench.session.run_flow(request())
    assert bench.session.soul.thinking
    await bench.session.say("/note this")
    assert called == ["this"]


async def test_the_bound_of_choice_retries_is_the_configurations(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"q": "hm"}, max_choice_retries=1)
    assert (await bench.session.run_flow(request(FORK))).reason == "choice_failed"
    assert len(bench.answers.questions) == 3


# Reloads


async def test_a_reload_is_said_kept_and_used_from_the_next_move_on(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.answers.held.add("a")
    task = asyncio.create_task(bench.session.run_flow(request()))
    await bench.answers.asked("a")
    source = LINE.replace("second", "the second")
    body = bench.session.reload(parse_mermaid_flowchart(source), source)
    assert body is not None
    assert (body.revision, body.changed) == (2, ("b",))
    bench.answers.release()
    await task
    assert (bench.folder.path / "flow" / "2-SKILL.md").read_text() == source
    events = read_journal(bench.folder.journal).events
    assert body in [event.body for event in events]
    revisions = [one.body.revision for one in events if isinstance(one.body, NodeEntered)]
    assert revisions == [1, 1, 2, 2]
    assert bench.answers.questions[-1].prompt == "the second"


async def test_a_reload_without_a_run_changes_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    assert bench.session.reload(parse_mermaid_flowchart(LINE), LINE) is None
    assert bench.events == []


async def test_a_revision_that_cannot_be_kept_is_said_and_used_all_the_same(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path)
    bench.answers.held.add("a")
    task = asyncio.create_task(bench.session.run_flow(request()))
    await bench.answers.asked("a")
    (bench.folder.path / "flow" / "2-SKILL.md").mkdir()
    source = LINE.replace("second", "the second")
    bench.session.reload(parse_mermaid_flowchart(source), source)
    bench.answers.release()
    await task
    notices = [event.body for event in bench.events if isinstance(event.body, Notice)]
    assert [one.severity for one in notices] == ["warning"]
    assert "Revision 2 could not be kept" in notices[0].text
    assert bench.answers.questions[-1].prompt == "the second"


def test_a_runs_files_are_plain_lines_of_json(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a": "中文 \x1b[31m \ud800"})
    asyncio.run(bench.session.run_flow(request(input="half: \udc80")))
    for name in ("journal.jsonl", "context.jsonl"):
        for line in (bench.folder.path / name).read_bytes().splitlines():
            assert b"\x1b" not in line
            assert isinstance(json.loads(line), dict)
