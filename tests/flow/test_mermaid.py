"""What each construct of a Mermaid flowchart says. `test_mermaid_as_mermaid_draws.py` has more."""

from __future__ import annotations

import pytest

from flowstudio.flow.chart import Chart
from flowstudio.flow.diagnostics import FlowParseError, FlowValidationError
from flowstudio.flow.mermaid import parse_mermaid_flowchart, read_mermaid
from flowstudio.flow.model import Span


def labels(text: str) -> dict[str, str]:
    return {node.id: node.text for node in read_mermaid(text).nodes.values()}


def edges(text: str) -> list[tuple[str, str, str | None]]:
    return [(edge.src, edge.dst, edge.label) for edge in read_mermaid(text).edges]


def warnings(chart: Chart) -> list[str]:
    return [d.code for d in chart.diagnostics if d.severity == "warning"]


def cut(text: str, span: Span | None) -> str:
    """The source text of a span on one line."""
    assert span is not None and span.line == span.end_line
    return text.split("\n")[span.line - 1][span.column - 1 : span.end_column - 1]


# ---- labels ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("[Check it]", "Check it"),
        ("[  Check it  ]", "Check it"),
        ('["a [b] {c} (d) |e|"]', "a [b] {c} (d) |e|"),
        ('["one<br>two<br/>three<BR />four"]', "one\ntwo\nthree\nfour"),
        ('["one\\ntwo"]', "one\ntwo"),
        ('["one\ntwo"]', "one\ntwo"),
        ('["one\r\ntwo"]', "one\ntwo"),
        ("[one\n  two]", "one\n  two"),
        ('["say #quot;hi#quot;"]', 'say "hi"'),
        ('["&lt;b&gt; &amp; #35;1 #9829;"]', "<b> & #1 ♥"),
        ('["#amp;lt;"]', "&lt;"),
        ('["&lt;br&gt;"]', "<br>"),
        ('["issue #12 and #nosuch; too"]', "issue #12 and #nosuch; too"),
        ('["`**bold** and\n      plain\n        deeper`"]', "**bold** and\nplain\n  deeper"),
        ('["`use `git log` now`"]', "use `git log` now"),
        ('["answer <choice>yes</choice>"]', "answer <choice>yes</choice>"),
        ('["<a href="x.html">go</a>"]', '<a href="x.html">go</a>'),
        ("[50%% done]", "50%% done"),
        ('["one\n%% no comment\ntwo"]', "one\n%% no comment\ntwo"),
        ("[it's a; b, c: d]", "it's a; b, c: d"),
        ("{是否通过？（见下）}", "是否通过？（见下）"),
        ('@{ shape: diamond, label: "Is it, {green}?" }', "Is it, {green}?"),
        ("@{ label: plain words, shape: rect }", "plain words"),
        ("@{ label: 'it''s' }", "it's"),
        ("@{\n  shape: rect\n  label: a, b\n}", "a, b"),
        ("@{\n  label: |\n    one\n    two\n  shape: rect\n}", "one\ntwo"),
        ('@{ label: "tab\\there" }', "tab\there"),
        ("@{ shape: rect }", "A"),
        ("@{ label: null }", "A"),
        (":::hot", "A"),
    ],
)
def test_a_label_is_read_as_the_text_that_it_means(written: str, read: str) -> None:
    assert labels(f"flowchart TD\nA{written} --> B")["A"] == read


@pytest.mark.parametrize(
    "brackets",
    [
        "[]",
        "()",
        "([])",
        "[[]]",
        "[()]",
        "(())",
        "((()))",
        "{}",
        "{{}}",
        ">]",
        "[//]",
        "[\\\\]",
        "[/\\]",
        "[\\/]",
        "(--)",
    ],
)
def test_every_shape_carries_a_label(brackets: str) -> None:
    half = len(brackets) // 2
    opener, closer = brackets[:half], brackets[half:]
    text = f'flowchart TD\nA{opener}one{closer} --> B{opener}"two ]"{closer}:::hot'
    assert labels(text) == {"A": "one", "B": "two ]"}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("A[call f(x)]", "call f(x)"),
        ("A[a [b] c]", "a [b] c"),
        ('A[say "hi" now]', 'say "hi" now'),
        ('A["say "hi" now"]', 'say "hi" now'),
        ("A[/usr/bin/env]", "/usr/bin/env"),
        ("A[(1) first]", "(1) first"),
        ('A[ "x"]', "x"),
        ("A [x]", "x"),
        ("A[me@example.org]", "me@example.org"),
    ],
)
def test_a_label_that_mermaid_refuses_is_read_with_a_warning(written: str, read: str) -> None:
    chart = read_mermaid(f"flowchart TD\nBEGIN --> {written} --> END")
    assert chart.nodes["A"].text == read
    assert warnings(chart) == ["loose-syntax"]
    assert not chart.errors


