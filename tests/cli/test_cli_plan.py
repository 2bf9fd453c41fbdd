"""`flowstudio plan` and `flowstudio library`, as a shell user meets them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from flowstudio.mindflow.database import Database
from flowstudio.mindflow.feedback import FeedbackLog
from flowstudio.mindflow.usage import UsageLog
from tests.cli.shell import Shell

SKILL = "---\nname: {name}\ndescription: Does {name}.\ntype: standard\n{fields}---\n\nDo it.\n"


def write(shell: Shell, name: str, fields: str = "") -> Path:
    folder = shell.cwd / ".kimi" / "skills" / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL.format(name=name, fields=fields))
    return folder / "SKILL.md"


def data(shell: Shell) -> Database:
    return Database(shell.cwd / "flowstudio-home" / "data" / "library.sqlite3")


# ---- plan ------------------------------------------------------------------------------------


def test_a_plan_of_bundled_skills_is_written_checked_and_walked(shell: Shell):
    done = shell.inside("plan", "处理CSV并生成图表", "--have", "has_csv_file", "-o", "out/")
    assert done.status == 0, done.err
    assert [line.split()[1] for line in done.out.splitlines() if line.startswith("  ")][:3] == [
        "csv",
        "data-cleaning",
        "data-visualization",
    ]
    [file] = (shell.cwd / "out").glob("*/SKILL.md")
    assert shell.inside("check", file).out.strip() == "1 checked: all good"
    walked = shell.inside("run", file, "--seed", "1", "--json")
    assert walked.status == 0
    assert [event["node"] for event in walked.events if event["type"] == "node_entered"] == [
        "BEGIN",
        "step1",
        "step2",
        "step3",
        "END",
    ]


def test_what_must_be_there_to_begin_with_is_named(shell: Shell):
    done = shell.inside("plan", "has_chart")
    assert done.status == 0 and "needs: has_" in done.out


def test_a_plan_as_json_holds_the_steps_and_the_skills_text(shell: Shell):
    write(shell, "one", "effects: [has_one]\n")
    found = shell.inside("plan", "has_one", "--json").json
    assert found["way"] == "full" and found["goal"]["read_by"] == "names"
    assert [step["skill"] for step in found["steps"]] == ["one"]
    assert found["skill"].startswith("---\nname: ") and found["written"] is None


def test_circles_and_missing_states_are_named(shell: Shell):
    write(shell, "hen", "preconditions: [has_egg]\neffects: [has_hen]\n")
    write(shell, "egg", "preconditions: [has_hen]\neffects: [has_egg]\n")
    done = shell.inside("plan", "has_hen")
    assert done.status == 1
    assert "circle: has_hen (by hen) needs has_egg (by egg) needs has_hen" in done.out
    assert shell.inside("plan", "has_hen", "--have", "has_egg").status == 0


def test_a_misspelt_state_is_told(shell: Shell):
    done = shell.inside("plan", "has_chart", "--have", "has_csv_fle")
    assert "did you mean has_csv_file?" in done.err


def test_a_plan_is_drawn(shell: Shell):
    done = shell.inside("plan", "has_chart", "--draw")
    assert "│ BEGIN │" in done.out and "│ END │" in done.out


def test_a_plan_that_is_there_already_is_not_overwritten(shell: Shell):
    assert shell.inside("plan", "has_chart", "-o", "mine.md").status == 0
    again = shell.inside("plan", "has_chart", "-o", "mine.md")
    assert again.status == 2 and "is there already" in again.err
    assert shell.inside("plan", "has_chart", "-o", "mine.md", "--force").status == 0


@pytest.mark.parametrize(
    "argv",
    [("plan", " "), ("plan", "x", "--model", "m", "--no-model"), ("plan", "x", "--model", "no")],
)
def test_a_wrong_call_is_said(shell: Shell, argv: tuple[str, ...]):
    assert shell.inside(*argv).status == 2


# ---- library ---------------------------------------------------------------------------------


def test_skills_go_out_and_come_in_again(shell: Shell):
    write(shell, "one")
    assert shell.inside("library", "export", "out.zip").out == "1 packed into out.zip: one\n"
    dry = shell.inside("library", "import", "out.zip", "--to", "lib", "--dry-run")
    assert "one: would be added" in dry.out and not (shell.cwd / "lib").exists()
    assert shell.inside("library", "import", "out.zip", "--to", "lib").status == 0
    again = shell.inside("library", "import", "out.zip", "--to", "lib", "--json").json
    assert [one["verdict"] for one in again["skills"]] == ["same"]


def test_a_skill_is_added_for_the_user_or_the_project(shell: Shell):
    source = write(shell, "one").parent.rename(shell.cwd / "one")
    (shell.cwd / ".git").mkdir()
    assert shell.inside("library", "add", source).status == 0
    assert (shell.cwd / "home/.kimi/skills/one/SKILL.md").exists()
    assert shell.inside("library", "add", source, "--project").status == 0
    assert (shell.cwd / ".kimi/skills/one/SKILL.md").exists()
    taken = shell.inside("library", "add", source, "--to", "lib")
    assert taken.status == 0


def test_an_archive_that_is_not_safe_is_refused(shell: Shell):
    with zipfile.ZipFile(shell.cwd / "evil.zip", "w") as out:
        out.writestr("../evil/SKILL.md", SKILL)
    done = shell.inside("library", "import", "evil.zip", "--to", "lib")
    assert done.status == 2 and "leads out of it" in done.err


def test_statistics_say_what_use_and_feedback_say(shell: Shell):
    assert "no skill was used yet" in shell.inside("library", "stats").out
    with data(shell) as database:
        UsageLog(database).record("csv", "done")
        UsageLog(database).record("csv", "failed", why="locked")
        FeedbackLog(database).reject("tidy", "notes")
    shown = shell.inside("library", "stats")
    assert "50%" in shown.out and "failed last: locked" in shown.out
    found = shell.inside("library", "stats", "--json").json
    assert [(one["skill"], one["used"], one["rejected"]) for one in found["skills"]] == [
        ("csv", 2, 0),
        ("notes", 0, 1),
    ]
    assert found["skills"][0]["success_rate"] == 0.5


def test_a_change_that_was_learned_is_reviewed_written_and_undone(shell: Shell):
    file = write(shell, "clean")
    before = file.read_text()
    with data(shell) as database:
        log = FeedbackLog(database)
        log.reject("tidy numbers", "csv")
        log.choose("tidy numbers", "clean")
        log.choose("tidy numbers", "clean")
    shown = shell.inside("library", "review")
    assert '+utterances: ["tidy numbers"]' in shown.out and "approves itself in 60 min" in shown.out
    [one] = shell.inside("library", "review", "--json").json["changes"]
    assert one["state"] == "open" and file.read_text() == before

    assert shell.inside("library", "review", "--approve", str(one["id"])).status == 0
    assert 'utterances: ["tidy numbers"]' in file.read_text()
    assert shell.inside("library", "review", "--undo", str(one["id"])).status == 0
    assert file.read_text() == before
    assert shell.inside("library", "review").out == "no change waits\n", "it is not proposed again"


def test_there_is_no_such_change(shell: Shell):
    done = shell.inside("library", "review", "--reject", "9")
    assert done.status == 2 and "there is no change 9" in done.err


def test_the_program_itself_plans(shell: Shell):
    done = shell("plan", "has_chart", "--json")
    assert done.status == 0 and done.json["steps"]
