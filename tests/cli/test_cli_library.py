"""`flowstudio library`: what a newcomer reads, and what programs rely on."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowstudio.mindflow.database import Database
from flowstudio.mindflow.usage import UsageLog
from tests.cli.shell import Shell

SKILL = "---\nname: {}\ndescription: Does it.\n{}---\n\nDo it.\n"


def write(folder: Path, name: str, fields: str = "") -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "SKILL.md").write_text(SKILL.format(name, fields))
    return folder / name


@pytest.mark.parametrize("command", ["graph", "add", "import", "export", "stats", "review"])
def test_each_commands_help_has_an_example_or_says_how_it_ends(shell: Shell, command: str):
    shown = shell.inside("library", command, "--help")
    assert shown.status == 0
    assert "exit status:" in shown.out or "examples:" in shown.out
    assert f"library {command}" in shown.out


def test_the_librarys_own_help_says_what_a_skill_is_and_where_it_lies(shell: Shell):
    shown = shell.inside("library", "--help").out
    assert "a folder with a SKILL.md" in shown and ".kimi/skills" in shown


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("add", "nowhere"), "nowhere: no such file or folder"),
        (("add", "empty"), "holds no skill"),
        (("import", "empty"), "a skill is a folder with a SKILL.md"),
        (("export", "out.zip", "cvs"), "did you mean csv?"),
        (("export", "out.zip"), "name the bundled skills that you want"),
        (("graph", "cvs"), "did you mean csv?"),
        (("graph", "csv", "--hops", "-1"), "must be 0 or more"),
    ],
)
def test_a_wrong_call_says_what_is_wrong_and_what_to_do(
    shell: Shell, argv: tuple[str, ...], says: str
):
    (shell.cwd / "empty").mkdir()
    done = shell.inside("library", *argv)
    assert done.status == 2 and done.out == ""
    assert done.err.startswith("flowstudio: ") and says in done.err
    assert "Traceback" not in done.err


def test_statistics_without_use_say_where_they_come_from(shell: Shell):
    shown = shell.inside("library", "stats").out
    assert "no skill was used yet" in shown and "/skill:NAME" in shown


# ---- for programs ----------------------------------------------------------------------------


def test_the_fields_of_the_statistics(shell: Shell):
    with Database(shell.cwd / "flowstudio-home/data/library.sqlite3") as database:
        UsageLog(database).record("csv", "partial", seconds=2.0)
    found = shell.inside("library", "stats", "--json").json
    assert set(found) == {"file", "skills", "recent_topics", "changes_waiting"}
    [one] = found["skills"]
    assert set(one) == {
        *("skill", "used", "done", "partial", "failed", "success_rate", "mean_seconds"),
        *("last_used", "last_failure", "chosen", "rejected"),
    }
    assert (one["success_rate"], one["mean_seconds"]) == (0.5, 2.0)


def test_the_fields_of_the_graph_and_that_a_methodology_ends_a_walk(shell: Shell):
    for name in ("one", "two"):
        write(shell.cwd / "lib", name, "methodology_scores: {meth_consistency: 0.9}\n")
    argv = ("library", "graph", "one", "--hops", "3", "--skills-dir", "lib", "--json")
    found = shell.inside(*argv).json
    assert set(found) == {"nodes", "edges"}
    assert {tuple(one) for one in found["nodes"]} == {("kind", "id", "distance")}
    assert {tuple(one) for one in found["edges"]} == {("kind", "src", "dst", "weight")}
    names = [(one["kind"], one["id"]) for one in found["nodes"]]
    assert names == [("skill", "one"), ("methodology", "meth_consistency")]


def test_the_fields_of_what_comes_in_and_goes_out(shell: Shell):
    source = write(shell.cwd, "one")
    added = shell.inside("library", "add", source, "--to", "lib", "--json").json
    assert set(added) == {"target", "skills", "left_out", "dry_run"}
    [one] = added["skills"]
    assert set(one) == {"name", "verdict", "target", "note", "warnings"}
    assert (one["name"], one["verdict"], added["dry_run"]) == ("one", "add", False)
    packed = shell.inside(
        "library", "export", "out.zip", "one", "--skills-dir", "lib", "--json"
    ).json
    assert set(packed) == {"file", "skills", "left_out", "written"}
    assert packed["skills"] == ["one"] and packed["written"]