def test_the_last_label_of_a_node_stands_and_the_first_is_named() -> None:
    chart = read_mermaid("flowchart TD\nBEGIN --> A[one] --> END\nA[two]")
    assert chart.nodes["A"].text == "two"
    (finding,) = chart.diagnostics
    assert finding.code == "label-replaced"
    assert (finding.span.line, finding.related[0].span.line) == (3, 2)


def test_the_same_label_twice_is_no_finding() -> None:
    assert not read_mermaid("flowchart TD\nBEGIN --> A[one] --> END\nA[one]").diagnostics


# ---- links -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arrow",
    [
        "-->",
        "---",
        "--x",
        "--o",
        "-.->",
        "-.-",
        "==>",
        "===",
        "---->",
        "-..->",
        "====>",
        "x--x",
        "o--o",
        "e1@-->",
    ],
)
def test_an_arrow_leads_from_left_to_right(arrow: str) -> None:
    assert edges(f"flowchart TD\nA {arrow} B") == [("A", "B", None)]


@pytest.mark.parametrize("arrow", ["<-->", "<==>", "<-.->", "<-- x -->"])
def test_an_arrow_with_two_heads_leads_both_ways(arrow: str) -> None:
    label = "x" if "x" in arrow else None
    assert edges(f"flowchart TD\nA {arrow} B") == [("A", "B", label), ("B", "A", label)]


def test_an_invisible_link_is_no_edge_but_names_its_nodes() -> None:
    text = "flowchart TD\nA ~~~ B --> C"
    assert edges(text) == [("B", "C", None)]
    assert list(labels(text)) == ["A", "B", "C"]


@pytest.mark.parametrize(
    "link",
    [
        "-->|not yet|",
        "--> |not yet|",
        "-->| not yet |",
        '-->|"not yet"|',
        "-- not yet -->",
        "--not yet-->",
        '-- "not yet" -->',
        "== not yet ==>",
        "-. not yet .->",
        "-.->|not yet|",
        "-- not yet ---",
        "--\nnot yet -->",
        "e1@-->|not yet|",
    ],
)
def test_an_edge_is_labelled_in_every_way(link: str) -> None:
    assert edges(f"flowchart TD\nA {link} B") == [("A", "B", "not yet")]


def test_an_empty_edge_label_is_none() -> None:
    assert edges("flowchart TD\nA -->| | B") == [("A", "B", None)]


@pytest.mark.parametrize(
    ("arrow", "both"), [("->", 1), ("=>", 1), ("-->>", 1), ("→", 1), ("——>", 1), ("<->", 2)]
)
def test_an_arrow_that_mermaid_does_not_know_is_read_with_a_warning(arrow: str, both: int) -> None:
    chart = read_mermaid(f"flowchart TD\nBEGIN --> A {arrow} B --> END")
    assert len(chart.edges) == 2 + both
    assert "loose-syntax" in warnings(chart)


@pytest.mark.parametrize("arrow", ["<--", "<---", "<-", "<-.-", "<==", "←"])
def test_an_arrow_to_the_left_is_an_error_because_mermaid_draws_no_head(arrow: str) -> None:
    chart = read_mermaid(f"flowchart TD\nA {arrow} B")
    assert not chart.edges
    (error,) = chart.errors
    assert (error.span.line, error.span.column) == (2, 3)
    assert "points to the left" in error.message


