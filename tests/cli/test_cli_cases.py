"""`flowstudio test` as CI uses it: forms, files and exit status."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from tests.cli.shell import CORPUS, Shell

SKILL = """---
name: fork
description: x
type: flow
---
```mermaid
flowchart TD
B([BEGIN]) --> a[work] --> q{good?}
q -->|yes| E([END])
q -->|no| a
```
"""
GOOD = "tests:\n- {name: straight on, answers: {q: yes}}\n"
BAD = GOOD + '- {name: "odd <b>#\\e name", answers: {q: [no]}, expect: {never: [a]}}\n'


@pytest.fixture
def skill(shell: Shell) -> Path:
    folder = shell.cwd / "skills" / "fork"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    (folder / "flow-tests.yaml").write_text(GOOD)
    return folder


def test_cases_that_pass_give_status_0_and_the_branches_that_none_takes(
    shell: Shell, skill: Path
) -> None:
    done = shell.inside("test", skill)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(
        "fork\n  ✓ straight on\n  branches taken: 1 of 2\n  branches never taken: q → no\n\n"
    )
    assert "1 cases passed in" in done.out
    assert shell.runs == []


def test_a_case_that_fails_gives_status_1_with_its_place_and_path(
    shell: Shell, skill: Path
) -> None:
    (skill / "flow-tests.yaml").write_text(BAD)
    done = shell.inside("test", skill)
    assert done.status == 1
    assert "  ✗ odd <b>#␛ name\n" in done.out
    assert "flow-tests.yaml:3:3\n" in done.out
    assert "“a” was entered, at move 1" in done.out
    assert "path: B → a → q → a → q" in done.out
    assert "1 of 2 cases failed" in done.out


def test_junit_is_xml_with_a_suite_for_each_flow(shell: Shell, skill: Path) -> None:
    (skill / "flow-tests.yaml").write_text(BAD)
    done = shell.inside("test", skill, "--format", "junit", "-o", "report.xml")
    assert (done.status, done.out) == (1, "")
    root = ElementTree.parse(shell.cwd / "report.xml").getroot()
    assert (root.get("tests"), root.get("failures")) == ("2", "1")
    (suite,) = root
    first, second = suite.findall("testcase")
    assert (first.get("classname"), first.get("name"), len(first)) == ("fork", "straight on", 0)
    assert second.get("name") == "odd <b>#� name"
    assert (second.get("line"), Path(second.get("file") or "").name) == ("3", "flow-tests.yaml")
    failure = second.find("failure")
    assert failure is not None
    assert "this is visit 2" in (failure.get("message") or "")


def test_tap_counts_the_cases_and_explains_failures_in_yaml(shell: Shell, skill: Path) -> None:
    (skill / "flow-tests.yaml").write_text(BAD)
    done = shell.inside("test", skill, "--format", "tap")
    lines = done.out.splitlines()
    assert lines[:3] == ["TAP version 13", "1..2", "ok 1 - fork: straight on"]
    assert lines[3] == "not ok 2 - fork: odd <b>\\#␛ name"
    block = done.out.split("  ---\n")[1].split("  ...\n")[0]
    assert yaml.safe_load(block)["path"] == ["B", "a", "q", "a", "q"]


def test_a_folder_of_skills_is_tested_as_a_whole(shell: Shell, skill: Path) -> None:
    (skill.parent / "plain").mkdir()
    (skill.parent / "plain" / "SKILL.md").write_text("---\nname: p\ndescription: x\n---\n")
    assert shell.inside("test", skill.parent).status == 0
    assert shell.inside("test", skill.parent, skill).out.count("straight on") == 1


def test_a_skill_is_found_by_its_name(shell: Shell) -> None:
    done = shell.inside("test", "tour")
    assert done.status == 0
    assert "branches taken: 3 of 3" in done.out


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        (None, "there are no cases"),
        ("tests: [", "flow-tests.yaml:1:9: error: the YAML cannot be read"),
        ("tests:\n- {name: x, anwers: {}}", "flow-tests.yaml:2:13: error:"),
        ("tests:\n- {name: x, answers: {q: maybe}}", '2:26: error: "q" has no branch "maybe"'),
    ],
)
def test_cases_that_cannot_be_run_give_status_2(
    shell: Shell, skill: Path, cases: str | None, said: str
) -> None:
    file = skill / "flow-tests.yaml"
    file.unlink() if cases is None else file.write_text(cases)
    done = shell.inside("test", skill)
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_a_flow_with_cases_that_is_broken_gives_status_2(shell: Shell, skill: Path) -> None:
    (skill / "SKILL.md").write_text(SKILL.replace("|no|", ""))
    done = shell.inside("test", skill)
    assert done.status == 2
    assert "fork has cases, but holds no flow that can be run" in done.err


def test_one_skill_with_bad_cases_keeps_no_other_from_being_tested(
    shell: Shell, skill: Path
) -> None:
    other = skill.with_name("other")
    other.mkdir()
    (other / "SKILL.md").write_text(SKILL.replace("name: fork", "name: other"))
    (other / "flow-tests.yaml").write_text("tests: 3")
    done = shell.inside("test", skill.parent)
    assert done.status == 2
    assert "✓ straight on" in done.out


@pytest.mark.parametrize("path", ["gone", "gone/", str(CORPUS / "charts")])
def test_a_place_without_a_skill_gives_status_2(shell: Shell, path: str) -> None:
    assert shell.inside("test", path).status == 2


def test_a_report_that_cannot_be_written_gives_status_2(shell: Shell, skill: Path) -> None:
    done = shell.inside("test", skill, "-o", "no/such/report.xml")
    assert done.status == 2
    assert "no/such/report.xml" in done.err
