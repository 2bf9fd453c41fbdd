"""Dialogs in which something is edited: where the cursor is when they open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input, TextArea

from flowstudio.run.breakpoints import parse_breakpoint
from flowstudio.studio.break_dialog import BreakDialog
from flowstudio.studio.dialog import Dialog
from flowstudio.studio.dialogs import PromptDialog
from flowstudio.studio.pick_dialogs import NumberDialog
from flowstudio.studio.plan_save import SaveDialog
from flowstudio.studio.source_dialogs import NameDialog
from tests.studio.kit import Studio, open_studio


async def typed_into(studio: Studio, dialog: Dialog[Any], text: str) -> str:
    """What stands in the dialog's line once a text is typed right after it has opened."""
    await studio.app.push_screen(dialog)
    await studio.until(lambda: isinstance(studio.app.focused, Input | TextArea), "a line")
    await studio.press(*text)
    line = studio.app.focused
    assert isinstance(line, Input | TextArea)
    return line.value if isinstance(line, Input) else line.text


type Make = Callable[[Path], Dialog[Any]]
"""Makes a dialog, given the work folder."""


def save_as(name: str) -> Make:
    return lambda work: SaveDialog(name, work / ".agents" / "skills", work)


ADDED_TO: dict[str, tuple[Make, str]] = {
    "a prompt": (lambda _: PromptDialog("a", "One.\nTwo"), "One.\nTwo!"),
    "a condition": (
        lambda _: BreakDialog("a", [parse_breakpoint("a", "visit >= 3")]),
        "before visit >= 3!",
    ),
    "a name that is taken": (save_as("demo"), "demo!"),
}
REPLACED: dict[str, Make] = {
    "a number": lambda _: NumberDialog("More moves", "How many?", 50),
    "a node's name": lambda _: NameDialog("write"),
    "a plan's name": save_as("plan-tea"),
}


@pytest.mark.parametrize("what", ADDED_TO)
async def test_what_is_usually_added_to_is_opened_at_its_end(work: Path, what: str) -> None:
    dialog, text = ADDED_TO[what]
    async with open_studio(work) as studio:
        assert await typed_into(studio, dialog(work), "!") == text


@pytest.mark.parametrize("what", REPLACED)
async def test_what_is_usually_replaced_is_opened_with_all_of_it_chosen(
    work: Path, what: str
) -> None:
    async with open_studio(work) as studio:
        assert await typed_into(studio, REPLACED[what](work), "7") == "7"


async def test_the_end_of_a_long_prompt_is_in_view(work: Path) -> None:
    prompt = "\n".join(f"line {number} " + "of many words " * 12 for number in range(60))
    async with open_studio(work, size=(80, 24)) as studio:
        await studio.app.push_screen(PromptDialog("a", f"{prompt}\nThe end."))
        await studio.until(lambda: "The end." in studio.text, "the end of the prompt")