def test_a_chain_makes_an_edge_of_each_hop_with_its_own_label() -> None:
    assert edges("flowchart TD\nA -->|1| B -- 2 --> C --> D") == [
        ("A", "B", "1"),
        ("B", "C", "2"),
        ("C", "D", None),
    ]


def test_groups_are_crossed_and_the_label_is_on_every_edge() -> None:
    assert edges("flowchart TD\nA & B -->|x| C & D") == [
        ("A", "C", "x"),
        ("A", "D", "x"),
        ("B", "C", "x"),
        ("B", "D", "x"),
    ]


def test_links_cross_line_ends_and_comments() -> None:
    text = "flowchart TD\nA\n  -->\n%% B -->\n  C\n\n--> D"
    assert edges(text) == [("A", "C", None), ("C", "D", None)]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("A---oven", [("A", "ven", None)]),
        ("A --no--> B", [("A", "B", "no")]),
        ("A --> B\nx-->C", [("A", "B", None), ("x", "C", None)]),
    ],
)
def test_a_letter_at_an_arrow_is_warned_about(
    text: str, read: list[tuple[str, str, str | None]]
) -> None:
    assert edges(f"flowchart TD\n{text}") == read
    assert "arrow-letter" in warnings(read_mermaid(f"flowchart TD\n{text}"))


# ---- ids ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["a-b", "a.b", "a/b", "步骤1", "étape", "ноль", "1", "_x", "endpoint", "v", "default"]
)
def test_an_id_of_any_script_is_its_own_label(name: str) -> None:
    chart = read_mermaid(f"flowchart TD\nBEGIN --> {name} --> END")
    assert chart.nodes[name].text == name
    assert not chart.diagnostics


@pytest.mark.parametrize(
    "name",
    ["graph", "graph-db", "style", "style-guide", "click", "class", "end-node", "subgraph", "💡"],
)
def test_an_id_that_mermaid_refuses_is_read_with_a_warning(name: str) -> None:
    chart = read_mermaid(f"flowchart TD\nBEGIN --> {name}[do it]\n{name} --> END")
    assert chart.nodes[name].text == "do it"
    assert set(warnings(chart)) == {"loose-syntax"}
    assert not chart.errors


def test_end_in_lower_case_behind_an_arrow_is_the_end() -> None:
    chart = read_mermaid("flowchart TD\nsubgraph s\nBEGIN --> A --> end\nend")
    assert chart.nodes["end"].kind == "end"
    assert not chart.errors


# ---- statements that are only looks ------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "style A fill:#f9f,stroke:#333",
        "style A fill:#fff;stroke:#000",
        "classDef hot fill:#f96;",
        "class A,B hot",
        "linkStyle 0,1 stroke:red",
        "linkStyle default interpolate basis",
        'click A "https://example.org/a;b --> c" "tip" _blank',
        'click A call f("a;b")',
        "direction LR",
        "accTitle: A --> X",
        "accDescr: A --> X",
        "accDescr {\n  A --> X\n}",
        "%% A --> X",
        "%%",
        "%%{init: {'theme': 'dark'}}%%",
        ";",
    ],
)
def test_looks_are_passed_over(line: str) -> None:
    text = f"flowchart TD\nBEGIN --> A[a] --> B\n{line}\nB --> END"
    chart = read_mermaid(text)
    assert list(chart.nodes) == ["BEGIN", "A", "B", "END"]
    assert len(chart.edges) == 3
    assert not chart.diagnostics


def test_a_node_that_only_a_style_line_names_is_drawn_so_it_is_read() -> None:
    chart = read_mermaid("flowchart TD\nBEGIN --> END\nstyle X fill:#fff")
    assert list(chart.nodes) == ["BEGIN", "END", "X"]
    assert warnings(chart) == ["node-unreachable"]


# ---- subgraphs ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    ["one", "one [A title]", 'one ["A (title)"]', '"A title"', "A long title", "  ", "阶段一"],
)
def test_the_nodes_of_a_subgraph_are_read_and_its_frame_is_not_a_node(header: str) -> None:
    text = f"flowchart TD\nsubgraph {header}\n  direction LR\n  A --> B\nend\nB --> C"
    assert list(labels(text)) == ["A", "B", "C"]
    assert not read_mermaid(text.replace("A", "BEGIN").replace("C", "END")).errors


