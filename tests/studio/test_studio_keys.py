"""Keys: one table gives bindings, footer, palette and help; the user's keymap changes it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from textual.widget import Widget

from flowstudio.studio.commands import COMMANDS, commands_of
from flowstudio.studio.flow_view import FlowView
from flowstudio.studio.help_dialog import HelpDialog, help_rows
from flowstudio.studio.history_screen import HistoryScreen
from flowstudio.studio.keymap import Keymap, is_key, read_keymap
from flowstudio.studio.timeline import Timeline
from tests.studio.kit import FakeModel, open_studio

SWALLOWED = {
    **dict.fromkeys(("ctrl+b",), "tmux's prefix"),
    **dict.fromkeys(("ctrl+a",), "the prefix of screen, and of many a tmux"),
    **dict.fromkeys(("ctrl+c", "ctrl+d", "ctrl+backslash"), "end programs, or are thought to"),
    **dict.fromkeys(("ctrl+h", "ctrl+i", "ctrl+m", "ctrl+j"), "backspace, tab, enter, line feed"),
    **dict.fromkeys(("f1", "f10", "f11"), "a desktop terminal's help, menu, full screen"),
    **dict.fromkeys(("ctrl+tab", "ctrl+pageup", "ctrl+pagedown"), "tabs of the terminal"),
    **dict.fromkeys(("shift+pageup", "shift+pagedown", "shift+home", "shift+end"), "scrollback"),
    **dict.fromkeys(("shift+up", "shift+down", "ctrl+up", "ctrl+down"), "scroll in Konsole"),
    **dict.fromkeys(("ctrl+left", "ctrl+right"), "desktops of macOS"),
    **dict.fromkeys(("ctrl+plus", "ctrl+minus", "ctrl+0"), "the size of the font"),
    **dict.fromkeys(("ctrl+shift+c", "ctrl+shift+v", "ctrl+shift+t"), "copy, paste, new tab"),
    **dict.fromkeys(("alt+enter", "alt+f4", "alt+space", "super+space"), "the window"),
    "shift+insert": "paste",
}
"""Keys that often never reach the program, and who takes them."""


def test_no_default_key_is_one_that_terminals_or_tmux_swallow() -> None:
    for command in COMMANDS:
        for key in command.key.split(","):
            assert key not in SWALLOWED, f"{command.id}: {SWALLOWED[key]}"
            assert not key.startswith("alt+"), command.id


@pytest.mark.parametrize("widget", [FlowView, Timeline])
def test_what_a_pane_does_by_a_swallowed_key_it_does_by_another_too(widget: type[Widget]) -> None:
    keys: dict[str, set[str]] = {}
    for binding in widget.BINDINGS:
        action, names = binding.action, binding.key  # type: ignore[union-attr]
        keys.setdefault(action, set()).update(names.split(","))
    for action, names in keys.items():
        assert names - set(SWALLOWED), action


def test_no_key_means_two_things_on_one_screen() -> None:
    keys = Counter((command.scope, key) for command in COMMANDS for key in command.key.split(","))
    assert [key for key, times in keys.items() if times > 1] == []
    assert len({command.id for command in COMMANDS}) == len(COMMANDS)


async def test_every_command_of_the_table_is_carried_out_by_something(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        handlers = studio.main._make_commands()
        assert set(handlers) == {command.id for command in commands_of("studio")}


# The user's keymap


def configure(home: Path, text: str) -> None:
    folder = home / "flowstudio" / "config"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(text, encoding="utf-8")


async def test_a_key_of_the_configuration_takes_the_place_of_the_default(
    work: Path, home: Path
) -> None:
    configure(home, "keys: {run.step: x, run.start: null}\n")
    async with open_studio(work, model=FakeModel(), size=(200, 40)) as studio:
        await studio.until(lambda: "x step" in studio.lines[-1], "the new key in the last line")
        assert "r run" not in studio.lines[-1]
        await studio.press("n", "r")
        assert not studio.main.driver.is_running
        await studio.press("x")
        await studio.paused_at("write")
        await studio.press("question_mark")
        await studio.until(lambda: isinstance(studio.app.screen, HelpDialog), "the help")
        await studio.until(lambda: "x  Run one node" in studio.text, "the new key in the help")


async def test_what_is_wrong_in_the_keymap_is_said_and_the_rest_counts(
    work: Path, home: Path
) -> None:
    configure(home, "keys: {run.stp: x, run.pause: nokey, run.continue: b}\n")
    async with open_studio(work, model=FakeModel(), size=(200, 40)) as studio:
        said = " ".join(studio.toasts)
        assert "run.stp: there is no such command; did you mean run.st" in said
        assert "“nokey” is no key" in said
        assert "run.continue takes the key of run.breakpoint" in said
        await studio.until(lambda: "b continue" in studio.lines[-1], "the key that counts")
        await studio.press("b")
        await studio.ended()


def test_two_commands_can_swap_their_keys_without_a_word() -> None:
    found = read_keymap({"run.step": "c", "run.continue": "n"})
    assert found == Keymap({"run.step": "c", "run.continue": "n"})


def test_the_first_of_two_lines_that_want_one_key_has_it() -> None:
    found = read_keymap({"run.step": "x", "run.stop": "x"})
    assert found.changes == {"run.step": "x"}
    assert "run.step has this key already" in found.problems[0]


def test_a_command_keeps_those_of_its_keys_that_nobody_else_wants() -> None:
    found = read_keymap({"run.step": "+"})
    assert found.changes == {"run.step": "plus", "view.zoom_in": "equals_sign"}
    assert found.problems == ()


def test_the_same_key_on_another_screen_is_no_conflict() -> None:
    assert read_keymap({"history.fork": "n"}).problems == ()


@pytest.mark.parametrize("key", ["x", "X", "?", "+", "ctrl+x", "f5", "space", "question_mark", "é"])
def test_what_is_a_key(key: str) -> None:
    assert is_key(key)


@pytest.mark.parametrize("key", ["", " ", "xx", "ctrl+", "strg+x", "+x", "\n", "f99"])
def test_what_is_no_key(key: str) -> None:
    assert not is_key(key)


# Footer and help follow the pane in use


async def test_the_last_line_follows_the_pane_in_use(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.until(lambda: "n step" in studio.lines[-1], "the flow's keys")
        await studio.press("i")
        await studio.until(lambda: "enter send" in studio.lines[-1], "the chat's keys")
        assert "n step" not in studio.lines[-1]
        await studio.press("escape", "shift+tab")
        await studio.until(lambda: "H history" in studio.lines[-1], "the skills' keys")
        assert "u rewind" not in studio.lines[-1]


async def test_the_last_line_names_no_keys_of_a_search_while_a_dialog_has_a_line(
    work: Path,
) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.begin()
        await studio.press("B")
        await studio.until(lambda: "enter sets it" in studio.text, "the dialog")
        await studio.settled()
        assert "enter next" not in studio.lines[-1]


async def test_looking_back_has_its_own_keys_in_the_last_line(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.press("r")
        await studio.ended()
        await studio.press("left_square_bracket")
        await studio.until(lambda: "esc now" in studio.lines[-1], "the way back")
        assert "u rewind" in studio.lines[-1]
        await studio.press("escape")
        await studio.until(lambda: "n step" in studio.lines[-1], "the flow's keys")


async def test_the_help_begins_with_the_keys_of_the_pane_in_use(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.press("shift+tab", "question_mark")
        await studio.until(lambda: "Here: skills" in studio.text, "the skills' keys")
        assert studio.text.index("Here: skills") < studio.text.index("Driving a run")


async def test_a_line_of_the_help_that_is_clicked_is_carried_out(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.press("question_mark")
        await studio.until(lambda: "Earlier runs: look" in studio.text, "the help")
        await studio.click("Earlier runs: look", within=None)
        await studio.until(lambda: isinstance(studio.app.screen, HistoryScreen), "the history")


async def test_a_key_of_the_last_line_that_is_clicked_is_pressed(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.until(lambda: "H history" in studio.lines[-1], "the key")
        await studio.click("H history", within="#keys")
        await studio.until(lambda: isinstance(studio.app.screen, HistoryScreen), "the history")


def test_every_command_is_in_the_help_of_every_pane() -> None:
    for pane in ("flow", "skills", "chat", "source", "past"):
        told = {command for _, rows in help_rows(pane, Keymap()) for _, _, command in rows}
        for command in commands_of("studio"):
            is_special = command.id.startswith("run.branch") or command.id == "help"
            assert is_special or command.id in told, command.id


# The page of keys


def test_the_page_of_keys_is_the_one_that_the_table_gives() -> None:
    from flowstudio.studio.key_table import key_page

    page = Path(__file__).parents[2] / "flowstudio" / "docs" / "keys.md"
    assert page.read_text(encoding="utf-8") == key_page(), (
        "python -m flowstudio.studio.key_table > flowstudio/docs/keys.md"
    )


def test_the_readme_names_only_keys_that_the_table_has() -> None:
    import re

    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    table = readme.split("## The first five minutes")[1].split("| key | does |")[1].split("\n\n")[0]
    known = {key for command in COMMANDS for key in command.key.split(",")}
    known |= {command.key_display for command in COMMANDS if command.key_display}
    known |= {"{", "}", "tab", "esc", "ctrl+p"}
    named = {
        key for row in table.splitlines()[2:] for key in re.findall(r"`([^`]+)`", row.split("|")[1])
    }
    assert named - known == set()
