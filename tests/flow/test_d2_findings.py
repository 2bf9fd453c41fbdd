"""What is wrong with a D2 text, said at its place, each fault once."""

from __future__ import annotations

import pytest

from flowstudio.flow import codes, d2_codes
from flowstudio.flow.d2 import read_d2
from flowstudio.flow.diagnostics import CODES


def _own_findings(text: str) -> list[tuple[str, str]]:
    """Code and place of what the reader finds; what only the graph lacks is not told here."""
    return [
        (d.code, f"{d.span.line}:{d.span.column}")
        for d in read_d2(text).diagnostics
        if CODES[d.code].parse or d.code.startswith("d2-") or d.code in (codes.LOOSE_SYNTAX,)
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a ->", "1:3"),
        ("-> a", "1:1"),
        ("a -> -> b", "1:3"),
        ("a => b", "1:4"),
        ("a - > b", "1:5"),
        ("a --\\n b", "1:5"),
        ("a & b -> c", "1:3"),
        ("a -->|yes| b", "1:6"),
        ("a[Label] --> b", "1:2"),
        ("a: what? [y/n]", "1:10"),
        ('a: "x" y', "1:8"),
        ("a: |md x | y", "1:12"),
        ("a: |hi|", "1:4"),
        ("a: |md\n  | x | y |\n  z\n|\nb", "2:3"),
        ("a: |md\n  say a|b\n|\nb", "2:8"),
        ("a: |md\n|", "1:4"),
        ("a: {\n  b\n", "1:4"),
        ("a }\nb", "1:3"),
        ("a\n} }\n}\nb", "2:1"),
        ("a:\nb", "1:2"),
        ("a: # x", "1:2"),
        ("a -> b:", "1:7"),
        (": x", "1:1"),
        ("a..b", "1:3"),
        (".a", "1:1"),
        ("a -> b: {c: d}", "1:10"),
        ("a -> b: {c -> d}", "1:10"),
        ("a -> b: [x]", "1:1"),
        ("(a)", "1:1"),
        ("(a -> b: x", "1:1"),
        ("a -> b; (a -> b)[x]: y", "1:17"),
        ('"""\na', "1:1"),
        ("a: x\\", "1:5"),
        ("{a}", "1:1"),
        ("a: x {b} y", "1:10"),
    ],
)
def test_a_fault_of_syntax_is_found_at_its_place(text: str, place: str) -> None:
    assert _own_findings(text) == [(codes.SYNTAX, place)]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('a: "x\nb', "1:4"),
        ("a: 'tis\nb", "1:4"),
        ('"a -> b\nc', "1:1"),
        ("a: |md\n  x\n", "1:4"),
        ("a: |md\n  x\n\nb: |md\n  y\n|\nc", "1:4"),
        ("a: ||md\n  x\n|", "1:4"),
    ],
)
def test_an_unclosed_label_is_found_where_it_opens(text: str, place: str) -> None:
    assert _own_findings(text) == [(codes.LABEL_UNCLOSED, place)]


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("style -> b", d2_codes.RESERVED_WORD, "1:1"),
        ("bold -> b", d2_codes.RESERVED_WORD, "1:1"),
        ("a\nlink", d2_codes.RESERVED_WORD, "2:1"),
        ("a.shape", d2_codes.RESERVED_WORD, "1:3"),
        ("a.fill: red", d2_codes.RESERVED_WORD, "1:3"),
        ("a.shape.b: x", d2_codes.RESERVED_WORD, "1:9"),
        ("a.style -> b", d2_codes.RESERVED_WORD, "1:3"),
        ("x: {\n  classes: {}\n}", d2_codes.RESERVED_WORD, "2:3"),
        ("x: {\n  layers: {}\n}", d2_codes.RESERVED_WORD, "2:3"),
        ("_.a -> b", d2_codes.PARENT_UNKNOWN, "1:1"),
        ("a._.b", d2_codes.PARENT_UNKNOWN, "1:3"),
        ("x: {_ -> b}", d2_codes.PARENT_UNKNOWN, "1:5"),
        ("(a -> b)[0]: x", d2_codes.EDGE_UNKNOWN, "1:2"),
        ("a -> b\n(b <- a)[0]: x", d2_codes.EDGE_UNKNOWN, "2:2"),
        ("x: @foo", d2_codes.IMPORT_UNREAD, "1:4"),
        ("a\n...@foo", d2_codes.IMPORT_UNREAD, "2:1"),
        ("@foo\na", d2_codes.IMPORT_UNREAD, "1:1"),
        ("classes: @looks\na", d2_codes.IMPORT_LOOKS, "1:10"),
        ("*: {label: x}", d2_codes.GLOB_UNREAD, "1:1"),
        ("* -> b", d2_codes.GLOB_UNREAD, "1:1"),
        ("a; *: null", d2_codes.GLOB_UNREAD, "1:4"),
        ("**.shape: sql_table", d2_codes.GLOB_UNREAD, "1:1"),
        ("(* -> *)[*]: x", d2_codes.GLOB_UNREAD, "1:1"),
        ("*: {style.fill: red; b}", d2_codes.GLOB_UNREAD, "1:1"),
        ("classes: {k: {label: x}}; *.class: k; a", d2_codes.GLOB_UNREAD, "1:27"),
        ("&a: x", d2_codes.GLOB_UNREAD, "1:1"),
        ("a: suspend", d2_codes.CONSTRUCT_UNREAD, "1:1"),
        ("x: {a -> b; _.x: null; c -> d}", d2_codes.CONSTRUCT_UNREAD, "1:13"),
        ("x: {_.y: {_.x: null; a -> b}}", d2_codes.CONSTRUCT_UNREAD, "1:11"),
        ("...${x}\na", d2_codes.CONSTRUCT_UNREAD, "1:1"),
        ("(a" + " -> a" * 101 + ")[0]: x", d2_codes.CONSTRUCT_UNREAD, "1:1"),
        ("vars: {x: 1}\na: ${y}", d2_codes.VARIABLE_UNKNOWN, "2:4"),
        ("vars: {x: {y: 1}}\na: ${x}", d2_codes.VARIABLE_UNKNOWN, "2:4"),
        ("vars: {x: ${x}}\na", d2_codes.VARIABLE_UNKNOWN, "1:11"),
        ("shape: sequence_diagram\na -> b", codes.CHART_TYPE, "1:1"),
        ("a: [x]", d2_codes.VALUE_IGNORED, "1:4"),
        ("a: C# code", d2_codes.COMMENT_IN_WORD, "1:5"),
        ("a#b -> c", d2_codes.COMMENT_IN_WORD, "1:2"),
        ("read the docs\na -> b", d2_codes.STRAY_TEXT, "1:1"),
        ("a → b", d2_codes.STRAY_TEXT, "1:1"),
        ("a -> b: x\n(a -> b)[0]: y", d2_codes.EDGE_RELABELLED, "2:14"),
        ("a\nlayers: {x: {b}}", d2_codes.BOARD_UNREAD, "2:1"),
        ("a: costs $5", codes.LOOSE_SYNTAX, "1:10"),
        ("a: ${HOME}/x", codes.LOOSE_SYNTAX, "1:4"),
        ("a.Label: X", codes.LOOSE_SYNTAX, "1:3"),
        ("a:{" * 101, d2_codes.NESTING_TOO_DEEP, "1:303"),
        ("a" * 601, d2_codes.NESTING_TOO_DEEP, "1:1"),
    ],
)
def test_what_d2_means_otherwise_or_is_not_read_is_said(text: str, code: str, place: str) -> None:
    found = [each for each in _own_findings(text) if each[0] not in (codes.SYNTAX, "chart-missing")]

    assert found == [(code, place)]


