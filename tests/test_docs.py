"""What the documents promise: each example of the grammar page is read as the page says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from flowstudio.flow import CODES, choice_prompt, read_d2, read_mermaid
from flowstudio.flow.chart import Chart
from flowstudio.skill import load_skill
from flowstudio.skill.codes import FLOW_FORMAT
from flowstudio.skill.fence import LANGUAGES
from flowstudio.skill.front import find_front
from flowstudio.skill.roots import PROJECT_ROOTS, USER_ROOTS
from flowstudio.skill.rules import read_rules

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "flowstudio" / "docs"
PAGE = (DOCS / "grammar.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^(?P<fence>`{3,})(?P<tag>\w+)\n(?P<text>.*?)^(?P=fence)$", re.DOTALL | re.M)
FENCES = [(match["tag"], match["text"]) for match in FENCE.finditer(PAGE)]
ROW = re.compile(r"^\|(.*)\|$", re.MULTILINE)


def find_rows(heading: str, columns: int) -> list[list[str]]:
    """The rows of the first table below a heading, without its head."""
    part = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = [re.split(r"(?<!\\)\|", row) for row in ROW.findall(part)]
    assert rows
    assert all(len(row) == columns for row in rows)
    return [[cell.strip() for cell in row] for row in rows[2:]]


def code_of(cell: str) -> str:
    """What stands between the backticks of a table's cell."""
    assert cell[0] == cell[-1] == "`", cell
    return cell[1:-1].replace("\\|", "|")


def read(language: str, text: str) -> Chart:
    return read_d2(text) if language == "d2" else read_mermaid(text)


def shape(chart: Chart) -> tuple[dict[str, str], list[tuple[str, str, str | None]]]:
    nodes = {node.id: node.text for node in chart.nodes.values()}
    return nodes, [(edge.src, edge.dst, edge.label) for edge in chart.edges]


# ---- whole examples ---------------------------------------------------------------------------


def test_the_page_has_examples_of_each_kind() -> None:
    assert [tag for tag, _ in FENCES] == ["markdown", "text", "mmd", "d2", "yml", "yaml"]


@pytest.mark.parametrize(
    ("tag", "name"), [("markdown", "readme-check/SKILL.md"), ("yaml", "hello/skill.yaml")]
)
def test_a_whole_skill_of_the_page_is_read_without_a_finding(
    tmp_path: Path, tag: str, name: str
) -> None:
    (text,) = (text for found, text in FENCES if found == tag)
    file = tmp_path / name
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")

    skill = load_skill(file)

    assert [str(d) for d in skill.diagnostics] == []
    assert skill.flow is not None
    assert skill.name == file.parent.name


def test_the_tools_and_models_of_the_page_belong_to_its_first_skill(tmp_path: Path) -> None:
    (skill,) = (text for tag, text in FENCES if tag == "markdown")
    (fields,) = (text for tag, text in FENCES if tag == "yml")
    file = tmp_path / "readme-check" / "SKILL.md"
    file.parent.mkdir()
    file.write_text(skill.replace("type: flow\n", f"type: flow\n{fields}"), encoding="utf-8")

    rules = read_rules(file, file.read_text(encoding="utf-8"))

    assert load_skill(file).diagnostics == ()
    assert rules.models == {"cheap"}
    assert rules.of("list").tools == {"ReadFile", "Grep"}
    assert rules.of("check").tools == {"Shell"}
    assert VALIDATOR.is_valid(yaml.safe_load(GOOD + fields))


def test_the_tools_of_the_page_are_those_that_there_are() -> None:
    from flowstudio.skill.rules import TOOLS
    from flowstudio.soul.tools import TOOL_NAMES

    assert set(TOOLS) == set(TOOL_NAMES)
    for name in TOOLS:
        assert f"`{name}`" in PAGE


def test_the_two_charts_side_by_side_are_the_same_flow() -> None:
    charts = [read(tag, text) for tag, text in FENCES if tag in LANGUAGES]

    first, second = charts
    assert [str(d) for chart in charts for d in chart.diagnostics] == []
    nodes, edges = shape(first)
    assert (nodes, sorted(edges, key=str)) == (
        shape(second)[0],
        sorted(shape(second)[1], key=str),
    )
    assert first.direction == second.direction


def test_the_prompt_of_a_decision_is_the_one_that_is_sent() -> None:
    (shown,) = (text for tag, text in FENCES if tag == "text")

    assert shown.rstrip("\n") == choice_prompt(shown.split("\n")[0], ["yes", "no"])


# ---- tables -----------------------------------------------------------------------------------

SIDES = [
    (what, code_of(left), code_of(right))
    for what, left, right in find_rows("The same flow in both languages", 3)
    if what != "begins with"
]


@pytest.mark.parametrize(("what", "mermaid", "d2"), SIDES, ids=[row[1] for row in SIDES])
def test_a_row_says_the_same_in_both_languages(what: str, mermaid: str, d2: str) -> None:
    mermaid_shape = shape(read_mermaid(f"flowchart TD\nx --> y\n{mermaid}"))
    d2_shape = shape(read_d2(f"x -> y\n{d2}"))

    if what == "… with any signs":
        # Each shows the signs that its own language could not say without quotes.
        assert list(mermaid_shape[0]) == list(d2_shape[0])
        label = mermaid_shape[1][-1][2] or mermaid_shape[0]["a"]
        assert label in ("Do (it): now", "yes (1)")
    else:
        assert mermaid_shape == d2_shape
    assert (len(mermaid_shape[0]) > 2) == (what != "a comment")


