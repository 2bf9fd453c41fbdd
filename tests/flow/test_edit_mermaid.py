"""A label that is changed in the text changes nothing else and reads back as it was given."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, settings, strategies as st

from flowstudio.flow.edit import replace_label
from flowstudio.flow.mermaid import read_mermaid


def edit(text: str, node_id: str, label: str) -> str:
    return replace_label(text, read_mermaid(text), node_id, label)


@pytest.mark.parametrize(
    ("before", "label", "after"),
    [
        ("A[one] --> B", "two", "A[two] --> B"),
        ("A[ one ] --> B", "two", "A[ two ] --> B"),
        ("A[one] --> B", "two: (really)", 'A["two: (really)"] --> B'),
        ("A[ one ] --> B", "f(x)", 'A["f(x)"] --> B'),
        ('A["one"] --> B', "two", 'A["two"] --> B'),
        ('A{{"one"}}:::hot --> B', "two", 'A{{"two"}}:::hot --> B'),
        ('A["`**one**`"] --> B', "two", 'A["two"] --> B'),
        ('A["one"] --> B', "a\nb", 'A["a<br>b"] --> B'),
        ('A["one"] --> B', 'say "hi"', 'A["say #quot;hi#quot;"] --> B'),
        ("A[/one/] --> B", "is it, really?", "A[/is it, really?/] --> B"),
        ('A@{ shape: diam, label: "one" } --> B', "a: }", 'A@{ shape: diam, label: "a: }" } --> B'),
        ('A@{ label: "one" } --> B', "C:\\x", 'A@{ label: "C:#92;x" } --> B'),
        ("A@{ label: one, shape: diam } --> B", "two", 'A@{ label: "two", shape: diam } --> B'),
        ("A@{\n  label: |\n    one\n    two\n}", "three", 'A@{\n  label: "three"\n}'),
        ("A --> B", "two", 'A["two"] --> B'),
        ("B --> A:::hot --> C", "two", 'B --> A["two"]:::hot --> C'),
        ("A@{ shape: diam } --> B", "two", 'A["two"]@{ shape: diam } --> B'),
        ("B --> C\n  style A fill:#fff", "two", 'B --> C\n  A["two"]\n  style A fill:#fff'),
        ("subgraph A\nC\nend\nB --> A", "two", 'subgraph A ["two"]\nC\nend\nB --> A'),
        ("subgraph A [one]\nC\nend\nB --> A", "two", "subgraph A [two]\nC\nend\nB --> A"),
        ("A[one] --> B\nA[last]", "two", "A[one] --> B\nA[two]"),
    ],
)
def test_only_the_label_is_changed(before: str, label: str, after: str) -> None:
    text = f"%% kept\r\nflowchart TD\r\n{before}\r\n%% kept too"
    changed = edit(text, "A", label)
    assert changed == f"%% kept\r\nflowchart TD\r\n{after}\r\n%% kept too".replace(
        'A["two"]\n  style', 'A["two"]\r\n  style'
    )
    assert read_mermaid(changed).nodes["A"].text == label


CHARTS = [
    "flowchart TD\nBEGIN --> A[one] --> B{two}\nB -->|x| A\nB -- y --> END",
    'flowchart TD\r\nBEGIN --> A["one<br>two"] & B("`md`") --> C@{ shape: diam, label: "q" }\r\n',
    "graph LR;A;B[/x/]-->C[(y)]-.->D>z];E((a));subgraph A [t];F;end;F-->A",
    "---\ntitle: x\n---\ngraph TD\n%% c\nA --> B:::hot --> C\nstyle X fill:#fff\n",
]
AWKWARD = [
    "<br>",
    "#quot;",
    "&lt;",
    "`x`",
    "\\n",
    'a="',
    "a=",
    "%%",
    "end",
    "a\r\nb",
    "x\\",
    "<a b",
]
labels = st.one_of(
    st.text(min_size=1, max_size=40),
    st.text("ab#;&<>\"'`=\\n[](){}|-%@ \n", min_size=1, max_size=20),
    st.lists(st.sampled_from(AWKWARD), min_size=1, max_size=4).map("".join),
)


@settings(max_examples=1500, deadline=None)
@given(st.sampled_from(CHARTS), st.data(), labels)
def test_any_label_reads_back_and_the_rest_stays(text: str, data: st.DataObject, new: str) -> None:
    assume(new.strip())
    before = read_mermaid(text)
    node_id = data.draw(st.sampled_from(sorted(before.nodes)))
    after = read_mermaid(replace_label(text, before, node_id, new))
    assert after.nodes[node_id].text == re.sub(r"\r\n?", "\n", new.strip())
    assert {n.id: n.text for n in after.nodes.values() if n.id != node_id} == {
        n.id: n.text for n in before.nodes.values() if n.id != node_id
    }
    assert after.edges == before.edges


def test_a_blank_label_and_an_unknown_node_are_refused() -> None:
    text = "flowchart TD\nA --> B"
    with pytest.raises(ValueError, match="blank"):
        edit(text, "A", " \n ")
    with pytest.raises(KeyError):
        edit(text, "X", "new")