@pytest.mark.parametrize(
    ("text", "place", "before"),
    [
        ("a: X\na: Y", "2:4", "1:4"),
        ("a: X {label: Y}", "1:14", "1:4"),
        ("a.label: X; a.label: Y", "1:22", "1:10"),
        ("classes: {k: {label: L}}\na: X {class: k}", "1:22", "2:4"),
    ],
)
def test_a_second_label_is_said_with_the_place_of_the_first(
    text: str, place: str, before: str
) -> None:
    (found,) = [d for d in read_d2(text).diagnostics if d.code == codes.LABEL_REPLACED]

    assert f"{found.span.line}:{found.span.column}" == place
    assert [f"{r.span.line}:{r.span.column}" for r in found.related] == [before]


@pytest.mark.parametrize(
    "text",
    [
        "a: X\na: X",
        "a: X; a",
        "*.style.fill: red\n**.shape: circle\n(* -> *)[*].style.stroke: red\na -> b",
        "*: {\n  &shape: circle\n  style: {fill: red}\n}\na",
        "classes: {k: {style.fill: red}}\n*.class: k\na",
        "a: {shape: diamond; style.fill: '#fff'; tooltip: |md x |; width: 3; near: b}\nb",
        "a: x # comment\n# comment\nb",
        '"two words"',
        "two words -> b",
        "two words: x",
        "a -> b: x -> y; c: it's 5 < 6 | (7)",
        "a: \\$5",
        "a: '$5'",
        "a: |md\n  $5 and ${x}\n|",
        "vars: {d2-config: {theme-id: 1}}\na",
        "a: ${x}\nvars: {x: 1}",
    ],
)
def test_nothing_is_found_where_nothing_is_wrong(text: str) -> None:
    assert _own_findings(text) == []