BASES = {
    "Mermaid": "flowchart TD\nBEGIN --> a[Do it] --> END\n",
    "D2": "BEGIN -> a -> END\na: Do it\n",
}
LOOKS = [(lang, code_of(line)) for lang, line in find_rows("What is looks", 2)]


@pytest.mark.parametrize(("language", "line"), LOOKS, ids=[line for _, line in LOOKS])
def test_a_line_about_looks_changes_nothing(language: str, line: str) -> None:
    plain = read(language.lower(), BASES[language])

    chart = read(language.lower(), BASES[language] + line)

    assert shape(chart) == shape(plain)
    assert [str(d) for d in chart.diagnostics] == []


REFUSED = [
    (code_of(code), severity, code_of(example))
    for code, severity, example in find_rows("What is refused", 3)
]


@pytest.mark.parametrize(("code", "severity", "example"), REFUSED, ids=[row[0] for row in REFUSED])
def test_an_example_of_what_is_refused_gives_this_finding_alone(
    code: str, severity: str, example: str
) -> None:
    is_mermaid = example.startswith(("flowchart", "sequenceDiagram"))

    chart = read("mermaid" if is_mermaid else "d2", example)

    found = {(d.code, d.severity) for d in chart.diagnostics}
    assert (code, severity) in found
    assert CODES[code].severity == severity
    # A box that an example leaves hanging is no second fault of its kind.
    assert {other for other, _ in found} <= {code, "dead-end", "node-unreachable"}


def test_the_folders_are_those_that_are_searched() -> None:
    for root in (*PROJECT_ROOTS, *USER_ROOTS):
        assert root.removeprefix("~/") in PAGE


# ---- the schema -------------------------------------------------------------------------------

SCHEMA: dict[str, Any] = json.loads((DOCS / "skill.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
SKILLS = [
    file
    for root in (ROOT / "tests" / "corpus", ROOT / "skills")
    for file in sorted(root.glob("*/SKILL.md"))
]


def read_fields(text: str) -> Any:
    front = find_front(text)
    assert front is not None
    return yaml.safe_load(text[front.start : front.end])


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("file", SKILLS, ids=lambda file: file.parent.name)
def test_the_fields_of_every_skill_satisfy_the_schema(file: Path) -> None:
    fields = read_fields(file.read_text(encoding="utf-8"))

    assert [error.message for error in VALIDATOR.iter_errors(fields)] == []


GOOD = "name: x\ndescription: y\n"


@pytest.mark.parametrize(
    "more",
    [
        "type: Flow",
        "type: standard\nlicense: MIT\nallowed-tools: [a]",
        "metadata: {owner: me, effects: [has_x]}",
        "flow: {content: 'BEGIN -> a -> END'}",
        "methodology_scores: {}",
        "utterances: [plan my week]\nartifact: plan.md",
        "metadata: {utterances: {zh: [定计划], en: [plan my week]}}",
        "success_rate: 1",
    ],
)
def test_fields_that_are_read_satisfy_the_schema(more: str) -> None:
    assert VALIDATOR.is_valid(yaml.safe_load(GOOD + more))


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ("description: y", "$"),
        ("name: x", "$"),
        ("name: 123\ndescription: y", "$.name"),
        ("name: ' '\ndescription: y", "$.name"),
        ("name: x\ndescription: [y]", "$.description"),
        (GOOD + "type: flows", "$.type"),
        (GOOD + "type: true", "$.type"),
        (GOOD + "flow: 'BEGIN -> END'", "$.flow"),
        (GOOD + "flow: {format: d2}", "$.flow"),
        (GOOD + "flow: {format: dot, content: x}", "$.flow.format"),
        (GOOD + "effects: has_x", "$.effects"),
        (GOOD + "preconditions: [1]", "$.preconditions[0]"),
        (GOOD + "called_skills: [a, a]", "$.called_skills"),
        (GOOD + "methodology_scores: {meth_simple: 1.5}", "$.methodology_scores.meth_simple"),
        (GOOD + "methodology_scores: [meth_simple]", "$.methodology_scores"),
        (GOOD + "metadata: {effects: has_x}", "$.metadata.effects"),
        (GOOD + "usage_count: -1", "$.usage_count"),
        (GOOD + "allowed-tools: 3", "$['allowed-tools']"),
        (GOOD + "nodes: [check]", "$.nodes"),
        (GOOD + "nodes: {check: cheap}", "$.nodes.check"),
        (GOOD + "nodes: {check: {tools: true}}", "$.nodes.check.tools"),
        (GOOD + "nodes: {check: {temperature: 1}}", "$.nodes.check"),
        ("- name", "$"),
    ],
)
def test_wrong_fields_do_not(fields: str, place: str) -> None:
    errors = list(VALIDATOR.iter_errors(yaml.safe_load(fields)))

    assert place in {error.json_path for error in errors}


@pytest.mark.parametrize("written", ["dot", "mermaid", "d2", "mmd", "plantuml"])
def test_the_schema_knows_the_formats_that_are_read(tmp_path: Path, written: str) -> None:
    text = f"{GOOD}type: flow\nflow:\n  format: {written}\n  content: 'BEGIN -> a -> END'\n"
    file = tmp_path / "skill.yaml"
    file.write_text(text, encoding="utf-8")

    is_unknown = any(d.code == FLOW_FORMAT for d in load_skill(file).diagnostics)

    assert VALIDATOR.is_valid(yaml.safe_load(text)) != is_unknown
