"""Signs outside of the screen: the terminal's title, the call for the user, pictures."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from flowstudio.run.state import RunState
from flowstudio.studio.notify import BELL, call_user, find_means
from flowstudio.studio.notify_desk import NotifyDesk
from flowstudio.studio.title import RESTORE, SAVE, set_title, title_for
from tests.terminal.kit import run_in_terminal


def state(**fields: Any) -> RunState:
    made = RunState(flow="demo")
    for name, value in fields.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    ("run", "title"),
    [
        (None, "Flow Studio"),
        (state(phase="running"), "▶ demo · Flow Studio"),
        (state(phase="paused", why="before “q”"), "⏸ demo: before “q”"),
        (state(phase="running", waits_for="which branch?"), "? demo: which branch?"),
        (state(phase="ended", reason="reached_end"), "✓ demo · Flow Studio"),
        (state(phase="ended", reason="model_failed"), "✗ demo · Flow Studio"),
    ],
)
def test_the_title_says_how_the_run_stands(run: RunState | None, title: str) -> None:
    assert title_for(run) == title


def test_no_sequence_can_hide_in_a_title_or_a_call() -> None:
    bad = "a\x1b]52;c;eA==\x07b\nc\x9c"
    assert set_title(bad).count("\x1b") == 2
    assert "\x07" not in set_title(bad)
    for means in ("osc9", "osc777"):
        said = call_user(bad, means, {})
        assert said.count("\x1b") == 2
        assert said.count("\x07") == 1
        assert "\x9c" not in said


@pytest.mark.parametrize(
    ("environ", "means"),
    [
        ({"TERM_PROGRAM": "iTerm.app"}, "osc9"),
        ({"TERM_PROGRAM": "WezTerm"}, "osc9"),
        ({"TERM": "xterm-kitty"}, "osc9"),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, "osc777"),
        ({"TERM": "foot"}, "osc777"),
        ({"TERM": "xterm-256color"}, "bell"),
        ({"TERM": "linux"}, "bell"),
    ],
)
def test_each_terminal_is_called_in_its_own_way(environ: dict[str, str], means: str) -> None:
    assert find_means(environ) == means


def test_tmux_is_asked_to_pass_the_call_on() -> None:
    said = call_user("demo waits", "osc9", {"TMUX": "x"})
    assert said == "\x1bPtmux;\x1b\x1b]9;demo waits\x1b\x1b\\\x1b\\" + BELL


def test_off_is_silent() -> None:
    assert call_user("demo waits", "off", {}) == ""


class Rig:
    """A desk whose clock and terminal the test holds."""

    def __init__(self, *, focus: bool = True, term: str = "xterm") -> None:
        self.written: list[str] = []
        self.time = 0.0
        self.app = SimpleNamespace(app_focus=focus)
        self.desk = NotifyDesk(
            cast("Any", SimpleNamespace(app=self.app)),
            write=self.written.append,
            environ={"TERM": term},
            now=lambda: self.time,
        )

    @property
    def calls(self) -> int:
        return self.written.count(BELL)


def test_the_title_is_kept_and_given_back_once() -> None:
    rig = Rig()
    rig.desk.follow(state(phase="running"))
    rig.desk.follow(state(phase="running"))
    rig.desk.leave()
    rig.desk.leave()
    assert rig.written == [SAVE, set_title("▶ demo · Flow Studio"), RESTORE]


def test_a_terminal_without_a_title_is_left_alone() -> None:
    rig = Rig(term="linux")
    rig.desk.follow(state(phase="running"))
    rig.desk.leave()
    assert rig.written == []


def test_who_is_there_is_not_called_and_who_looks_away_is_called_once() -> None:
    rig = Rig()
    paused = state(phase="paused", reason="step", why="before it")
    rig.desk.follow(paused)
    assert rig.calls == 0
    rig.desk.follow(state(phase="running"))
    rig.time = 60
    rig.desk.follow(paused)
    rig.desk.follow(paused)
    assert rig.calls == 1
    rig.desk.touch()
    rig.desk.follow(state(phase="running"))
    rig.desk.follow(paused)
    assert rig.calls == 1


def test_who_is_in_another_window_is_called_at_once() -> None:
    rig = Rig(focus=False)
    rig.desk.follow(state(phase="running", waits_for="which branch?"))
    assert rig.calls == 1


def test_in_a_real_terminal_the_title_follows_and_is_given_back_and_a_picture_is_saved(
    tmp_path: Path,
) -> None:
    chart = tmp_path / "one.mmd"
    chart.write_text("flowchart TD\n B([BEGIN]) --> one[Only box] --> E([END])")
    home = tmp_path / "h"
    home.mkdir()
    with run_in_terminal(chart, size=(120, 30), home=home, work=tmp_path) as terminal:
        terminal.shows("Only box")
        terminal.shows("rehearsal")
        terminal.press("n")
        terminal.shows("before “one”")
        terminal.press("S")
        terminal.shows("picture saved")
        terminal.press("ctrl+q")
        assert terminal.wait() == 0
        raw = bytes(terminal.raw).decode()
    assert raw.index(SAVE) < raw.index(set_title("⏸ one: before “one”")) < raw.index(RESTORE)
    (picture,) = (home / "flowstudio" / "data" / "pictures").iterdir()
    assert "Only" in picture.read_text()
