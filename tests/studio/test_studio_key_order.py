"""Keys that come in one piece, as over a slow connection, count in the order of pressing."""

from __future__ import annotations

from pathlib import Path

from textual.events import Key, Paste

from tests.studio.kit import Studio, open_studio

NAMED = {"\x7f": "backspace", "\n": "enter", "←": "left", "→": "right", "/": "slash", "⇤": "home"}


def burst(studio: Studio, keys: str) -> None:
    """Give all keys to the app before it has looked at the first."""
    for key in keys:
        name = NAMED.get(key, key)
        studio.app.post_message(Key(name, None if key in NAMED and key != "/" else key))


async def test_what_deletes_and_moves_counts_where_it_was_pressed(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.press("i")
        burst(studio, "wolrd\x7f\x7f\x7frld←←←←←Hello ")
        await studio.until(lambda: len(studio.chat.input.value) >= 11, "the line")
        assert studio.chat.input.value == "Hello world"


async def test_a_paste_stays_between_the_keys_around_it(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.press("i")
        burst(studio, "ab\x7f")
        studio.app.post_message(Paste("12"))
        burst(studio, "⇤z")
        await studio.until(lambda: len(studio.chat.input.value) == 4, "the line")
        assert studio.chat.input.value == "za12"


async def test_a_line_that_a_command_opens_gets_what_is_typed_behind_it(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.select("write")
        burst(studio, "/good\n")
        await studio.until(lambda: studio.view.selected == "good", "what was looked for")
        assert studio.events == [], "no letter of it was a command"


async def test_keys_behind_one_that_closes_a_dialog_go_on_below_it(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.press("question_mark")
        await studio.until(lambda: len(studio.app.screen_stack) == 2, "the help")
        studio.app.post_message(Key("escape", None))
        burst(studio, "i\x7fhi")
        await studio.until(lambda: studio.chat.input.value == "hi", "what was typed")
