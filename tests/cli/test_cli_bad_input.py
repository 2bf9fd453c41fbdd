"""Files that are no flows, huge ones and hostile ones: a clear message, never a traceback."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.shell import LONGEST, Shell

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What a terminal would act upon."""


def write(shell: Shell, name: str, content: bytes | str) -> Path:
    file = shell.cwd / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


NO_FLOWS = {
    "empty.mmd": b"",
    "blank.d2": b"  \n\n",
    "empty/SKILL.md": b"",
    "words.mmd": b"This is a letter to my aunt.\n",
    "sequence.mmd": b"sequenceDiagram\n  A->>B: hi\n",
    "binary.mmd": bytes(range(256)) * 40,
    "binary.d2": bytes(range(255, -1, -1)) * 40,
    "picture/SKILL.md": b"\x89PNG\r\n\x1a\n" + bytes(2000),
    "front/SKILL.md": b"---\nname: [unclosed\ntype: flow\n---\n",
    "nochart/SKILL.md": b"---\nname: nochart\ndescription: x\ntype: flow\n---\nNo chart here.\n",
    "brackets.mmd": b"flowchart TD\n" + b"[" * 20_000,
}


@pytest.mark.parametrize("name", NO_FLOWS)
def test_what_is_no_flow_is_an_error_with_a_place_for_each_command(shell: Shell, name: str) -> None:
    file = write(shell, name, NO_FLOWS[name])
    checked = shell("check", file)
    assert checked.status == 1
    assert re.search(rf"{re.escape(str(file))}:\d+:\d+: error: \S", checked.out)
    shown = shell("show", file, "--json")
    assert shown.status == 1
    assert shown.json["valid"] is False
    run = shell("run", file, "--seed", "1")
    assert (run.status, run.out) == (2, "")
    assert "holds no flow" in run.err
    for done in (checked, shown, run):
        assert not CONTROL.search(done.out + done.err)


@pytest.mark.parametrize("name", NO_FLOWS)
def test_drawing_what_is_no_flow_ends_with_a_picture_or_a_sentence(shell: Shell, name: str) -> None:
    done = shell("draw", write(shell, name, NO_FLOWS[name]))
    assert done.status in (0, 2)
    assert done.out if done.status == 0 else "holds no chart that could be drawn" in done.err


@pytest.mark.parametrize("command", ["show", "draw", "check", "run"])
@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("nowhere/SKILL.md", "nowhere/SKILL.md"),
        ("notes.txt", "notes.txt"),
        ("empty folder", "empty folder"),
    ],
)
def test_what_is_not_there_or_cannot_hold_a_skill_is_a_wrong_call(
    shell: Shell, command: str, place: str, said: str
) -> None:
    write(shell, "notes.txt", "not a skill")
    (shell.cwd / "empty folder").mkdir()
    done = shell(command, place)
    assert (done.status, done.out) == (2, "")
    assert said in done.err


@pytest.mark.parametrize("command", ["show", "draw", "check"])
def test_a_folder_where_the_file_should_be_is_said(shell: Shell, command: str) -> None:
    (shell.cwd / "odd" / "SKILL.md").mkdir(parents=True)
    done = shell(command, "odd/SKILL.md")
    assert done.status in (1, 2)
    assert "odd" in done.err + done.out


@pytest.fixture
def ordinary_user() -> Iterator[Path]:
    """A folder of a user to whom permissions apply (they do not to root)."""
    with tempfile.TemporaryDirectory(prefix="flowstudio-") as name:
        folder = Path(name)
        folder.chmod(0o777)
        # What is imported later might lie where that user may not read.
        for argv in (["run", "tour", "--seed", "1", "--max-moves", "1"], ["draw", "tour"]):
            Shell(folder).inside(*argv)
        shutil.rmtree(folder / "flowstudio-home")
        is_root = os.geteuid() == 0
        if is_root:
            os.seteuid(65534)
        try:
            yield folder
        finally:
            if is_root:
                os.seteuid(0)


@pytest.mark.parametrize("command", ["check", "show", "draw", "run"])
def test_a_file_that_may_not_be_read_is_said(ordinary_user: Path, command: str) -> None:
    file = write(Shell(ordinary_user), "secret.mmd", "flowchart TD\n B([BEGIN]) --> E([END])\n")
    file.chmod(0)
    done = Shell(ordinary_user).inside(command, file)
    assert done.status in (1, 2)
    assert "secret.mmd" in done.out + done.err
    assert "you may not read this file" in done.out + done.err


def test_runs_below_a_folder_that_may_not_be_written_are_refused(ordinary_user: Path) -> None:
    shell = Shell(ordinary_user)
    chart = write(shell, "a.mmd", "flowchart TD\n B([BEGIN]) --> E([END])\n")
    (ordinary_user / "flowstudio-home").mkdir(mode=0o500)
    done = shell.inside("run", chart, "--seed", "1")
    assert (done.status, done.out) == (2, "")
    assert "Permission denied" in done.err


