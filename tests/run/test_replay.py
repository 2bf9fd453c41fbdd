"""Replay: the same journal gives the same events, and calls nobody."""

from __future__ import annotations

import asyncio
import contextlib
import random
from pathlib import Path
from typing import Any

import pytest
from kosong.chat_provider import ChatProviderError

from flowstudio.flow import parse_mermaid_flowchart
from flowstudio.run.breakpoints import Breakpoint
from flowstudio.run.control import RunControl
from flowstudio.run.folder import RunFolder
from flowstudio.run.fork import fork_run
from flowstudio.run.journal import read_journal
from flowstudio.run.replay import ReplayOutcome, replay
from flowstudio.run.resume import ResumeRefused
from flowstudio.run.session import RunRequest
from flowstudio.run.tape import timeless
from flowstudio.soul import MaxStepsReached
from flowstudio.wire import (
    Event,
    NodeEntered,
)
from tests.run.desk import Bench

CHART = """flowchart TD
B([BEGIN]) --> a[work on $ARGUMENTS] --> p{first?}
p -->|left| q{second?}
p -->|right| b[other work]
b --> q
q -->|up| E([END])
q -->|again| a
q -->|hole| x[a dead end]
q -->|here| q
"""
BRANCHES = {"p": ("left", "right"), "q": ("up", "again", "hole", "here")}


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    file = tmp_path / "flow.mmd"
    file.write_text(CHART)
    return file


async def replayed(folder: RunFolder, **options: Any) -> tuple[list[Event], ReplayOutcome]:
    before = {file: file.read_bytes() for file in folder.path.rglob("*") if file.is_file()}
    events: list[Event] = []
    async with asyncio.timeout(30):
        outcome = await replay(folder.path, events.append, **options)
    after = {file: file.read_bytes() for file in folder.path.rglob("*") if file.is_file()}
    assert after == before
    return events, outcome


def told(events: Any) -> list[Any]:
    """Events without their times."""
    return [(one.run, one.node, one.visit, timeless(one.body)) for one in events]


async def check_replay(folder: RunFolder) -> None:
    """A strict replay of the recorded flow says what the journal says, no more and no less."""
    recorded = read_journal(folder.journal).events
    events, outcome = await replayed(folder, strict=True)
    assert outcome.mismatch is None, outcome.mismatch
    assert told(events) == told(recorded)


