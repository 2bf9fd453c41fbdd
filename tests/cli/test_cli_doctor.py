"""`flowstudio doctor`: what is set up here, what is missing, and what to do."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from flowstudio.cli.doctor import EXTRAS
from flowstudio.cli.doctor_terminal import check_clipboard, check_terminal
from tests.cli.shell import ROOT, Shell

KEY = "sk-secret-0123456789"


def found(shell: Shell, section: str, state: str | None = None) -> list[dict[str, Any]]:
    checks = shell.inside("doctor", "--json").json["checks"]
    fitting = [one for one in checks if one["section"] == section]
    return [one for one in fitting if state in (None, one["state"])]


@pytest.fixture(autouse=True)
def no_local_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What happens to run on this machine is not what is tested."""
    monkeypatch.setattr("flowstudio.models.survey.LOCAL_SERVERS", {"ollama": "http://127.0.0.1:9"})


def test_a_fresh_machine_is_well_and_told_what_it_could_have(shell: Shell) -> None:
    done = shell("doctor")
    assert done.status == 0
    assert "✓ flowstudio" in done.out
    assert "▲ no model can be used" in done.out
    assert "set one of KIMI_API_KEY" in done.out
    assert "It works" in done.out


def test_every_section_is_there_and_every_finding_says_what_to_do(shell: Shell) -> None:
    checks = shell.inside("doctor", "--json").json["checks"]
    assert list(dict.fromkeys(one["section"] for one in checks)) == [
        *("program", "extras", "terminal", "configuration", "models"),
        *("skills", "runs", "editor", "clipboard"),
    ]
    assert all(one["do"] for one in checks if one["state"] != "fine")


def test_a_key_is_named_and_never_shown(shell: Shell) -> None:
    shell.env["OPENAI_API_KEY"] = KEY
    # Nobody is asked for the sake of this test.
    shell.env["OPENAI_BASE_URL"] = "http://127.0.0.1:9"
    done = shell.inside("doctor")
    assert "OPENAI_API_KEY" in done.out
    assert KEY not in done.out + done.err


def test_a_wrong_setting_must_be_put_right(shell: Shell) -> None:
    shell.configure("modle: gpt\n")
    wrong = found(shell, "configuration", "wrong")
    assert "modle" in wrong[0]["what"]
    assert "config.yaml" in wrong[0]["do"]
    assert shell.inside("doctor").status == 1


def test_a_configured_model_that_is_not_there_must_be_put_right(shell: Shell) -> None:
    shell.configure("model: house\n")
    assert "house" in found(shell, "models", "wrong")[0]["what"]


def test_a_theme_that_is_not_there_is_told(shell: Shell) -> None:
    shell.configure("theme: lilac\n")
    assert "studio-dark" in found(shell, "configuration", "look")[0]["do"]


def test_skills_are_counted_by_root_and_broken_ones_named(shell: Shell) -> None:
    (shell.cwd / ".git").mkdir()
    folder = shell.cwd / ".agents" / "skills" / "crooked"
    folder.mkdir(parents=True)
    chart = "```mermaid\nflowchart TD\n a[x --> b\n```\n"
    (folder / "SKILL.md").write_text(
        f"---\nname: crooked\ndescription: x\ntype: flow\n---\n{chart}"
    )
    lines = [one["what"] for one in found(shell, "skills", "fine")]
    assert any(line.startswith("project: 1 flows, 0 other skills") for line in lines)
    broken = [one for one in found(shell, "skills", "look") if "crooked" in one["what"]]
    assert broken[0]["do"].startswith("flowstudio check ")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_for_runs_that_cannot_be_written_must_be_put_right(shell: Shell) -> None:
    shell.cwd.joinpath("flowstudio-home").mkdir()
    shell.cwd.joinpath("flowstudio-home").chmod(0o500)
    assert "cannot be written" in found(shell, "runs", "wrong")[0]["what"]


def test_a_file_in_the_place_of_the_runs_must_be_put_right(shell: Shell) -> None:
    shell.cwd.joinpath("flowstudio-home").write_text("not a folder")
    assert "cannot be written" in found(shell, "runs", "wrong")[0]["what"]


def test_runs_are_counted(shell: Shell) -> None:
    shell.inside("run", ROOT / "skills" / "tour", "--seed", "1")
    assert found(shell, "runs", "fine")[0]["what"].startswith("1 runs, ")


def test_an_editor_that_is_not_there_is_told(shell: Shell) -> None:
    shell.env["EDITOR"] = "no-such-editor --wait"
    assert found(shell, "editor", "look")[0]["what"].startswith("no-such-editor --wait is not")


def test_every_extra_of_the_package_is_looked_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert set(EXTRAS) == set(extras) - {"dev"}
    for name, (package, _) in EXTRAS.items():
        assert any(one.startswith(package) for one in extras[name]), name


@pytest.mark.parametrize(
    ("environ", "says"),
    [
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, "16 million colours"),
        ({"TERM": "xterm-256color"}, "256 colours"),
        ({"TERM": "linux"}, "16 colours"),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, "NO_COLOR is set"),
        ({"TERM": "dumb"}, "TERM is dumb"),
        ({}, "TERM is not set"),
        ({"TERM": "xterm", "TMUX": "/nowhere,1,0"}, "is not tmux's own"),
        ({"TERM": "screen", "STY": "1.x"}, "inside screen"),
        ({"LANG": "de_DE.UTF-8"}, "de_DE.UTF-8"),
    ],
)
def test_the_terminal_is_told_by_what_it_says_of_itself(environ: dict[str, str], says: str) -> None:
    assert any(says in one.what for one in check_terminal(environ))


def test_a_terminal_that_passes_no_copy_on_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (one,) = check_clipboard({"TERM_PROGRAM": "Apple_Terminal"})
    assert (one.state, one.minor) == ("look", False)
