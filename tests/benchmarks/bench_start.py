"""First paint of the studio against a minimal Textual app, in the same environment.

    .venv-dev/bin/python tests/benchmarks/bench_start.py [RUNS]

Both run in a pseudo-terminal, in turn; the time is from the start of the process until a word of
the first frame has arrived. Prints medians and the median of the pairwise ratios. Target: at most
1.4.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

from terminal import PYTHON, seconds_until, terminal_env

_MINIMAL = """
from textual.app import App
from textual.widgets import Static
class Minimal(App):
    def compose(self):
        yield Static("hello-frame")
Minimal().run()
"""


def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as home:
        env = terminal_env(FLOWSTUDIO_HOME=home)
        ours: list[float] = []
        drawn: list[float] = []
        floor: list[float] = []
        for turn in range(runs + 1):
            paint, flow = seconds_until(
                [PYTHON, "-m", "flowstudio", str(Path("skills/tour"))],
                [b"Skills", "╭───────╮".encode()],
                env=env,
            )
            (minimal,) = seconds_until([PYTHON, "-c", _MINIMAL], [b"hello-frame"], env=env)
            if turn:  # the first pair only warms the disk cache
                ours.append(paint)
                drawn.append(flow)
                floor.append(minimal)
    ratios = [a / b for a, b in zip(ours, floor, strict=True)]
    print(f"first paint, studio    median {statistics.median(ours) * 1000:7.1f} ms")
    print(f"first paint, minimal   median {statistics.median(floor) * 1000:7.1f} ms")
    print(f"flow on the screen     median {statistics.median(drawn) * 1000:7.1f} ms")
    print(f"ratio studio/minimal   median {statistics.median(ratios):7.2f}   (target <= 1.4)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