class Chance:
    """A model, a user and a world that chance directs."""

    def __init__(self, seed: int, runs: Path, chart: Path) -> None:
        self.random = random.Random(seed)
        self.runs = runs
        self.chart = chart

    async def answer(self, question: Any) -> str:
        await asyncio.sleep(0)
        dice = self.random.random()
        if dice < 0.06:
            raise ChatProviderError(f"the line is dead {dice}")
        words = f"Thought {self.random.randrange(1000)} times. " * self.random.randrange(1, 5)
        if not question.branches:
            return words
        branch = self.random.choice(question.branches)
        if dice < 0.15:
            branch = "nonsense"
        return words if dice < 0.2 else f"{words}\n\n<choice>{branch}</choice>"

    def bench(self) -> Bench:
        bench = Bench(self.runs, max_choice_retries=self.random.choice((0, 1, 3)))
        bench.answers.answer = self.answer  # type: ignore[method-assign]
        return bench

    def steer(self, control: RunControl) -> None:
        """Give a command, as a user might at any moment."""
        nodes = ["a", "p", "q", "b", "E", "B"]
        node = self.random.choice(nodes)
        branching = self.random.choice(list(BRANCHES))
        branch = self.random.choice(BRANCHES[branching])
        match self.random.randrange(13):
            case 0 | 1:
                control.step()
            case 2 | 3 | 4:
                control.go_on()
            case 5:
                control.pause()
            case 6:
                control.choose(branching, branch)
            case 7:
                control.unforce(branching)
            case 8:
                control.run_to(node)
            case 9:
                control.go_to(node)
            case 10:
                control.again()
            case 11:
                control.replace_prompt(f"Another prompt {self.random.randrange(100)}.")
            case _:
                control.toggle_breakpoint(node)

    async def drive(self, bench: Bench, control: RunControl) -> None:
        """Steer a run until it ends or was steered enough; then it is stopped or killed."""
        for _ in range(self.random.randrange(5, 60)):
            for _ in range(self.random.randrange(1, 12)):
                await asyncio.sleep(0)
            if control.is_waiting and self.random.random() < 0.15:
                with contextlib.suppress(ChatProviderError):
                    await bench.session.say("How is it going?")
            elif control.is_waiting or self.random.random() < 0.1:
                self.steer(control)
            if self.random.random() < 0.04:
                text = CHART.replace("work", f"work {self.random.randrange(9)}", 1)
                self.chart.write_text(text)
                bench.session.reload(parse_mermaid_flowchart(text), text)
        if self.random.random() < 0.5:
            control.stop()

    async def make(self) -> RunFolder:
        """A run, perhaps taken up or forked now and then."""
        bench = self.bench()
        interactive = self.random.random() < 0.7
        control = RunControl(interactive=interactive)
        if self.random.random() < 0.3:
            control.mode = "step" if interactive else "run"
        if self.random.random() < 0.3:
            control.set_breakpoint(Breakpoint("q", self.random.choice(("before", "after"))))
        text = self.chart.read_text()
        request = RunRequest(
            parse_mermaid_flowchart(text),
            "flow",
            self.chart,
            text,
            self.random.choice(("", "the bug")),
            max_moves=self.random.choice((4, 12, 40)),
        )
        await self.let_run(bench, control, bench.session.run_flow(request, control))
        folder = bench.folder
        for _ in range(self.random.choice((0, 0, 1, 2))):
            if self.random.random() < 0.4:
                entered = sum(isinstance(one.body, NodeEntered) for one in events_of(folder))
                if entered:
                    folder = fork_at(folder, self.random.randrange(1, entered + 1))
            bench = self.bench()
            control = RunControl(interactive=self.random.random() < 0.7)
            which = self.random.choice(("current", "recorded"))
            await self.let_run(bench, control, bench.session.resume(folder.path, which, control))
        return folder

    async def let_run(self, bench: Bench, control: RunControl, run: Any) -> None:
        task = asyncio.create_task(run)
        driver = asyncio.create_task(self.drive(bench, control))
        await asyncio.wait([task, driver], return_when=asyncio.FIRST_COMPLETED, timeout=20)
        if not task.done():
            await asyncio.wait([driver], timeout=20)
            if not control.stop_asked:
                task.cancel()
        driver.cancel()
        found = await asyncio.gather(task, driver, return_exceptions=True)
        for one in found:
            allowed = (MaxStepsReached, ResumeRefused, asyncio.CancelledError)
            if isinstance(one, BaseException) and not isinstance(one, allowed):
                raise one


def events_of(folder: RunFolder) -> tuple[Event, ...]:
    return read_journal(folder.journal).events


def fork_at(folder: RunFolder, number: int) -> RunFolder:
    moves = [one.body.move for one in events_of(folder) if isinstance(one.body, NodeEntered)]
    return fork_run(folder.path, moves[number - 1])


async def check_random(tmp_path: Path, seeds: range) -> None:
    kinds: set[str] = set()
    for seed in seeds:
        place = tmp_path / str(seed)
        place.mkdir()
        chart = place / "flow.mmd"
        chart.write_text(CHART)
        folder = await Chance(seed, place / "runs", chart).make()
        try:
            await check_replay(folder)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {folder.path}") from error
        kinds |= {one.type for one in events_of(folder)}
    # The runs show what runs can show, or the test shows nothing.
    wanted = "run_paused run_reopened run_forked choice_rejected command_given talk_held "
    assert set((wanted + "flow_reloaded step_interrupted run_ended").split()) <= kinds


async def test_twenty_five_random_journals_are_replayed_to_the_same_events(tmp_path: Path) -> None:
    await check_random(tmp_path, range(25))


@pytest.mark.long
async def test_a_thousand_random_journals_are_replayed_to_the_same_events(tmp_path: Path) -> None:
    await check_random(tmp_path, range(1000, 2000))
