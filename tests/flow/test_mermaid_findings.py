"""What is said about a Mermaid text that cannot be read, and where."""

from __future__ import annotations

import pytest

from flowstudio.flow.chart import Chart
from flowstudio.flow.mermaid import read_mermaid


def errors(chart: Chart) -> list[tuple[str, int, int]]:
    return [(d.code, d.span.line, d.span.column) for d in chart.errors]


@pytest.mark.parametrize(
    "text", ["", "   \n\n", "%% only a comment\n", "flowchart TD", "graph LR\n"]
)
def test_a_text_without_a_chart_is_one_error_at_its_start(text: str) -> None:
    assert errors(read_mermaid(text)) == [("chart-missing", 1, 1)]


def test_prose_is_not_read_as_a_chart() -> None:
    chart = read_mermaid("\n  Just some words.\nAnd more of them.")
    assert errors(chart) == [("chart-missing", 2, 3)]
    assert not chart.nodes


def test_a_chart_without_a_header_is_an_error_but_read_for_the_eye() -> None:
    chart = read_mermaid("BEGIN --> A\nA --> END")
    assert errors(chart) == [("chart-missing", 1, 1)]
    assert len(chart.edges) == 2


@pytest.mark.parametrize("word", ["sequenceDiagram", "classDiagram", "stateDiagram-v2", "gantt"])
def test_another_diagram_is_one_error_at_its_first_word(word: str) -> None:
    chart = read_mermaid(f"%% note\n  {word}\nA->>B: hi")
    assert errors(chart) == [("chart-type", 2, 3)]
    assert word in chart.errors[0].message


def test_text_above_the_header_is_reported_and_the_chart_is_read() -> None:
    chart = read_mermaid("Here is the chart:\nflowchart TD\nBEGIN --> END")
    assert errors(chart) == [("syntax", 1, 1)]
    assert len(chart.edges) == 1


@pytest.mark.parametrize(
    ("line", "code", "column", "message"),
    [
        ("A[one --> B", "label-unclosed", 2, "the '[' that opens the label of \"A\" is not closed"),
        ("A --> B{one", "label-unclosed", 8, "the '{' that opens the label of \"B\" is not closed"),
        ("A(one]", "label-unclosed", 2, "the '(' that opens the label of \"A\" is not closed"),
        ('A["one]', "label-unclosed", 3, 'the \'"\' that opens the label of "A" is not closed'),
        ('A["one" --> B', "label-unclosed", 2, "the '[' that opens the label of \"A\""),
        ('A["one] --> B["two"]', "label-unclosed", 3, 'the \'"\' that opens the label of "A"'),
        ("A -->|yes B", "label-unclosed", 6, "the '|' that opens the label of the link"),
        ("A@{ shape: rect", "label-unclosed", 2, "the '@{' that opens the properties of \"A\""),
        ("A -- yes B", "syntax", 3, "the label that '--' opens does not end in an arrow"),
        ("A -- yes ==> B", "syntax", 3, "the label that '--' opens does not end in an arrow"),
        ("A -- x -->|y| B", "syntax", 11, "this link has two labels"),
        ("A --> ;", "syntax", 3, "this arrow leads nowhere"),
        ("A --> --> B", "syntax", 7, "expected a node behind the arrow"),
        ("--> B", "syntax", 1, "expected a statement"),
        ("A & --> B", "syntax", 5, "expected a node behind the &"),
        ("A --> B foo", "syntax", 9, 'expected an arrow or the end of the statement, found "foo"'),
        ("A --> B # why", "syntax", 9, "expected an arrow or the end of the statement"),
        ("A[one]] --> B", "syntax", 7, "expected an arrow or the end of the statement"),
        ("end", "syntax", 1, "this `end` closes no subgraph"),
        ("%%{init: x", "syntax", 1, "the directive that begins with '%%{' is not closed"),
        ("style X fill:#fff A --> B", "syntax", 21, "an arrow stands in a line about looks"),
        ("class X hot; class Y; direction LR --> Z", "syntax", 36, "in a line about looks"),
        ("accDescr { never closed", "syntax", 1, "the '{' of this accDescr is not closed"),
        ("A@{ shape: rect, nonsense }", "syntax", 18, "this is not a property"),
    ],
)
def test_a_fault_is_reported_where_it_is_and_the_rest_is_read(
    line: str, code: str, column: int, message: str
) -> None:
    chart = read_mermaid(f"flowchart TD\n{line}\nBEGIN --> last\nlast --> END")
    assert errors(chart) == [(code, 2, column)]
    assert message in chart.errors[0].message
    assert chart.errors[0].hint
    assert [(e.src, e.dst) for e in chart.edges][-2:] == [("BEGIN", "last"), ("last", "END")]


def test_several_faults_are_all_reported() -> None:
    chart = read_mermaid("graph TD\nBEGIN --> A[one\nA --> B{two\nB -->|x C\nB --> END]")
    assert [place[1] for place in errors(chart)] == [2, 3, 4, 5]


def test_an_arrow_before_the_end_of_a_subgraph_does_not_swallow_it() -> None:
    chart = read_mermaid("graph TD\nsubgraph s\nBEGIN -->\nend\nA --> END")
    assert errors(chart) == [("syntax", 3, 7)]
    assert [(e.src, e.dst) for e in chart.edges] == [("A", "END")]


def test_a_subgraph_that_is_never_closed_is_reported_where_it_begins() -> None:
    chart = read_mermaid("graph TD\n  subgraph one\nBEGIN --> END")
    assert errors(chart) == [("syntax", 2, 3)]


def test_front_matter_that_is_never_closed_is_reported_where_it_begins() -> None:
    chart = read_mermaid("---\ntitle: x\nflowchart TD\nBEGIN --> END")
    assert errors(chart) == [("syntax", 1, 1)]
    assert len(chart.edges) == 1


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("A（开始） --> B", "write ("),
        ("A，B --> C", "write ,"),
        ("A --> B。", "write ;"),
        ("A\u200b --> B", "invisible"),
    ],
)
def test_the_slip_of_an_input_method_is_named(line: str, hint: str) -> None:
    chart = read_mermaid(f"flowchart TD\n{line}")
    assert hint in chart.errors[0].hint


def test_a_parse_error_hides_findings_that_a_lost_statement_may_explain() -> None:
    chart = read_mermaid("flowchart TD\nBEGIN --> A\nA --> B foo --> END\nC --> END")
    assert errors(chart) == [("syntax", 3, 9)]


def test_a_parse_error_hides_no_finding_about_what_is_there() -> None:
    chart = read_mermaid("flowchart TD\nBEGIN --> A --> B foo\nA --> END")
    assert [d.code for d in chart.errors] == [
        "branch-unlabelled",
        "syntax",
        "branch-unlabelled",
    ]


def test_a_statement_that_stands_for_too_many_edges_is_an_error() -> None:
    group = " & ".join(f"n{i}" for i in range(200))
    chart = read_mermaid(f"flowchart TD\n{group} --> {group}")
    assert [d.code for d in chart.errors][:1] == ["syntax"]
    assert "40000 edges" in chart.errors[0].message
    assert not chart.edges