def test_an_edge_to_a_subgraph_makes_it_a_node_with_its_title_and_a_warning() -> None:
    chart = read_mermaid("flowchart TD\nsubgraph one [The title]\nA --> B\nend\nC --> one")
    assert chart.nodes["one"].text == "The title"
    assert "subgraph-node" in warnings(chart)


# ---- the whole chart ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "direction"),
    [
        ("flowchart TD", "TD"),
        ("flowchart TB", "TD"),
        ("graph LR;", "LR"),
        ("graph RL", "RL"),
        ("flowchart BT", "BT"),
        ("flowchart", "TD"),
        ("graph >", "LR"),
        ("graph lr", "LR"),
        ("flowchart-elk LR", "LR"),
        ("%% note\n\nflowchart LR", "LR"),
        ("%%{init: {\n 'theme': 'dark'\n}}%%\nflowchart LR", "LR"),
        ("\ufeffflowchart LR", "LR"),
        ("\n\n   flowchart LR", "LR"),
    ],
)
def test_the_header_gives_the_direction(header: str, direction: str) -> None:
    chart = read_mermaid(f"{header}\nBEGIN --> END")
    assert (chart.direction, len(chart.edges), len(chart.errors)) == (direction, 1, 0)


@pytest.mark.parametrize("gap", ["; ", " ", "\n", "\r\n", "\r"])
def test_statements_may_follow_on_the_header_line(gap: str) -> None:
    assert edges(f"graph TD{gap}A --> B{gap.strip(' ') or ';'}B --> C") == [
        ("A", "B", None),
        ("B", "C", None),
    ]


def test_front_matter_gives_the_title() -> None:
    chart = read_mermaid('---\ntitle: "Ship: it"\nconfig:\n  theme: x\n---\ngraph TD\nA --> B')
    assert chart.title == "Ship: it"
    assert len(chart.edges) == 1


def test_spans_are_lines_and_columns_of_the_text_given() -> None:
    text = '\n\n  flowchart TD\n    B --> A["some text"] -->|why not| B'
    chart = read_mermaid(text)
    assert cut(text, chart.nodes["A"].span) == 'A["some text"]'
    assert cut(text, chart.nodes["A"].label_span) == '"some text"'
    assert cut(text, chart.nodes["B"].span) == "B"
    assert cut(text, chart.edges[0].span) == 'B --> A["some text"]'
    assert cut(text, chart.edges[1].label_span) == "why not"


def test_every_edge_of_a_group_spans_from_its_own_source_to_its_own_target() -> None:
    text = "flowchart TD\nA & B --> C & D"
    spans = [cut(text, edge.span) for edge in read_mermaid(text).edges]
    assert spans == ["A & B --> C", "A & B --> C & D", "B --> C", "B --> C & D"]


def test_a_valid_chart_becomes_a_flow() -> None:
    flow = parse_mermaid_flowchart(
        "flowchart LR\nA([begin]) --> q{Go on?}\nq -->|yes| q\nq -->|no| Z([End])"
    )
    assert (flow.begin_id, flow.end_id, flow.direction) == ("A", "Z", "LR")
    assert [edge.label for edge in flow.outgoing["q"]] == ["yes", "no"]
    assert flow.outgoing["Z"] == []


def test_a_syntax_error_is_a_parse_error_that_names_its_line() -> None:
    with pytest.raises(FlowParseError, match=r"^Line 3: the '\[' that opens the label of \"B\""):
        parse_mermaid_flowchart("flowchart TD\nBEGIN --> A\nA --> B[one\nB --> END")


def test_a_wrong_graph_is_a_validation_error_that_carries_every_finding() -> None:
    with pytest.raises(FlowValidationError, match=r"^Line 3: .*has no label") as raised:
        parse_mermaid_flowchart("flowchart TD\nBEGIN --> A -->|x| END\nA --> B --> END\nC --> END")
    assert [d.code for d in raised.value.diagnostics] == ["branch-unlabelled", "node-unreachable"]
