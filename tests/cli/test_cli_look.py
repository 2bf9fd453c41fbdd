"""list, show, check, explain: what they print for people and for programs."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from flowstudio.flow import CODES
from tests.cli.shell import CORPUS, Shell

DIAGNOSTIC = [
    "path",
    "line",
    "column",
    "end_line",
    "end_column",
    "severity",
    "code",
    "message",
    "hint",
]
GRAPHS = json.loads((CORPUS / "graphs.json").read_text(encoding="utf-8"))["charts"]
LOOP = """---
name: loop
description: Goes round.
type: flow
---

```mermaid
flowchart TD
  B([BEGIN]) --> work[Work on it]
  work --> check{Good?}
  check -->|yes| E([END])
  check -->|no| work
```
"""


@pytest.fixture
def project(shell: Shell) -> Path:
    """A work folder with one flow skill and one standard skill."""
    skills = shell.cwd / ".agents" / "skills"
    (skills / "loop").mkdir(parents=True)
    (skills / "loop" / "SKILL.md").write_text(LOOP, encoding="utf-8")
    (skills / "notes").mkdir()
    (skills / "notes" / "SKILL.md").write_text(
        "---\nname: notes\ndescription: Takes notes.\n---\nBody.\n", encoding="utf-8"
    )
    return shell.cwd


# list


def test_list_shows_the_projects_skills_before_the_bundled_ones(
    shell: Shell, project: Path
) -> None:
    done = shell("list")
    assert done.status == 0
    lines = [line.strip() for line in done.out.splitlines() if line.strip()]
    assert lines[0] == "project"
    assert [line.split()[:2] for line in lines[1:3]] == [["◆", "loop"], ["◇", "notes"]]
    assert lines.index("builtin") == 3
    assert any(line.startswith("◆ tour") for line in lines)


def test_list_json_names_each_skill_with_its_diagnostics(shell: Shell, project: Path) -> None:
    skills = {skill["name"]: skill for skill in shell("list", "--json").json}
    assert list(skills["loop"]) == [
        "name",
        "description",
        "type",
        "scope",
        "path",
        "valid",
        "diagnostics",
    ]
    loop = skills["loop"]
    assert (loop["type"], loop["scope"], loop["valid"]) == ("flow", "project", True)
    assert loop["path"] == str(project / ".agents" / "skills" / "loop" / "SKILL.md")
    assert skills["notes"]["type"] == "standard"
    assert skills["tour"]["scope"] == "builtin"


def test_list_shows_a_broken_flow_skill_as_what_it_is_meant_to_be(shell: Shell) -> None:
    skills = shell("list", "--json", "--skills-dir", CORPUS).json
    broken = next(skill for skill in skills if skill["name"] == "changelog-from-commits")
    assert (broken["type"], broken["valid"], broken["scope"]) == ("flow", False, "extra")
    assert [list(one) for one in broken["diagnostics"]] == [DIAGNOSTIC] * len(broken["diagnostics"])
    assert any(one["severity"] == "error" for one in broken["diagnostics"])


def test_list_takes_a_work_folder(shell: Shell, project: Path, tmp_path: Path) -> None:
    shell.cwd = tmp_path / "elsewhere"
    shell.cwd.mkdir()
    names = [skill["name"] for skill in shell("list", project, "--json").json]
    assert "loop" in names


def test_list_of_what_is_no_folder_is_a_wrong_call(shell: Shell) -> None:
    done = shell("list", "nowhere")
    assert (done.status, done.out) == (2, "")
    assert "nowhere is not a folder" in done.err


# show


def test_show_json_gives_nodes_edges_and_places(shell: Shell, project: Path) -> None:
    done = shell("show", "loop", "--json")
    assert done.status == 0
    chart = done.json
    assert list(chart["nodes"][0]) == ["id", "label", "kind", "line", "column"]
    assert list(chart["edges"][0]) == ["src", "dst", "label", "line", "column"]
    assert [(one["id"], one["kind"]) for one in chart["nodes"]] == [
        ("B", "begin"),
        ("work", "task"),
        ("check", "decision"),
        ("E", "end"),
    ]
    assert (chart["begin"], chart["end"], chart["valid"]) == ("B", "E", True)
    assert chart["nodes"][0]["line"] == 9
    assert chart["nodes"][0]["column"] == 3
    assert [(one["src"], one["dst"], one["label"]) for one in chart["edges"]][-1] == (
        "check",
        "work",
        "no",
    )
    assert (chart["language"], chart["diagnostics"]) == ("mermaid", [])


def test_show_tells_the_flow_in_words_without_lines_and_arrows(shell: Shell, project: Path) -> None:
    done = shell("show", "loop")
    assert done.status == 0
    assert done.out.endswith(
        """
4 nodes, 4 edges, mermaid

1. Begin, line 9.
   Then 2.
