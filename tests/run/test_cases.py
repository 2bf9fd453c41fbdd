"""Test cases of a flow: what they answer, what they notice, where their own faults are."""

from __future__ import annotations

import random
from pathlib import Path
from textwrap import indent

import pytest

from flowstudio.run.case_file import SkillCases, load_cases
from flowstudio.run.case_run import CaseResult, FlowResult, run_case, sum_up
from flowstudio.skill import Skill, load_skill

CHART = """flowchart TD
B([BEGIN]) --> a[work] --> q{good?}
q -->|yes| E([END])
q -->|no| a
q -->|hole| x[nothing leads on]
"""
HEAD = "name: fork\ndescription: x\ntype: flow\n"


def make_skill(
    folder: Path, front: str = "", beside: str | None = None, chart: str = CHART
) -> Skill:
    """A flow skill with cases in its front matter, in the file beside it, or in both."""
    file = folder / "fork" / "SKILL.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"---\n{HEAD}{front}---\n\n```mermaid\n{chart}```\n", encoding="utf-8")
    if beside is not None:
        file.with_name("flow-tests.yaml").write_text(beside, encoding="utf-8")
    return load_skill(file)


def case(fields: str) -> str:
    """A file with one case."""
    return f"tests:\n- name: it\n{indent(fields, '  ')}\n"


async def run(folder: Path, fields: str, chart: str = CHART) -> CaseResult:
    """Carry out the one case of a file."""
    skill = make_skill(folder, beside=case(fields), chart=chart)
    loaded = load_cases(skill)
    assert [str(one) for one in loaded.findings] == []
    return await run_case(skill, loaded.cases[0])


# What passes


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ("answers: {q: yes}", "B a q E"),
        ("answers: {q: [no, no, yes]}", "B a q a q a q E"),
        ("answers: {q: YES}", "B a q E"),
        ("answers: {q: {say: '<choice>yes</choice>'}}", "B a q E"),
        ("answers: {q: [{say: [hm, <choice>no</choice>]}, yes]}", "B a q a q E"),
        ("choose: {q: yes}", "B a q E"),
        ("answers: {q: yes}\nchoose: {q: no}", "B a q a q E"),
        ("answers: {q: yes}\nchoose: {q: [no, no]}", "B a q a q a q E"),
        ("answers: {q: hole}\nexpect: {end: dead_end}", "B a q x"),
        ("answers: {q: no}\nmax_moves: 3\nexpect: {end: max_moves}", "B a q a"),
        ("answers: {q: {say: [a, b, c, d]}}\nexpect: {end: choice_failed}", "B a q"),
    ],
)
async def test_a_case_walks_as_its_answers_say(tmp_path: Path, fields: str, path: str) -> None:
    result = await run(tmp_path, fields)
    assert (result.misses, " ".join(result.path)) == ((), path)


@pytest.mark.parametrize(
    "expect",
    [
        "path: [B, a, q, a, q, E]",
        "through: [q, a, E]",
        "through: [B, a, q, a, q, E]",
        "never: [x]",
        "{calls: 4, max_calls: 4, retries: 0}",
    ],
)
async def test_what_was_expected_and_shown_passes(tmp_path: Path, expect: str) -> None:
    assert (await run(tmp_path, f"answers: {{q: [no, yes]}}\nexpect:\n  {expect}")).passed


async def test_one_answer_alike_in_every_round_is_no_reason_to_end_a_case(tmp_path: Path) -> None:
    assert (await run(tmp_path, "answers: {q: [no, no, no, no, no, no, no, no, yes]}")).passed


async def test_input_and_variables_fill_the_prompts(tmp_path: Path) -> None:
    chart = CHART.replace("work", "{{verb}} $ARGUMENTS")
    result = await run(tmp_path, "input: it\nvars: {verb: 3}\nanswers: {q: yes}", chart)
    assert result.passed


