"""What a replay says of a flow that is not the recorded one, and how two runs are compared."""

# ruff: noqa: ASYNC240 - small files of the test, in a loop that serves nobody else

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flowstudio.flow import parse_mermaid_flowchart
from flowstudio.run.compare import compare_runs
from flowstudio.run.folder import RunFolder
from flowstudio.run.fork import fork_run
from flowstudio.run.journal import read_journal
from flowstudio.run.replay import ReplayOutcome, replay
from flowstudio.run.session import RunRequest
from flowstudio.wire import ChoiceMade, Event, NodeEntered, PromptSent, RunEnded
from tests.run.desk import Bench
from tests.run.rig import FORK, choose


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    file = tmp_path / "flow.mmd"
    file.write_text(FORK)
    return file


async def run(tmp_path: Path, chart: Path, **replies: Any) -> RunFolder:
    """B a q a q E, with these answers."""
    bench = Bench(tmp_path / "runs", {"q": [choose("no"), choose("yes")], **replies})
    text = chart.read_text()
    await bench.session.run_flow(
        RunRequest(parse_mermaid_flowchart(text), "flow", chart, text, "the bug")
    )
    return bench.folder


async def play(folder: RunFolder, **options: Any) -> tuple[list[Event], ReplayOutcome]:
    events: list[Event] = []
    return events, await replay(folder.path, events.append, **options)


def path_of(events: list[Event]) -> list[str | None]:
    return [event.node for event in events if isinstance(event.body, NodeEntered)]


async def test_strict_a_changed_prompt_fails_and_the_nearest_one_is_shown(
    tmp_path: Path, chart: Path
) -> None:
    folder = await run(tmp_path, chart)
    chart.write_text(FORK.replace("work", "work harder"))
    events, outcome = await play(folder, which="current", strict=True)
    assert outcome.mismatch is not None
    assert outcome.mismatch.message == "visit 1 of “a”: the prompt is not the recorded one"
    assert outcome.mismatch.nearest == "the bug\n\nwork"
    assert outcome.mismatch.diff[-2:] == ["-work", "+work harder"]
    assert not any(isinstance(event.body, PromptSent) for event in events)


async def test_strict_another_way_through_the_flow_fails_where_it_begins(
    tmp_path: Path, chart: Path
) -> None:
    folder = await run(tmp_path, chart)
    chart.write_text(FORK.replace("q -->|no| a", "q -->|no| c[check]\nc --> a"))
    _, outcome = await play(folder, which="current", strict=True)
    assert outcome.mismatch is not None
    assert (
        outcome.mismatch.message == "visit 1 of “q”: node_left comes where node_left was recorded"
    )


async def test_strict_the_recorded_flow_never_differs_whatever_the_file_holds_now(
    tmp_path: Path, chart: Path
) -> None:
    folder = await run(tmp_path, chart)
    chart.unlink()
    events, outcome = await play(folder, strict=True)
    assert (outcome.mismatch, outcome.reason) == (None, "reached_end")
    assert len(events) == len(read_journal(folder.journal).events)


async def test_an_edited_prompt_is_tried_on_the_recorded_answers(
    tmp_path: Path, chart: Path
) -> None:
    folder = await run(tmp_path, chart)
    chart.write_text(FORK.replace("work", "work harder"))
    events, outcome = await play(folder, which="current")
    assert outcome.reason == "reached_end"
    assert path_of(events) == ["B", "a", "q", "a", "q", "E"]
    prompts = [event.body.prompt for event in events if isinstance(event.body, PromptSent)]
    assert prompts[0] == "the bug\n\nwork harder"


async def test_a_visit_that_was_never_recorded_fails_as_a_model_would(
    tmp_path: Path, chart: Path
) -> None:
    folder = await run(tmp_path, chart)
    chart.write_text(FORK.replace("q -->|no| a", "q -->|no| c[check]\nc --> a"))
    events, outcome = await play(folder, which="current")
    assert outcome.reason == "model_failed"
    assert path_of(events) == ["B", "a", "q", "c"]
    assert isinstance(events[-1].body, RunEnded)
    assert "nothing is recorded" in events[-1].body.message


async def test_a_forced_branch_stays_forced(tmp_path: Path, chart: Path) -> None:
    parent = await run(tmp_path, chart)
    fork = fork_run(parent.path, 3, branch="yes")
    bench = Bench(tmp_path / "runs")
    await bench.session.resume(fork.path)
    events, outcome = await play(fork, strict=True)
    assert outcome.mismatch is None
    choices = [event.body for event in events if isinstance(event.body, ChoiceMade)]
    assert [(one.branch, one.by, one.forced) for one in choices] == [("yes", "user", True)]


# Two runs beside each other


def events_of(folder: RunFolder) -> tuple[Event, ...]:
    return read_journal(folder.journal).events


async def test_two_runs_with_the_same_words_are_the_same(tmp_path: Path, chart: Path) -> None:
    one, other = await run(tmp_path, chart), await run(tmp_path, chart)
    found = compare_runs(events_of(one), events_of(other))
    assert (found.is_same, found.common, found.moves) == (True, 6, (6, 6))


async def test_the_first_difference_of_each_aspect_is_told(tmp_path: Path, chart: Path) -> None:
    one = await run(tmp_path, chart)
    other = await run(tmp_path, chart, a=["Something else."], q=[choose("yes")])
    found = compare_runs(events_of(one), events_of(other))
    told = [(one.aspect, one.move, one.node, one.one, one.other) for one in found.differences]
    assert told == [
        ("answer", 2, "a", "Done.", "Something else."),
        ("path", 4, None, "a", "E"),
    ]
    assert found.common == 1


async def test_a_different_prompt_is_told(tmp_path: Path, chart: Path) -> None:
    one = await run(tmp_path, chart)
    chart.write_text(FORK.replace("work", "work harder"))
    found = compare_runs(events_of(one), events_of(await run(tmp_path, chart)))
    assert [(one.aspect, one.move) for one in found.differences] == [("prompt", 2)]
    assert found.differences[0].diff[-2:] == ["-work", "+work harder"]


async def test_a_run_that_is_a_beginning_of_the_other_differs_where_it_is_over(
    tmp_path: Path, chart: Path
) -> None:
    one = events_of(await run(tmp_path, chart))
    cut = [event for event in one if event.node in (None, "B")]
    found = compare_runs(cut, one)
    assert [(one.aspect, one.move, one.one, one.other) for one in found.differences] == [
        ("path", 2, None, "a")
    ]
