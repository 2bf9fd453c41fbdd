"""`flowstudio new` and `flowstudio rename`, as a shell user meets them."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowstudio.cli import main
from flowstudio.run.breakpoints import Breakpoint
from flowstudio.run.kept_breakpoints import keep_breakpoints, load_breakpoints
from flowstudio.skill import load_skill
from flowstudio.skill.starting import TEMPLATES


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLOWSTUDIO_HOME", str(tmp_path / "home"))
    work = tmp_path / "work"
    (work / ".git").mkdir(parents=True)
    monkeypatch.chdir(work)
    return work


@pytest.mark.parametrize("language", ["mermaid", "d2"])
@pytest.mark.parametrize("template", TEMPLATES)
def test_each_template_makes_a_flow_without_findings(
    here: Path, template: str, language: str
) -> None:
    assert main(["new", "my-flow", "--template", template, "--language", language]) == 0
    skill = load_skill(here / ".agents" / "skills" / "my-flow")
    assert skill.diagnostics == ()
    assert skill.flow is not None
    assert skill.chart is not None
    assert skill.chart.language == language


@pytest.mark.parametrize(
    "name", ["", "My-Flow", "a b", "-a", "a--b", "../up", "a/b", ".hidden", "x" * 65]
)
def test_a_name_that_is_none_is_refused_and_nothing_is_written(
    here: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "--", name]) == 2
    assert "name" in capsys.readouterr().err
    assert not (here / ".agents").exists()


@pytest.mark.parametrize("there", ["folder", "file", "link"])
def test_nothing_is_written_over(
    here: Path, there: str, capsys: pytest.CaptureFixture[str]
) -> None:
    root = here / ".agents" / "skills"
    root.mkdir(parents=True)
    place = root / "mine"
    match there:
        case "folder":
            place.mkdir()
        case "file":
            place.write_text("mine")
        case _:
            place.symlink_to(here / "nowhere")
    assert main(["new", "mine"]) == 2
    assert "is there already" in capsys.readouterr().err
    assert not (place / "SKILL.md").exists()


def test_a_description_cannot_break_the_front_matter(here: Path) -> None:
    assert main(["new", "a", "--description", 'it\'s "odd": [x]\n---\ntype: standard']) == 0
    skill = load_skill(here / ".agents" / "skills" / "a")
    assert skill.declared_type == "flow"
    assert skill.description == 'it\'s "odd": [x] --- type: standard'


def test_the_list_names_the_templates(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(TEMPLATES)


def test_an_unknown_template_names_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "a", "--template", "x"]) == 2
    assert "linear" in capsys.readouterr().err


# rename


SKILL = """\
---
name: demo
description: A demo.
type: flow
nodes:
  check: {tools: [ReadFile]}
---
> ```mermaid
> flowchart TD
>   BEGIN --> check[check it] --> END
> ```
"""


@pytest.fixture
def skill_file(here: Path) -> Path:
    path = here / "demo" / "SKILL.md"
    path.parent.mkdir()
    path.write_text(SKILL, encoding="utf-8")
    return path


def test_rename_changes_chart_rules_and_breakpoints(skill_file: Path) -> None:
    keep_breakpoints(skill_file.absolute(), [Breakpoint("check"), Breakpoint("END")])
    assert main(["rename", str(skill_file), "check", "look"]) == 0
    assert skill_file.read_text("utf-8") == SKILL.replace("check:", "look:").replace(
        "check[", "look["
    )
    points, _ = load_breakpoints(skill_file.absolute())
    assert [point.node for point in points] == ["look", "END"]
    assert load_skill(skill_file).diagnostics == ()


def test_rename_with_diff_writes_nothing(
    skill_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rename", str(skill_file), "check", "look", "--diff"]) == 0
    out = capsys.readouterr().out
    assert "->   BEGIN --> check[check it] --> END" in out
    assert "+>   BEGIN --> look[check it] --> END" in out
    assert skill_file.read_text("utf-8") == SKILL


@pytest.mark.parametrize(("old", "new"), [("chek", "x"), ("check", "END"), ("check", "a b")])
def test_rename_says_why_it_cannot(
    skill_file: Path, old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rename", str(skill_file), old, new]) == 2
    assert capsys.readouterr().err.startswith("flowstudio: ")
    assert skill_file.read_text("utf-8") == SKILL
