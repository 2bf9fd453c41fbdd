"""Changing one label in a D2 text: reading gives it back, and nothing else has moved."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from flowstudio.flow.d2 import read_d2
from flowstudio.flow.edit_d2 import replace_label_d2
from flowstudio.flow.source import Source

CORPUS = Path(__file__).parents[1] / "corpus"


def _replace(text: str, node_id: str, label: str) -> str:
    return replace_label_d2(text, read_d2(text), node_id, label)


@pytest.mark.parametrize(
    ("text", "label", "result"),
    [
        # bare, and with quotes where it needs them
        ("a: x # note", "new text", "a: new text # note"),
        ("a: x; b: y", "it's 5 < 6 | (7)", "a: it's 5 < 6 | (7); b: y"),
        ("a: x {shape: circle}", "new", "a: new {shape: circle}"),
        ("a: {label: x; width: 9}", "new", "a: {label: new; width: 9}"),
        ("a.label: x", "new", "a.label: new"),
        ("a: X {label: Y}", "Z", "a: X {label: Z}"),
        ("a: x", "one; two", 'a: "one; two"'),
        ("a: x", "{VAR} [x] #1", 'a: "{VAR} [x] #1"'),
        ("a: x", "costs $5", r'a: "costs \$5"'),
        ("a: x", "one\ntwo", r'a: "one\ntwo"'),
        ("a: x", r"C:\dir", r'a: "C:\\dir"'),
        ("a: x", '"quoted"', r'a: "\"quoted\""'),
        ("a: x", "'tis", 'a: "\'tis"'),
        ("a: x", "|x|", 'a: "|x|"'),
        ("a: x", "@home", 'a: "@home"'),
        ("a: x", "null", 'a: "null"'),
        ("a: x", "TRUE", 'a: "TRUE"'),
        ("a: x", "  around \n", "a: around"),
        ("vars: {v: x}\na: ${v}", "new", "vars: {v: x}\na: new"),
        # quotes stay
        ('a: "x" # note', "new", 'a: "new" # note'),
        ('a: "x"', 'say "hi"', r'a: "say \"hi\""'),
        ("a: 'x'", "it's $5", "a: 'it''s $5'"),
        ("a: 'x'", "one\ntwo", r'a: "one\ntwo"'),
        # a block keeps its fence, its tag and its indentation
        ("a: |md\n  one\n|\nb", "new\n\n  - two", "a: |md\n  new\n\n    - two\n|\nb"),
        ("a: |md\n\tone\n|", "p\nq", "a: |md\n\tp\n\tq\n|"),
        ("a: |md\none\n|", "p\n  q", "a: |md\np\n  q\n|"),
        ("a: |`txt\n    one\n  `|", "p | q", "a: |`txt\n    p | q\n  `|"),
        ("a: |md\n  one\n| {width: 9}", "new", "a: |md\n  new\n| {width: 9}"),
        ("x: {\n  a: |md\n    one\n  |\n}\na -> x.a", "p", None),
        ("a: |md\n  one|", "new", "a: |md\n  new\n|"),
        ("a: |md one\n  two\n|", "p\nq", "a: |md\n  p\n  q\n|"),
        ("a: |md one |", "new", "a: |md new |"),
        ("a: |md one |", "p\nq", "a: |md\n  p\n  q\n|"),
        # ... and gets a longer fence where the text holds it
        ("a: |md\n  one\n|", "| x || y |", "a: |||md\n  | x || y |\n|||"),
        ("a: |`md\n  one\n`|", "x `| y", "a: ||md\n  x `| y\n||"),
        ("a: |md one |", "x | y", "a: ||md x | y ||"),
        # a block cannot say that ${v} is no variable
        ("vars: {v: 1}\na: |md\n  x\n|", "${v}", 'vars: {v: 1}\na: "\\${v}"'),
        # without a label: on a line of its own behind the first mention
        ("BEGIN -> a -> END", "Do it", 'BEGIN -> a -> END\na: "Do it"'),
        ("b -> a # note\nc -> d\n", "Do it", 'b -> a # note\na: "Do it"\nc -> d\n'),
        ("b -> a\nc", "p\nq", "b -> a\na: |md\n  p\n  q\n|\nc"),
        ("  b -> a\n  c\n", "p\nq", "  b -> a\n  a: |md\n    p\n    q\n  |\n  c\n"),
        ("a {\n  shape: circle\n}\nb", "Do", 'a {\n  shape: circle\n}\na: "Do"\nb'),
        ("a -> b: |md\n  x\n|; c: {\n  d\n}\ne", "Do", None),
        ("a.shape: circle; b", "Do", 'a.shape: circle; b\na: "Do"'),
        ("classes: {k: {label: L}}\na.class: k", "Do", None),
        ("a", "a", "a"),
    ],
)
def test_a_label_is_exchanged_in_the_manner_in_which_it_is_written(
    text: str, label: str, result: str | None
) -> None:
    written = _replace(text, "a", label)

    if result is not None:
        assert written == result
    assert read_d2(written).nodes["a"].text == label.strip()


@pytest.mark.parametrize(
    ("text", "node_id", "result"),
    [
        ("x: {\n  a -> b # note\n  c\n}", "x.a", 'x: {\n  a -> b # note\n  a: "N"\n  c\n}'),
        ("x: {a -> b; c}", "x.a", 'x: {a -> b; c}\nx.a: "N"'),
        ("x: {\n  a -> _.b\n}", "b", 'x: {\n  a -> _.b\n  _.b: "N"\n}'),
        ("x.(a -> b)", "x.a", 'x.(a -> b)\nx.a: "N"'),
        ("x.a -> b\nc", "x.a", 'x.a -> b\nx.a: "N"\nc'),
        ('"a b" -> c', "a b", '"a b" -> c\n"a b": "N"'),
        ("x -> x.a\nc", "x", 'x -> x.a\nx: "N"\nc'),
        ("classes: {k: {label: L}}\na.class: k\nb", "a", None),
    ],
)
def test_a_node_without_a_label_gets_one_where_it_is_first_mentioned(
    text: str, node_id: str, result: str | None
) -> None:
    written = _replace(text, node_id, "N")

    if result is not None:
        assert written == result
    assert read_d2(written).nodes[node_id].text == "N"


def test_windows_line_ends_stay() -> None:
    text = "BEGIN -> a -> b\r\na: |md\r\n  one\r\n|\r\n"

    assert _replace(text, "a", "p\nq") == "BEGIN -> a -> b\r\na: |md\r\n  p\r\n  q\r\n|\r\n"
    assert _replace(text, "b", "N") == 'BEGIN -> a -> b\r\nb: "N"\r\na: |md\r\n  one\r\n|\r\n'


def test_a_node_that_is_not_there_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        _replace("a -> b", "c", "new")


LABELS = st.text(
    st.one_of(
        st.sampled_from("ab \n\t|`'\"\\$${}[]#;:.-<>@*&()n0是　"), st.characters(codec="utf-8")
    ),
    min_size=1,
    max_size=30,
)
WRITTEN = {
    "bare": "x -> a\na: one # note\nb",
    "double": 'x -> a\na: "one" {width: 9}\nb',
    "single": "x -> a\na: 'one'; b",
    "block": "x -> a\na: |md\n  one\n|\nb",
    "long block": "x -> a\na: ||txt\n    one\n  ||\nb",
    "one-line block": "x -> a\na: |md one | {width: 9}\nb",
    "in a map": "x -> a\na: {label: one; width: 9}\nb",
    "variable": "vars: {n: 1; a: 2}\nx -> a\na: ${n}\nb",
    "block with variables": "vars: {n: 1; a: 2}\nx -> a\na: |md\n  one\n|\nb",
    "nothing": "x -> a # note\nb",
}


@settings(max_examples=1_000, deadline=None)
@given(st.sampled_from(sorted(WRITTEN)), LABELS)
def test_any_label_comes_back_and_the_rest_of_the_text_stays(how: str, label: str) -> None:
    text, source = WRITTEN[how], Source(WRITTEN[how])
    wanted = label.strip().replace("\r\n", "\n").replace("\r", "\n")
    if not wanted:
        return

    written = _replace(text, "a", label)

    assert read_d2(written).nodes["a"].text == wanted
    span = read_d2(text).nodes["a"].label_span
    if span is not None:
        start = source.offset(span.line, span.column)
        end = source.offset(span.end_line, span.end_column)
        assert written.startswith(text[:start])
        assert written.endswith(text[end:])


@pytest.mark.parametrize("label", ["Short.", "one | two\n\n  - three: $x {y} #z", "'问：“是”吗？'"])
def test_every_prompt_of_a_real_chart_can_be_exchanged(label: str) -> None:
    text = (CORPUS / "charts" / "dependency-update.d2").read_text(encoding="utf-8")
    chart = read_d2(text)

    for node_id in chart.nodes:
        changed = read_d2(replace_label_d2(text, chart, node_id, label))
        assert changed.nodes[node_id].text == label
        assert changed.edges == chart.edges
        assert [n.text for n in changed.nodes.values() if n.id != node_id] == [
            n.text for n in chart.nodes.values() if n.id != node_id
        ]
