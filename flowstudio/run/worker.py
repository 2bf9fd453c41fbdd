"""A process that carries out runs of a batch, one at a time, and the run itself.

The process talks with the batch in lines on its standard input and output: first the recipe, then
one job after another; it answers with JSON. Whatever else is printed in it goes to standard error.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from flowstudio.run.answerers import build_llm
from flowstudio.run.control import RunControl
from flowstudio.run.jobs import Job, JobResult, Recipe, make_failure, make_result
from flowstudio.run.lock import NAME as LOCK
from flowstudio.run.opening import open_session
from flowstudio.run.session import RunRequest
from flowstudio.run.state import RunState
from flowstudio.soul import AgentFileError, MaxStepsReached, Runtime
from flowstudio.wire import Event, RunStarted, Wire

if TYPE_CHECKING:
    from flowstudio.models.llm import LLM
    from flowstudio.skill import Skill
    from flowstudio.soul.tools.sandbox import Sandbox


class BatchSession:
    """One agent for many runs, one after another: its tools are made once.

    Args:
        llm: who answers; `set_model` replaces it.
        sandbox: what commands run in; None for none.
    """

    def __init__(
        self,
        recipe: Recipe,
        llm: LLM,
        skills: Sequence[Skill] = (),
        sandbox: Sandbox | None = None,
    ) -> None:
        self._recipe = recipe
        self._wire = Wire()
        runtime = Runtime.create(
            recipe.config,
            self._wire,
            work_dir=recipe.work_dir,
            llm=llm,
            skills=skills,
            policy="allow" if recipe.yolo or recipe.config.yolo else "reject",
            sandbox=sandbox,
        )
        self._session = open_session(runtime, runs_dir=recipe.runs_dir)

    @classmethod
    async def open(cls, recipe: Recipe, *, lap: int = 0) -> BatchSession:
        """A session as the recipe says; `lap` is for `build_llm`.

        Raises:
            ModelError: nobody can answer.
            SandboxError: the sandbox that the configuration demands cannot be had.
            AgentFileError: the configuration's agent cannot be used.
        """
        from flowstudio.soul.tools.sandbox import open_sandbox

        llm = await build_llm(recipe.who, recipe.config, lap=lap)
        if recipe.who.is_rehearsal:  # which uses no tool
            return cls(recipe, llm, find_skills(recipe))
        sandbox, _ = await open_sandbox(recipe.config)
        session = cls(recipe, llm, find_skills(recipe), sandbox)
        await session._session.connect_servers()
        return session

    async def close(self) -> None:
        """Let go of what the agent's tools hold."""
        await self._session.close()

    def set_model(self, llm: LLM) -> None:
        """Let another model answer the runs that follow."""
        self._session.set_model(llm)

    async def run(
        self,
        job: Job,
        *,
        control: RunControl | None = None,
        on_start: Callable[[str], object] | None = None,
    ) -> JobResult:
        """Carry out one run and say what came of it. Never raises for what a run can meet.

        Args:
            on_start: called with the run's id as soon as it has one.
        """
        state = RunState()
        run = ""

        def take(event: Event) -> None:
            nonlocal run
            state.apply(event)
            if isinstance(event.body, RunStarted):
                run = event.run
                if on_start is not None:
                    on_start(run)

        leave = self._wire.subscribe(take)
        request = _make_request(self._recipe, job)
        began = time.monotonic()
        try:
            await self._session.run_flow(request, control or RunControl())
        except MaxStepsReached:
            pass  # said as `run_ended` with its own reason
        except (
            Exception
        ) as error:  # one run's misfortune, a full disk say, must not cost the others
            what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            return make_failure(job, run, f"the run broke off: {what}")
        finally:
            leave()
        return make_result(job, run, state, time.monotonic() - began)


