"""A batch on a real Dask cluster, where distributed is installed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flowstudio.config import Config
from flowstudio.flow import parse_mermaid_flowchart
from flowstudio.models.script import Script
from flowstudio.run.answerers import Who
from flowstudio.run.dask_engine import DaskEngine
from flowstudio.run.folder import open_run
from flowstudio.run.jobs import Job, JobResult, Recipe
from flowstudio.run.journal import read_journal
from flowstudio.run.workers import EngineError
from tests.run.rig import FORK, PATIENCE

distributed: Any = pytest.importorskip("distributed")

SCRIPT = Script.model_validate(
    {"decisions": [{"node": "q", "replies": [{"text": "<choice>yes</choice>"}]}]}
)


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    flow = parse_mermaid_flowchart(FORK)
    who = Who(script=SCRIPT)
    return Recipe(flow, "fork", None, FORK, who, Config(), tmp_path, tmp_path / "runs")


@pytest.fixture
async def scheduler() -> AsyncIterator[str]:
    """The address of a cluster that was there before; its workers are threads of this process."""
    cluster = await distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=2,
        processes=False,
        protocol="tcp://",
        dashboard_address=None,
        asynchronous=True,
    )
    try:
        yield cluster.scheduler_address
    finally:
        await cluster.close()


async def carry_out(engine: DaskEngine, recipe: Recipe, count: int) -> list[JobResult]:
    results: list[JobResult] = []
    jobs = [Job(n, n, 1, f"thing {n}") for n in range(1, count + 1)]
    async with asyncio.timeout(3 * PATIENCE):
        await engine.run(recipe, jobs, results.append)
    return sorted(results, key=lambda result: result.job.number)


async def test_runs_are_spread_over_an_existing_cluster_and_their_folders_come_home(
    recipe: Recipe, scheduler: str
) -> None:
    results = await carry_out(DaskEngine(scheduler), recipe, 4)
    assert [result.reason for result in results] == ["reached_end"] * 4
    for result in results:
        folder = open_run(recipe.runs_dir / result.run)
        assert folder.header.input == result.job.input
        assert read_journal(folder.journal).events[-1].type == "run_ended"
        (kept,) = (file for file in (folder.path / "flow").iterdir() if file.is_file())
        assert kept.read_bytes()


async def test_a_cluster_without_the_work_folder_fails_the_runs_with_the_reason(
    recipe: Recipe, scheduler: str
) -> None:
    away = replace(recipe, work_dir=Path("nowhere") / "at" / "all")
    results = await carry_out(DaskEngine(scheduler), away, 2)
    assert [result.reason for result in results] == ["failed", "failed"]
    assert "the worker has no folder" in results[0].message


async def test_stop_takes_back_what_has_not_begun(recipe: Recipe, scheduler: str) -> None:
    engine = DaskEngine(scheduler)
    engine.stop()
    assert await carry_out(engine, recipe, 3) == []


async def test_a_local_cluster_of_processes_stands_in_where_none_is_given(recipe: Recipe) -> None:
    results = await carry_out(DaskEngine(parallel=1), recipe, 2)
    assert [result.reason for result in results] == ["reached_end"] * 2
    assert all((recipe.runs_dir / result.run / "run.json").is_file() for result in results)


async def test_an_address_where_no_scheduler_is_says_so(
    recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flowstudio.run.dask_engine._PATIENCE", "200ms")
    with pytest.raises(EngineError, match="no Dask scheduler at tcp://127"):
        await carry_out(DaskEngine("tcp://127.0.0.1:9"), recipe, 1)


async def test_without_the_package_the_error_names_the_extra(
    recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flowstudio.run.dask_engine.find_spec", lambda _: None)
    with pytest.raises(EngineError, match=r"flowstudio\[batch\]"):
        await carry_out(DaskEngine(), recipe, 1)
