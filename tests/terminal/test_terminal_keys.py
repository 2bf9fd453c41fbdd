"""Keys that terminals have meanings of their own for: each arrives, plainly and through tmux."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.terminal.conftest import Open
from tests.terminal.kit import PATIENCE

ROOT = Path(__file__).parents[2]
CONTROL = {key: bytes([ord(key[-1]) & 0x1F]) for key in ("ctrl+k", "ctrl+p", "ctrl+s", "ctrl+z")}

type Send = Callable[[str], None]
type Until = Callable[[Callable[[str], object], str], None]
"""Waits until the text on the screen is so; the second argument says what is awaited."""


def walk(send: Send, until: Until, path: Path) -> None:
    """Press every control key of the studio, and see what it is for."""

    def shows(text: str) -> None:
        until(lambda screen: text in screen, text)

    def hides(text: str) -> None:
        until(lambda screen: text not in screen, f"{text} gone")

    shows("Write a first draft")
    shows("rehearsal")
    send("ctrl+k")
    shows("esc clear")  # the filter of the skills
    send("escape")
    hides("esc clear")
    send("ctrl+p")
    shows("Search for commands")
    send("escape")
    hides("Search for commands")
    send("v")
    shows("ctrl+s save")
    before = path.read_text(encoding="utf-8")
    send("X")
    shows("● unsaved")
    send("ctrl+z")  # else: suspended
    hides("● unsaved")
    send("X")
    shows("● unsaved")
    send("ctrl+s")  # else: the terminal stands still
    shows("saved SKILL.md")
    assert path.read_text(encoding="utf-8") != before
    send("ctrl+q")


def test_in_a_plain_terminal(open_terminal: Open, work: Path) -> None:
    with open_terminal(".", size=(120, 40)) as terminal:

        def send(key: str) -> None:
            if key in CONTROL:
                terminal.send(CONTROL[key])
            else:
                terminal.press(key)

        def until(is_so: Callable[[str], object], what: str) -> None:
            terminal.until(lambda: is_so(terminal.text), what)

        walk(send, until, work / ".agents" / "skills" / "demo" / "SKILL.md")
        assert terminal.wait() == 0


@pytest.fixture
def tmux(tmp_path: Path, work: Path) -> Iterator[Callable[..., str]]:
    """A tmux server of the test's own, with the studio in it."""
    program = shutil.which("tmux")
    if program is None:
        pytest.skip("tmux is not installed")
    socket = tmp_path / "tmux"
    home = tmp_path / "tmux-home"
    home.mkdir()

    def call(*words: str) -> str:
        environ = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
        command = [str(program), "-S", str(socket), "-f", "/dev/null", "-u", *words]
        done = subprocess.run(command, capture_output=True, text=True, env=environ, check=False)
        return done.stdout

    studio = ["env", f"PYTHONPATH={ROOT}", f"FLOWSTUDIO_HOME={home}", sys.executable]
    call(
        *("new-session", "-d", "-x", "120", "-y", "40", "-c", str(work)),
        *(*studio, "-m", "flowstudio", "."),
    )
    yield call
    call("kill-server")


def test_through_tmux(tmux: Callable[..., str], work: Path) -> None:
    def until(is_so: Callable[[str], object], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not is_so(screen := tmux("capture-pane", "-p")):
            assert time.monotonic() < end, f"never came: {what}\n{screen}"
            time.sleep(0.05)

    def send(key: str) -> None:
        name = {"escape": "Escape"}.get(key, key.replace("ctrl+", "C-"))
        tmux("send-keys", name)

    walk(send, until, work / ".agents" / "skills" / "demo" / "SKILL.md")
    until(lambda _: tmux("list-sessions") == "", "the end of the program")
