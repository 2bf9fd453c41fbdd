"""First paint of the studio against a minimal Textual app, in the same environment.

    .venv-dev/bin/python tests/benchmarks/bench_start.py [RUNS] [--peer COMMAND --until TEXT]…

All run in a pseudo-terminal, in turn; the time is from the start of the process until a word of
the first frame has arrived. Prints medians and the medians of the pairwise ratios. Target: at most
1.3 of the minimal app.

With `--peer` any other installed app is started in turn with them, and timed until `--until`, a
text of its first frame, has arrived:

    … bench_start.py 7 --peer "/opt/apps/bin/posting" --until "Collection"
"""

from __future__ import annotations

import argparse
import shlex
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
_TARGET = 1.3


@dataclass(slots=True)
class Runner:
    """One app, what of it is waited for, and the seconds that came of it."""

    name: str
    argv: Sequence[str]
    until: Sequence[str]
    """Texts of its frames, in their order; the first one is the first paint."""
    env: Mapping[str, str]
    paints: list[float] = field(default_factory=list)
    lasts: list[float] = field(default_factory=list)

    def start(self, *, counts: bool) -> None:
        """Start it once; a start that does not count only warms the disk's cache."""
        marks = [text.encode() for text in self.until]
        found = seconds_until(self.argv, marks, env=self.env)
        if counts:
            self.paints.append(found[0])
            self.lasts.append(found[-1])


def main(runs: int, peers: Sequence[tuple[str, str]]) -> None:
    """Start each app so many times, in turn, and print what came."""
    with tempfile.TemporaryDirectory() as home:
        env = terminal_env(FLOWSTUDIO_HOME=home)
        tour = [PYTHON, "-m", "flowstudio", str(Path("skills/tour"))]
        ours = Runner("studio", tour, ["Skills", "╭───────╮"], env)
        floor = Runner("minimal", [PYTHON, "-c", _MINIMAL], ["hello-frame"], env)
        others = [
            Runner(Path(shlex.split(command)[0]).name, shlex.split(command), [text], env)
            for command, text in peers
        ]
        for turn in range(runs + 1):
            for one in (ours, floor, *others):
                one.start(counts=turn > 0)
    for one in (ours, floor, *others):
        _print(f"first paint, {one.name}", statistics.median(one.paints) * 1000, "ms")
    _print("flow on the screen", statistics.median(ours.lasts) * 1000, "ms")
    for one in (floor, *others):
        ratios = [a / b for a, b in zip(ours.paints, one.paints, strict=True)]
        target = f"  (target <= {_TARGET})" if one is floor else ""
        _print(f"ratio studio/{one.name}", statistics.median(ratios), target, digits=2)


def _print(what: str, value: float, unit: str, *, digits: int = 1) -> None:
    print(f"{what:<28} median {value:8.{digits}f} {unit}".rstrip())


def _read() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("runs", nargs="?", type=int, default=7, help="default 7")
    parser.add_argument("--peer", action="append", default=[], metavar="COMMAND")
    parser.add_argument("--until", action="append", default=[], metavar="TEXT")
    args = parser.parse_args()
    if len(args.peer) != len(args.until):
        parser.error("each --peer needs its --until: a text of its first frame")
    return args


if __name__ == "__main__":
    asked = _read()
    main(asked.runs, list(zip(asked.peer, asked.until, strict=True)))
