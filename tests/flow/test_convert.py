"""A chart written in the other language: reading it gives the same flow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from flowstudio.flow.chart import Chart
from flowstudio.flow.compile import compile_flow
from flowstudio.flow.convert import write_d2, write_mermaid
from flowstudio.flow.d2 import read_d2
from flowstudio.flow.diagnostics import CODES, FlowError
from flowstudio.flow.mermaid import read_mermaid
from flowstudio.flow.model import Flow, FlowEdge, FlowNode, group_edges
from flowstudio.skill import load_skill
from tests.flow.test_d2_as_d2_draws import CHARTS as D2_CHARTS
from tests.flow.test_mermaid_as_mermaid_draws import CHARTS as MERMAID_CHARTS

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "corpus"
LANGUAGES = ("mermaid", "d2")
WRITERS = {"mermaid": write_mermaid, "d2": write_d2}
READERS = {"mermaid": read_mermaid, "d2": read_d2}

type Shape = tuple[
    str, list[tuple[str, str]], list[tuple[int, int, str | None]], list[tuple[str, str]]
]


def find_shape(chart: Chart | Flow) -> Shape:
    """All that makes the flow, without the nodes' names: two charts alike in it run alike."""
    number = {node_id: at for at, node_id in enumerate(chart.nodes)}
    edges = [
        (number[edge.src], number[edge.dst], (edge.label or "").strip() or None)
        for edge in chart.edges
    ]
    nodes = [(node.text.strip(), node.kind) for node in chart.nodes.values()]
    findings: list[tuple[str, str]] = []
    if isinstance(chart, Chart):
        findings = sorted((d.code, d.severity) for d in chart.diagnostics if d.code in OF_THE_GRAPH)
    return chart.direction, nodes, edges, findings


OF_THE_GRAPH = frozenset(
    {
        *("begin-missing", "begin-repeated", "begin-exits", "begin-stuck", "end-missing"),
        *("end-repeated", "end-exits", "end-unreachable", "branch-unlabelled", "branch-repeated"),
        *("node-unreachable", "dead-end", "loop-endless", "branches-alike", "exit-label-ignored"),
    }
)


def convert(chart: Chart | Flow, to: str) -> Chart:
    """What reading the written text gives. Nothing in it may be against the language's rules."""
    read = READERS[to](WRITERS[to](chart))
    assert [str(d) for d in read.diagnostics if CODES[d.code].parse] == []
    assert [str(d) for d in read.diagnostics if d.code in ("loose-syntax", "d2-stray-text")] == []
    return read


def read_good(language: str, texts: dict[str, str]) -> dict[str, Chart]:
    """The charts in which every statement could be read, and which are not empty."""
    charts = {f"{language}: {name}": READERS[language](text) for name, text in texts.items()}
    return {
        name: chart
        for name, chart in charts.items()
        if chart.nodes and not any(CODES[d.code].parse for d in chart.errors)
    }


GOOD = {**read_good("mermaid", MERMAID_CHARTS), **read_good("d2", D2_CHARTS)}
FLOWS = [
    *(
        CORPUS / graph["path"]
        for graph in json.loads((CORPUS / "graphs.json").read_text())["charts"]
    ),
    *sorted(
        path.parent
        for path in (ROOT / "skills").glob("*/SKILL.md")
        if load_skill(path.parent).chart is not None
    ),
]


def test_most_of_the_charts_are_good() -> None:
    assert len(GOOD) > 1_200
    assert len(FLOWS) > 15


@pytest.mark.parametrize("to", LANGUAGES)
@pytest.mark.parametrize("path", FLOWS, ids=lambda path: path.name)
def test_a_real_flow_is_the_same_in_the_other_language_and_keeps_its_ids(
    path: Path, to: str
) -> None:
    flow = load_skill(path).flow
    assert flow is not None

    written = compile_flow(convert(flow, to))

    assert find_shape(written) == find_shape(flow)
    assert list(written.nodes) == list(flow.nodes)


@pytest.mark.parametrize("to", LANGUAGES)
@pytest.mark.parametrize("name", GOOD)
def test_any_chart_is_the_same_in_the_other_language_with_what_is_wrong_with_it(
    name: str, to: str
) -> None:
    written = convert(GOOD[name], to)

    assert find_shape(written) == find_shape(GOOD[name])
    assert WRITERS[to](written) == WRITERS[to](GOOD[name])


