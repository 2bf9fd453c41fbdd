"""The real program, killed at random instants: what resume finds, and what it asks again."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from flowstudio.run.journal import read_journal
from flowstudio.run.lock import find_holder
from flowstudio.soul import Context
from flowstudio.wire import NodeLeft, RunEnded, ToolCalled
from tests.cli.shell import Shell
from tests.run.killing import (
    CHART,
    LAPS,
    PATH,
    Nursery,
    configured,
    endless_server,
    nursery,
    prompts_in,
)
from tests.servers.scripted import ScriptedServer, in_thread

PROMPTS = 3 * LAPS + 1
"""The visits that ask the model."""
CALLS = PROMPTS + LAPS
"""One call each, and one more where a tool was called."""


@dataclass
class Killer:
    """A program to kill, and the model that it asks."""

    nursery: Nursery
    shell: Shell
    server: ScriptedServer
    chart: Path
    conversation: list[str]
    """What is said in a run that nobody kills."""
    seconds: float
    """How long that takes."""

    def begin(self, *argv: str | Path) -> int:
        return self.nursery.start(*argv, "--model", "killed", "--yolo", "--json")

    def forget(self) -> None:
        """Leave no run behind."""
        for run in self.shell.runs:
            shutil.rmtree(run)
        self.server.requests.clear()
        (self.shell.cwd / "effects.txt").unlink(missing_ok=True)


@pytest.fixture(scope="module")
def killer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killer]:
    shell = Shell(tmp_path_factory.mktemp("killer"))
    chart = shell.cwd / "flow.mmd"
    chart.write_text(CHART)
    with (
        in_thread(endless_server) as server,
        configured(shell, server.base_url),
        nursery(shell) as process,
    ):
        made = Killer(process, shell, server, chart, [], 0.0)
        made.begin("run", chart)
        assert process.wait() == 0, process.out.read_text()
        began = time.monotonic()
        made.forget()
        made.begin("run", chart)
        assert process.wait() == 0, process.out.read_text()
        made.seconds = time.monotonic() - began
        assert len(server.requests) == CALLS
        made.conversation = conversation(shell.runs[0])
        made.forget()
        yield made


def conversation(run: Path) -> list[str]:
    return [message.extract_text() for message in Context(run / "context.jsonl").history]


def done_visits(run: Path) -> list[str]:
    """The nodes whose visits are acknowledged; the journal must open as it is."""
    events = read_journal(run / "journal.jsonl").events
    return [event.node or "" for event in events if isinstance(event.body, NodeLeft)]


def answered_prompts(done: list[str]) -> int:
    return sum(node not in ("B", "E") for node in done)


def let_go(run: Path) -> None:
    """A dead process holds no run; the system may need an instant to see to that."""
    end = time.monotonic() + 10.0
    while (holder := find_holder(run)) is not None:
        assert time.monotonic() < end, holder
        time.sleep(0.005)


def round_of(killer: Killer, chance: random.Random) -> int:
    """Kill a run once or twice and resume it; gives how often it really died."""
    killer.forget()
    deaths = asked_before = 0
    argv: tuple[str | Path, ...] = ("run", killer.chart)
    for _ in range(chance.choice((1, 1, 2))):
        process = killer.begin(*argv)
        # The instant is meant to be anywhere: the wait is the test.
        time.sleep(chance.uniform(0.0, killer.seconds * 1.05))
        killer.nursery.kill(process)
        status = killer.nursery.wait()
        if status == 0 or "reached END" in killer.nursery.out.read_text():
            break
        assert status == -9, killer.nursery.out.read_text()
        deaths += 1
        runs = killer.shell.runs
        if not runs or not (runs[0] / "run.json").exists():
            # Nothing was begun, so nothing may have been asked.
            assert killer.server.requests == []
            return deaths
        let_go(runs[0])
        argv = ("resume", runs[0].name)
    run = killer.shell.runs[0]
    journal = run / "journal.jsonl"
    done = done_visits(run) if journal.exists() else []
    assert done == PATH[: len(done)]
    is_over = len(done) == len(PATH)
    asked_before = len(killer.server.requests)
    killer.begin("resume", run.name)
    status = killer.nursery.wait()
    assert status == (2 if is_over else 0), killer.nursery.out.read_text()
    # What was acknowledged is asked no more; at most one visit per death is asked again.
    again = [len(prompts_in(one)) for one in killer.server.requests[asked_before:]]
    assert all(number > answered_prompts(done) for number in again)
    numbers = {len(prompts_in(one)) for one in killer.server.requests}
    assert numbers == set(range(1, PROMPTS + 1))
    # A visit makes two calls at most, and only the one in flight makes them again.
    assert CALLS <= len(killer.server.requests) <= CALLS + 2 * deaths
    assert done_visits(run) == PATH
    assert conversation(run) == killer.conversation
    effects = (killer.shell.cwd / "effects.txt").read_text().count("did")
    called = [event for event in read_journal(journal).events if isinstance(event.body, ToolCalled)]
    assert LAPS <= effects <= len(called)
    if not is_over:
        last = read_journal(journal).events[-1].body
        assert isinstance(last, RunEnded)
        assert last.reason == "reached_end"
    return deaths


def kill(killer: Killer, times: int, seed: int) -> None:
    chance = random.Random(seed)
    deaths = 0
    while deaths < times:
        deaths += round_of(killer, chance)


def test_fifteen_kills_lose_no_acknowledged_visit_and_repeat_only_the_one_in_flight(
    killer: Killer,
) -> None:
    kill(killer, 15, seed=1)


@pytest.mark.long
def test_three_hundred_kills_lose_no_acknowledged_visit_and_repeat_only_the_one_in_flight(
    killer: Killer,
) -> None:
    kill(killer, 300, seed=2)


def test_a_run_that_is_on_in_another_process_is_refused_and_named(killer: Killer) -> None:
    killer.forget()
    process = killer.begin("run", killer.chart)
    while not (killer.shell.runs and find_holder(killer.shell.runs[0])):
        pass
    done = killer.shell.inside("resume", "last")
    killer.nursery.kill(process)
    killer.nursery.wait()
    assert done.status == 2
    assert f"process {process}" in done.err or "reached END" in done.err
