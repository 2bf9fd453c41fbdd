"""The skills that come along: they read without a finding, keep their bounds, and rehearse."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from unicodedata import east_asian_width

import networkx as nx
import pytest

from flowstudio.flow.model import Flow, FlowNode
from flowstudio.models.script import Script, load_script
from flowstudio.skill import Skill, load_skill

SKILLS = Path(__file__).parents[1] / "skills"
FOLDERS = tuple(sorted(path.parent.name for path in SKILLS.glob("*/SKILL.md")))

GROUPS = {
    "life": (
        "daily-review",
        "note-organizing",
        "schedule-planning",
        "task-breakdown",
        "task-tracking",
        "weekly-review",
    ),
    "data": (
        "csv",
        "data-cleaning",
        "data-conversion",
        "data-validation",
        "data-visualization",
        "json",
    ),
    "code": ("error-handling", "function-refactoring", "python-script"),
    "tools": ("command-line", "file-io"),
}
"""The seventeen of the Mindflow design, in its four groups."""
STANDARD = tuple(sorted(name for group in GROUPS.values() for name in group))
FLOWS = (
    "bug-triage",
    "code-review",
    "incident",
    "release",
    "research-report",
    "test-writing",
    "tour",
    "translate",
    "weekly-plan",
)
FIELDS = {
    "name",
    "description",
    "type",
    "utterances",
    "preconditions",
    "effects",
    "called_skills",
    "methodology_scores",
    "artifact",
    "allowed-tools",
}
METHODOLOGIES = {
    "meth_simple",
    "meth_stdlib",
    "meth_consistency",
    "meth_small_steps",
    "meth_review",
}

# The decisions that bound a flow's loops, each with the words of its prompt that say how: a count,
# or a person who is asked.
BOUNDS = {
    "bug-triage": {"shows": "After the fifth", "agree": "Ask what should"},
    "code-review": {
        "proof": "After the third attempt",
        "more": "three 'Round' lines",
        "ask": "Ask the author and wait",
    },
    "incident": {
        "decide": "Only words\nof the engineer count",
        "watch": "At most six",
        "found": "When three in a row were wrong",
    },
    "release": {
        "outcome": "four 'Rehearsal' lines",
        "gate": "wait for an answer in their own words",
        "verify": "after the tenth",
    },
    "research-report": {
        "证据": "三行“检索第 N 轮”",
        "轻重": "已有三轮",
        "核对": "改过两次",
    },
    "test-writing": {
        "pick": "Count the tests written",
        "run_it": "After the third repair",
        "bite": "Three places",
        "steady": "After two repairs",
    },
    "tour": {"branch": "take 'go on' at once"},
    "translate": {
        "术语确认": "等他回答",
        "逐节翻译": "有几节就译几次",
        "核对": "修过三次",
        "差错": "已经查过三轮",
    },
    "weekly-plan": {"装得下": "已经砍过三次", "点头": "等他回答"},
}

# Where a person decides, and the branch to take if nobody can be asked: it changes nothing outside.
GATES = {
    "bug-triage": ("agree", "drop it"),
    "code-review": ("ask", "leave open"),
    "release": ("gate", "not now"),
    "translate": ("术语确认", "照此翻译"),
    "weekly-plan": ("点头", "这周不排"),
}

HAN = re.compile(r"[\u4e00-\u9fff]")


def skill(name: str) -> Skill:
    return load_skill(SKILLS / name)


def flow(name: str) -> Flow:
    read = skill(name).flow
    assert read is not None
    return read


def branches(of: Flow, node: str) -> list[str]:
    return [edge.label for edge in of.outgoing[node] if edge.label is not None]


def decisions(of: Flow) -> list[FlowNode]:
    return [node for node in of.nodes.values() if node.kind == "decision"]


def prompts(of: Flow) -> list[FlowNode]:
    return [node for node in of.nodes.values() if node.kind in ("task", "decision")]


def cells(text: str) -> int:
    """The width in a terminal."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def graph(of: Flow) -> nx.DiGraph[str]:
    made: nx.DiGraph[str] = nx.DiGraph()
    made.add_nodes_from(of.nodes)
    made.add_edges_from((edge.src, edge.dst) for edge in of.edges)
    return made


def test_every_bundled_skill_is_known_to_these_tests() -> None:
    assert set(FOLDERS) == {*STANDARD, *FLOWS}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_bundled_skill_reads_without_any_finding(name: str) -> None:
    assert [str(finding) for finding in skill(name).diagnostics] == []


@pytest.mark.parametrize("name", FOLDERS)
def test_a_bundled_skill_has_the_name_of_its_folder(name: str) -> None:
    assert skill(name).name == name


@pytest.mark.parametrize("name", FOLDERS)
def test_a_bundled_skill_works_as_the_type_that_it_declares(name: str) -> None:
    read = skill(name)
    expected = "flow" if name in FLOWS else "standard"
    assert (read.type, read.declared_type, read.meta["type"]) == (expected, expected, expected)


