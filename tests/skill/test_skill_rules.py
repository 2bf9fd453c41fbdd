"""`allowed-tools` and `nodes`: what a skill says of its tools and models, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowstudio.flow.diagnostics import CODES
from flowstudio.skill import Skill, load_skill
from flowstudio.skill.rules import CALLED, HARMLESS, FlowRules, NodeRules, read_rules

CHART = """
```mermaid
flowchart TD
    BEGIN --> look[Look] --> check{Right?}
    check -->|yes| END
    check -->|no| look
```
"""


def write(folder: Path, fields: str) -> Path:
    file = folder / "demo" / "SKILL.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(
        f"---\nname: demo\ndescription: d\ntype: flow\n{fields}\n---\n{CHART}", encoding="utf-8"
    )
    return file


def rules(folder: Path, fields: str) -> FlowRules:
    file = write(folder, fields)
    return read_rules(file, file.read_text(encoding="utf-8"))


def skill(folder: Path, fields: str) -> Skill:
    return load_skill(write(folder, fields))


@pytest.mark.parametrize(
    ("written", "tools"),
    [
        ("[ReadFile, Grep]", {"ReadFile", "Grep"}),
        ("ReadFile Grep", {"ReadFile", "Grep"}),
        ("ReadFile, Grep", {"ReadFile", "Grep"}),
        ("Read, Bash, Edit", {"ReadFile", "Shell", "StrReplaceFile"}),
        ("Bash(git add:*) Read", {"Shell", "ReadFile"}),
        (
            "[issues__search, mcp__issues__add, 'sums__*']",
            {"issues__search", "issues__add", "sums__*"},
        ),
        ("[]", set()),
        ("''", set()),
    ],
)
def test_the_tools_of_a_skill_are_a_list_or_a_line(
    tmp_path: Path, written: str, tools: set[str]
) -> None:
    found = rules(tmp_path, f"allowed-tools: {written}")
    assert found.allowed == tools
    assert found.of("look").tools == tools | HARMLESS | {CALLED}


def test_without_a_word_all_tools_and_the_sessions_model_are_there(tmp_path: Path) -> None:
    assert rules(tmp_path, "").of("look") == NodeRules(None, None)


def test_a_node_gets_a_model_and_tools_of_its_own(tmp_path: Path) -> None:
    found = rules(tmp_path, "nodes: {look: {model: cheap, tools: [ReadFile]}, check: {tools: []}}")
    assert found.of("look") == NodeRules("cheap", frozenset({"ReadFile"}))
    assert found.of("check") == NodeRules(None, frozenset())
    assert found.models == {"cheap"}


def test_a_node_gets_no_tool_that_its_skill_may_not_use(tmp_path: Path) -> None:
    found = rules(
        tmp_path, "allowed-tools: [ReadFile]\nnodes: {look: {tools: [ReadFile, Shell, AskUser]}}"
    )
    assert found.of("look").tools == {"ReadFile", "AskUser"}


@pytest.mark.parametrize(
    ("fields", "code", "line", "said"),
    [
        ("allowed-tools: 3", "tools-shape", 5, "not a list of names"),
        ("allowed-tools: [1, 2]", "tools-shape", 5, "not a list of names"),
        ("allowed-tools: {a: b}", "tools-shape", 5, "not a list of names"),
        ("allowed-tools: [ReadFil]", "tool-unknown", 5, 'no tool "ReadFil"'),
        ("allowed-tools: WebFetch", "tool-unknown", 5, 'no tool "WebFetch"'),
        ("allowed-tools: Bash(git:*)", "tool-pattern", 5, "read as Shell"),
        ("nodes: [look]", "nodes-shape", 5, "not a mapping"),
        ("nodes:\n  look: cheap", "nodes-shape", 6, 'settings of "look"'),
        ("nodes:\n  look: {temperature: 1}", "nodes-shape", 6, 'settings of "look"'),
        ("nodes:\n  look: {model: 3}", "nodes-shape", 6, "not a name"),
        ("nodes:\n  look: {tools: all}", "tool-unknown", 6, 'no tool "all"'),
        ("nodes:\n  look: {tools: true}", "tools-shape", 6, "not a list"),
        ("nodes:\n  lok: {model: cheap}", "node-unknown", 6, 'no node "lok"'),
    ],
)
def test_what_is_odd_is_said_at_its_place(
    tmp_path: Path, fields: str, code: str, line: int, said: str
) -> None:
    (found,) = skill(tmp_path, fields).diagnostics
    assert (found.code, found.span.line) == (code, line)
    assert said in found.message
    assert found.hint
    assert found.severity == CODES[code].severity


@pytest.mark.parametrize(
    "fields",
    [
        "allowed-tools: 3",
        "nodes: [look]",
        "nodes: {look: {tools: true}}",
        "nodes: {lok: {tools: []}}",
    ],
)
def test_a_limit_that_cannot_be_read_keeps_the_flow_from_running(
    tmp_path: Path, fields: str
) -> None:
    assert skill(tmp_path, fields).flow is None


def test_what_cannot_be_read_allows_nothing(tmp_path: Path) -> None:
    assert rules(tmp_path, "allowed-tools: 3").allowed == frozenset()
    assert rules(tmp_path, "nodes: {look: {tools: true}}").of("look").tools == frozenset()
    assert rules(tmp_path, "nodes: {look: nonsense}").of("look").tools == frozenset()


def test_a_near_name_is_suggested(tmp_path: Path) -> None:
    assert "ReadFile" in skill(tmp_path, "allowed-tools: [ReadFil]").diagnostics[0].hint
    assert "look" in skill(tmp_path, "nodes: {lok: {model: x}}").diagnostics[0].hint


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("skill.yaml", "name: a\nallowed-tools: [Grep]\n"),
        ("a.md", "---\nname: a\nallowed-tools: [Grep]\n---\ntext"),
    ],
)
def test_the_fields_count_in_every_kind_of_file(name: str, text: str) -> None:
    assert read_rules(Path(name), text).allowed == {"Grep"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.mmd", "---\nallowed-tools: [Grep]\n---\nflowchart TD"),
        ("a.md", "no front matter"),
        ("a.md", ""),
        ("a.md", "---\n- a list\n---\n"),
    ],
)
def test_elsewhere_there_are_no_rules(name: str, text: str) -> None:
    assert read_rules(Path(name), text) == FlowRules()
