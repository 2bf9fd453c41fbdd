"""The corpus of real flows, read from the disk as a user's skills are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flowstudio.skill import discover, load_skill

CORPUS = Path(__file__).parent.parent / "corpus"
GRAPHS: list[dict[str, Any]] = json.loads((CORPUS / "graphs.json").read_text(encoding="utf-8"))[
    "charts"
]


@pytest.mark.parametrize("graph", GRAPHS, ids=[graph["path"] for graph in GRAPHS])
def test_each_flow_is_the_graph_its_author_drew(graph: dict[str, Any]) -> None:
    skill = load_skill(CORPUS / graph["path"])
    assert [str(d) for d in skill.diagnostics] == []
    assert skill.type == "flow"
    assert skill.chart is not None
    assert skill.flow is not None
    assert skill.chart.language == graph["lang"]
    assert set(skill.flow.nodes) == set(graph["node_ids"])
    edges = [(edge.src, edge.dst, edge.label) for edge in skill.flow.edges]
    assert sorted(edges, key=repr) == sorted(map(tuple, graph["edges"]), key=repr)
    assert (skill.flow.begin_id, skill.flow.end_id) == (graph["begin"], graph["end"])
    decisions = {node.id for node in skill.flow.nodes.values() if node.kind == "decision"}
    assert decisions == set(graph["decision_nodes"])


@pytest.mark.parametrize("graph", GRAPHS, ids=[graph["path"] for graph in GRAPHS])
def test_each_label_is_found_at_its_place_in_the_file(graph: dict[str, Any]) -> None:
    skill = load_skill(CORPUS / graph["path"])
    assert skill.chart is not None
    lines = skill.source.splitlines()
    for node in skill.chart.nodes.values():
        span = node.label_span
        if span is None:
            continue
        first = lines[span.line - 1][span.column - 1 :]
        if span.line == span.end_line:
            first = first[: span.end_column - span.column]
        # The first word of what is read stands in the place it is said to stand.
        start = next(line for line in [first, *lines[span.line :]] if line.strip(' "|md`'))
        assert start.strip().strip('"|`')[:4] == node.text[:4]


@pytest.mark.parametrize(
    ("folder", "name", "code", "line", "column", "related"),
    [
        ("broken-end-unreachable", "api-deprecation", "end-unreachable", 22, 90, {21, 22}),
        ("broken-unclosed-bracket", "changelog-from-commits", "label-unclosed", 13, 21, None),
        ("broken-unlabelled-branch", "flaky-test-hunt", "branch-unlabelled", 24, 1, {22, 23}),
    ],
)
def test_each_broken_one_says_what_its_page_expects(
    folder: str, name: str, code: str, line: int, column: int, related: set[int] | None
) -> None:
    skill = load_skill(CORPUS / folder)
    (error,) = skill.errors
    assert (error.code, error.span.line, error.span.column) == (code, line, column)
    assert error.path == str(CORPUS / folder / "SKILL.md")
    assert error.hint
    if related is not None:
        assert {other.span.line for other in error.related} == related
    assert (skill.name, skill.declared_type, skill.type, skill.flow) == (
        name,
        "flow",
        "standard",
        None,
    )
    assert skill.chart is not None


def test_all_of_it_is_found_at_once(tmp_path: Path) -> None:
    found = discover(tmp_path, extra_dirs=[CORPUS], include_builtin=False, home=tmp_path)
    assert len(found.skills) == 14
    assert [path.name for path in found.skipped] == ["README.md", "runs.md"]
    assert sorted(skill.name for skill in found.skills if skill.errors) == [
        "api-deprecation",
        "changelog-from-commits",
        "flaky-test-hunt",
    ]
    assert {skill.name for skill in found.skills if skill.declared_type == "standard"} == {
        "csv-profile",
        "weekly-review",
    }


def test_a_standard_skill_keeps_its_methodology_fields() -> None:
    skill = load_skill(CORPUS / "weekly-review")
    assert skill.diagnostics == ()
    assert skill.meta["called_skills"] == ["任务跟踪", "笔记整理", "csv-profile"]
