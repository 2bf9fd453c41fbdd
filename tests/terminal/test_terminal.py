"""The whole way in a real terminal: `python -m flowstudio`, its keys, its mouse, its goodbye."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from tests.studio.kit import DEMO, write_skill
from tests.terminal.conftest import Open


@pytest.mark.parametrize("size", [(200, 60), (120, 40), (80, 24)])
def test_it_paints_runs_step_by_step_and_leaves_the_terminal_as_it_was(
    open_terminal: Open, size: tuple[int, int]
) -> None:
    with open_terminal(".", "--script", "script.yaml", size=size) as terminal:
        terminal.shows("Write a first draft")
        terminal.shows("rehearsal")
        terminal.press("n")
        terminal.shows("⏸ paused")
        terminal.press("n")
        terminal.shows("write✓ ─ ⏸ good")
        terminal.press("2")
        terminal.shows("good⇢no ─ ⏸ mend")
        terminal.press("c")
        terminal.shows("✓ done")
        terminal.press("ctrl+q")
        assert terminal.wait() == 0
        assert b"\x1b[?1049h" in terminal.raw
        end = bytes(terminal.raw[terminal.raw.rindex(b"\x1b[?1049l") - 200 :])
        assert b"\x1b[?25h" in end, "the cursor is shown again"
        for mode in (b"1000", b"1003", b"1006", b"2004"):
            assert b"\x1b[?%sl" % mode in end, f"mode {mode!r} is switched off"
        assert b"Traceback" not in terminal.raw


def test_what_is_typed_right_behind_a_key_that_opens_a_line_is_text(open_terminal: Open) -> None:
    with open_terminal(".", size=(120, 40)) as terminal:
        terminal.shows("Mend what is bad")
        terminal.shows("rehearsal")
        terminal.send(b"/mend")  # letters that would be commands outside of the line
        terminal.shows("/ mend")
        terminal.press("escape")
        terminal.until(lambda: "/ mend" not in terminal.text, "the line goes")
        terminal.send(b"irNn")
        terminal.shows(" rNn")


def test_a_click_selects_a_node_and_shows_its_prompt(open_terminal: Open) -> None:
    with open_terminal(".", size=(120, 40)) as terminal:
        terminal.shows("Mend what is bad")
        terminal.shows("rehearsal")
        terminal.click("Mend what is bad")
        terminal.shows("mend  task · line 13")


def test_a_save_of_the_file_redraws_the_flow(open_terminal: Open, work: Path) -> None:
    with open_terminal(".", size=(120, 40)) as terminal:
        terminal.shows("Mend what is bad")
        terminal.shows("rehearsal")
        write_skill(work, DEMO.replace("Mend what is bad", "Mend with care"))
        terminal.shows("Mend with care")
        write_skill(work, DEMO.replace("mend --> good", "mend[oops --> good"))
        terminal.shows("SKILL.md:14:9")
        write_skill(work, DEMO)
        terminal.shows("Mend what is bad")
        terminal.until(lambda: "SKILL.md:14:9" not in terminal.text, "the fault gone")


def test_typing_into_the_chat_runs_the_flow_and_a_resize_is_followed(open_terminal: Open) -> None:
    with open_terminal("--seed", "1", size=(80, 24)) as terminal:
        terminal.shows("Write a first draft")
        terminal.shows("rehearsal")
        terminal.press("i")
        terminal.shows("message the agent")
        terminal.press("/begin ", "enter")
        terminal.shows("✓ done")
        terminal.resize(120, 40)
        terminal.shows("PROJECT")
        terminal.shows("Timeline")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(("nothing-here",), "nothing-here"), (("--script", "none.yaml"), "none.yaml")],
)
def test_what_cannot_be_opened_is_said_in_a_plain_terminal_with_status_two(
    open_terminal: Open, arguments: tuple[str, ...], says: str
) -> None:
    with open_terminal(*arguments) as terminal:
        assert terminal.wait() == 2
        assert says.encode() in terminal.raw
        assert b"Traceback" not in terminal.raw


def test_without_colours_no_hue_is_sent(open_terminal: Open) -> None:
    with open_terminal(".", size=(80, 24), NO_COLOR="1") as terminal:
        terminal.shows("Write a first draft")
        terminal.press("n")
        terminal.shows("⏸ paused")
        terminal.press("ctrl+q")
        assert terminal.wait() == 0
        colours = re.findall(rb"[34]8;2;(\d+);(\d+);(\d+)", terminal.raw)
        assert colours
        assert all(red == green == blue for red, green, blue in colours)


def test_a_terminal_that_goes_away_takes_the_program_along(open_terminal: Open) -> None:
    with open_terminal(".", size=(80, 24)) as terminal:
        terminal.shows("Write a first draft")
        terminal.press("n")
        terminal.shows("⏸ paused")
        assert terminal.hang_up() is not None


def test_it_goes_along_even_where_hang_ups_are_ignored(open_terminal: Open) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with open_terminal(".", size=(80, 24)) as terminal:
            terminal.shows("Write a first draft")
            assert terminal.hang_up() is not None
    finally:
        signal.signal(signal.SIGHUP, before)
