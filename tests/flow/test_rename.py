"""A node's new id: wherever the text names it, and nowhere else."""

from __future__ import annotations

import pytest

from flowstudio.flow import Chart, read_d2, read_mermaid
from flowstudio.flow.rename import rename_node


def read(text: str) -> Chart:
    return read_mermaid(text) if text.startswith("flowchart") else read_d2(text)


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        pytest.param(
            "flowchart TD\nBEGIN --> a[do a] --> END\na --> a",
            "a",
            "b",
            "flowchart TD\nBEGIN --> b[do a] --> END\nb --> b",
            id="every mention, no label",
        ),
        pytest.param(
            "flowchart TD\nBEGIN --> q{q?}\nq -->|q| END\nq -- q --> x & q2 --> q",
            "q",
            "ask",
            "flowchart TD\nBEGIN --> ask{q?}\nask -->|q| END\nask -- q --> x & q2 --> ask",
            id="labels of branches stay",
        ),
        pytest.param(
            "flowchart TD\nBEGIN --> a[x]:::a --> END\nclassDef a fill:red\nclass a a\n"
            'style a fill:blue\nclick a "http://a"\n%% a is a',
            "a",
            "b",
            "flowchart TD\nBEGIN --> b[x]:::a --> END\nclassDef a fill:red\nclass b a\n"
            'style b fill:blue\nclick b "http://a"\n%% a is a',
            id="looks follow, classes and comments stay",
        ),
        pytest.param(
            "flowchart TD\nBEGIN --> x[go] --> END",
            "BEGIN",
            "start",
            'flowchart TD\nstart["BEGIN"] --> x[go] --> END',
            id="BEGIN keeps its label",
        ),
        pytest.param(
            "flowchart TD\nBEGIN --> 写[写初稿] --> END",
            "写",
            "起草",
            "flowchart TD\nBEGIN --> 起草[写初稿] --> END",
            id="Chinese ids",
        ),
        pytest.param(
            "BEGIN -> a: a\na: do a\na -> END\na.style.fill: red\n# a",
            "a",
            "b",
            "BEGIN -> b: a\nb: do a\nb -> END\nb.style.fill: red\n# a",
            id="D2: statements, edges and looks",
        ),
        pytest.param(
            "BEGIN -> box.a\nbox: {\n  a: do\n  a -> z\n  _.box.a -> z\n}\nBOX.A -> END\na -> END",
            "box.a",
            "b",
            "BEGIN -> box.b\nbox: {\n  b: do\n  b -> z\n  _.box.b -> z\n}\nBOX.b -> END\na -> END",
            id="D2: by its path, in any case, and not another of that name",
        ),
        pytest.param(
            "BEGIN -> a: go\na: x\na -> END",
            "a",
            "the: end",
            'BEGIN -> "the: end": go\n"the: end": x\n"the: end" -> END',
            id="D2: quotes where a name needs them",
        ),
    ],
)
def test_a_new_id_is_written_wherever_the_old_one_named_the_node(
    text: str, old: str, new: str, expected: str
) -> None:
    assert rename_node(text, read(text), old, new) == expected


@pytest.mark.parametrize("new", ["", " ", "b", "a b", "end", "subgraph", "x[y", "-x", "a-->b"])
def test_what_is_no_free_id_in_mermaid_is_refused(new: str) -> None:
    text = "flowchart TD\nBEGIN --> a[x] --> b[y] --> END"
    with pytest.raises(ValueError, match=r"id|already|empty"):
        rename_node(text, read(text), "a", new)


@pytest.mark.parametrize("new", ["", "b", "B"])
def test_what_is_no_free_id_in_d2_is_refused(new: str) -> None:
    text = "BEGIN -> a -> b -> END"
    with pytest.raises(ValueError, match=r"id|already|empty"):
        rename_node(text, read(text), "a", new)


def test_a_node_that_is_not_there_is_a_key_error() -> None:
    text = "flowchart TD\nBEGIN --> END"
    with pytest.raises(KeyError):
        rename_node(text, read(text), "nobody", "x")


def test_line_ends_and_blanks_stay_as_they_are() -> None:
    text = "flowchart TD\r\n  BEGIN-->a[x]\r\n\ta-->END  \r\n"
    assert rename_node(text, read(text), "a", "b") == text.replace("a[", "b[").replace("a--", "b--")


def test_a_long_chart_is_renamed_in_time_that_grows_with_it() -> None:
    lines = "\n".join(f"n{i}[x] --> hub" for i in range(3000))
    text = f"flowchart TD\nBEGIN --> hub\n{lines}\nhub --> END"
    renamed = rename_node(text, read(text), "hub", "middle")
    assert renamed.count("middle") == 3002
    assert "hub" not in renamed
