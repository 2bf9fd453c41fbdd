"""The screen behind a dialog: dimmed, as it is now, and looked at only where it has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.renderables.background_screen import BackgroundScreen

from flowstudio.studio.help_dialog import HelpDialog, HelpTable
from tests.studio.kit import Studio, open_studio


async def open_help(studio: Studio) -> HelpDialog:
    await studio.press("question_mark")
    await studio.until(lambda: "Here: " in studio.text, "the help")
    assert isinstance(studio.app.screen, HelpDialog)
    return studio.app.screen


async def test_what_changes_behind_a_dialog_is_seen_there(work: Path) -> None:
    async with open_studio(work) as studio:
        await open_help(studio)
        for name in ("first", "second"):
            studio.main.browser.border_title = name
            await studio.until(lambda name=name: name in studio.text, "the news")


async def test_what_changed_behind_two_dialogs_is_seen_once_one_is_closed(work: Path) -> None:
    async with open_studio(work) as studio:
        first = await open_help(studio)
        studio.app.push_screen(HelpDialog())
        await studio.until(lambda: studio.app.screen is not first, "both")
        await studio.pilot.pause()
        studio.main.browser.border_title = "changed"
        await studio.press("escape")
        await studio.until(lambda: studio.app.screen is first, "the one below")
        await studio.until(lambda: "changed" in studio.text, "the news")


async def test_a_screen_that_stays_is_not_looked_at_again(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def note(kind: type, name: str) -> None:
        before = getattr(kind, name)

        def call(*args: Any) -> Any:
            calls.append(kind.__name__)
            return before(*args)

        monkeypatch.setattr(kind, name, call)

    async with open_studio(work) as studio:
        dialog = await open_help(studio)
        note(HelpDialog, "render")
        note(BackgroundScreen, "__rich_console__")

        def is_painted_alone() -> bool:
            """A frame of the dialog without a look at what is behind it."""
            alone = bool(calls) and set(calls) == {"HelpDialog"}
            calls.clear()
            dialog.refresh()
            return alone

        await studio.until(is_painted_alone, "a frame of the dialog alone")


async def test_another_theme_is_seen_behind_a_dialog(work: Path) -> None:
    async with open_studio(work) as studio:
        dialog = await open_help(studio)

        def ground() -> object:
            return dialog.get_style_at(0, 10).bgcolor

        before = ground()
        studio.app.theme = next(
            name for name, theme in studio.app.available_themes.items() if not theme.dark
        )
        await studio.until(lambda: ground() != before, "the light one")


async def test_the_help_paints_the_lines_that_show(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    painted: set[int] = set()

    async with open_studio(work, size=(100, 24)) as studio:
        dialog = await open_help(studio)
        table = dialog.query_one(HelpTable)
        assert table.size.height > 80
        paint = table.render_line

        def note(y: int) -> Any:
            painted.add(y)
            return paint(y)

        monkeypatch.setattr(table, "render_line", note)
        table.refresh()
        await studio.until(lambda: bool(painted), "a frame")
        assert painted <= set(range(24))
        await studio.press(*["down"] * 3)
        await studio.until(lambda: dialog.query_one("#dialog-body").scroll_y == 3, "further down")


async def test_long_keys_and_words_of_the_help_are_folded_side_by_side(work: Path) -> None:
    async with open_studio(work, size=(60, 30)) as studio:
        rows = [("ctrl+shift+a, ctrl+shift+b", "does something " * 6, "it")]
        studio.app.push_screen(HelpDialog.of("demo", rows))
        await studio.until(lambda: "Here: demo" in studio.text, "the help")
        table = studio.app.screen.query_one(HelpTable)
        lines = [table.render_line(y).text for y in range(table.size.height)]
        at = next(n for n, line in enumerate(lines) if "shift+a" in line)
        assert [line[:18].strip() for line in lines[at : at + 3]] == [
            "ctrl+shift+a,",
            "ctrl+shift+b",
            "",
        ]
        said = " ".join(line[18:].strip() for line in lines[at : at + 3])
        assert said == ("does something " * 6).strip()