def test_several_faults_are_all_reported_and_the_rest_is_read() -> None:
    chart = read_d2(
        "BEGIN -> a\n"
        'a: "open\n'
        "a -> b & c\n"
        "b: |md\n"
        "  never closed\n"
        "c: |md\n"
        "  text\n"
        "|\n"
        "c -> d [x]\n"
        "d: {\n"
        "  e -> }\n"
        "d -> END\n"
    )

    assert [str(d)[:4] for d in chart.errors] == ["2:4:", "3:8:", "4:4:", "9:8:", "11:5"]
    assert chart.nodes["c"].text == "text"
    assert [(e.src, e.dst) for e in chart.edges] == [
        ("BEGIN", "a"),
        ("a", "b"),
        ("c", "d"),
        ("d", "END"),
    ]


def test_a_block_that_was_never_closed_ends_before_the_next_one() -> None:
    chart = read_d2("a: |md\n  one\n\nb: |md\n  two\n|\na -> b")

    assert {n.id: n.text for n in chart.nodes.values()} == {"a": "one", "b": "two"}
    assert [r.span.line for d in chart.errors for r in d.related] == [4]


def test_a_block_that_holds_a_bar_is_read_to_its_own_closing_line() -> None:
    chart = read_d2("a: |md\n  | x | y |\n  |---|---|\n|\na -> b")

    assert chart.nodes["a"].text == "| x | y |\n|---|---|"
    assert list(chart.nodes) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "severity", "code"),
    [
        ("a }\n" * 500, "error", d2_codes.TOO_MANY_FAULTS),
        ("a: $\n" * 500, "warning", d2_codes.TOO_MANY_WARNINGS),
    ],
)
def test_past_two_hundred_the_findings_are_only_counted(
    text: str, severity: str, code: str
) -> None:
    found = [d for d in read_d2(text).diagnostics if d.severity == severity]
    listed = [d for d in found if not d.code.startswith(("begin", "end", "label", "node"))]

    assert len(listed) == 201
    assert [d.message.split()[0] for d in listed if d.code == code] == ["300"]


def test_every_finding_with_a_hint_says_what_to_write() -> None:
    for text in ("a -> ", 'a: "x', "style -> a", "x: @y", "* -> a", "a: C#", "_.a"):
        for diagnostic in read_d2(text).diagnostics:
            assert diagnostic.hint
