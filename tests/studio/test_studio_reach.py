"""Every command is reached by a key, by the palette and by the mouse, from one declaration."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flowstudio.studio import history_screen, library_screen, plan_screen
from flowstudio.studio.commands import COMMANDS, Command, commands_of
from flowstudio.studio.dialog import Dialog
from flowstudio.studio.dialogs import InputDialog, TrustDialog
from flowstudio.studio.help_dialog import HelpDialog, help_rows
from flowstudio.studio.keymap import Keymap, key_of, read_keymap, use_keymap, with_keys
from tests.studio.kit import FakeModel, Studio, open_studio

STUDIO = Path(history_screen.__file__).parent
SCOPES = ("history", "compare", "library", "plan")
LEAVES = frozenset({"edit.file", "view.picture"})
"""Commands that leave the screen or write a picture of it: other tests carry them out."""


def branches_apart(commands: Iterator[Command]) -> list[Command]:
    """All but the branches, which go by their numbers."""
    return [one for one in commands if not one.id.startswith("run.branch")]


@pytest.fixture(autouse=True)
def default_keys() -> Iterator[None]:
    yield
    use_keymap(Keymap())


# One declaration


def test_every_command_has_a_key_and_a_sentence() -> None:
    for command in COMMANDS:
        assert command.key, command.id
        assert command.help[0].isupper(), command.id
        assert not command.help.endswith("."), command.id


@pytest.mark.parametrize("scope", SCOPES)
def test_the_help_of_a_screen_has_a_line_to_click_for_each_of_its_commands(scope: Any) -> None:
    told = {command for _, rows in help_rows(scope, Keymap()) for _, _, command in rows}
    assert {command.id for command in commands_of(scope)} <= told


@pytest.mark.parametrize("scope", ["studio", *SCOPES])
async def test_the_palette_of_a_screen_has_each_of_its_commands(work: Path, scope: Any) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        if scope in ("studio", "library", "plan", "history"):
            await go_to(studio, scope)
        else:
            return
        titles = " ".join(one.title for one in studio.app.get_system_commands(studio.app.screen))
        for command in branches_apart(commands_of(scope)):
            assert command.help in titles, command.id
        await studio.press("question_mark")
        await studio.until(lambda: isinstance(studio.app.screen, HelpDialog), "the help")


async def go_to(studio: Studio, scope: str) -> None:
    key = {"history": "H", "library": "G", "plan": "P"}.get(scope)
    if key is None:
        return
    kind = {
        "history": history_screen.HistoryScreen,
        "library": library_screen.LibraryScreen,
        "plan": plan_screen.PlanScreen,
    }[scope]
    await studio.press(key)
    await studio.until(lambda: isinstance(studio.app.screen, kind), scope)
    await studio.until(lambda: studio.app.screen.is_mounted, scope)
    await studio.pilot.pause()
    if scope == "plan":  # letters are text until its line is left
        studio.app.screen.set_focus(None)


# Doing it


def sight(studio: Studio) -> tuple[Any, ...]:
    """What changes when something happens."""
    return studio.text, len(studio.toasts), type(studio.app.screen), len(studio.events)


async def test_each_command_does_something_or_says_why_it_cannot(work: Path) -> None:
    """Without any run, one after the other: nothing is silent, nothing fails."""
    silent: list[str] = []
    async with open_studio(work, size=(120, 40), model=FakeModel(), patience=200.0) as studio:
        for command in branches_apart(commands_of("studio")):
            if command.id in LEAVES:
                continue
            before = sight(studio)
            await studio.main.action_command(command.id)
            for _ in range(40):
                await studio.pilot.pause(0.02)
                if sight(studio) != before:
                    break
            else:
                silent.append(command.id)
            while studio.app.screen is not studio.main:
                studio.app.pop_screen()
            if studio.main.driver.control is not None:
                studio.main.driver.control.stop()
                await studio.until(lambda: not studio.main.driver.is_running, "the end of it")
            studio.main.show_pane("flow")
            await studio.pilot.pause()
    assert set(silent) <= NEEDS_MORE


NEEDS_MORE = {
    "view.now",  # is where it goes
    "view.talk",
    "help",
}


# Dialogs


async def test_a_dialog_has_its_keys_in_its_last_line_its_help_and_the_palette(work: Path) -> None:
    answers: list[object] = []
    async with open_studio(work, size=(60, 20)) as studio:
        studio.app.push_screen(TrustDialog("demo", "~/project"), answers.append)
        await studio.until(lambda: "trusts it from now on" in studio.text, "the keys")
        titles = " ".join(one.title for one in studio.app.get_system_commands(studio.app.screen))
        assert "trusts it from now on" in titles
        assert "Quit" in titles
        await studio.press("question_mark")
        await studio.until(lambda: isinstance(studio.app.screen, HelpDialog), "the help")
        await studio.until(lambda: "Here: Do you trust" in studio.text, "its keys")
        await studio.press("escape")
        await studio.until(lambda: isinstance(studio.app.screen, TrustDialog), "the dialog")
        await studio.click("trusts it", within=None)
        await studio.until(lambda: answers == [True], "the answer of the click")
        studio.app.push_screen(InputDialog("demo"), answers.append)
        await studio.until(lambda: "runs it" in studio.text, "the keys")
        await studio.press(*"why?", "enter")
        await studio.until(lambda: answers == [True, "why?"], "a question mark is text there")


def test_every_dialog_stands_on_the_one_base() -> None:
    for file in STUDIO.glob("*.py"):
        if file.name != "dialog.py":
            assert "ModalScreen" not in file.read_text(encoding="utf-8"), file.name
    assert Dialog.BINDINGS


# Sentences


def test_a_sentence_names_the_key_that_the_user_has() -> None:
    use_keymap(read_keymap({"run.start": "f5", "run.step": None}))
    assert with_keys("{run.start} runs, {run.stop} stops") == "f5 runs, s stops"
    assert key_of("run.step") == "ctrl+p “step”"


def test_no_sentence_has_a_default_key_written_into_it() -> None:
    """Of the commands whose keys are letters: what users read asks the keymap."""
    verbs = "runs|stops|steps|goes on|shows|lists|takes it back|saves them|forks|writes it back"
    told = re.compile(rf"[\"' ,;:(](?:[a-zA-Z]|ctrl\+[a-z]) (?:{verbs})\b")
    found: list[str] = []
    for file in sorted(STUDIO.glob("*.py")):
        if file.name == "commands.py":
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            is_prose = line.lstrip().startswith(('"""', "#"))
            if not is_prose and '"' in line and told.search(line):
                found.append(f"{file.name}:{number}: {line.strip()}")
    assert found == []
