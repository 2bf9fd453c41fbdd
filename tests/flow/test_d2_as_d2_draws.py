"""What we read of a D2 chart is what D2 0.9 draws.

The charts and D2's answers stand in tests/differential; ask_d2.mjs there says how to ask again.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from flowstudio.flow import codes
from flowstudio.flow.d2 import read_d2
from flowstudio.flow.diagnostics import CODES

DATA = Path(__file__).parents[1] / "differential"

CHAIN = "KLIP-10: the label of a chain belongs to its last hop; D2 puts it on every hop"
READ_DIFFERENTLY = {
    "chain with a label": CHAIN,
    "chain with a map": CHAIN,
    "chain with a text and a map": CHAIN,
    "label word in capitals": "D2 drops `a.Label: X` without a word; we read it and warn",
    "caption": "a node pinned to a corner is a caption: it is the chart's title, not a prompt",
}
READ_ALTHOUGH_REFUSED = {
    "refused: looks word in capitals": "looks are passed over, in whatever case",
    "refused: bare dollar": "a prompt may hold a $; read as it stands, with a warning",
    "refused: variable without vars": "a prompt may hold ${x}; read as it stands, with a warning",
    "refused: vars by path": "`vars.x: one` can mean only one thing",
}


def _read_charts() -> dict[str, str]:
    charts: dict[str, str] = {}
    for name in ("d2_charts.txt", "d2_random.txt"):
        text = (DATA / name).read_text(encoding="utf-8")
        for part in re.split(r"^%% ", text, flags=re.MULTILINE)[1:]:
            title, _, chart = part.partition("\n")
            charts[title] = chart.removesuffix("\n")
    return charts


CHARTS = _read_charts()
ANSWERS: dict[str, dict[str, Any]] = json.loads(
    (DATA / "d2_answers.json").read_text(encoding="utf-8")
)
DRAWN = [name for name, answer in ANSWERS.items() if "nodes" in answer]
REFUSED = [name for name, answer in ANSWERS.items() if "errors" in answer]

type Nodes = dict[str, str]
type Edges = list[tuple[str, str, str | None]]


def _what_d2_draws(answer: dict[str, Any]) -> tuple[Nodes, Edges]:
    """D2's answer in our terms: arrows as pairs, frames left out, edge labels trimmed."""
    edges: Edges = []
    for left, right, label, arrow in answer["edges"]:
        text = label.strip() or None
        if arrow != "<--":
            edges.append((left, right, text))
        if arrow == "<--" or (arrow == "<->" and left != right):
            edges.append((right, left, text))
    ends = {end for edge in edges for end in edge[:2]}
    ids = [node_id for node_id, _ in answer["nodes"]]
    frames = {f for f in ids if f not in ends and any(i.startswith(f + ".") for i in ids)}
    nodes = {
        node_id: label
        for node_id, label in answer["nodes"]
        if node_id not in frames or label.casefold() in ("begin", "end")
    }
    return nodes, edges


def _what_we_read(name: str) -> tuple[Nodes, Edges]:
    chart = read_d2(CHARTS[name])
    nodes = {node_id: node.text for node_id, node in chart.nodes.items()}
    return nodes, [(edge.src, edge.dst, edge.label) for edge in chart.edges]


def _faults(name: str) -> list[str]:
    return [
        str(d)
        for d in read_d2(CHARTS[name]).errors
        if CODES[d.code].parse and d.code != codes.CHART_MISSING
    ]


def test_every_chart_has_an_answer() -> None:
    assert len(CHARTS) > 500
    assert set(CHARTS) == set(ANSWERS)


@pytest.mark.parametrize("name", [name for name in DRAWN if name not in READ_DIFFERENTLY])
def test_nodes_edges_and_labels_are_those_that_d2_draws(name: str) -> None:
    assert _faults(name) == []
    assert _what_we_read(name) == _what_d2_draws(ANSWERS[name])


@pytest.mark.parametrize("name", READ_DIFFERENTLY)
def test_each_intended_difference_is_one(name: str) -> None:
    assert _what_we_read(name) != _what_d2_draws(ANSWERS[name])


@pytest.mark.parametrize("name", [name for name in REFUSED if name not in READ_ALTHOUGH_REFUSED])
def test_a_chart_that_d2_refuses_is_refused(name: str) -> None:
    assert _faults(name) != []


@pytest.mark.parametrize("name", READ_ALTHOUGH_REFUSED)
def test_what_can_mean_only_one_thing_is_read_although_d2_refuses_it(name: str) -> None:
    assert "errors" in ANSWERS[name]
    assert _faults(name) == []
