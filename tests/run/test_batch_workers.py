"""Runs in worker processes: real processes, real faults."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flowstudio.config import Config, LoopControl, ModelSettings, ProviderSettings
from flowstudio.flow import parse_mermaid_flowchart
from flowstudio.models.script import Script
from flowstudio.run.answerers import Who
from flowstudio.run.folder import open_run
from flowstudio.run.jobs import Job, JobResult, Recipe
from flowstudio.run.journal import read_journal
from flowstudio.run.workers import EngineError, ProcessEngine
from tests.run.rig import FORK, PATIENCE
from tests.servers.openai_server import encode
from tests.servers.scripted import Call, Reply, Request, ScriptedServer, say, use

SCRIPT = Script.model_validate(
    {"decisions": [{"node": "q", "replies": [{"text": "<choice>yes</choice>"}]}]}
)


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    return Recipe(
        flow=parse_mermaid_flowchart(FORK.replace("work", "work on $ARGUMENTS for {{who}}")),
        name="fork",
        path=None,
        source=FORK,
        who=Who(script=SCRIPT),
        config=Config(),
        work_dir=tmp_path,
        runs_dir=tmp_path / "runs",
    )


def jobs(count: int) -> list[Job]:
    return [Job(n, n, 1, f"thing {n}", {"who": f"user {n}"}) for n in range(1, count + 1)]


async def carry_out(engine: ProcessEngine, recipe: Recipe, todo: Sequence[Job]) -> list[JobResult]:
    results: list[JobResult] = []
    async with asyncio.timeout(3 * PATIENCE):
        await engine.run(recipe, todo, results.append)
    return sorted(results, key=lambda result: result.job.number)


async def test_each_job_gets_a_run_folder_of_its_own_with_its_input(recipe: Recipe) -> None:
    results = await carry_out(ProcessEngine(2), recipe, jobs(5))
    assert [result.reason for result in results] == ["reached_end"] * 5
    assert [result.path for result in results] == [("B", "a", "q", "E")] * 5
    headers = [open_run(recipe.runs_dir / result.run).header for result in results]
    assert [header.input for header in headers] == [f"thing {n}" for n in range(1, 6)]
    prompts = [
        event.to_json()["prompt"]
        for event in read_journal(recipe.runs_dir / results[2].run / "journal.jsonl").events
        if event.type == "prompt_sent"
    ]
    assert prompts[0] == "work on thing 3 for user 3"


async def test_a_seed_walks_differently_in_each_run_and_the_same_in_each_batch(
    recipe: Recipe,
) -> None:
    seeded = replace(recipe, who=Who(seed=1))
    first = await carry_out(ProcessEngine(1), seeded, jobs(8))
    again = await carry_out(ProcessEngine(2), seeded, jobs(8))
    assert [one.path for one in first] == [one.path for one in again]
    assert len({one.path for one in first}) > 1


async def test_a_script_that_ends_fails_its_runs_with_a_reason(recipe: Recipe) -> None:
    (result,) = await carry_out(
        ProcessEngine(1), replace(recipe, who=Who(script=Script())), jobs(1)
    )
    assert result.reason == "model_failed"
    assert "no reply for visit 1 of q" in result.message


async def test_runs_that_cannot_be_kept_fail_one_by_one(recipe: Recipe) -> None:
    recipe.runs_dir.write_text("in the way")
    results = await carry_out(ProcessEngine(1), recipe, jobs(2))
    assert [result.reason for result in results] == ["failed", "failed"]
    assert "the run broke off" in results[0].message


def serve(choose: Any) -> ScriptedServer:
    """A model that answers by the request."""

    def by_request(_: Reply, request: Request) -> Any:
        return encode(choose(request), request)

    return ScriptedServer(by_request, "/v1", [say("")] * 100)


def with_model(recipe: Recipe, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> Recipe:
    monkeypatch.setenv("IT_KEY", "sk-scripted")
    config = Config(
        providers={
            "it": ProviderSettings(type="openai", base_url=server.base_url, key_env="IT_KEY")
        },
        models={"m": ModelSettings(provider="it", model="m-1")},
        loop=LoopControl(max_retries_per_step=0),
    )
    return replace(recipe, config=config, who=Who(model="m"))


async def test_a_worker_that_dies_loses_only_the_run_that_it_was_at(
    recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    def choose(request: Request) -> Reply:
        if "Available branches" in request.last_text:
            return say("<choice>yes</choice>")
        if "thing 2" in request.last_text:
            return use(Call("Shell", {"command": "kill -9 $PPID"}))
        return say("Done.")

    async with serve(choose) as server:
        own = replace(with_model(recipe, server, monkeypatch), yolo=True)
        results = await carry_out(ProcessEngine(1), own, jobs(4))
    assert [result.reason for result in results] == ["reached_end", "failed"] + ["reached_end"] * 2
    lost = results[1]
    assert lost.message == "its process died: signal 9"
    # It is kept as far as it came, and can be gone on with.
    kept = read_journal(recipe.runs_dir / lost.run / "journal.jsonl").events
    assert "tool_called" in [event.type for event in kept]
    assert kept[-1].type != "run_ended"
    assert results[0].tokens > 0


async def test_stop_ends_the_runs_that_are_on_in_good_order_and_begins_no_more(
    recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = ProcessEngine(2)
    asked: list[Request] = []

    def choose(request: Request) -> Reply:
        asked.append(request)
        if len(asked) == 2:
            asyncio.get_running_loop().call_soon(engine.stop)
        return say("Let me ", fault="stall")

    async with serve(choose) as server:
        results = await carry_out(engine, with_model(recipe, server, monkeypatch), jobs(5))
    assert [(one.job.number, one.reason) for one in results] == [(1, "stopped"), (2, "stopped")]
    for one in results:
        last = read_journal(recipe.runs_dir / one.run / "journal.jsonl").events[-1]
        assert (last.type, last.to_json()["reason"]) == ("run_ended", "stopped")


async def test_a_second_stop_waits_for_nobody(
    recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = ProcessEngine(1)

    def stop_twice() -> None:
        engine.stop()
        engine.stop()

    def choose(request: Request) -> Reply:
        asyncio.get_running_loop().call_soon(stop_twice)
        return say("Let me ", fault="stall")

    async with serve(choose) as server:
        results = await carry_out(engine, with_model(recipe, server, monkeypatch), jobs(3))
    assert [one.job.number for one in results] == [1]
    assert results[0].reason in ("failed", "stopped")


async def test_a_model_that_no_worker_can_set_up_ends_the_batch(
    recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serve(lambda _: say("never")) as server:
        own = with_model(recipe, server, monkeypatch)
    monkeypatch.delenv("IT_KEY")
    with pytest.raises(EngineError, match="IT_KEY"):
        await carry_out(ProcessEngine(2), own, jobs(4))


async def test_a_worker_that_does_not_start_ends_the_batch(
    recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", [])
    with pytest.raises(EngineError, match="did not start"):
        await carry_out(ProcessEngine(2), recipe, jobs(2))
