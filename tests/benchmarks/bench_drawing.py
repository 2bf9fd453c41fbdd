"""How long drawings take, beside Graphviz dot and D2 where these are installed.

Run by hand: `python tests/benchmarks/bench_drawing.py`. Times are the best of several runs, in
milliseconds of this machine; the ratios to dot (`dot -Tplain`, its start included) travel better.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from flowstudio.drawing import draw
from flowstudio.flow.chart import Chart
from tests.drawing.charts import (
    SHAPES,
    layered_chart,
    program_chart,
    sparse_chart,
)
from tests.drawing.dot.ask_dot import to_dot

CASES: dict[str, tuple[Chart, float | None]] = {
    "review pipeline": (SHAPES["review_pipeline"], 10),
    "program 40": (program_chart(1, 40), 10),
    "layered 60": (layered_chart(1, 10, 6, 1.3), None),
    "random 30 nodes, 60 edges": (sparse_chart(1, 30, 60), None),
    "program 200": (program_chart(1, 200), 50),
    "random 200": (sparse_chart(1, 200, 260), None),
    "program 1,000": (program_chart(1, 1_000), 500),
    "random 1,000": (sparse_chart(1, 1_000, 1_300), None),
    "program 5,000": (program_chart(1, 5_000), 1_500),
    "random 5,000": (sparse_chart(1, 5_000, 6_500), None),
}
"""Charts, and the milliseconds that drawing them may take."""
_SLOW = 60.0
"""Seconds after which another program is given up."""


def best_of(action: Callable[[], object], rounds: int) -> float:
    """Milliseconds of the quickest of so many rounds."""
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return 1_000 * min(times)


def time_command(command: list[str], text: str) -> float | None:
    """Milliseconds that another program takes for `text`; None if it takes too long."""
    start = time.perf_counter()
    try:
        subprocess.run(
            command, input=text.encode(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            timeout=_SLOW, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None
    return 1_000 * (time.perf_counter() - start)


def to_d2(chart: Chart) -> str:
    """The chart in D2, with plain names."""
    number = {node_id: index for index, node_id in enumerate(chart.nodes)}
    lines = [f"n{index}: {'x' * 12}" for index in number.values()]
    for edge in chart.edges:
        label = ": yes" if edge.label else ""
        lines.append(f"n{number[edge.src]} -> n{number[edge.dst]}{label}")
    return "\n".join(lines)


def main() -> None:
    """Print one line for each chart."""
    print(
        f"{'chart':28}{'draw':>9}{'goal':>7}{'text':>9}{'frame':>8}{'dot':>10}{'/dot':>7}{'d2':>10}"
    )
    for name, (chart, goal) in CASES.items():
        rounds = 5 if len(chart.nodes) <= 200 else 1
        took = best_of(lambda chart=chart: draw(chart, zoom="title"), rounds)
        drawing = draw(chart, zoom="title")
        top = drawing.height // 2
        middle = drawing.width // 2
        frame = best_of(lambda d=drawing, x=middle, y=top: d.window(x, y, 120, 40), 3)
        text = best_of(drawing.text, 1)
        dot = time_command(["dot", "-Tplain"], to_dot(chart)) if shutil.which("dot") else None
        with tempfile.TemporaryDirectory() as folder:
            command = ["d2", "-", str(Path(folder) / "out.svg")]
            d2 = time_command(command, to_d2(chart)) if shutil.which("d2") else None
        print(
            f"{name:28}{took:9.1f}{goal or '':>7}{text:9.1f}{frame:8.1f}"
            f"{dot or float('nan'):10.1f}{took / dot if dot else float('nan'):7.2f}"
            f"{d2 or float('nan'):10.1f}"
        )


if __name__ == "__main__":
    main()
