"""The engine of a batch on this machine: worker processes, each with one run at a time.

Processes and not tasks, since instant runs are bound by the processor, and since a run that takes
its process down takes no other run with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from asyncio.subprocess import Process, SubprocessStreamProtocol
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from flowstudio.run.jobs import Job, JobResult, Recipe, make_failure
from flowstudio.run.worker import pack

_BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from flowstudio.run.worker import main; main()"
)
"""A worker finds the same packages as this process, and none in the work folder beside them."""
_LONGEST_LINE = 1 << 28
_PATIENCE = 10.0
"""Seconds in which a worker that has nothing to do must end."""
_GRACE = 1.0
_KEPT = 20
"""Lines of a worker's standard error that are kept, to say why it died."""


class EngineError(Exception):
    """The batch cannot be carried out at all; the message says why and what to do."""


class Engine(Protocol):
    """What carries out the jobs of a batch."""

    async def run(
        self, recipe: Recipe, jobs: Sequence[Job], take: Callable[[JobResult], object]
    ) -> None:
        """Carry out the jobs; each result goes to `take` as it comes, in no order.

        Raises:
            EngineError: no run can be made at all.
        """
        ...

    def stop(self) -> None:
        """Begin no more runs and end those that are on in good order; may be called twice, and
        the second time waits for none of them."""
        ...


class ProcessEngine:
    """`parallel` runs at a time, each in a process of its own that serves one run after another."""

    def __init__(self, parallel: int) -> None:
        self._parallel = parallel
        self._waiting: deque[Job] = deque()
        self._workers: set[_Worker] = set()
        self._is_stopped = False

    async def run(
        self, recipe: Recipe, jobs: Sequence[Job], take: Callable[[JobResult], object]
    ) -> None:
        """See `Engine.run`."""
        self._waiting.extend(jobs)
        first = pack(recipe)
        count = min(self._parallel, len(jobs))
        serving = [asyncio.create_task(self._serve(first, take)) for _ in range(count)]
        try:
            await asyncio.gather(*serving)
        finally:
            for task in serving:
                task.cancel()
            await asyncio.gather(*serving, return_exceptions=True)

    def stop(self) -> None:
        """See `Engine.stop`."""
        self._waiting.clear()
        for worker in self._workers:
            if self._is_stopped:
                worker.kill()
            else:
                worker.stop()
        self._is_stopped = True

    async def _serve(self, first: bytes, take: Callable[[JobResult], object]) -> None:
        worker: _Worker | None = None
        try:
            while self._waiting:
                if worker is None:
                    worker = await self._start(first)
                    continue  # the last job may be gone meanwhile
                result = await worker.do(self._waiting.popleft())
                if worker.is_gone:
                    await self._end(worker)
                    worker = None
                take(result)
        finally:
            if worker is not None:
                await self._end(worker)

    async def _start(self, first: bytes) -> _Worker:
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.subprocess_exec(
            lambda: SubprocessStreamProtocol(limit=_LONGEST_LINE, loop=loop),
            sys.executable,
            "-P",
            "-c",
            _BOOT,
            json.dumps(sys.path),
            # Ctrl-C is for the batch, which then tells its workers.
            start_new_session=True,
        )
        worker = _Worker(Process(transport, protocol, loop), transport)
        self._workers.add(worker)
        try:
            await worker.begin(first)
        except BaseException:
            await self._end(worker)
            raise
        return worker

    async def _end(self, worker: _Worker) -> None:
        await worker.end()
        self._workers.discard(worker)


@dataclass(eq=False, slots=True)
class _Worker:
    """One worker process, seen from the batch."""

    process: Process
    transport: asyncio.SubprocessTransport
    """Closed by hand: it complains where its loop is gone before it."""
    is_gone: bool = False
    """True once it has said its last word."""
    _said: deque[str] | None = None
    _listening: asyncio.Task[None] | None = None
    _run: str = ""

    async def begin(self, first: bytes) -> None:
        """Send the recipe and wait until the process can take jobs.

        Raises:
            EngineError: it refuses, or dies.
        """
        self._said = deque(maxlen=_KEPT)
        self._listening = asyncio.create_task(self._listen(self._said))
        self._write(first)
        answer = await self._read()
        if answer is None:
            raise EngineError(f"a worker process did not start: {await self._last_words()}")
        if refused := answer.get("refused"):
            raise EngineError(str(refused))

    async def do(self, job: Job) -> JobResult:
        """Carry out one job; a process that dies with it gives a failed run."""
        self._run = ""
        self._write(json.dumps({"job": asdict(job)}).encode() + b"\n")
        while (answer := await self._read()) is not None:
            if "done" in answer:
                return JobResult.from_json(answer["done"])
            self._run = str(answer.get("started", self._run))
        self.is_gone = True
        said = await self._last_words()
        return make_failure(job, self._run, f"its process died: {said}")

    def stop(self) -> None:
        """End the run that is on, in good order."""
        self._write(b'{"stop": true}\n')

    def kill(self) -> None:
        """End the process at once."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()

    async def end(self) -> None:
        """Let the process go and wait until it is gone."""
        try:
            if self.process.stdin is not None:
                self.process.stdin.close()
            try:
                async with asyncio.timeout(_PATIENCE):
                    await self.process.wait()
            except TimeoutError:
                self.kill()
                await self.process.wait()
            await self._hear_out()
        finally:
            # Also where this was cancelled, which ends the process at once.
            self.transport.close()

    async def _read(self) -> dict[str, Any] | None:
        assert self.process.stdout is not None
        line = await self.process.stdout.readline()
        return json.loads(line) if line.endswith(b"\n") else None

    def _write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        # Where the process has died, its silence will say so.
        with contextlib.suppress(OSError):
            self.process.stdin.write(line)

    async def _listen(self, said: deque[str]) -> None:
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            said.append(line.decode("utf-8", "replace").rstrip())

    async def _hear_out(self) -> None:
        """Take the rest of what a dead process said. A child of its may hold the line for ever."""
        if self._listening is not None:
            await asyncio.wait({self._listening}, timeout=_GRACE)
            self._listening.cancel()

    async def _last_words(self) -> str:
        status = await self.process.wait()
        await self._hear_out()
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        said = next((line for line in reversed(self._said or ()) if line.strip()), "")
        return f"{how}; {said}" if said else how