2. Task work, line 9: Work on it
   A loop begins here: 3 comes back.
   Then 3.
3. Decision check, line 10: Good?
   On “yes”: go to 4.
   On “no”: go back to 2.
4. End, line 11.
"""
    )


def test_show_passes_no_escape_on_and_heeds_the_encoding(shell: Shell) -> None:
    file = shell.cwd / "zh.mmd"
    text = 'flowchart TD\n B([BEGIN]) --> a["列出 \x1b[31m文件"] --> E([END])\n'
    file.write_text(text, encoding="utf-8")
    assert "2. Task a, line 2: 列出 ␛[31m文件" in shell.inside("show", file).out
    done = shell("show", file, env={"PYTHONIOENCODING": "ascii"})
    assert done.status == 0
    assert b"2. Task a, line 2: ?? ?[31m??" in done.raw_out


@pytest.mark.parametrize("broken", sorted(CORPUS.glob("broken-*")), ids=lambda path: path.name)
def test_show_tells_what_could_be_read_of_an_invalid_flow(shell: Shell, broken: Path) -> None:
    done = shell.inside("show", broken)
    assert done.status == 1
    assert "1. Begin" in done.out
    assert "error" in done.err


def test_show_json_gives_what_could_be_read_of_an_invalid_flow(shell: Shell) -> None:
    done = shell("show", CORPUS / "broken-unlabelled-branch", "--json")
    assert done.status == 1
    assert done.json["valid"] is False
    assert len(done.json["nodes"]) == 7
    assert len(done.json["edges"]) == 8
    assert [list(one) for one in done.json["diagnostics"]] == [DIAGNOSTIC]


@pytest.mark.parametrize("chart", GRAPHS, ids=lambda chart: chart["path"])
def test_show_reads_each_chart_of_the_corpus_as_it_was_drawn(
    shell: Shell, chart: dict[str, Any]
) -> None:
    read = shell("show", CORPUS / chart["path"], "--json").json
    assert [one["id"] for one in read["nodes"]] == chart["node_ids"]
    edges = [[one["src"], one["dst"], one["label"]] for one in read["edges"]]
    assert sorted(edges, key=str) == sorted(chart["edges"], key=str)
    assert (read["begin"], read["end"]) == (chart["begin"], chart["end"])
    assert read["language"] == chart["lang"]


# check


@pytest.mark.parametrize(
    ("folder", "line", "column"),
    [
        ("broken-end-unreachable", 22, 90),
        ("broken-unclosed-bracket", 13, 21),
        ("broken-unlabelled-branch", 24, 1),
    ],
)
def test_check_finds_each_broken_skill_at_its_expected_place(
    shell: Shell, folder: str, line: int, column: int
) -> None:
    done = shell("check", CORPUS / folder, "--json")
    assert done.status == 1
    places = [(one["line"], one["column"], one["severity"]) for one in done.json]
    assert (line, column, "error") in places
    assert all(list(one) == DIAGNOSTIC for one in done.json)
    assert all(one["path"] == str(CORPUS / folder / "SKILL.md") for one in done.json)


def test_check_quotes_the_line_marks_the_place_and_says_what_to_write(shell: Shell) -> None:
    done = shell("check", CORPUS / "broken-unclosed-bracket")
    assert done.status == 1
    lines = done.out.splitlines()
    at = next(number for number, line in enumerate(lines) if ":13:21: error:" in line)
    quoted, marked = lines[at + 1], lines[at + 2]
    assert "write[Write one line per change" in quoted
    assert quoted.index("[Write") == marked.index("^")
    assert "]" in marked
    assert lines[-1] == "1 checked: 1 errors, 0 warnings"


def test_check_of_good_skills_is_quiet_and_exits_0(shell: Shell) -> None:
    done = shell("check", CORPUS / "bug-triage", CORPUS / "charts" / "readme-freshness.mmd")
    assert (done.status, done.out) == (0, "2 checked: all good\n")
    assert shell("check", CORPUS / "bug-triage", "--json").json == []


def test_check_of_several_paths_reports_all_of_them(shell: Shell) -> None:
    paths = [CORPUS / "bug-triage", CORPUS / "broken-unclosed-bracket"]
    done = shell("check", *paths, CORPUS / "broken-unlabelled-branch", "--json")
    assert done.status == 1
    assert {Path(one["path"]).parent.name for one in done.json} == {
        "broken-unclosed-bracket",
        "broken-unlabelled-branch",
    }


def test_check_of_a_folder_checks_every_skill_in_it(shell: Shell) -> None:
    done = shell("check", CORPUS, "--json")
    assert done.status == 1
    errors = {Path(one["path"]).parent.name for one in done.json if one["severity"] == "error"}
    assert errors == {
        "broken-end-unreachable",
        "broken-unclosed-bracket",
        "broken-unlabelled-branch",
    }


def test_check_of_a_work_folder_checks_its_project_skills(shell: Shell, project: Path) -> None:
    done = shell("check", project)
    assert (done.status, done.out) == (0, "2 checked: all good\n")


def test_warnings_alone_do_not_fail_a_check(shell: Shell) -> None:
    file = shell.cwd / "warn.mmd"
    file.write_text("flowchart TD\n B([BEGIN]) --> a[x] --> E([END])\n never[y] --> a\n")
    done = shell("check", file, "--json")
    assert done.status == 0
    assert [one["severity"] for one in done.json] == ["warning"]


# explain


def test_explain_lists_all_codes_and_explains_each(shell: Shell) -> None:
    listed = {line.split()[0] for line in shell("explain").out.splitlines()}
    assert {"end-unreachable", "begin-exits"} <= listed
    done = shell("explain", "end-unreachable")
    assert done.status == 0
    assert done.out.startswith("end-unreachable (error)\n")
    assert CODES["end-unreachable"].explanation.split()[0] in done.out


def test_explain_of_an_unknown_code_is_a_wrong_call(shell: Shell) -> None:
    done = shell("explain", "no-such-code")
    assert (done.status, done.out) == (2, "")
    assert "no-such-code" in done.err


# Names and calls


@pytest.mark.parametrize("command", ["show", "draw", "run"])
def test_an_unknown_name_is_answered_with_a_near_one(
    shell: Shell, project: Path, command: str
) -> None:
    done = shell(command, "lop")
    assert (done.status, done.out) == (2, "")
    assert "there is no skill 'lop' here" in done.err
    assert "did you mean loop?" in done.err


def test_a_name_is_found_whatever_its_case(shell: Shell, project: Path) -> None:
    assert shell("show", "LOOP", "--json").json["name"] == "loop"


def test_a_folder_of_the_same_name_that_is_no_skill_does_not_hide_the_skill(
    shell: Shell, project: Path
) -> None:
    (shell.cwd / "loop").mkdir()
    assert shell("show", "loop", "--json").json["name"] == "loop"


@pytest.mark.parametrize(
    "argv",
    [
        ["show"],
        ["check"],
        ["run"],
        ["draw", "loop", "--zoom", "huge"],
        ["run", "loop", "--seed", "x"],
        ["run", "loop", "--seed", "1", "--model", "m"],
        ["run", "loop", "--max-moves", "0", "--seed", "1"],
        ["list", "--unheard-of"],
    ],
    ids=" ".join,
)
def test_a_wrong_call_exits_2_with_a_word_on_it(
    shell: Shell, project: Path, argv: list[str]
) -> None:
    done = shell(*argv)
    assert (done.status, done.out) == (2, "")
    assert done.err.strip()


def test_the_first_help_names_each_command(shell: Shell) -> None:
    """`find`, `attach`, `serve` and `doctor` were once left out of a list of its own."""
    shown = shell.inside("--help").out
    named = re.findall(r"^    (\w+) +[A-Z]", shown, re.MULTILINE)
    assert {"find", "attach", "serve", "doctor", "run", "draw"} <= set(named)
    for name in named:
        assert shell.inside(name, "--help").status == 0


@pytest.mark.parametrize("argv", [["--help"], ["run", "--help"], ["--version"]], ids=" ".join)
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_help_is_printed_in_any_encoding(shell: Shell, argv: list[str], encoding: str) -> None:
    done = shell(*argv, env={"PYTHONIOENCODING": encoding})
    assert done.status == 0
    assert b"flowstudio" in done.raw_out


def test_without_a_terminal_the_studio_says_what_to_use_instead(shell: Shell) -> None:
    done = shell()
    assert (done.status, done.out) == (2, "")
    assert "the studio needs a terminal" in done.err
    assert "flowstudio list" in done.err


def test_the_program_works_from_any_folder_on_a_copy_of_a_skill(shell: Shell) -> None:
    shutil.copytree(CORPUS / "data-cleaning", shell.cwd / "my skill")
    assert shell("check", "my skill").status == 0
    assert shell("show", "my skill/SKILL.md", "--json").json["name"] == "data-cleaning"


def test_folders_of_the_configuration_hold_skills_too(shell: Shell, project: Path) -> None:
    more = shell.cwd / "elsewhere"
    (more / "loop2").mkdir(parents=True)
    (more / "loop2" / "SKILL.md").write_text(
        LOOP.replace("name: loop", "name: loop2"), encoding="utf-8"
    )
    settings = shell.cwd / "config.yaml"
    settings.write_text(f"skills_dirs: ['{more}']\n", encoding="utf-8")
    listed = shell("list", "--json", env={"FLOWSTUDIO_CONFIG": str(settings)})
    assert "loop2" in [skill["name"] for skill in json.loads(listed.out)]
