"""Memory of the studio with the corpus loaded, against a minimal Textual app.

    .venv-dev/bin/python tests/benchmarks/bench_memory.py

Both run in a pseudo-terminal until their screen stands (the studio: until its model is named, so
kosong, networkx and the drawing are loaded); resident memory is read from /proc. Target: below 150
MB.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import tempfile
import termios
import time
from pathlib import Path

from terminal import PYTHON, terminal_env

_MINIMAL = """
from textual.app import App
from textual.widgets import Static
class Minimal(App):
    def compose(self):
        yield Static("hello-frame")
Minimal().run()
"""


def resident(argv: list[str], marks: list[bytes], env: dict[str, str]) -> float:
    """Megabytes of resident memory once all the marks were seen and the output has been still."""
    pid, master = pty.fork()
    if pid == 0:
        os.execvpe(argv[0], argv, env)
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    seen = b""
    end = time.perf_counter() + 30
    try:
        while time.perf_counter() < end:
            ready = select.select([master], [], [], 1.5)[0]
            if not ready:
                if all(mark in seen for mark in marks):
                    break
                continue
            seen += os.read(master, 65536)
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
        raise RuntimeError("no VmRSS")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(master)


def main() -> None:
    corpus = str(Path(__file__).parent.parent / "corpus")
    with tempfile.TemporaryDirectory() as home:
        env = terminal_env(FLOWSTUDIO_HOME=home)
        ours = [
            resident([PYTHON, "-m", "flowstudio", corpus], [b"rehearsal", b"BEGIN"], env)
            for _ in range(3)
        ]
        floor = [resident([PYTHON, "-c", _MINIMAL], [b"hello-frame"], env) for _ in range(3)]
    studio, minimal = statistics.median(ours), statistics.median(floor)
    print(f"studio with the corpus   median {studio:6.1f} MB (target below 150)")
    print(f"minimal Textual app      median {minimal:6.1f} MB")
    print(f"ratio                    {studio / minimal:6.2f}")


if __name__ == "__main__":
    main()
