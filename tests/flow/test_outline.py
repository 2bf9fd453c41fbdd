"""The outline in words says the whole chart: read back line by line, it is the same graph."""

from __future__ import annotations

import re
import sys

import pytest

from flowstudio.flow import read_d2, read_mermaid
from flowstudio.flow.chart import Chart
from flowstudio.flow.outline import outline
from tests.drawing.charts import SHAPES, chart, program_chart, random_chart, sparse_chart

NODE = re.compile(r"( *)(\d+)\. (Begin|End|Task|Decision)\b")
GO = r"(?:go to |go back to |do )(?P<to>\d+)(?: again)?\."
THEN = re.compile(rf" *Then(?:, “(?P<label>.*?)”:)? (?:{GO}|(?P<next>\d+)\.)$")
BRANCH = re.compile(rf"( *)(?:On “(?P<label>.*?)”|Without a label):(?: {GO})?$")

CHARTS = {
    **SHAPES,
    **{f"random {seed}": random_chart(seed) for seed in range(40)},
    **{f"program {seed}": program_chart(seed, 40) for seed in range(10)},
    **{f"dense {seed}": sparse_chart(seed, 12, 30) for seed in range(10)},
}


def say(one: Chart) -> list[str]:
    return list(outline(one))


def read(lines: list[str]) -> tuple[int, list[tuple[int, int, str | None]]]:
    """The number of nodes, and the edges by number, as somebody who listens would note them."""
    edges: list[tuple[int, int, str | None]] = []
    count = 0
    here: dict[int, int] = {}  # the last node by its indentation
    pending: tuple[int, str | None] | None = None
    for line in lines:
        if found := NODE.match(line):
            count += 1
            assert int(found[2]) == count
            here[len(found[1])] = count
            node = count
            if pending is not None:
                edges.append((pending[0], node, pending[1]))
                pending = None
        elif found := BRANCH.fullmatch(line):
            source = here[len(found[1]) - 3]
            if found["to"]:
                edges.append((source, int(found["to"]), found["label"]))
            else:
                pending = (source, found["label"])
        elif found := THEN.fullmatch(line):
            edges.append((count, int(found["to"] or found["next"]), found["label"]))
    return count, edges


def number_nodes(one: Chart, lines: list[str]) -> dict[str, int]:
    """The number of each node: by its id, or its label where that is its id."""
    numbers: dict[str, int] = {}
    kinds = {"begin": "Begin", "end": "End", "task": "Task", "decision": "Decision"}
    for node in one.nodes.values():
        head = kinds[node.kind]
        if node.kind in ("task", "decision"):
            head += f": {node.id}" if node.text.strip() == node.id else f" {node.id}:"
        found = [
            int(match[1])
            for line in lines
            if (match := re.match(rf" *(\d+)\. {re.escape(head)}(?=$|[.:\s])", line))
        ]
        assert len(found) == 1, (node.id, found)
        numbers[node.id] = found[0]
    return numbers


@pytest.mark.parametrize("name", CHARTS)
def test_every_node_and_every_edge_is_told_exactly_once(name: str) -> None:
    one = CHARTS[name]
    lines = say(one)

    count, edges = read(lines)

    numbers = number_nodes(one, lines)
    assert count == len(one.nodes)
    expected = [(numbers[e.src], numbers[e.dst], e.label) for e in one.edges]
    assert sorted(edges, key=str) == sorted(expected, key=str)


def test_a_loop_is_named_at_both_ends() -> None:
    assert say(SHAPES["loop_back"]) == [
        "1. Begin.",
        "   Then 2.",
        "2. Task B: Analyze the changes",
        "   A loop begins here: 6 comes back.",
        "   Then 3.",
        "3. Decision C: Is code quality ok?",
        "   On “Yes”:",
        "      4. Task D: Write the report",
        "         Then 5.",
        "      5. End.",
        "   On “No”:",
        "      6. Task E: List the issues",
        "         Then go back to 2.",
    ]


def test_where_branches_meet_the_outline_goes_on_at_their_decisions_level() -> None:
    lines = say(SHAPES["decision_with_merge"])
    assert lines[-4:] == [
        "5. Task join: Commit",
        "   Reached from 3 and 4.",
        "   Then 6.",
        "6. End.",
    ]


def test_a_self_loop_is_done_again() -> None:
    assert "   On “one”: do 2 again." in say(SHAPES["self_loops"])


def test_all_lines_of_a_prompt_are_said_below_its_number() -> None:
    one = chart("BEGIN -> A", {"A": "First.\n\n  - second\nThird."})
    lines = say(one)
    at = lines.index("2. Task A: First.")
    assert lines[at + 1 : at + 4] == ["", "     - second", "   Third."]


def test_a_prompt_in_chinese_is_said_as_it_is() -> None:
    assert any("列出要翻译的 Markdown 文件" in line for line in say(SHAPES["cjk_and_emoji"]))


def test_lines_of_the_file_are_said_where_asked_for() -> None:
    one = read_mermaid("flowchart TD\n B([BEGIN]) --> a[x]\n a --> E([END])")
    assert "2. Task a, line 2: x" in list(outline(one, lines=True))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("BEGIN -> a\nb -> c", "Not reached from BEGIN:"),
        ("BEGIN -> a", "   Nothing follows."),
        ("BEGIN -> a\na -> b\na -> c", "   Without a label:"),
        ("a -> b -> a", "1. Task: a"),
        ("BEGIN", "1. Begin."),
        ("x: ''", "1. Task x: no prompt"),
    ],
)
def test_a_chart_that_is_no_valid_flow_is_told_too(text: str, said: str) -> None:
    assert said in say(read_d2(text))


def test_a_chart_without_nodes_says_nothing() -> None:
    assert say(Chart("d2", {}, (), ())) == []


def test_a_part_that_leads_into_the_flow_does_not_take_it_along() -> None:
    lines = say(chart("BEGIN -> a -> END\nx -> a\ny -> BEGIN"))
    assert lines[0] == "1. Begin."
    assert lines.index("Not reached from BEGIN:") > lines.index("3. End.")


def test_depth_costs_neither_stack_nor_width() -> None:
    deep = 5 * sys.getrecursionlimit()
    text = "\n".join(f"d{n} -> d{n + 1} | yes\nd{n} -> e{n} | no" for n in range(deep))
    lines = say(chart(text))
    assert sum(bool(NODE.match(line)) for line in lines) == 2 * deep + 1
    assert max(map(len, lines)) < 100


def test_many_ways_into_one_node_are_counted_not_listed() -> None:
    lines = say(chart("\n".join(f"BEGIN -> s{n} | {n}\ns{n} -> END" for n in range(40))))
    assert "   Reached from 2, 3, 4, 5, 6 and 35 others." in lines
