"""The engine of a batch on a Dask cluster: `flowstudio batch --engine dask`.

Each run is one task. Its folder is made on the worker's own disk and comes back with the result, so
that no shared disk is needed. Keys are read from the worker's environment; none is sent. A task
whose worker dies is begun again by Dask on another one, as often as its scheduler allows.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any

from flowstudio.run.jobs import Job, JobResult, Recipe, make_failure
from flowstudio.run.workers import EngineError

_PATIENCE = "10s"
"""How long a scheduler may take to answer."""


class DaskEngine:
    """Runs on the cluster at `scheduler`, or on a local one of `parallel` processes.

    Args:
        processes: False makes a local cluster of threads, for tests.
    """

    def __init__(
        self, scheduler: str | None = None, *, parallel: int = 1, processes: bool = True
    ) -> None:
        self._scheduler = scheduler
        self._parallel = parallel
        self._processes = processes
        self._stopped = asyncio.Event()

    async def run(
        self, recipe: Recipe, jobs: Sequence[Job], take: Callable[[JobResult], object]
    ) -> None:
        """See `Engine.run`."""
        if find_spec("distributed") is None:
            raise EngineError(
                "--engine dask needs the package distributed: pip install 'flowstudio[batch]'"
            )
        import distributed

        # Dask's types are unknown to the checker.
        dask: Any = distributed
        cluster: Any = None
        if self._scheduler is None:
            cluster = await dask.LocalCluster(
                n_workers=self._parallel,
                threads_per_worker=1,
                processes=self._processes,
                dashboard_address=None,
                asynchronous=True,
                silence_logs=50,
            )
        try:
            try:
                client: Any = await dask.Client(
                    cluster or self._scheduler,
                    asynchronous=True,
                    timeout=_PATIENCE,
                    set_as_default=False,
                )
            except (OSError, ValueError, TimeoutError) as error:
                said = str(error) or "no answer"
                raise EngineError(f"no Dask scheduler at {self._scheduler}: {said}") from error
            try:
                await self._run(client, recipe, jobs, take)
            finally:
                await client.close()
        finally:
            if cluster is not None:
                await cluster.close()

    def stop(self) -> None:
        """Take back what has not begun, and wait no longer for what has."""
        self._stopped.set()

    async def _run(
        self,
        client: Any,
        recipe: Recipe,
        jobs: Sequence[Job],
        take: Callable[[JobResult], object],
    ) -> None:
        shared = await client.scatter(_strip(recipe), broadcast=True)
        futures = {
            client.submit(carry_out, shared, job, key=f"run-{job.number}-{id(jobs)}", pure=False): (
                job
            )
            for job in jobs
        }
        left = {
            asyncio.ensure_future(_wait(future)): (future, job) for future, job in futures.items()
        }
        stop = asyncio.ensure_future(self._stopped.wait())
        try:
            while left and not stop.done():
                await asyncio.wait({*left, stop}, return_when=asyncio.FIRST_COMPLETED)
                for task in [task for task in left if task.done()]:
                    future, job = left.pop(task)
                    take(_bring_home(recipe.runs_dir, job, task.result()))
                    future.release()
        finally:
            stop.cancel()
            if left:
                await client.cancel([future for future, _ in left.values()], force=True)
                for task in left:
                    task.cancel()
                await asyncio.gather(*left, return_exceptions=True)


type _Brought = tuple[JobResult, Mapping[str, bytes]] | Exception


async def _wait(future: Any) -> _Brought:
    try:
        return await future
    except Exception as error:  # whatever happened on another machine is that run's misfortune
        return error


def carry_out(recipe: Recipe, job: Job) -> tuple[JobResult, dict[str, bytes]]:
    """The task: one run, and the files that it left. Called on the cluster."""
    from flowstudio.run.worker import run_alone

    if not recipe.work_dir.is_dir():
        message = f"the worker has no folder {recipe.work_dir}"
        return make_failure(job, "", message), {}
    with tempfile.TemporaryDirectory(prefix="flowstudio-run-") as scratch:
        return run_alone(recipe, job, Path(scratch))


def _strip(recipe: Recipe) -> Recipe:
    """The recipe as it may travel: our folder of runs means nothing elsewhere."""
    return replace(recipe, runs_dir=Path())


def _bring_home(runs_dir: Path, job: Job, brought: _Brought) -> JobResult:
    """Put a run's files where runs are kept here."""
    if isinstance(brought, Exception):
        said = str(brought) or type(brought).__name__
        return make_failure(job, "", f"lost on the cluster: {said}")
    result, files = brought
    try:
        for name, content in files.items():
            parts = PurePosixPath(name).parts
            if ".." in parts or PurePosixPath(name).is_absolute():
                raise OSError(f"a file with a strange name: {name}")
            file = runs_dir.joinpath(*parts)
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("xb") as out:
                out.write(content)
    except OSError as error:
        return replace(result, reason="failed", message=f"the run cannot be kept on disk: {error}")
    return result