@pytest.mark.parametrize("name", FOLDERS)
def test_the_front_matter_holds_known_fields_and_methodologies_only(name: str) -> None:
    meta = skill(name).meta
    assert set(meta) <= FIELDS
    scores = meta.get("methodology_scores", {})
    assert set(scores) <= METHODOLOGIES
    assert all(0 <= score <= 1 for score in scores.values())


@pytest.mark.parametrize("name", FOLDERS)
def test_a_bundled_skill_tells_what_people_say_in_both_languages(name: str) -> None:
    said = skill(name).meta["utterances"]
    assert set(said) == {"zh", "en"}
    assert len(set(said["zh"])) >= 3
    assert len(set(said["en"])) >= 3
    assert all(HAN.search(one) for one in said["zh"])
    assert not any(HAN.search(one) for one in said["en"])


@pytest.mark.parametrize("name", FOLDERS)
def test_called_skills_come_along_as_well(name: str) -> None:
    assert set(skill(name).meta.get("called_skills", [])) <= set(FOLDERS) - {name}


@pytest.mark.parametrize("name", STANDARD)
def test_a_standard_skill_says_in_both_languages_what_it_is_for(name: str) -> None:
    chinese, _, english = skill(name).description.partition("。")
    assert HAN.search(chinese)
    assert english.endswith(".")
    assert not HAN.search(english)


@pytest.mark.parametrize("name", STANDARD)
def test_a_standard_skill_says_what_it_needs_what_it_gives_and_how_it_scores(name: str) -> None:
    meta = skill(name).meta
    assert meta["preconditions"]
    assert meta["effects"]
    assert set(meta["methodology_scores"]) == METHODOLOGIES


@pytest.mark.parametrize("name", STANDARD)
def test_a_standard_skill_has_its_name_in_both_languages_as_its_heading(name: str) -> None:
    heading = re.search(r"^# (.+) · (.+)$", skill(name).body, re.MULTILINE)
    assert heading is not None
    assert HAN.search(heading[1])
    assert not HAN.search(heading[2])


@pytest.mark.parametrize("name", STANDARD)
def test_a_standard_skill_has_one_artifact_and_tells_of_it(name: str) -> None:
    artifact = skill(name).meta["artifact"]
    section = skill(name).body.partition("\n## 产物 · Artifact\n")[2].partition("\n## ")[0]
    assert section.strip()
    if re.match(r"(?:references|scripts)/[^<]*$", artifact):
        assert (SKILLS / name / artifact).is_file()
        assert artifact in skill(name).body


@pytest.mark.parametrize("name", STANDARD)
def test_a_standard_skill_names_what_goes_wrong(name: str) -> None:
    assert re.search(r"^## (?:不要|Do not|Traps|Do not.*)$", skill(name).body, re.MULTILINE)


@pytest.mark.parametrize("name", FLOWS)
def test_a_flow_says_in_one_sentence_when_to_use_it(name: str) -> None:
    description = skill(name).description
    assert re.search(r"^Use it |时用它", description)
    assert re.fullmatch(r"[^.。]+[.。]", description)


@pytest.mark.parametrize("name", FLOWS)
def test_the_chart_stands_between_how_to_use_it_and_its_limits(name: str) -> None:
    before, _, rest = skill(name).body.partition("\n```")
    after = rest.partition("\n```\n")[2]
    assert len(before.split("\n\n")) >= 2
    assert after.strip().startswith(("## ", "`scripts/"))


def test_half_of_the_flows_are_in_mermaid_and_half_in_d2() -> None:
    charts = [skill(name).chart for name in FLOWS]
    languages = [chart.language for chart in charts if chart is not None]
    assert abs(languages.count("mermaid") - languages.count("d2")) <= 1


def test_three_flows_have_chinese_ids_and_chinese_branches() -> None:
    chinese = [
        name
        for name in FLOWS
        if all(HAN.search(node.id) or node.kind in ("begin", "end") for node in prompts(flow(name)))
        and all(
            HAN.search(label) for node in prompts(flow(name)) for label in branches_of(name, node)
        )
    ]
    assert chinese == ["research-report", "translate", "weekly-plan"]


def branches_of(name: str, node: FlowNode) -> list[str]:
    return branches(flow(name), node.id)


@pytest.mark.parametrize("name", FLOWS)
def test_a_flow_has_ten_to_twenty_nodes_and_the_tour_is_smaller(name: str) -> None:
    least, most = (6, 8) if name == "tour" else (10, 20)
    assert least <= len(flow(name).nodes) <= most


@pytest.mark.parametrize("name", FLOWS)
def test_the_first_line_of_a_prompt_is_a_title(name: str) -> None:
    # The drawing shows this line alone at its middle zoom, and cuts it off where it is longer.
    for node in prompts(flow(name)):
        first, _, rest = node.text.partition("\n")
        assert 4 <= cells(first) <= (28 if node.kind == "decision" else 31), node.id
        assert first.endswith((".", "?", ":", "。", "？", "：")), node.id
        assert rest.strip(), node.id


