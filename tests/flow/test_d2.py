"""Reading D2: what becomes a node, what a label, and where each thing stands.

That nodes, edges and labels are those which D2 draws is held by test_d2_as_d2_draws.py.
"""

from __future__ import annotations

import pytest

from flowstudio.flow.chart import Chart
from flowstudio.flow.d2 import parse_d2_flowchart, read_d2
from flowstudio.flow.diagnostics import FlowParseError, FlowValidationError
from flowstudio.flow.model import Span


def _slice(text: str, span: Span | None) -> str | None:
    """The text that a span covers."""
    if span is None:
        return None
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    start = starts[span.line - 1] + span.column - 1
    return text[start : starts[span.end_line - 1] + span.end_column - 1]


def _edges(chart: Chart) -> list[tuple[str, str, str | None]]:
    return [(edge.src, edge.dst, edge.label) for edge in chart.edges]


def _labels(chart: Chart) -> dict[str, str]:
    return {node_id: node.text for node_id, node in chart.nodes.items()}


# ---- a whole flow -----------------------------------------------------------------------------


def test_a_chart_becomes_a_flow() -> None:
    flow = parse_d2_flowchart(
        "direction: right\n"
        "BEGIN -> work -> check\n"
        'work: "Do it."\n'
        "check: Is it done?\n"
        "check -> END: yes\n"
        "check -> work: no\n"
    )

    assert (flow.begin_id, flow.end_id, flow.direction) == ("BEGIN", "END", "LR")
    assert {n.id: (n.text, n.kind) for n in flow.nodes.values()} == {
        "BEGIN": ("BEGIN", "begin"),
        "work": ("Do it.", "task"),
        "check": ("Is it done?", "decision"),
        "END": ("END", "end"),
    }
    assert [e.label for e in flow.outgoing["check"]] == ["yes", "no"]


def test_a_broken_text_raises_a_parse_error_with_every_finding() -> None:
    with pytest.raises(FlowParseError, match=r"^Line 2: ") as caught:
        parse_d2_flowchart('BEGIN -> a\na: "open\na -> END]\nb -> -> c\n')

    assert [d.span.line for d in caught.value.diagnostics if d.severity == "error"] == [2, 3, 4]


def test_a_wrong_graph_raises_a_validation_error() -> None:
    with pytest.raises(FlowValidationError, match=r"^Line 2: "):
        parse_d2_flowchart("BEGIN -> a\na -> END\na -> b: x\nb -> END")


def test_an_empty_text_has_no_chart() -> None:
    assert [d.code for d in read_d2("").diagnostics] == ["chart-missing"]


# ---- what becomes a node ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("a -> b -> c", ["a", "b", "c"]),
        ("a; b; a -> c", ["a", "b", "c"]),
        ("b -> a; a: x", ["b", "a"]),
        ("x: {a -> b}", ["x.a", "x.b"]),
        ("x: Phase one {a -> b}", ["x.a", "x.b"]),
        ("x: {a -> b}; c -> x", ["x", "x.a", "x.b", "c"]),
        ("x.a -> c", ["x.a", "c"]),
        ("x.y.z", ["x.y.z"]),
        ("x: BEGIN {a}", ["x", "x.a"]),
        ("x.label: end; x.a", ["x", "x.a"]),
        ("begin: {a}", ["begin", "begin.a"]),
        ("x: {}", ["x"]),
        ("t: {shape: sql_table; id: int}; t.id -> u", ["t", "u"]),
        ("t: {shape: sql_table; s: {shape: class; id: int}}; t.s.id -> u", ["t", "u"]),
        ("t: {shape: class; run(): void}", ["t"]),
        ("a.style.fill: red; b.shape: circle", ["a", "b"]),
        ("vars: {x: 1}; classes: {k: {label: L}}; a", ["a"]),
        ("vars: {d2-legend: {p -> q}}; a", ["a"]),
        ("layers: {x: {b -> c}}; a", ["a"]),
        ("title: Flow {near: top-center}; a", ["a"]),
        ("end: END {near: top-center}; a", ["end", "a"]),
        ("a: {near: top-center}; a -> b", ["a", "b"]),
        ("x: {a: {near: top-center}}", ["x.a"]),
        ("a -> b; b: null", ["a"]),
        ("a -> b; a: null; b -> a", ["b", "a"]),
    ],
)
def test_containers_count_only_where_an_edge_or_a_role_needs_them(
    text: str, ids: list[str]
) -> None:
    assert list(read_d2(text).nodes) == ids


def test_a_caption_is_the_title_of_the_chart() -> None:
    chart = read_d2(
        "t: |md\n  # Triage\n| {near: top-center}\nlegend: x {near: bottom-left}\na -> b"
    )

    assert chart.title == "# Triage"


@pytest.mark.parametrize(
    ("word", "direction"),
    [("down", "TD"), ("up", "BT"), ("right", "LR"), ("left", "RL"), ("Right", "LR"), ("x", "TD")],
)
def test_the_direction_is_that_of_the_root(word: str, direction: str) -> None:
    assert read_d2(f"a -> b\ndirection: {word}\nx: {{direction: up; c}}").direction == direction


