"""The flows that authors write: read as mermaid.js and D2 draw them, faults at their place."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from flowstudio.flow.d2 import parse_d2_flowchart, read_d2
from flowstudio.flow.diagnostics import FlowValidationError
from flowstudio.flow.model import Span

CORPUS = Path(__file__).parents[1] / "corpus"
GRAPHS = [
    graph
    for graph in json.loads((CORPUS / "graphs.json").read_text(encoding="utf-8"))["charts"]
    if graph["lang"] == "d2"
]


def _read_chart(path: str) -> str:
    """The D2 text of a file, every other line blank, so that positions stay those of the file."""
    text = (CORPUS / path).read_text(encoding="utf-8")
    if path.endswith(".d2"):
        return text
    if path.endswith(".yaml"):
        return yaml.safe_load(text)["flow"]["content"]
    fence = re.search(r"^(`{3,})d2\n(.*?)^\1$", text, flags=re.MULTILINE | re.DOTALL)
    assert fence is not None
    return "\n" * text.count("\n", 0, fence.start(2)) + fence[2]


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph["path"])
def test_a_chart_of_the_corpus_is_read_as_d2_draws_it(graph: dict[str, Any]) -> None:
    flow = parse_d2_flowchart(_read_chart(graph["path"]))

    assert list(flow.nodes) == graph["node_ids"]
    assert sorted(([e.src, e.dst, e.label] for e in flow.edges), key=str) == sorted(
        graph["edges"], key=str
    )
    assert (flow.begin_id, flow.end_id) == (graph["begin"], graph["end"])


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph["path"])
def test_a_chart_of_the_corpus_has_no_findings(graph: dict[str, Any]) -> None:
    assert read_d2(_read_chart(graph["path"])).diagnostics == ()


def test_the_exit_without_a_label_is_found_at_its_own_line() -> None:
    with pytest.raises(FlowValidationError, match=r"^Line 24: ") as caught:
        parse_d2_flowchart(_read_chart("broken-unlabelled-branch/SKILL.md"))

    (found,) = caught.value.diagnostics
    assert found.span == Span(24, 1, 24, 17)
    assert [related.span.line for related in found.related] == [22, 23]
