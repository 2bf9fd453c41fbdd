"""Hot reload with the editors that people use: real ones, in a terminal of their own.

vim keeps a swap file and renames over the file, nano and ed write in place, a formatter writes the
whole file anew. The studio follows each of them, with its own text edited or not.
"""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from flowstudio.wire import FlowReloaded
from tests.studio.kit import DEMO, FakeModel, Held, Studio, open_studio

EDITED = "Mend it with care"


def skill_file(work: Path) -> Path:
    return work / ".agents" / "skills" / "demo" / "SKILL.md"


class Editor:
    """An editor that runs in a pty beside the studio."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process = process
        self._master = master
        self.screen = b""

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def read(self) -> bytes:
        """Everything it has shown so far."""
        with suppress(OSError):
            while chunk := os.read(self._master, 65536):
                self.screen += chunk
        return self.screen

    @property
    def is_over(self) -> bool:
        self.read()
        return self.process.poll() is not None


@contextmanager
def editor(*command: str | Path) -> Iterator[Editor]:
    if shutil.which(str(command[0])) is None:
        pytest.skip(f"{command[0]} is not installed")
    master, slave = pty.openpty()
    os.set_blocking(master, False)
    env = {**os.environ, "TERM": "xterm", "HOME": str(Path(str(command[-1])).parent)}
    process = subprocess.Popen(
        [str(part) for part in command],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=env,
        start_new_session=True,
    )
    os.close(slave)
    try:
        yield Editor(process, master)
    finally:
        process.kill()
        process.wait()
        os.close(master)


async def replace_with(name: str, path: Path, old: str, new: str, studio: Studio) -> None:
    """Replace a text in the file with the named editor, save, and leave it."""
    match name:
        case "vim":
            with editor("vim", "-u", "NONE", "-n", path) as vim:
                await studio.until(lambda: b"Demo" in vim.read(), "vim's screen")
                vim.type(f":%s/{old}/{new}/\r:wq\r")
                await studio.until(lambda: vim.is_over, "the end of vim")
        case "vim with backup and swap":
            options = "set backup writebackup backupcopy=no"
            with editor("vim", "-u", "NONE", "-c", options, path) as vim:
                await studio.until(lambda: b"Demo" in vim.read(), "vim's screen")
                vim.type(f":%s/{old}/{new}/\r:wq\r")
                await studio.until(lambda: vim.is_over, "the end of vim")
        case "nano":
            with editor("nano", "--ignorercfiles", path) as nano:
                await studio.until(lambda: b"Demo" in nano.read(), "nano's screen")
                # Replace: what, by what, all; then write out and leave.
                nano.type(f"\x1c{old}\r")
                await studio.until(lambda: b"with" in nano.read(), "the question")
                nano.type(f"{new}\r")
                await studio.until(lambda: b"instance" in nano.read(), "the next question")
                nano.type("a")
                await studio.until(lambda: b"occurrence" in nano.read(), "the replacement")
                nano.type("\x0f\r")
                await studio.until(lambda: b"Wrote" in nano.read(), "the save")
                nano.type("\x18")
                await studio.until(lambda: nano.is_over, "the end of nano")
        case "ed":
            with editor("ed", path) as ed:
                ed.type(f"g/{old}/s//{new}/\nw\nq\n")
                await studio.until(lambda: ed.is_over, "the end of ed")
        case _:
            program = (
                "import sys, os; p = sys.argv[1]; t = open(p).read().replace(*sys.argv[2:4]);"
                "lines = [line.rstrip() for line in t.splitlines()];"
                "q = p + '.tmp'; open(q, 'w').write('\\n'.join(lines) + '\\n'); os.replace(q, p)"
            )
            with editor(sys.executable, "-c", program, str(path), old, new) as formatter:
                await studio.until(lambda: formatter.is_over, "the end of the formatter")


EDITORS: Sequence[str] = ("vim", "vim with backup and swap", "nano", "ed", "formatter")


@pytest.mark.parametrize("name", EDITORS)
async def test_what_an_editor_saves_is_drawn_and_run(work: Path, name: str) -> None:
    held = Held("draft")
    model = FakeModel(write=held, good=["<choice>no</choice>"])
    async with open_studio(work, model=model) as studio:
        await studio.press("r")
        await studio.until(held.begun.is_set, "the first words")
        await replace_with(name, skill_file(work), "Mend what is bad", EDITED, studio)
        await studio.until(lambda: EDITED in studio.view.drawing.text(), "the new picture")
        await studio.until(lambda: studio.said(FlowReloaded), "the new flow in the run")
        held.gate.set()
        await studio.ended()
        assert ("mend", EDITED) in model.asked
        assert model.asked[0] == ("write", "Write a first draft")
        assert len(studio.said(FlowReloaded)) == 1
        assert [row for row in studio.rows if "demo" in row and "◆" in row]


@pytest.mark.parametrize("name", ["vim", "nano", "formatter"])
async def test_what_an_editor_saves_is_merged_with_what_is_not_saved_here(
    work: Path, name: str
) -> None:
    async with open_studio(work) as studio:
        await studio.press("v")
        await studio.until(lambda: studio.main.source.is_furnished, "the source")
        area = studio.main.source.area
        area.move_cursor((2, len("description: ")))
        await studio.until(lambda: area.has_focus, "the cursor there")
        await studio.press("X")
        await replace_with(name, skill_file(work), "Mend what is bad", EDITED, studio)
        await studio.until(lambda: EDITED in area.text, "both changes")
        assert "description: XImprove" in area.text
        await studio.press("ctrl+s")
        expected = DEMO.replace("Mend what is bad", EDITED).replace("Improve", "XImprove")
        await studio.until(lambda: skill_file(work).read_text("utf-8") == expected, "the save")


async def test_error_other_error_good_from_an_editor_each_shows(work: Path) -> None:
    async with open_studio(work) as studio:
        path = skill_file(work)
        await replace_with("ed", path, "mend --> good", "mend[oops --> good", studio)
        await studio.until(lambda: ":14:9" in studio.faults_shown, "the first fault")
        await replace_with("ed", path, "mend.oops --> good", "mend --> (good", studio)
        await studio.until(
            lambda: studio.faults_shown and ":14:9" not in studio.faults_shown, "the other fault"
        )
        await replace_with("ed", path, "mend --> (good", "mend --> good", studio)
        await studio.until(lambda: not studio.faults_shown, "the good flow")
        assert not studio.view.stale


async def test_a_renamed_folder_takes_its_unsaved_source_along(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.press("v")
        await studio.until(lambda: studio.main.source.is_furnished, "the source")
        area = studio.main.source.area
        await studio.until(lambda: area.has_focus, "the cursor there")
        area.move_cursor((2, len("description: ")))
        await studio.press("X")
        root = work / ".agents" / "skills"
        (root / "demo").rename(root / "moved")
        moved = root / "moved" / "SKILL.md"
        await studio.until(
            lambda: [draft.path for draft in studio.main.author.unsaved] == [moved], "the move"
        )
        await studio.until(
            lambda: studio.main.skill is not None and studio.main.skill.path == moved, "it shown"
        )
        await studio.press("ctrl+s")
        await studio.until(lambda: "XImprove" in moved.read_text("utf-8"), "the save")
        assert not (root / "demo").exists()


@pytest.mark.parametrize("command", ["vim -u NONE -es -c %s/bad/worse/ -c wq", "ed"])
def test_the_edit_key_hands_the_terminal_to_the_editor_and_takes_it_back(
    work: Path, tmp_path: Path, command: str
) -> None:
    if shutil.which(command.split()[0]) is None:
        pytest.skip(f"{command.split()[0]} is not installed")
    from tests.terminal.kit import run_in_terminal

    home = tmp_path / "own home"
    home.mkdir()
    with run_in_terminal(
        ".", size=(120, 40), home=home, work=work, VISUAL="", EDITOR=command
    ) as terminal:
        terminal.shows("Mend what is bad")
        terminal.press("E")
        if command == "ed":
            size = str(len(DEMO.encode()))
            terminal.until(lambda: size.encode() in terminal.raw, "ed's first word")
            terminal.press("g/bad/s//worse/\n", "w\n", "q\n")
        terminal.shows("Mend what is worse")
        terminal.press("ctrl+q")
        assert terminal.wait() == 0
    assert "Mend what is worse" in skill_file(work).read_text("utf-8")


async def test_the_studio_goes_on_where_there_is_no_such_editor(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextlib import nullcontext

    monkeypatch.setenv("VISUAL", "no-such-editor-anywhere")
    async with open_studio(work) as studio:
        monkeypatch.setattr(studio.app, "suspend", nullcontext)
        await studio.press("E")
        await studio.until(lambda: any("set EDITOR" in said for said in studio.toasts), "a word")
        assert studio.main.skill is not None
