"""Runs a program in a pseudo-terminal and tells when some text first appears on it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Mapping, Sequence


def seconds_until(
    argv: Sequence[str],
    marks: Sequence[bytes],
    *,
    env: Mapping[str, str] | None = None,
    size: tuple[int, int] = (120, 40),
    patience: float = 30.0,
) -> list[float]:
    """Seconds from the start of `argv` until each of `marks` is in its output, in their order.

    The program is killed then. Raises `TimeoutError` where a mark does not come.
    """
    start = time.perf_counter()
    pid, master = pty.fork()
    if pid == 0:
        os.execvpe(argv[0], list(argv), dict(env or os.environ))
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    seen = b""
    found: list[float] = []
    try:
        while len(found) < len(marks):
            left = patience - (time.perf_counter() - start)
            if left <= 0 or not select.select([master], [], [], left)[0]:
                raise TimeoutError(f"{marks[len(found)]!r} did not come; last: {seen[-300:]!r}")
            try:
                seen += os.read(master, 65536)
            except OSError as error:
                raise TimeoutError(f"the program ended; last: {seen[-500:]!r}") from error
            while len(found) < len(marks) and marks[len(found)] in seen:
                found.append(time.perf_counter() - start)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(master)
    return found


def terminal_env(**more: str) -> dict[str, str]:
    """The environment of the measured programs: a plain colour terminal, UTF-8."""
    return {
        **os.environ,
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "",
        **more,
    }


PYTHON = sys.executable
