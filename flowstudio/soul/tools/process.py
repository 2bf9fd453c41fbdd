"""Runs a command so that it can always be ended: in a process group of its own, its output
bounded."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import time
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

GRACE = 0.5
"""Seconds between asking a group of processes to end and ending it."""
MARK = "FLOWSTUDIO_COMMAND"
"""The variable by which the children of a command are known, wherever they went."""
MOST_KEPT = 10_000_000
"""How many bytes of output are kept; what comes after them is read and dropped."""
_CHUNK = 65_536
_PATIENCE = 5.0
"""Seconds that processes have to go once they are killed."""
_BEGINNING = 2.0
"""Seconds that a program may take to begin before it counts as one without variables."""
_STARTED = 19
"""The field of `/proc/PID/stat`, counted behind the name, that says when a process was started."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that is over."""

    code: int | None
    """Its exit code, negative for a signal; None where its time ran out."""
    output: bytes
    """Standard output and error as they came, at most `MOST_KEPT` bytes."""
    dropped: int
    """How many bytes came after those."""


async def run_process(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], seconds: float
) -> Finished:
    """Run a command to its end or until `seconds` are over.

    However this ends (also when it is cancelled), nothing that it started lives on: neither a child
    in the background nor one that ignores being asked to end, and where the system tells (Linux)
    none that left the group either.

    Raises:
        OSError: the command cannot be started.
    """
    reading, writing = os.pipe()
    mark = secrets.token_hex(16)
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=cwd,
            env={**env, MARK: mark},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=writing,
            stderr=writing,
            start_new_session=True,
        )
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    output = _Output()
    # Not asyncio's own pipe: with one, `wait` would wait for children in the background, too.
    collecting = asyncio.create_task(output.collect(reading))
    code: int | None = None
    try:
        async with asyncio.timeout(seconds):
            code = await process.wait()
    except TimeoutError:
        code = None
    finally:
        await _finish(_end_group(process, collecting, mark))
    return Finished(code, bytes(output.kept), output.dropped)


class _Output:
    """What a command wrote."""

    def __init__(self) -> None:
        self.kept = bytearray()
        self.dropped = 0

    async def collect(self, fd: int) -> None:
        """Read until all writers have closed the pipe."""
        loop = asyncio.get_running_loop()
        stream = asyncio.StreamReader(limit=_CHUNK)
        pipe = os.fdopen(fd, "rb", buffering=0)
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), pipe
        )
        try:
            while chunk := await stream.read(_CHUNK):
                room = MOST_KEPT - len(self.kept)
                self.kept += chunk[:room]
                self.dropped += max(0, len(chunk) - room)
        finally:
            transport.close()


async def _end_group(
    process: asyncio.subprocess.Process, collecting: asyncio.Task[None], mark: str
) -> None:
    """End what is left of the group and read what it wrote."""
    _signal(process.pid, signal.SIGTERM)
    exiting = asyncio.ensure_future(process.wait())
    await asyncio.wait((exiting, collecting), timeout=GRACE)
    _signal(process.pid, signal.SIGKILL)
    await exiting
    await asyncio.to_thread(_end_marked, mark)
    # A child that got away may hold the pipe open: it is not waited for.
    await asyncio.wait((collecting,), timeout=GRACE)
    collecting.cancel()
    await asyncio.gather(collecting, return_exceptions=True)


def _end_marked(mark: str) -> None:
    """End the processes that were started with this mark in their environment and left their group.

    Until none is left, for one may have started another meanwhile.
    """
    deadline = time.monotonic() + _PATIENCE
    while (found := _find_marked(mark)) and time.monotonic() < deadline:
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)


def _find_marked(mark: str) -> list[int]:
    wanted = f"{MARK}={mark}".encode()
    try:
        with os.scandir("/proc") as entries:
            left = [int(entry.name) for entry in entries if entry.name.isdigit()]
    except OSError:
        return []
    found: list[int] = []
    deadline = time.monotonic() + _BEGINNING
    while left:
        beginning: list[int] = []
        for pid in left:
            variables = _environment_of(pid)
            if variables is None:
                beginning.append(pid)
            elif wanted in variables:
                found.append(pid)
        if not beginning or time.monotonic() > deadline:
            break
        left = beginning
        time.sleep(0.001)
    return found


def _environment_of(pid: int) -> bytes | None:
    """The variables that a process was started with, empty where they cannot be read.

    None where it is young and has none, as is so while its program begins.
    """
    try:
        with open(f"/proc/{pid}/environ", "rb") as stream:  # noqa: PTH123 - quick
            if variables := stream.read():
                return variables
        with open(f"/proc/{pid}/stat", "rb") as stream:  # noqa: PTH123 - quick
            fields = stream.read().rpartition(b")")[2].split()
    except OSError:
        return b""
    began = int(fields[_STARTED]) / os.sysconf("SC_CLK_TCK")
    is_young = time.clock_gettime(time.CLOCK_BOOTTIME) - began < _BEGINNING
    return None if is_young and fields[0] not in (b"Z", b"X") else b""


def _signal(group: int, number: signal.Signals) -> None:
    # Where nothing of the group is left there is nothing to end.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


async def _finish(ending: Coroutine[None, None, None]) -> None:
    """Await something to its end even if this task is cancelled meanwhile, then be cancelled."""
    task = asyncio.ensure_future(ending)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled = True
    task.result()
    if cancelled:
        raise asyncio.CancelledError
