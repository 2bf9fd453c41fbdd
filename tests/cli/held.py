"""A run that stands in a process of its own, for whoever attaches to it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from flowstudio.run import attach_socket
from flowstudio.run.journal import read_journal
from flowstudio.wire import Event
from tests.cli.shell import LONGEST, Shell

ROUND = """flowchart TD
B([BEGIN]) --> a[work] --> q{good?}
q -->|yes| E([END])
q -->|no| a
"""
SCRIPT = """\
default_task_reply: Done.
decisions:
- {node: q, visit: 1, replies: [{text: "<choice>no</choice>"}]}
- {node: q, visit: 2, replies: [{text: "<choice>yes</choice>"}]}
"""
"""Two rounds: no, then yes."""


def furnish(shell: Shell) -> Shell:
    (shell.cwd / "round.mmd").write_text(ROUND)
    (shell.cwd / "round.yaml").write_text(SCRIPT)
    return shell


class HeldRun:
    """`flowstudio run round.mmd` that waits at its first decision."""

    def __init__(self, shell: Shell, *, process: subprocess.Popen[bytes] | None = None) -> None:
        self.shell = shell
        self.process = process or shell.start(
            "run", "round.mmd", "--script", "round.yaml", "--break", "q", "--wait"
        )

    @property
    def folder(self) -> Path:
        return self.shell.runs[-1]

    def events(self) -> tuple[Event, ...]:
        return read_journal(self.folder / "journal.jsonl").events

    def bodies[T](self, kind: type[T]) -> list[T]:
        return [event.body for event in self.events() if isinstance(event.body, kind)]

    def end(self) -> tuple[int, str]:
        out, err = self.process.communicate(timeout=LONGEST)
        assert b"Traceback" not in err, err.decode()
        return self.process.returncode, out.decode()

    def until_paused(self) -> None:
        until(lambda: self.shell.runs and (self.folder / attach_socket.NAME).exists())
        until(lambda: b'"run_paused"' in (self.folder / "journal.jsonl").read_bytes())


def until(is_so: Callable[[], object]) -> None:
    end = time.monotonic() + LONGEST
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def hold(shell: Shell) -> Iterator[HeldRun]:
    run = HeldRun(shell)
    try:
        run.until_paused()
        yield run
    finally:
        run.process.kill()
        run.process.wait()