def _make_request(recipe: Recipe, job: Job) -> RunRequest:
    return RunRequest(
        recipe.flow,
        recipe.name,
        recipe.path,
        recipe.source,
        job.input,
        variables=job.variables,
        max_moves=recipe.max_moves,
        # So that a run that was broken off can go on.
        seed=None if recipe.who.seed is None else recipe.who.seed + job.number - 1,
        script=recipe.who.script_file,
    )


def find_skills(recipe: Recipe) -> Sequence[Skill]:
    """The skills that the agents of the runs may use."""
    from flowstudio.skill import discover

    return discover(recipe.work_dir, extra_dirs=recipe.skills_dirs).skills


# The process


def pack(recipe: Recipe) -> bytes:
    """The recipe as the first line that a worker reads."""
    return base64.b64encode(pickle.dumps(recipe)) + b"\n"


def main() -> None:
    """Serve until standard input ends."""
    # Nothing that a tool or a library prints may get between our lines.
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    asyncio.run(_serve(sys.stdin.buffer, out))


async def _serve(source: BinaryIO, out: BinaryIO) -> None:
    from flowstudio.models.errors import ModelError
    from flowstudio.soul.tools.sandbox import SandboxError

    def tell(record: Mapping[str, Any]) -> None:
        out.write(json.dumps(record).encode() + b"\n")

    recipe: Recipe = pickle.loads(base64.b64decode(source.readline()))
    try:
        session = await BatchSession.open(recipe)
    except (ModelError, SandboxError, AgentFileError, OSError) as error:
        tell({"refused": str(error)})
        return
    jobs: asyncio.Queue[Job | None] = asyncio.Queue()
    # The control of the run that is on.
    now: list[RunControl] = []
    _listen(source, asyncio.get_running_loop(), jobs, now)
    tell({"ready": os.getpid()})
    while (job := await jobs.get()) is not None:
        control = RunControl()
        now[:] = [control]
        if recipe.who.seed is not None:
            session.set_model(await build_llm(recipe.who, recipe.config, lap=job.number - 1))
        done = await session.run(job, control=control, on_start=lambda run: tell({"started": run}))
        now.clear()
        tell({"done": done.to_json()})
    await session.close()


def _listen(
    source: BinaryIO,
    loop: asyncio.AbstractEventLoop,
    jobs: asyncio.Queue[Job | None],
    now: Sequence[RunControl],
) -> None:
    """Take orders in a thread. Where their giver is gone, the run that is on is stopped."""

    def take(line: bytes) -> None:
        record: dict[str, Any] = json.loads(line) if line else {"stop": True}
        if "job" in record:
            jobs.put_nowait(Job(**record["job"]))
            return
        for control in now:
            control.stop()
        jobs.put_nowait(None)

    def read() -> None:
        while True:
            line = source.readline()
            try:
                loop.call_soon_threadsafe(take, line)
            except RuntimeError:
                return  # the loop is closed: all is done
            if not line:
                return

    threading.Thread(target=read, daemon=True).start()


def run_alone(recipe: Recipe, job: Job, scratch: Path) -> tuple[JobResult, dict[str, bytes]]:
    """Carry out one run on another machine: its folder comes back with the result.

    The disk there is not ours. The files go by their path below the folder of runs.
    """
    from dataclasses import replace

    from flowstudio.models.errors import ModelError
    from flowstudio.soul.tools.sandbox import SandboxError

    own = replace(recipe, runs_dir=scratch)

    async def carry_out() -> JobResult:
        session = await BatchSession.open(own, lap=job.number - 1)
        try:
            return await session.run(job)
        finally:
            await session.close()

    try:
        result = asyncio.run(carry_out())
    except (ModelError, SandboxError, AgentFileError, OSError) as error:
        result = make_failure(job, "", str(error))
    files = {
        file.relative_to(scratch).as_posix(): file.read_bytes()
        for file in sorted(scratch.rglob("*"))
        if file.is_file() and file.name != LOCK
    }
    return result, files
