"""The input line: several lines, history at its ends, large texts as a sign."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from flowstudio.studio.chat_paste import Pastes
from tests.studio.kit import FakeModel, Held, open_studio


@pytest.mark.parametrize("key", ["ctrl+j", "shift+enter", "alt+enter"])
async def test_a_line_of_several_lines_grows_and_is_sent_whole(work: Path, key: str) -> None:
    model = FakeModel()
    async with open_studio(work, model=model) as studio:
        await studio.press("i", "a", key, "b", key, "c")
        assert studio.chat.input.value == "a\nb\nc"
        await studio.until(lambda: studio.chat.input.size.height == 3, "three rows")
        await studio.press(*[key] * 9)
        await studio.until(lambda: studio.chat.input.size.height == 6, "six rows at most")
        await studio.press("enter")
        await studio.until(lambda: bool(model.asked), "the message")
        assert model.asked[0][1] == "a\nb\nc"
        assert studio.chat.input.value == ""
        await studio.until(lambda: studio.chat.input.size.height == 1, "one row again")


async def test_up_and_down_move_in_the_text_and_only_at_its_ends_in_what_was_sent(
    work: Path,
) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.type("first")
        await studio.until(lambda: not studio.main.driver.is_talking, "an answer")
        await studio.press("x", "ctrl+j", "y", "up")
        assert studio.chat.input.value == "x\ny", "up moves to the first row"
        await studio.press("up")
        assert studio.chat.input.value == "first"
        await studio.press("down")
        assert studio.chat.input.value == "x\ny", "what was being typed is not lost"


async def test_a_huge_text_is_pasted_as_a_sign_and_sent_whole(work: Path) -> None:
    model = FakeModel()
    text = "a long line of text\n" * 50_000
    async with open_studio(work, model=model) as studio:
        await studio.press("i", *"see ")
        studio.app.post_message(events.Paste(text))
        await studio.until(lambda: "[pasted" in studio.chat.input.value, "a sign")
        assert studio.chat.input.value == "see [pasted 1.0 MB]"
        await studio.press("enter")
        await studio.until(lambda: bool(model.asked), "the message")
        assert model.asked[0][1].strip() == f"see {text}".strip()
        await studio.until(lambda: "50001 lines" in studio.text, "the message, folded")


async def test_a_paste_of_a_few_lines_keeps_them(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.press("i")
        studio.app.post_message(events.Paste("one\r\ntwo\rthree"))
        await studio.until(lambda: studio.chat.input.value == "one\ntwo\nthree", "the lines")
        assert studio.events == []


def test_only_some_pasted_texts_are_kept() -> None:
    pastes = Pastes()
    signs = [pastes.take(f"{number}" * 5000) for number in range(10, 30)]
    assert len(set(signs)) == 20
    assert pastes.expand(signs[-1]) == "29" * 5000
    assert pastes.expand(signs[0]) == signs[0]


async def test_the_empty_chat_says_what_can_be_done_until_something_is_said(work: Path) -> None:
    held = Held("x")
    async with open_studio(work, model=FakeModel(talk=held)) as studio:
        await studio.until(lambda: "talks to the agent" in studio.text, "what can be done")
        assert "lists commands" in studio.text
        await studio.type("hello")
        await studio.until(held.begun.is_set, "an answer")
        await studio.until(lambda: "talks to the agent" not in studio.chat_text, "no hint")
        held.gate.set()


async def test_entries_are_chosen_and_opened_by_keys(work: Path) -> None:
    model = FakeModel()
    async with open_studio(work, model=model) as studio:
        await studio.press("r")
        await studio.ended()
        await studio.press("i", "shift+tab")
        log = studio.chat.log_view
        assert log.has_focus
        entry = next(one for one in log.stack.entries if one.plain.startswith("write"))
        for _ in range(12):
            if log.selected is entry:
                break
            await studio.press("k")
        before = log.stack.height
        await studio.press("enter")
        assert entry.is_open
        assert log.stack.height > before
        await studio.press("space")
        assert log.stack.height == before
        await studio.press("tab")
        assert studio.chat.input.has_focus
