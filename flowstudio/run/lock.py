"""One writer per run: a lock that the system lets go of when its process dies, however it dies.

The lock is the kernel's (`flock`) on a file in the run's folder. What stands in the file only says
who holds it; a file that is left over holds nobody up.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from flowstudio.text import to_json

NAME = "lock"
_TRIES = 5
"""Somebody who only looks holds the lock for an instant; a try that meets one is made again."""
_PAUSE = 0.01


@dataclass(frozen=True, slots=True)
class Holder:
    """Who writes a run."""

    pid: int
    host: str
    since: str
    """ISO 8601, UTC."""

    def __str__(self) -> str:
        where = "" if self.host == socket.gethostname() else f" on {self.host}"
        who = f"process {self.pid}{where}" if self.pid else "another process"
        return f"{who}, since {self.since}" if self.since else who


class RunBusy(Exception):
    """Another process, or another session of this one, writes the run."""

    def __init__(self, folder: Path, holder: Holder) -> None:
        super().__init__(f"the run {folder.name} is on: {holder} writes it")
        self.folder = folder
        self.holder = holder


class RunLock:
    """The right to write a run; use it with `with`, or call `release`.

    Raises:
        RunBusy: somebody else has it.
        OSError: the folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / NAME
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        for left in reversed(range(_TRIES)):
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                if left:
                    time.sleep(_PAUSE)
                    continue
                os.close(self._file)
                raise RunBusy(folder, _read_holder(path)) from error
            break
        since = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        record = {"pid": os.getpid(), "host": socket.gethostname(), "since": since}
        # Who holds it is worth knowing, but no reason to fail on a full disk.
        with contextlib.suppress(OSError):
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, (to_json(record) + "\n").encode(), 0)

    def release(self) -> None:
        """Let others write; safe to call twice."""
        if self._file >= 0:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, 0)
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> RunLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def find_holder(folder: Path) -> Holder | None:
    """Who writes the run now; None where nobody does. Changes nothing."""
    try:
        file = os.open(folder / NAME, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read_holder(folder / NAME)
    except OSError:
        # A file system without locks: nobody can be found out.
        return None
    finally:
        os.close(file)
    return None


def _read_holder(path: Path) -> Holder:
    try:
        raw: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raw = None
    record = cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}
    pid, host, since = record.get("pid"), record.get("host"), record.get("since")
    return Holder(
        pid if isinstance(pid, int) else 0,
        host if isinstance(host, str) else socket.gethostname(),
        since if isinstance(since, str) else "",
    )