@pytest.mark.parametrize("name", FLOWS)
def test_branch_labels_are_short(name: str) -> None:
    for node in decisions(flow(name)):
        for label in branches(flow(name), node.id):
            assert cells(label) <= 20, label


@pytest.mark.parametrize("name", FLOWS)
def test_a_prompt_lists_no_branch_that_its_decision_does_not_have(name: str) -> None:
    for node in decisions(flow(name)):
        listed = set(re.findall(r"(?m)^- `([^`]+)`", node.text))
        assert listed <= set(branches(flow(name), node.id)), node.id


@pytest.mark.parametrize("name", FLOWS)
def test_every_loop_passes_a_decision_that_counts_or_a_person(name: str) -> None:
    walked = flow(name)
    for node, words in BOUNDS[name].items():
        assert words in walked.nodes[node].text, node
    rest = graph(walked)
    assert not nx.is_directed_acyclic_graph(rest)
    rest.remove_nodes_from(BOUNDS[name])
    assert nx.is_directed_acyclic_graph(rest)


@pytest.mark.parametrize("name", GATES)
def test_a_gate_says_what_to_do_if_nobody_can_be_asked(name: str) -> None:
    node, safe = GATES[name]
    walked = flow(name)
    assert safe in branches(walked, node)
    alone = re.search(r"(?:nobody can be asked|没有人可问)[^.。]*", walked.nodes[node].text)
    assert alone is not None
    assert safe in alone[0]


def test_four_flows_take_their_input_in_the_first_prompt() -> None:
    taking = [name for name in FLOWS if "$ARGUMENTS" in skill(name).source]
    assert taking == ["bug-triage", "research-report", "test-writing", "translate"]
    for name in taking:
        walked = flow(name)
        first = walked.outgoing[walked.begin_id][0].dst
        assert "$ARGUMENTS" in walked.nodes[first].text


def test_self_loops_with_a_label_are_among_the_drawings() -> None:
    having = {name for name in FLOWS for edge in flow(name).edges if edge.src == edge.dst}
    assert having == {"incident", "release", "test-writing", "tour", "translate"}


@pytest.mark.parametrize("name", FOLDERS)
def test_supporting_files_and_the_text_name_the_same_files(name: str) -> None:
    named = set(re.findall(r"(?:references|scripts)/[\w-]+\.(?:md|py)", skill(name).body))
    there = {
        path.relative_to(SKILLS / name).as_posix()
        for path in (SKILLS / name).glob("*/*")
        if path.is_file()
    }
    # A script of the user's that a text takes as its example is no file of ours.
    assert named - {"scripts/split_photos.py"} == there


REHEARSED = tuple(sorted(path.parent.name for path in SKILLS.glob("*/rehearsal.script.yaml")))


@dataclass(frozen=True, slots=True)
class Walk:
    """What a scripted walk shows."""

    path: list[str]
    calls: int
    retries: int


def walk(of: Flow, script: Script) -> Walk:
    """Follow the script through the flow; short, and apart from the runner that it is to check."""
    replies = {(decision.node, decision.visit): decision for decision in script.decisions}
    path, calls, retries = [of.begin_id], 0, 0
    visits: dict[str, int] = {}
    while path[-1] != of.end_id:
        node = of.nodes[path[-1]]
        exits = of.outgoing[node.id]
        if node.kind == "task":
            calls += 1
        if node.kind != "decision":
            path.append(exits[0].dst)
            continue
        visits[node.id] = visits.get(node.id, 0) + 1
        decision = replies.pop((node.id, visits[node.id]))
        by_label = {edge.label: edge.dst for edge in exits}
        for reply in decision.replies:
            choices = re.findall(r"<choice>([^<]*)</choice>", reply.text)
            assert reply.valid is (bool(choices) and choices[-1].strip() in by_label)
        assert [reply.valid for reply in decision.replies].index(True) == len(decision.replies) - 1
        calls += len(decision.replies)
        retries += len(decision.replies) - 1
        last = re.findall(r"<choice>([^<]*)</choice>", decision.replies[-1].text)[-1].strip()
        assert last == decision.takes
        path.append(by_label[last])
    assert not replies
    return Walk(path, calls, retries)


def test_the_tour_and_the_code_review_come_with_a_rehearsal() -> None:
    assert REHEARSED == ("code-review", "tour")


@pytest.mark.parametrize("name", REHEARSED)
def test_a_rehearsal_walks_as_it_says(name: str) -> None:
    script = load_script(SKILLS / name / "rehearsal.script.yaml")
    assert (script.flow, script.skill) == (name, f"{name}/SKILL.md")
    assert script.expected_end == "reached_end"
    shown = walk(flow(name), script)
    assert tuple(shown.path) == script.expected_path
    assert (shown.calls, shown.retries) == (script.expected_model_calls, script.expected_retries)
