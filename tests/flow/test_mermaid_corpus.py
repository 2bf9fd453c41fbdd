"""The Mermaid charts of the corpus, against graphs.json and the EXPECTED.md files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from flowstudio.flow.chart import Chart
from flowstudio.flow.mermaid import parse_mermaid_flowchart, read_mermaid

CORPUS = Path(__file__).parent.parent / "corpus"
GRAPHS: list[dict[str, Any]] = [
    graph
    for graph in json.loads((CORPUS / "graphs.json").read_text(encoding="utf-8"))["charts"]
    if graph["lang"] == "mermaid"
]


def read_chart_text(path: Path) -> str:
    """The chart with all else of the file blanked out, so that positions are the file's."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".mmd":
        return text
    block = re.search(r"^```mermaid\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert block is not None
    return "\n" * text.count("\n", 0, block.start(1)) + block[1]


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph["path"])
def test_a_chart_of_the_corpus_is_read_as_the_official_tool_reads_it(graph: dict[str, Any]) -> None:
    text = read_chart_text(CORPUS / graph["path"])
    chart = read_mermaid(text)
    flow = parse_mermaid_flowchart(text)
    assert list(chart.nodes) == graph["node_ids"]
    assert [[e.src, e.dst, e.label] for e in chart.edges] == graph["edges"]
    assert [n.id for n in flow.nodes.values() if n.kind == "decision"] == graph["decision_nodes"]
    assert (flow.begin_id, flow.end_id) == (graph["begin"], graph["end"])
    assert not chart.diagnostics


def read_broken(name: str) -> Chart:
    return read_mermaid(read_chart_text(CORPUS / name / "SKILL.md"))


def test_a_bracket_that_is_not_closed_is_the_only_error_and_nothing_is_lost() -> None:
    chart = read_broken("broken-unclosed-bracket")
    (error,) = chart.diagnostics
    assert (error.span.line, error.span.column) == (13, 21)
    assert error.message == "the '[' that opens the label of \"write\" is not closed"
    assert error.hint == "add ']' at the end of the line"
    assert (len(chart.nodes), len(chart.edges)) == (7, 7)


def test_an_end_out_of_reach_names_where_the_way_stops_and_what_has_no_way_in() -> None:
    chart = read_broken("broken-end-unreachable")
    (error,) = chart.diagnostics
    assert (error.span.line, error.span.column) == (22, 90)
    assert error.message == "END cannot be reached from BEGIN"
    assert error.hint == "perhaps missing:  note --> finish"
    stop, head = error.related
    assert (stop.span.line, stop.span.column) == (21, 16)
    assert stop.message == 'a way from BEGIN stops at "note", which has no exit'
    assert head.span.line == 22
    assert '"finish"' in head.message