def test_a_name_longer_than_any_file_may_be_is_a_wrong_call(shell: Shell) -> None:
    done = shell("show", "x" * 5000)
    assert (done.status, done.out) == (2, "")
    assert done.err


@pytest.mark.parametrize("name", ["huge.mmd", "huge/SKILL.md", "huge.d2"])
def test_ten_megabytes_of_text_end_in_a_finding_and_not_in_a_hang(shell: Shell, name: str) -> None:
    file = write(shell, name, b"lorem ipsum dolor sit amet\n" * 400_000)
    done = shell("check", file)
    assert done.status == 1
    assert "error" in done.out
    assert len(done.raw_out) < 100_000
    shown = shell("show", file)
    assert shown.status == 1


def chain(count: int) -> str:
    """A chart of so many nodes: a line with a loop back at every tenth."""
    lines = ["flowchart TD", "B([BEGIN]) --> n1"]
    for number in range(1, count - 2):
        if number % 10 == 0:
            lines.append(f"n{number} -->|on| n{number + 1}")
            lines.append(f"n{number} -->|back| n{number - 5}")
        else:
            lines.append(f"n{number}[Do step {number} with care] --> n{number + 1}")
    lines.append(f"n{count - 2} --> E([END])")
    return "\n".join(lines)


def test_a_chart_of_5000_nodes_is_shown_and_checked(shell: Shell) -> None:
    file = write(shell, "big.mmd", chain(5000))
    assert shell("check", file).out == "1 checked: all good\n"
    chart = shell("show", file, "--json").json
    assert len(chart["nodes"]) == 5000


@pytest.mark.parametrize("zoom", ["full", "dot"])
def test_a_chart_of_5000_nodes_is_drawn(shell: Shell, zoom: str) -> None:
    file = write(shell, "big.mmd", chain(5000))
    done = shell("draw", file, "--zoom", zoom)
    assert done.status == 0
    if zoom == "full":
        assert "Do step 4997 with care" in done.out


EVIL = "\x1b]0;owned\x07\x1b[31mred \x9b2J [bold]markup[/bold] \u202egpj \r overwritten"
ESCAPED = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in EVIL)
"""The same in a YAML string, which may not hold it raw."""
HOSTILE = f"""---
name: "evil [red]name[/red]"
description: "{ESCAPED}"
type: flow
---

```mermaid
flowchart TD
  B([BEGIN]) --> a["{EVIL}"]
  a -->|"[link=x]{EVIL}"| E([END])
  a -->|no| b["{EVIL}
  [unclosed
```
"""


@pytest.mark.parametrize(
    "argv",
    [
        ["list", "--skills-dir", "skills"],
        ["list", "--skills-dir", "skills", "--json"],
        ["show", "skills/evil"],
        ["show", "skills/evil", "--json"],
        ["check", "skills/evil"],
        ["check", "skills/evil", "--json"],
        ["draw", "skills/evil"],
        ["draw", "skills/evil", "--format", "svg"],
        ["run", "skills/evil", "--seed", "1"],
    ],
    ids=" ".join,
)
def test_no_escape_of_a_file_reaches_the_terminal(shell: Shell, argv: list[str]) -> None:
    write(shell, "skills/evil/SKILL.md", HOSTILE)
    done = shell(*argv)
    assert any(words in done.out + done.err for words in ("[bold]markup", "[unclosed"))
    assert not CONTROL.search(done.out + done.err)


def test_a_hostile_label_is_drawn_and_run_as_the_text_that_it_is(shell: Shell) -> None:
    text = f'flowchart TD\n B([BEGIN]) --> a["{EVIL}"] --> E([END])\n'
    file = write(shell, "evil.mmd", text)
    drawn = shell("draw", file)
    assert "[bold]markup[/bold]" in drawn.out.replace("\n", "")
    ran = shell("run", file, "--seed", "1", "--json")
    assert ran.status == 0
    for done in (drawn, ran):
        assert not CONTROL.search(done.out)


def test_file_names_with_escapes_and_undecodable_bytes_are_shown_harmless(shell: Shell) -> None:
    folder = Path(str(shell.cwd).encode().decode()) / "odd \x1b[31m name"
    folder.mkdir()
    (folder / "SKILL.md").write_text("---\nname: odd\ndescription: x\ntype: flow\n---\n")
    done = shell("check", folder)
    assert done.status == 1
    assert not CONTROL.search(done.out + done.err)


def test_a_skill_below_a_name_that_is_no_valid_text_can_be_shown_and_run(shell: Shell) -> None:
    folder = Path(os.fsdecode(os.fsencode(shell.cwd) + b"/caf\xe9"))
    folder.mkdir()
    chart = folder / "a.mmd"
    chart.write_text("flowchart TD\n B([BEGIN]) --> a[x] --> E([END])\n")
    for argv in (["check"], ["show", "--json"], ["run", "--seed", "1", "--json"]):
        process = shell.start(argv[0], os.fsencode(chart), *argv[1:])
        _, err = process.communicate(timeout=LONGEST)
        assert (process.returncode, err) == (0, b"")
