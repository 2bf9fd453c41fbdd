"""Every prompt of every flow that we have can be exchanged, and nothing else moves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flowstudio.flow.chart import Chart
from flowstudio.flow.d2 import read_d2
from flowstudio.flow.edit import replace_label
from flowstudio.flow.mermaid import read_mermaid
from flowstudio.flow.source import Source
from flowstudio.skill import load_skill

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "corpus"
PATHS = [
    *(CORPUS / one["path"] for one in json.loads((CORPUS / "graphs.json").read_text())["charts"]),
    *sorted(
        path.parent
        for path in (ROOT / "skills").glob("*/SKILL.md")
        if load_skill(path.parent).chart is not None
    ),
]
LABELS = [
    "Short.",
    'Say "hi" | it\'s $5 {x} [y] #1; <br> is no break, &lt; no sign, C:\\new',
    "one\n\n  - two\n- ${three}",
    "问：“是”吗？",
]


def read(chart: Chart, text: str) -> Chart:
    return read_mermaid(text) if chart.language == "mermaid" else read_d2(text)


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_each_label_of_a_flow_can_be_exchanged_and_nothing_else_moves(
    path: Path, newline: str
) -> None:
    skill = load_skill(path)
    assert skill.chart is not None
    text = skill.chart_text.replace("\r\n", "\n").replace("\n", newline)
    chart = read(skill.chart, text)
    source = Source(text)
    for at, (node_id, node) in enumerate(chart.nodes.items()):
        label = LABELS[at % len(LABELS)]

        written = replace_label(text, chart, node_id, label)

        changed = read(chart, written)
        assert changed.edges == chart.edges
        assert {n.id: n.text for n in changed.nodes.values()} == {
            **{n.id: n.text for n in chart.nodes.values()},
            node_id: label,
        }
        if node.label_span is None:
            continue
        span = node.label_span
        start, end = (
            source.offset(span.line, span.column),
            source.offset(span.end_line, span.end_column),
        )
        # Mermaid forbids blanks between a bracket and a quote, so only these may go.
        assert written.startswith(text[:start].rstrip(" "))
        assert written.endswith(text[end:].lstrip(" "))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_a_label_that_is_given_its_own_text_reads_the_same(path: Path) -> None:
    skill = load_skill(path)
    assert skill.chart is not None
    for node_id, node in skill.chart.nodes.items():
        text = replace_label(skill.chart_text, skill.chart, node_id, node.text)
        assert read(skill.chart, text).nodes[node_id].text == node.text
