"""The cases that come with the bundled flows, and the page that teaches them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from flowstudio.run.case_file import load_cases
from flowstudio.run.case_run import run_case, sum_up
from flowstudio.run.cases import Case, Expect
from flowstudio.skill import Skill, load_skill

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "flowstudio" / "docs"
FLOWS = [
    skill.root
    for skill in (load_skill(path.parent) for path in sorted((ROOT / "skills").glob("*/SKILL.md")))
    if skill.type == "flow"
]
PAGE = (DOCS / "testing.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^(`{3,})(\w+)\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
SCHEMA: dict[str, Any] = json.loads((DOCS / "skill.schema.json").read_text(encoding="utf-8"))
CASES = Draft202012Validator({"$defs": SCHEMA["$defs"], "$ref": "#/$defs/tests"})


async def check(skill: Skill) -> list[tuple[str, str]]:
    """Carry out all cases of a skill; the branches that none of them takes."""
    loaded = load_cases(skill)
    assert [str(one) for one in loaded.findings] == []
    assert len(loaded.cases) >= 2
    results = [await run_case(skill, one) for one in loaded.cases]
    assert {one.name: one.misses for one in results if one.misses} == {}
    return list(sum_up(skill, results).never_taken)


@pytest.mark.parametrize("folder", FLOWS, ids=lambda folder: folder.name)
async def test_the_cases_of_a_bundled_flow_pass_and_take_every_branch(folder: Path) -> None:
    assert await check(load_skill(folder)) == []


async def test_the_cases_of_the_testing_page_pass_on_the_flow_of_the_grammar_page(
    tmp_path: Path,
) -> None:
    grammar = FENCE.findall((DOCS / "grammar.md").read_text(encoding="utf-8"))
    (skill,) = (text for _, tag, text in grammar if tag == "markdown")
    (cases,) = (text for _, tag, text in FENCE.findall(PAGE) if tag == "yaml")
    (tmp_path / "SKILL.md").write_text(skill, encoding="utf-8")
    (tmp_path / "flow-tests.yaml").write_text(cases, encoding="utf-8")
    assert await check(load_skill(tmp_path)) == []


@pytest.mark.parametrize(
    ("kind", "heading"), [(Case, "## A case"), (Expect, "**What is expected.**")]
)
def test_the_page_and_the_schema_name_every_field(kind: type[Case | Expect], heading: str) -> None:
    table = PAGE.split(heading, 1)[1].split("\n\n", 2)[1]
    named = {
        name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])
    }
    in_schema = SCHEMA["$defs"]["case" if kind is Case else "expect"]["properties"]
    assert set(in_schema) == named == set(kind.model_fields)


def test_the_ends_in_the_schema_are_those_of_a_run() -> None:
    ours = Expect.model_json_schema()["properties"]["end"]
    known = ours.get("enum") or Expect.model_json_schema()["$defs"]["EndReason"]["enum"]
    assert SCHEMA["$defs"]["expect"]["properties"]["end"]["enum"] == known


@pytest.mark.parametrize("folder", FLOWS, ids=lambda folder: folder.name)
def test_the_bundled_cases_satisfy_the_schema(folder: Path) -> None:
    cases = yaml.safe_load((folder / "flow-tests.yaml").read_text(encoding="utf-8"))
    assert [error.message for error in CASES.iter_errors(cases["tests"])] == []


@pytest.mark.parametrize(
    "case",
    [
        {},
        {"name": "x", "anwers": {}},
        {"name": "x", "answers": {"q": {"says": "x"}}},
        {"name": "x", "expect": {"end": "soon"}},
        {"name": "x", "max_moves": 0},
    ],
)
def test_what_is_refused_does_not_satisfy_the_schema(case: dict[str, Any]) -> None:
    assert not CASES.is_valid([case])