# What fails


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("answers: {q: hole}", "it ended with dead_end at “x” and not with reached_end"),
        ("answers: {q: no}\nmax_moves: 5", "it ended with max_moves"),
        ("answers: {}", "the case does not say what “q” answers"),
        ("answers: {q: [no]}", "the case has 1 answers for “q”, and this is visit 2"),
        ("answers: {q: {say: [hm, who]}}", "“q” is asked again at visit 1"),
        ("answers: {q: [yes, no]}", "the answer for visit 2 of “q” was never asked for"),
        ("answers: {q: yes}\nexpect: {path: [B, a, E]}", "the path differs at move 2: “q” came"),
        ("answers: {q: yes}\nexpect: {path: [B, a, q]}", "move 3: “E” came, and not the end"),
        ("answers: {q: yes}\nexpect: {path: [B, a, q, E, a]}", "move 4: the end came, and not “a”"),
        ("answers: {q: yes}\nexpect: {through: [q, a]}", "“a” was not entered after “q”"),
        ("answers: {q: yes}\nexpect: {through: [x]}", "“x” was not entered after the start"),
        ("answers: {q: yes}\nexpect: {never: [q]}", "“q” was entered, at move 2"),
        ("answers: {q: yes}\nexpect: {calls: 3}", "there were 2 calls to the model and not 3"),
        ("answers: {q: yes}\nexpect: {max_calls: 1}", "2 calls to the model, more than 1"),
        ("answers: {q: yes}\nexpect: {retries: 1}", "asked for again 0 times and not 1"),
        ("answers: {q: yes}\nexpect: {end: dead_end}", "ended with reached_end and not with dead"),
    ],
)
async def test_what_was_expected_and_not_shown_is_told(
    tmp_path: Path, fields: str, said: str
) -> None:
    result = await run(tmp_path, fields)
    assert not result.passed
    assert said in " / ".join(result.misses)


# Scripts


SCRIPT = """
args: it
decisions: [{node: q, replies: [{text: <choice>yes</choice>}]}]
expected_path: [B, a, q, E]
expected_model_calls: %d
"""


@pytest.mark.parametrize(("calls", "misses"), [(2, 0), (7, 1)])
async def test_a_script_answers_and_what_it_expects_must_hold(
    tmp_path: Path, calls: int, misses: int
) -> None:
    make_skill(tmp_path)
    (tmp_path / "fork" / "s.yaml").write_text(SCRIPT % calls)
    assert len((await run(tmp_path, "script: s.yaml")).misses) == misses


# Coverage


async def test_the_branches_that_no_case_takes_are_named(tmp_path: Path) -> None:
    text = "tests:\n- {name: one, answers: {q: yes}}\n- {name: two, answers: {q: [no, yes]}}\n"
    skill = make_skill(tmp_path, beside=text)
    results = [await run_case(skill, one) for one in load_cases(skill).cases]
    flow: FlowResult = sum_up(skill, results)
    assert flow.never_taken == (("q", "hole"),)
    assert flow.branches == 3


# Where cases stand


def names(loaded: SkillCases) -> list[str]:
    assert [str(one) for one in loaded.findings] == []
    return [one.case.name for one in loaded.cases]


def test_cases_stand_in_the_front_matter_or_beside_the_skill_or_both(tmp_path: Path) -> None:
    front = "tests:\n- {name: inside, answers: {q: yes}}\n"
    beside = "tests:\n- {name: beside, answers: {q: yes}}\n"
    skill = make_skill(tmp_path, front, beside)
    assert skill.errors == ()
    loaded = load_cases(skill)
    assert names(loaded) == ["inside", "beside"]
    assert [one.path.name for one in loaded.cases] == ["SKILL.md", "flow-tests.yaml"]
    assert [one.line for one in loaded.cases] == [6, 2]


def test_a_skill_without_cases_has_none(tmp_path: Path) -> None:
    assert names(load_cases(make_skill(tmp_path))) == []


def test_a_bare_chart_has_its_cases_in_a_file_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "x.mmd").write_text(CHART)
    (tmp_path / "flow-tests.yaml").write_text("not: ours")
    (tmp_path / "x.flow-tests.yaml").write_text(case("answers: {q: yes}"))
    assert names(load_cases(load_skill(tmp_path / "x.mmd"))) == ["it"]


def test_a_skill_yaml_has_its_cases_under_tests(tmp_path: Path) -> None:
    text = f"{HEAD}flow:\n  content: |\n{indent(CHART, '    ')}{case('answers: {q: yes}')}"
    (tmp_path / "skill.yaml").write_text(text)
    skill = load_skill(tmp_path / "skill.yaml")
    assert skill.flow is not None
    assert names(load_cases(skill)) == ["it"]