# ---- ids --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "to", "ids"),
    [
        ("a --> b_2 --> 3 --> Ö --> 步骤1", "d2", ["a", "b_2", "3", "Ö", "步骤1"]),
        ("fetch-data --> END", "d2", ["fetch-data", "END"]),
        ("endpoint --> classify --> graphs", "mermaid", ["endpoint", "classify", "graphs"]),
        ("a.b --> c", "mermaid", ["a.b", "c"]),
        ("a.b --> c", "d2", ["a_b", "c"]),
        ("a.b --> a_b", "d2", ["a_b_1", "a_b"]),
        ("a.b --> a/b --> a+b", "d2", ["a_b", "a_b_1", "a_b_2"]),
        ("a --> A", "d2", ["a", "A_1"]),
        ("a --> A", "mermaid", ["a", "A"]),
        ("ß --> SS", "d2", ["ß", "SS"]),
        ("label --> fill --> shape", "d2", ["label_1", "fill_1", "shape_1"]),
        ("null --> True --> x", "d2", ["null_1", "True_1", "x"]),
        ("_ --> x", "d2", ["n", "x"]),
        ("* --> ? --> n", "d2", ["n_1", "n_2", "n"]),
        ("graph-db --> end --> x", "mermaid", ["graph_db", "end_1", "x"]),
        ("💡 --> x", "mermaid", ["n", "x"]),
    ],
)
def test_an_id_stays_where_the_language_can_say_it(written: str, to: str, ids: list[str]) -> None:
    assert list(convert(read_mermaid(f"flowchart TD\n{written}"), to).nodes) == ids


@pytest.mark.parametrize(
    ("written", "ids"),
    [
        ("x.a -> x.b", ["x.a", "x.b"]),
        ('"a b" -> c', ["a_b", "c"]),
        ('"a.b" -> c', ["a_b", "c"]),
        ("end -> graph -> style_it", ["end_1", "graph_1", "style_it"]),
        ('"" -> "-"', ["n", "n_1"]),
        ("Ask the user -> 读 文件", ["Ask_the_user", "读_文件"]),
        (f"{'a very long name ' * 9} -> b", ["a_very_long_name_a_very_long_name_a_very", "b"]),
    ],
)
def test_an_id_of_d2_that_mermaid_cannot_say_becomes_words(written: str, ids: list[str]) -> None:
    chart = read_d2(written)

    assert list(convert(chart, "mermaid").nodes) == ids
    assert find_shape(convert(chart, "mermaid")) == find_shape(chart)


# ---- how it is written ------------------------------------------------------------------------

FLOW = "flowchart LR\nB([BEGIN]) --> ask{Good?}\nask -->|yes| E((END))\nask -->|no| work --> ask"


def test_mermaid_has_the_usual_shapes() -> None:
    assert write_mermaid(read_mermaid(FLOW)) == (
        "flowchart LR\n"
        '    B(["BEGIN"])\n'
        '    ask{"Good?"}\n'
        '    E(["END"])\n'
        '    work["work"]\n'
        "    B --> ask\n"
        '    ask -->|"yes"| E\n'
        '    ask -->|"no"| work\n'
        "    work --> ask\n"
    )


def test_d2_has_long_labels_as_blocks() -> None:
    assert write_d2(read_mermaid(FLOW + "\nwork[one<br>two]")) == (
        "direction: right\n"
        'B: "BEGIN"\n'
        'ask: "Good?"\n'
        'E: "END"\n'
        "work: |md\n  one\n  two\n|\n"
        "B -> ask\n"
        'ask -> E: "yes"\n'
        'ask -> work: "no"\n'
        "work -> ask\n"
    )


@pytest.mark.parametrize("to", LANGUAGES)
@pytest.mark.parametrize("direction", ["TD", "LR", "BT", "RL"])
def test_the_direction_stays(direction: str, to: str) -> None:
    assert convert(read_mermaid(f"graph {direction}\na --> b"), to).direction == direction


@pytest.mark.parametrize("to", LANGUAGES)
def test_a_chart_that_cannot_be_run_cannot_be_run_afterwards(to: str) -> None:
    chart = convert(read_mermaid("flowchart TD\nBEGIN --> a\na --> END\na --> b"), to)

    with pytest.raises(FlowError, match='"a" has 2 exits, and the one to "END" has no label'):
        compile_flow(chart)


# ---- labels -----------------------------------------------------------------------------------

