"""Asks Graphviz dot how many crossings its layouts have; writes crossings.json beside this file.

Run by hand where dot is installed: `python tests/drawing/dot/ask_dot.py`. dot counts them itself
(`-v`), on its own ranks, with labels as nodes, as the drawing does. What it has said before is
kept, for it takes minutes for the largest charts. Delete crossings.json to ask for all anew.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from flowstudio.flow.chart import Chart
from tests.drawing.charts import CROSSING_CASES


def to_dot(chart: Chart) -> str:
    """The chart in dot's language, boxes about as large as ours."""
    number = {node_id: index for index, node_id in enumerate(chart.nodes)}
    lines = ["digraph {", "node [shape=box]"]
    lines += [f'n{index} [label="{"x" * 12}"]' for index in number.values()]
    for edge in chart.edges:
        label = ' [label="yes"]' if edge.label else ""
        lines.append(f"n{number[edge.src]} -> n{number[edge.dst]}{label}")
    return "\n".join([*lines, "}"])


def crossings(chart: Chart) -> int:
    """What dot says of its final order."""
    answer = subprocess.run(
        ["dot", "-v", "-Tplain"], input=to_dot(chart), text=True, capture_output=True, check=True
    )
    found = re.findall(r"mincross .*?: (\d+) crossings", answer.stderr)
    return int(found[-1])


if __name__ == "__main__":
    version = subprocess.run(["dot", "-V"], text=True, capture_output=True, check=True).stderr
    path = Path(__file__).with_name("crossings.json")
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"crossings": {}}
    if known.get("dot") != version.strip():
        known = {"crossings": {}}
    data = {
        "dot": version.strip(),
        "crossings": {
            name: known["crossings"][name] if name in known["crossings"] else crossings(make())
            for name, make in CROSSING_CASES.items()
        },
    }
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