# Faults of the cases themselves


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("tests: [", "1:", "the YAML cannot be read"),
        ("", "1:1", '"tests" is missing'),
        ("tests: []", "1:1", "there is no case in this list"),
        ("tests: 3", "1:8", '"tests" must be a list'),
        ("tests:\n- text", "2:3", 'each entry of "tests" must be a mapping'),
        ("tests:\n- answers: {}", "2:3", '"name" is missing'),
        ("tests:\n- name: x\n  answer: {}", "3:3", '"answer" is not known here'),
        ("tests:\n- name: x\n  expect: {ends: x}", "3:12", '"ends" is not known here'),
        ("tests:\n- name: x\n  expect: {end: soon}", "3:17", '"end": input should be'),
        ("tests:\n- name: x\n  expect: {path: B}", "3:18", '"path" must be a list'),
        ("tests:\n- name: x\n  max_moves: many", "3:14", '"max_moves": input should be a valid'),
        ("tests:\n- name: x\n  max_moves: 0", "3:14", '"max_moves": input should be greater'),
        ("tests:\n- name: x\n  answers: {q: {says: x}}", "3:17", '"says" is not known here'),
        ("tests:\n- name: x\n  answers: {q: {}}", "3:13", "an answer is a text, or has `say`"),
        ("tests:\n- name: x\n  answers: {q: []}", "3:13", '"q" has an empty list of answers'),
        ("tests:\n- name: x\n  answers: {q: yess}", "3:16", '"q" has no branch "yess"'),
        ("tests:\n- name: x\n  answers: {q: [yes, maybe]}", "3:22", '"q" has no branch "maybe"'),
        ("tests:\n- name: x\n  answers: {p: yes}", "3:13", 'the flow has no box "p"'),
        ("tests:\n- name: x\n  choose: {a: yes}", "3:12", '"a" has nothing to choose'),
        ("tests:\n- name: x\n  choose: {q: up}", "3:15", '"q" has no branch "up"'),
        ("tests:\n- name: x\n  expect: {never: [a, z]}", "3:23", 'the flow has no box "z"'),
        ("tests:\n- name: x\n- name: x", "3:3", 'there are two cases "x"'),
        ("tests:\n- name: x\n  script: gone.yaml", "3:11", "the script cannot be read"),
        ("tests:\n- {name: x, script: s, answers: {q: yes}}", "2:21", "a script or answers, not"),
        ("tests: " + "[" * 10_000, "1:39", "more than 32 levels of nesting"),
        ("more: 1\ntests:\n- name: x", "1:1", '"more" is not known here'),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else None,
)
def test_a_fault_in_the_cases_is_told_with_its_place(
    tmp_path: Path, text: str, place: str, said: str
) -> None:
    loaded = load_cases(make_skill(tmp_path, beside=text))
    assert loaded.findings
    told = [str(one) for one in loaded.findings]
    assert any(f"flow-tests.yaml:{place}" in one and said in one for one in told), told


def test_a_place_in_the_front_matter_is_one_of_the_whole_file(tmp_path: Path) -> None:
    skill = make_skill(tmp_path, "tests:\n- name: x\n  answers: {q: yess}\n")
    (found,) = load_cases(skill).findings
    assert (found.span.line, found.span.column) == (7, 16)
    assert found.path == str(skill.path)
    assert skill.source.splitlines()[6][15:].startswith("yess")


def test_a_variable_that_a_case_does_not_give_is_told(tmp_path: Path) -> None:
    skill = make_skill(
        tmp_path, beside=case("answers: {q: yes}"), chart=CHART.replace("work", "{{verb}} it")
    )
    (found,) = load_cases(skill).findings
    assert "holds {{verb}}" in found.message


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    skill = make_skill(tmp_path, beside="")
    (skill.root / "flow-tests.yaml").write_bytes(b"tests: \xff")
    (found,) = load_cases(skill).findings
    assert "cannot be read" in found.message


def spoil(text: str, chance: random.Random) -> str:
    """The text with a few stretches taken out, doubled, or replaced by signs that YAML knows."""
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(text) + 1)
        end = min(start + chance.randint(0, 12), len(text))
        middle = chance.choice(["", text[start:end] * 2, *"[]{}:-&*!|>'\"%@`#?,\t\n\x00\ufeff中0"])
        text = text[:start] + middle + text[end:]
    return text


@pytest.mark.parametrize(
    "rounds", [150, pytest.param(20_000, marks=pytest.mark.long)], ids=["few", "many"]
)
def test_no_file_of_cases_makes_the_reader_raise(tmp_path: Path, rounds: int) -> None:
    chance = random.Random(20260120)
    skill = make_skill(tmp_path)
    whole = (
        "tests:\n- name: one\n  input: x\n  vars: {a: b}\n"
        "  answers: {q: [no, {say: [a, b]}, yes]}\n"
        "  choose: {q: [no]}\n  expect: {end: dead_end, path: [B, a], never: [x], calls: 3}\n"
    )
    read = 0
    for _ in range(rounds):
        file = skill.root / "flow-tests.yaml"
        file.write_text(spoil(whole, chance), encoding="utf-8")
        loaded = load_cases(skill)
        read += not loaded.findings
        lines = loaded.sources[file].count("\n") + 2
        assert all(1 <= one.span.line <= lines for one in loaded.findings)
    assert read
