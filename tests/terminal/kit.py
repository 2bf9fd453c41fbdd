"""The real program in a real terminal: a pty from the standard library, with pyte as its screen."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pyte

PATIENCE = 30.0
"""Seconds after which something that has not come counts as missing."""

KEYS = {"ctrl+q": b"\x11", "enter": b"\r", "escape": b"\x1b", "tab": b"\t", "down": b"\x1b[B"}


class Terminal:
    """A program that runs in a terminal of a given size."""

    def __init__(self, process: subprocess.Popen[bytes], master: int, size: tuple[int, int]):
        self.process = process
        self.raw = bytearray()
        """Everything that the program has written."""
        self._master = master
        self._screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def lines(self) -> list[str]:
        """The screen as text, a line each."""
        self._read(0)
        return list(self._screen.display)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def _read(self, wait: float) -> None:
        """Take in what the program has written, waiting for it up to `wait` seconds."""
        while select.select([self._master], [], [], wait)[0]:
            try:
                data = os.read(self._master, 65536)
            except OSError:  # the program has gone
                return
            if not data:
                return
            self.raw += data
            # pyte reads a private mode report (CSI … $p) as text: nobody answers it here.
            self._stream.feed(data.replace(b"$p", b"h"))
            wait = 0

    def until(self, is_so: Callable[[], object], what: str) -> None:
        """Read the screen until something is so."""
        end = time.monotonic() + PATIENCE
        while not is_so():
            if time.monotonic() > end:
                raise AssertionError(f"never came: {what}\n{self.text}")
            self._read(0.1)

    def shows(self, text: str) -> None:
        """Wait for a text on the screen."""
        self.until(lambda: text in self.text, text)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.send(KEYS.get(key, key.encode()))

    def send(self, data: bytes) -> None:
        """Give the program bytes as they are."""
        os.write(self._master, data)

    def click(self, text: str) -> None:
        """Press and let go of the left button in the middle of a text."""
        y = next(y for y, line in enumerate(self.lines) if text in line)
        x = self.lines[y].index(text) + len(text) // 2
        at = f"0;{x + 1};{y + 1}"
        os.write(self._master, f"\x1b[<{at}M\x1b[<{at}m".encode())

    def resize(self, columns: int, rows: int) -> None:
        """Another size, as when the user drags the window."""
        self._screen.resize(rows, columns)
        _set_size(self._master, columns, rows)

    def hang_up(self) -> int:
        """Close the window under the program; the status with which it ends."""
        os.close(self._master)
        self._master = -1
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        """Put the window away."""
        if self._master >= 0:
            os.close(self._master)

    def wait(self) -> int:
        """The program's exit status, once it has ended; all that it wrote is then in `raw`."""
        self.until(lambda: self.process.poll() is not None, "the end of the program")
        self._read(0.1)
        return self.process.returncode


@contextmanager
def run_in_terminal(
    *arguments: str | Path, size: tuple[int, int], home: Path, work: Path, **variables: str
) -> Iterator[Terminal]:
    """`python -m flowstudio ARGUMENTS` in a terminal, in the folder `work`."""
    master, slave = pty.openpty()
    _set_size(slave, *size)
    root = Path(__file__).parent.parent.parent
    environ: Mapping[str, str] = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "FLOWSTUDIO_HOME": str(home / "flowstudio"),
        "PYTHONPATH": str(root),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        **variables,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "flowstudio", *map(str, arguments)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=work,
        env=environ,
        start_new_session=True,
        preexec_fn=_own_the_terminal,
    )
    os.close(slave)
    terminal = Terminal(process, master, size)
    try:
        yield terminal
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        process.wait()
        terminal.close()


def _own_the_terminal() -> None:
    """In the child: its terminal tells it of a new size, and takes it along when it goes."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _set_size(terminal: int, columns: int, rows: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
