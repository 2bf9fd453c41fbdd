"""Run folders of each format that there ever was: they open for ever, and can be gone on with."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from flowstudio.run.folder import FORMAT
from flowstudio.run.fork import fork_run
from flowstudio.run.history import summarise
from flowstudio.run.journal import read_journal
from flowstudio.run.replay import replay
from flowstudio.run.resume import ResumeRefused, resume_plan
from flowstudio.run.state import RunState
from flowstudio.run.tape import timeless
from flowstudio.soul import Context
from flowstudio.wire import Event
from tests.run.desk import Bench
from tests.run.rig import choose

GOLDEN = sorted((Path(__file__).parent / "golden").iterdir())


@pytest.fixture(params=GOLDEN, ids=lambda path: path.name)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy; the golden one is never written."""
    copy = tmp_path / "runs" / request.param.name.partition("-")[2]
    shutil.copytree(request.param, copy)
    return copy


def test_there_is_a_golden_run_of_the_present_format() -> None:
    formats = {json.loads((path / "run.json").read_text())["format"] for path in GOLDEN}
    assert FORMAT in formats


def test_its_journal_adds_up_to_the_run_that_it_was(folder: Path) -> None:
    journal = read_journal(folder / "journal.jsonl")
    assert journal.dropped == 0
    state = RunState()
    for event in journal.events:
        state.apply(event)
    assert [(one.node, one.visit, one.branch) for one in state.visits] == [
        ("B", 1, None),
        ("a", 1, None),
        ("q", 1, "no"),
        ("a", 2, None),
        ("q", 2, "yes"),
        ("E", 1, None),
    ]
    assert (state.phase, state.reason) == ("ended", "reached_end")
    assert state.forced == {("q", "E", "yes")}


def test_its_conversation_opens(folder: Path) -> None:
    said = [one.extract_text() for one in Context(folder / "context.jsonl").history]
    assert [text for text in said if not text.startswith("<system>")][:3] == [
        "Mind the tests.",
        "Done.",
        "the retry change 中文\n\nwork",
    ]


def test_it_stands_in_the_list_and_is_not_resumed(folder: Path) -> None:
    found = summarise(folder)
    assert (found.standing, found.reason, found.visits, found.at) == (
        "ended",
        "reached_end",
        6,
        "E",
    )
    plan = resume_plan(folder)
    with pytest.raises(ResumeRefused, match="reached END"):
        plan.start(plan.source("recorded"))


async def test_it_is_replayed_to_the_same_events(folder: Path) -> None:
    recorded = read_journal(folder / "journal.jsonl").events
    told: list[Event] = []
    outcome = await replay(folder, told.append, strict=True)
    assert outcome.mismatch is None
    assert [timeless(one.body) for one in told] == [timeless(one.body) for one in recorded]


async def test_it_can_be_forked_and_run_on(folder: Path) -> None:
    fork = fork_run(folder, 5)
    bench = Bench(folder.parent, {"q": choose("yes")})
    outcome = await bench.session.resume(fork.path, "recorded")
    assert outcome.path == ("B", "a", "q", "a", "q", "E")
    assert [question.node for question in bench.answers.questions] == ["q"]
