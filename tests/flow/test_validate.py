"""What keeps a chart from being run, what is only suspicious, and where each is reported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from flowstudio.flow.build import ChartBuilder
from flowstudio.flow.chart import Chart
from flowstudio.flow.compile import compile_flow
from flowstudio.flow.diagnostics import CODES, FlowValidationError
from flowstudio.flow.mermaid import read_mermaid
from flowstudio.flow.model import FlowEdge, FlowNode, Span, find_kind, group_edges
from flowstudio.flow.placeholder import placeholders
from flowstudio.flow.validate import validate_chart, validate_flow


def read(*lines: str) -> Chart:
    """A chart whose statements begin on line 1."""
    return read_mermaid("flowchart TD; " + "\n".join(lines))


def found(chart: Chart, severity: str = "error") -> list[tuple[str, int]]:
    return [(d.code, d.span.line) for d in chart.diagnostics if d.severity == severity]


# ---- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "errors"),
    [
        (["A --> END"], [("begin-missing", 1)]),
        (["BEGIN --> A"], [("end-missing", 1)]),
        (["BEGIN --> END", "B[begin] --> END"], [("begin-repeated", 2)]),
        (["BEGIN --> A{x}", "A -->|1| END", "A -->|2| E[end]"], [("end-repeated", 3)]),
        (["BEGIN", "A --> END"], [("begin-stuck", 1)]),
        (["BEGIN --> A --> END", "BEGIN --> END"], [("begin-exits", 2)]),
        (["BEGIN --> A --> END", "END --> A"], [("end-exits", 2)]),
        (["BEGIN --> A", "B --> END"], [("end-unreachable", 2)]),
        (["BEGIN --> A --> A", "B --> END"], [("end-unreachable", 2)]),
        (["BEGIN --> A -->|x| END", "A --> END"], [("branch-unlabelled", 2)]),
        (
            ["BEGIN --> A --> END", "A --> B --> END"],
            [("branch-unlabelled", 1), ("branch-unlabelled", 2)],
        ),
        (["BEGIN --> A -->|x| END", "A -->|x| B --> END"], [("branch-repeated", 2)]),
        (["BEGIN --> A -->|x| END", "A -->| | B --> END"], [("branch-unlabelled", 2)]),
    ],
)
def test_a_graph_that_cannot_run_is_an_error(
    lines: list[str], errors: list[tuple[str, int]]
) -> None:
    assert found(read(*lines)) == errors


@pytest.mark.parametrize("label", ["BEGIN", "begin", " Begin "])
def test_begin_and_end_are_found_by_label_in_any_case_and_shape(label: str) -> None:
    chart = read(f'a{{"{label}"}} --> z(("eNd"))')
    assert [node.kind for node in chart.nodes.values()] == ["begin", "end"]
    assert not chart.diagnostics


def test_an_id_alone_does_not_make_a_begin() -> None:
    assert found(read("BEGIN[Start] --> END")) == [("begin-missing", 1)]


def test_a_decision_is_a_node_with_several_exits_whatever_its_shape() -> None:
    chart = read("BEGIN --> A[box] -->|x| END", "A -->|y| B{diamond} --> END")
    assert [chart.nodes[n].kind for n in "AB"] == ["decision", "task"]
    assert not chart.errors


def test_an_unlabelled_branch_names_the_other_exits_and_an_edge_to_write() -> None:
    chart = read("BEGIN --> A -->|x| END", "A -->|y| B --> END", "A --> B")
    (error,) = chart.errors
    assert error.message == '"A" has 3 exits, and the one to "B" has no label'
    assert error.hint == "write for example:  A -->|another answer| B"
    assert [(r.span.line, r.message) for r in error.related] == [
        (1, 'another exit, to "END": x'),
        (2, 'another exit, to "B": y'),
    ]


def test_the_same_edge_written_twice_is_named_as_such() -> None:
    chart = read("BEGIN --> A --> END", "A --> END")
    assert {error.hint for error in chart.errors} == {
        "the same edge is written twice: drop one of the two"
    }


def test_an_end_out_of_reach_names_every_stop_and_every_head_and_nothing_twice() -> None:
    chart = read("BEGIN --> A", "A -->|1| B", "A -->|2| C", "C --> D --> C", "X --> END")
    (error,) = chart.diagnostics
    assert [(r.span.line, r.message) for r in error.related] == [
        (2, 'a way from BEGIN stops at "B", which has no exit'),
        (3, 'a way from BEGIN goes round and round in the loop of "C", "D"'),
        (5, 'nothing leads to "X", from where END could be reached'),
    ]
    assert error.hint == "lead one of the ways from BEGIN on to END"


def test_a_missing_end_names_where_the_ways_stop() -> None:
    (error,) = read("BEGIN --> A", "A -->|1| B", "A -->|2| C").errors
    assert [related.span.line for related in error.related] == [2, 3]
    assert error.hint == "write for example:  B --> END"


def test_hints_are_written_in_the_language_of_the_chart() -> None:
    builder = ChartBuilder("d2")
    for line, (src, dst) in enumerate([("BEGIN", "a"), ("a", "b"), ("c", "END")], start=1):
        span = Span(line, 1, line, 5)
        builder.node(src, span)
        builder.node(dst, span)
        builder.edge(src, dst, None, span)
    (error,) = builder.build().errors
    assert error.hint == "perhaps missing:  b -> c"


# ---- warnings ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "warnings"),
    [
        (["BEGIN --> END", "A --> B --> A"], [("node-unreachable", 2)]),
        (["BEGIN --> END", "A --> END", "B --> END"], [("node-unreachable", n) for n in (2, 3)]),
        (["BEGIN --> A", "A -->|1| END", "A -->|2| B"], [("dead-end", 3)]),
        (["BEGIN --> A", "A -->|1| END", "A -->|2| B --> C --> B"], [("loop-endless", 3)]),
        (["BEGIN --> A", "A -->|1| END", "A -->|2| B --> B"], [("loop-endless", 3)]),
        (["BEGIN --> A", "A -->|Yes| END", "A -->|y es| A"], [("branches-alike", 3)]),
        (["BEGIN --> A", "A -->|x| END", 'A -->|"a<br>b"| A'], [("branch-awkward", 3)]),
        (["BEGIN --> A", "A -->|x| END", 'A -->|"a < b"| A'], [("branch-awkward", 3)]),
        (["BEGIN --> A", "A -->|x| END", f"A -->|{'long ' * 20}| A"], [("branch-awkward", 3)]),
        (["BEGIN --> A", "A -->|x| END"], [("exit-label-ignored", 2)]),
        (["BEGIN --> A", 'A[" "] --> END'], [("label-empty", 2)]),
        (
            ["BEGIN --> A", "A -->|x| END", "A -->|<choice> y </choice>| A"],
            [("choice-tag", 3)],
        ),
    ],
)
def test_a_graph_that_runs_but_looks_wrong_is_a_warning(
    lines: list[str], warnings: list[tuple[str, int]]
) -> None:
    chart = read(*lines)
    assert found(chart, "warning") == warnings
    assert not chart.errors


def test_a_loop_with_a_way_out_is_no_finding() -> None:
    assert not read("BEGIN --> A --> B", "B -->|again| A", "B -->|done| END").diagnostics


def test_the_choice_tag_is_taken_off_the_label() -> None:
    chart = read("BEGIN --> A", "A -->|x| END", "A -->|<choice> y </choice>| A")
    assert [edge.label for edge in chart.edges] == [None, "x", "y"]


def test_nodes_behind_an_unreached_one_are_counted_and_not_listed() -> None:
    (warning,) = read("BEGIN --> END", "A --> B --> C --> END").diagnostics
    assert warning.message == '"A" is never reached from BEGIN, nor are the 2 behind it'


# ---- flows that a program builds ---------------------------------------------------------------


def build(*edges: tuple[str, str, str | None]) -> tuple[str, str]:
    exits = [src for src, _, _ in edges]
    ids = dict.fromkeys(name for src, dst, _ in edges for name in (src, dst))
    nodes = {n: FlowNode(n, n, find_kind(n, exits.count(n))) for n in ids}
    return validate_flow(nodes, group_edges(nodes, [FlowEdge(*edge) for edge in edges]))


def test_a_flow_without_spans_can_be_validated() -> None:
    assert build(("Begin", "a", None), ("a", "End", "x")) == ("Begin", "End")


def test_a_wrong_flow_without_spans_raises_with_every_finding() -> None:
    with pytest.raises(FlowValidationError) as raised:
        build(("BEGIN", "a", None), ("a", "b", None), ("a", "END", "x"))
    assert sorted(d.code for d in raised.value.diagnostics) == ["branch-unlabelled", "dead-end"]


def test_a_chart_that_was_read_is_validated_once_and_gives_the_same_again() -> None:
    chart = read("BEGIN --> A --> END", "A --> B")
    again = validate_chart(chart)
    assert sorted(again, key=lambda d: d.span) == list(chart.diagnostics)


def test_compiling_keeps_the_order_of_nodes_and_gives_each_its_exits() -> None:
    flow = compile_flow(read("BEGIN --> A", "A -->|1| END", "A -->|2| A"))
    assert list(flow.outgoing) == ["BEGIN", "A", "END"]
    assert [edge.label for edge in flow.outgoing["A"]] == ["1", "2"]
    assert flow.outgoing["END"] == []


# ---- codes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CODES)
def test_every_code_is_readable_and_explained(name: str) -> None:
    code = CODES[name]
    assert name == code.name == name.lower()
    assert all(part.isalnum() for part in name.split("-"))
    assert len(code.explanation) > 60
    assert code.explanation.endswith((".", "`"))


def test_the_public_table_of_codes_is_complete_before_anything_was_read() -> None:
    program = "from flowstudio.flow import CODES; print(*CODES)"
    root = Path(__file__).parent.parent.parent
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True
    )
    assert {"syntax", "end-unreachable", "d2-import-unread"} <= set(done.stdout.split())


# ---- size --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lines",
    [
        [f"n{i} --> n{i + 1}" for i in range(20_000)],
        [f"n{i} --> n{(i + 1) % 20_000}" for i in range(20_000)],
        [f"hub -->|{i}| n{i}" for i in range(20_000)],
        [f"n{i} --> hub" for i in range(20_000)],
        [f"hub --> n{i}" for i in range(20_000)],
    ],
    ids=["chain", "ring", "labelled fan", "funnel", "fan"],
)
def test_a_large_graph_is_checked_without_deep_recursion(lines: list[str]) -> None:
    chart = read(*lines)
    assert len(chart.edges) == 20_000
    assert "begin-missing" in {d.code for d in chart.errors}


# ---- placeholders ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        ("Read {{FILE}} and {{ other_file }}, then {{FILE}} again", ["FILE", "other_file"]),
        ("Do $ARGUMENTS with {{目标}}", ["ARGUMENTS", "目标"]),
        ("no {{}} {FILE} {{ two words }} $ARGUMENTSX $OTHER", []),
    ],
)
def test_placeholders_are_found_once_each_in_order(text: str, names: list[str]) -> None:
    assert placeholders(text) == names