PIECES = [
    *('"', "'", "`", "\\", "\\n", "$", "${", "${x}", "}", "#", "#quot;", "#35;", "&lt;", "&amp;"),
    *("&", ";", "|", "||", "|md", "<br>", "<br/>", "<choice>", "</choice>", "<a href=", "=", '="'),
    *("\n", "\n\n", "\r\n", "\r", " ", "  ", "\t", "[", "]", "(", ")", "{", "{{", ">", "->", "-->"),
    *(
        "--",
        "%%",
        "@{",
        ":::",
        "BEGIN",
        "END",
        "null",
        "direction LR",
        "end",
        "是",
        "“”",
        "💡",
        "ﬂ°",
    ),
    *("$ARGUMENTS", "{{NAME}}", "- x", "1. x", "*", "**b**", "_", "---", "...", "@file", "...@f"),
    *("\u00a0", "\u2028", "\u200b", "\ufeff", "\x0b", "\x85", "\x1b[31m", "\0", "~~~", "```"),
]
labels = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=30),
    st.lists(st.sampled_from(PIECES), max_size=8).map("".join),
)


def clean(label: str) -> str:
    return label.replace("\r\n", "\n").replace("\r", "\n").strip()


def make_chart(prompts: list[str], answers: list[str], direction: str) -> Flow:
    """A flow whose tasks have these prompts, and whose decision these branches."""
    nodes = {"B": FlowNode("B", "BEGIN", "begin")}
    edges: list[FlowEdge] = []
    before = "B"
    for at, prompt in enumerate(prompts):
        node_id = f"t{at}"
        nodes[node_id] = FlowNode(node_id, prompt, "task")
        edges.append(FlowEdge(before, node_id, None))
        before = node_id
    nodes["E"] = FlowNode("E", "END", "end")
    edges += [FlowEdge(before, "E" if at else "t0", label) for at, label in enumerate(answers)]
    return Flow(nodes, group_edges(nodes, edges), "B", "E", direction)  # type: ignore[arg-type]


def is_choice_tag(label: str) -> bool:
    """The readers read `<choice>x</choice>` as `x`, so this is no label that a chart can hold."""
    return label.casefold().startswith("<choice>") and label.casefold().endswith("</choice>")


@pytest.mark.parametrize("to", LANGUAGES)
@settings(max_examples=1_000, deadline=None)
@given(
    st.lists(labels, min_size=1, max_size=3),
    st.lists(labels.filter(lambda label: not is_choice_tag(clean(label))), max_size=3),
    st.sampled_from(["TD", "LR", "BT", "RL"]),
)
def test_any_label_comes_back_from_either_language(
    to: str, prompts: list[str], answers: list[str], direction: str
) -> None:
    read = convert(make_chart(prompts, answers, direction), to)

    assert read.direction == direction
    assert [node.text for node in read.nodes.values()] == [
        *("BEGIN", *map(clean, prompts), "END"),
    ]
    chain = [None] * len(prompts)
    assert [edge.label for edge in read.edges] == [*chain, *(clean(a) or None for a in answers)]


IDS = st.one_of(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=12),
    st.lists(
        st.sampled_from(
            [*"aAbBxo1_-. *", "end", "graph", "label", "null", "é", "ß", "SS", "İ", "步", "style"]
        ),
        min_size=1,
        max_size=4,
    ).map("".join),
)


@pytest.mark.parametrize("to", LANGUAGES)
@settings(max_examples=1_000, deadline=None)
@given(st.lists(IDS, min_size=1, max_size=8, unique=True), st.data())
def test_nodes_of_any_id_stay_apart(to: str, ids: list[str], data: st.DataObject) -> None:
    hops = data.draw(st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), max_size=8))
    nodes = {node_id: FlowNode(node_id, f"do {at}", "task") for at, node_id in enumerate(ids)}
    edges = tuple(FlowEdge(src, dst, f"to {at}") for at, (src, dst) in enumerate(hops))

    read = convert(Chart("mermaid", nodes, edges, ()), to)

    assert [node.text for node in read.nodes.values()] == [node.text for node in nodes.values()]
    by_text = {node_id: node.text for node_id, node in read.nodes.items()}
    assert [(by_text[e.src], by_text[e.dst], e.label) for e in read.edges] == [
        (nodes[e.src].text, nodes[e.dst].text, e.label) for e in edges
    ]


def test_ten_thousand_nodes_that_need_a_new_name_are_named() -> None:
    nodes = {f"#{'*' * at}": FlowNode(f"#{'*' * at}", "x", "task") for at in range(10_000)}

    assert len(convert(Chart("mermaid", nodes, (), ()), "d2").nodes) == 10_000
