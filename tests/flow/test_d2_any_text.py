"""The D2 reader on any text: it never raises, and a big text costs only what it is worth."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from flowstudio.flow.chart import Chart
from flowstudio.flow.d2 import read_d2
from flowstudio.flow.d2_words import RESERVED, fold, write_name
from flowstudio.flow.diagnostics import CODES
from flowstudio.flow.model import Span

QUICK = settings(max_examples=3_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
LONG = settings(QUICK, max_examples=300_000)

_SIGNS = """
    a b B _ BEGIN END -> <- <-> -- - < > : ; . , # { } [ ] ( ) [0] [*] & !& * ** $ ${ ${x} @ ...@f
    ...${x} | |md || |` ` ' " \"\"\" \\ \\n label style shape class classes vars layers near null
    suspend sql_table sequence_diagram direction right 步骤 é İ ß
"""
SIGNS = _SIGNS.split()
SPACE = [" ", " ", "\n", "\n", "\n  ", "\t", "\r\n", "\r", "\u2028", "\xa0"]
D2_LIKE = st.lists(st.sampled_from([*SIGNS, *SPACE]), max_size=40).map("".join)

_WORDS = "a b A x _ 'it' a.b x.a _.a _._.b label style.fill class shape * ** vars.v near classes.k"
KEYS = st.sampled_from(_WORDS.split())
_VALUES = "text|null|'q'|{label: L}|t {shape: class}|${v}|k|[k; m]|top-left|sql_table|{|{|{|{"
VALUES = st.sampled_from(["", *(f": {value}" for value in _VALUES.split("|"))])
ARROWS = st.sampled_from(["->", "<-", "<->", "--"])
LINES = st.one_of(
    st.builds("{}{}".format, KEYS, VALUES),
    st.builds("{} {} {}{}".format, KEYS, ARROWS, KEYS, VALUES),
    st.builds("({} {} {})[{}]{}".format, KEYS, ARROWS, KEYS, st.sampled_from("001*"), VALUES),
    st.builds("{}.({} {} {}){}".format, KEYS, KEYS, ARROWS, KEYS, VALUES),
    st.sampled_from(["}", "}", "}", "vars: {v: 1}", "classes: {k: {label: K}}", "# note", "|md"]),
)
D2_LINES = st.lists(LINES, max_size=16).map("\n".join)


def check_any(text: str) -> None:
    """What holds for the chart of any text."""
    chart = read_d2(text)
    lines = text.replace("\r\n", " \n").replace("\r", "\n").split("\n")
    spans = [d.span for d in chart.diagnostics]
    spans += [r.span for d in chart.diagnostics for r in d.related]
    for item in (*chart.nodes.values(), *chart.edges):
        spans += [span for span in (item.span, item.label_span) if span is not None]
    assert all(_is_inside(span, lines) for span in spans)
    assert all(edge.src in chart.nodes and edge.dst in chart.nodes for edge in chart.edges)
    assert list(chart.diagnostics) == sorted(chart.diagnostics, key=lambda d: d.span)


def _is_inside(span: Span, lines: list[str]) -> bool:
    if (span.line, span.column) > (span.end_line, span.end_column) or span.line < 1:
        return False
    if span.end_line > len(lines):
        return False
    return (
        1 <= span.column <= len(lines[span.line - 1]) + 1
        and 1 <= span.end_column <= len(lines[span.end_line - 1]) + 1
    )


@QUICK
@given(D2_LIKE)
def test_no_text_that_looks_like_d2_makes_the_reader_fail(text: str) -> None:
    check_any(text)


@QUICK
@given(D2_LINES)
def test_no_lines_of_d2_make_the_reader_fail(text: str) -> None:
    check_any(text)


@settings(max_examples=500, deadline=None)
@given(st.text())
def test_no_text_makes_the_reader_fail(text: str) -> None:
    check_any(text)


@pytest.mark.long
@LONG
@given(st.one_of(D2_LIKE, D2_LINES))
def test_no_text_that_looks_like_d2_makes_the_reader_fail_in_many_rounds(text: str) -> None:
    check_any(text)


# ---- what is written is what is read ----------------------------------------------------------

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    return f'"{escaped}"'


@settings(max_examples=1_000, deadline=None)
@given(
    st.lists(NAMES, min_size=1, max_size=5, unique_by=fold),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), TEXTS), max_size=6),
    st.lists(TEXTS, min_size=5, max_size=5),
)
def test_quoted_names_and_labels_come_back_as_they_were(
    names: list[str], hops: list[tuple[int, int, str]], labels: list[str]
) -> None:
    edges = [(names[a % len(names)], names[b % len(names)], label) for a, b, label in hops]
    lines = [f"{_quote(name)}: {_quote(label)}" for name, label in zip(names, labels, strict=False)]
    lines += [f"{_quote(src)} -> {_quote(dst)}: {_quote(label)}" for src, dst, label in edges]

    chart = read_d2("\n".join(lines))

    assert [(n.id, n.text) for n in chart.nodes.values()] == [
        (write_name(name), label) for name, label in zip(names, labels, strict=False)
    ]
    assert [(e.src, e.dst) for e in chart.edges] == [
        (write_name(src), write_name(dst)) for src, dst, _ in edges
    ]
    assert not [d for d in chart.errors if CODES[d.code].parse]


@settings(max_examples=1_000, deadline=None)
@given(NAMES)
def test_an_id_can_be_written_as_it_stands_and_means_the_same_node(name: str) -> None:
    if fold(name) in RESERVED or name == "_":
        return
    (node_id,) = read_d2(f"{_quote(name)}: x").nodes

    # Not at the text's very beginning, where a name might be taken for a byte order mark.
    assert list(read_d2(f"\n{node_id} -> {node_id}").nodes) == [node_id]


# ---- size and depth ---------------------------------------------------------------------------

BIG: dict[str, Callable[[int], str]] = {
    "open braces": lambda n: "{" * n,
    "closed braces": lambda n: "}" * n,
    "pairs of braces": lambda n: "{}" * (n // 2),
    "nested maps": lambda n: "a:{" * (n // 3),
    "nested lists": lambda n: "a:" + "[" * n,
    "unclosed quotes": lambda n: '"\n' * (n // 2),
    "unclosed labels": lambda n: 'a: "x\n' * (n // 7),
    "unclosed blocks": lambda n: "a: |md\n" * (n // 7),
    "blocks with a bar": lambda n: "a: |md\n| x | y\n" * (n // 15),
    "one fence": lambda n: "|" * n,
    "backslashes": lambda n: "\\" * n,
    "dollars": lambda n: "a: " + "$" * n,
    "unclosed variables": lambda n: 'a: "' + "${" * (n // 2),
    "one long key": lambda n: "a." * (n // 2),
    "one long chain": lambda n: "a->" * (n // 3),
    "arrows alone": lambda n: "->" * (n // 2),
    "one edge again and again": lambda n: "a -> b: c\n" * (n // 10),
    "edges removed": lambda n: "a -> b;" * (n // 30) + "(a -> b)[0]: null;" * (n // 30),
    "one edge labelled": lambda n: "a -> b;" * (n // 25) + f"(a -> b)[{n // 30}]: x;" * (n // 30),
    "a node drawn and removed": lambda n: "a -> b; a: null;" * (n // 16),
    "labels replaced": lambda n: "a: 1; a: 2;" * (n // 12),
    "containers with long ids": lambda n: ("k" * 99 + ":{") * 5 + "b;" * (n // 2),
    "parent signs": lambda n: "x: {" + "_." * (n // 2) + "a}",
    "globs": lambda n: "*.label: x\n" * (n // 11),
    "comments in words": lambda n: "a#b\n" * (n // 4),
    "a deep indentation": lambda n: "a: |md\n" + " " * n + "x\n|",
    "code in a block": lambda n: (
        "vars: {x: 1}\na: |md " + "`" * (n // 2) + "${x}" * (n // 8) + " |"
    ),
    "parentheses": lambda n: "(" * n,
    "folded lines": lambda n: "a: \\\n" * (n // 5),
    "space": lambda n: " " * n,
}


@pytest.mark.parametrize("name", BIG)
def test_a_big_text_is_read_without_recursion_and_in_linear_time(name: str) -> None:
    assert isinstance(read_d2(BIG[name](60_000)), Chart)  # quadratic steps would take minutes


@pytest.mark.long
@pytest.mark.parametrize("name", BIG)
def test_a_megabyte_is_read_in_linear_time(name: str) -> None:
    assert isinstance(read_d2(BIG[name](1_000_000)), Chart)


def test_variables_that_hold_each_other_cannot_grow_without_bound() -> None:
    doubled = "; ".join(f"v{n}: ${{v{n - 1}}}${{v{n - 1}}}" for n in range(1, 60))

    chart = read_d2(f"vars: {{v0: xxxxxxxxxx; {doubled}}}\na: ${{v59}}")

    assert len(chart.nodes["a"].text) < 3_000_000
    assert "d2-construct-unread" in {d.code for d in chart.errors}


def test_ten_thousand_edges_are_read() -> None:
    text = "BEGIN -> n0\n" + "".join(f"n{i} -> n{i + 1}\n" for i in range(10_000)) + "n10000 -> END"

    chart = read_d2(text)

    assert len(chart.edges) == 10_002
    assert chart.diagnostics == ()
