"""A chart with a run's marks as Mermaid and D2: read back, it is the same flow."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flowstudio.drawing import Marks
from flowstudio.drawing.source import d2_source, mermaid_source
from flowstudio.flow import read_d2, read_mermaid
from flowstudio.flow.chart import Chart
from flowstudio.flow.convert import write_d2, write_mermaid
from tests.drawing.charts import SHAPES, chart, random_chart

LANGUAGES = {
    "mermaid": (mermaid_source, write_mermaid, read_mermaid),
    "d2": (d2_source, write_d2, read_d2),
}
CHARTS = {**SHAPES, **{f"random {seed}": random_chart(seed) for seed in range(20)}}


def mark_all(one: Chart) -> Marks:
    """Some state for most nodes and edges."""
    nodes = ("done", "now", "fault", "done")
    edges = ("done", "forced", "chosen")
    return Marks(
        {node: nodes[n % 4] for n, node in enumerate(one.nodes) if n % 5},
        {n: edges[n % 3] for n in range(len(one.edges)) if n % 4},
        tags=dict.fromkeys(one.nodes, "✓3"),
        counts={n: n + 1 for n in range(len(one.edges))},
        breakpoints=frozenset(one.nodes),
        jumps={(next(iter(one.nodes)), next(reversed(one.nodes))): 2},
    )


def shape(one: Chart) -> object:
    return (
        [(node.text.strip(), node.kind) for node in one.nodes.values()],
        [edge.label for edge in one.edges],
        one.direction,
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", CHARTS)
def test_marks_change_nothing_of_what_is_read_back(name: str, language: str) -> None:
    write_marked, write, read = LANGUAGES[language]
    plain = read(write(CHARTS[name]))

    marked = read(write_marked(CHARTS[name], mark_all(CHARTS[name])))

    assert shape(marked) == shape(plain)
    assert [d.code for d in marked.diagnostics] == [d.code for d in plain.diagnostics]


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_marks_it_is_the_chart_alone(language: str) -> None:
    write_marked, write, _ = LANGUAGES[language]
    assert write_marked(SHAPES["loop_back"], Marks()) == write(SHAPES["loop_back"])


MARKS = Marks(
    {"B": "done", "C": "now"},
    {1: "done", 3: "forced"},
    tags={"B": "✓3", "C": "visit 2"},
    flags={"C": "⏸"},
    counts={1: 3, 3: 1},
    breakpoints=frozenset({"D"}),
    jumps={("E", "B"): 2},
)


def test_mermaid_says_states_as_classes_and_edges_as_link_styles() -> None:
    lines = [line.strip() for line in mermaid_source(SHAPES["loop_back"], MARKS).splitlines()]
    assert "class B visited" in lines
    assert "class C now" in lines
    assert "linkStyle 1 stroke:#5fbf86,stroke-width:3px" in lines
    assert "linkStyle 3 stroke:#e06ab8,stroke-width:3px,stroke-dasharray:6 4" in lines


def test_d2_says_states_and_edges_as_styles() -> None:
    lines = d2_source(SHAPES["loop_back"], MARKS).splitlines()
    assert 'C.style.stroke: "#f5b83d"' in lines
    assert '(B -> C)[0].style.stroke: "#5fbf86"' in lines
    assert "(C -> E)[0].style.stroke-dash: 4" in lines


@pytest.mark.parametrize(("write", "mark"), [(mermaid_source, "%% "), (d2_source, "# ")])
def test_both_say_counts_and_states_in_words(write, mark: str) -> None:
    said = {
        line.strip().removeprefix(mark)
        for line in write(SHAPES["loop_back"], MARKS).splitlines()
        if line.strip().startswith(mark)
    }
    assert said == {
        "B: visited, 3 times",
        "C: paused, visit 2",
        "D: breakpoint",
        "B to C: taken 3 times",
        "C to E: taken once, by hand",
        "E to B: by hand, along no edge, 2 times",
    }


def test_d2_tells_parallel_edges_apart() -> None:
    lines = d2_source(SHAPES["parallel"], Marks(edges={2: "done"})).splitlines()
    assert '(A -> B)[1].style.stroke: "#5fbf86"' in lines


@pytest.mark.parametrize("write", [mermaid_source, d2_source])
def test_an_id_never_breaks_out_of_its_line(write) -> None:
    evil = "a\n} b -> c %%{init: {}}%%"
    one = chart("A -> B")
    nodes = {evil: replace(one.nodes["A"], id=evil)}
    text = write(Chart("d2", nodes, (), ()), Marks({evil: "done"}, breakpoints=frozenset({evil})))
    assert evil not in text
    assert "{init" not in text
    assert len(text.splitlines()) <= 6