# ---- labels -----------------------------------------------------------------------------------


def test_the_label_of_a_chain_belongs_to_its_last_hop() -> None:
    chart = read_d2("a -> b <- c -> d: x")

    assert _edges(chart) == [("a", "b", None), ("c", "b", None), ("c", "d", "x")]


def test_a_node_in_a_container_is_labelled_by_its_own_name() -> None:
    chart = read_d2('x.BEGIN -> x."step.1" -> END')

    assert _labels(chart) == {"x.BEGIN": "BEGIN", 'x."step.1"': "step.1", "END": "END"}
    assert [node.kind for node in chart.nodes.values()] == ["begin", "task", "end"]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_the_kind_of_line_end_leaves_no_trace_in_labels(line_end: str) -> None:
    text = 'a: |md\n  one\n    two\n|\nb: text\nc: "x \\\ny"\nd: p \\\n  q\na -> b: z\n'

    chart = read_d2(text.replace("\n", line_end))

    assert _labels(chart) == {"a": "one\n  two", "b": "text", "c": "x y", "d": "p q"}
    assert _edges(chart) == [("a", "b", "z")]


def test_a_byte_order_mark_is_no_part_of_the_first_id() -> None:
    chart = read_d2("\ufeffBEGIN -> END")

    assert list(chart.nodes) == ["BEGIN", "END"]
    assert chart.nodes["BEGIN"].span == Span(1, 2, 1, 7)


def test_a_text_of_code_is_not_searched_for_variables() -> None:
    text = "vars: {x: 1}\na: |md\n  ${x} `${x}` ``${x}` ${x}`` ` ${x}\n  ```\n  ${x}\n  ```\n|"

    assert read_d2(text).nodes["a"].text == "1 `${x}` ``${x}` ${x}`` ` 1\n```\n${x}\n```"


# ---- places -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "edge", "label"),
    [
        ("cause -> measure", "cause -> measure", None),
        ("  a->b  ", "a->b", None),
        ("a -> b: yes # no", "a -> b: yes", "yes"),
        ('a -> b: "yes" {style.stroke: red}', 'a -> b: "yes"', '"yes"'),
        ("a -> b: {label: 'yes'; style.stroke: red}", "a -> b: {label: 'yes'", "'yes'"),
        ("a -> b: |md\n  yes\n|", "a -> b: |md\n  yes\n|", "|md\n  yes\n|"),
        ("a -> b\n(a -> b)[0]: yes", "a -> b", "yes"),
        ("x.(a -> b): yes", "a -> b): yes", "yes"),
        ("x: {\n  a.c -> _.b\n}", "a.c -> _.b", None),
        ('"a b" <- c', '"a b" <- c', None),
        ("classes: {k: {label: L}}\na -> b: {class: k}", "a -> b", None),
    ],
)
def test_an_edge_stands_from_its_source_to_its_label(
    text: str, edge: str, label: str | None
) -> None:
    (read,) = read_d2(text).edges

    assert _slice(text, read.span) == edge
    assert _slice(text, read.label_span) == label


def test_each_hop_of_a_chain_stands_between_its_own_ends() -> None:
    text = "a -> b <- c: x"

    assert [_slice(text, edge.span) for edge in read_d2(text).edges] == ["a -> b", "b <- c: x"]


@pytest.mark.parametrize(
    ("text", "node", "label"),
    [
        ("a", "a", None),
        ("x -> a -> b", "a", None),
        ("a -> b\na: text # c", "a: text", "text"),
        ('a: "x" {shape: circle}', 'a: "x"', '"x"'),
        ("a: 'x'; b", "a: 'x'", "'x'"),
        ("a.label: x", "a.label: x", "x"),
        ("a: {\n  label: x\n}", "label: x", "x"),
        ("a: one\na: two", "a: two", "two"),
        ("a: one {label: two}", "label: two", "two"),
        ("a: ||md\n  x | y\n|| {shape: circle}", "a: ||md\n  x | y\n||", "||md\n  x | y\n||"),
        ("classes: {k: {label: L}}\na.class: k", "a", None),
        ("vars: {v: x}\na: ${v}!", "a: ${v}!", "${v}!"),
    ],
)
def test_a_node_stands_where_its_label_is_given_else_where_it_is_first_mentioned(
    text: str, node: str, label: str | None
) -> None:
    read = read_d2(text).nodes["a"]

    assert _slice(text, read.span) == node
    assert _slice(text, read.label_span) == label


def test_positions_are_those_of_the_text_given() -> None:
    text = "\n" * 20 + "    BEGIN -> a\n    a -> b\n    a -> c\n"

    found = [d for d in read_d2(text).diagnostics if d.code == "branch-unlabelled"]

    assert [d.span for d in found] == [Span(22, 5, 22, 11), Span(23, 5, 23, 11)]
