"""A long chat: only its end is on the screen, and nothing of it is lost."""

from __future__ import annotations

from pathlib import Path

from flowstudio.studio.chat_log import KEPT
from flowstudio.wire import Event, PromptSent, Text
from tests.studio.kit import Studio, open_studio


def say(studio: Studio, count: int) -> None:
    for number in range(count):
        for body in (PromptSent(f"question {number}?"), Text(f"answer {number}.\n" * 3)):
            studio.main._take_event(Event(body, "run", 0.0))


async def test_older_entries_leave_the_screen_and_come_back_on_scrolling_up(work: Path) -> None:
    async with open_studio(work) as studio:
        log = studio.chat.log_view
        for _ in range(8):
            say(studio, 20)
            await studio.pilot.pause()
        await studio.until(lambda: len(log.children) <= KEPT + 40, "a short log")
        assert log.earlier > 100
        assert "question 19?" in studio.chat_text
        before = log.earlier
        await studio.until(lambda: log.max_scroll_y - log.scroll_y <= 2, "the end in view")
        log.scroll_home(animate=False)
        await studio.until(lambda: log.earlier < before, "what was before")


async def test_a_long_answer_goes_on_in_new_entries_without_losing_a_word(work: Path) -> None:
    words = [f"word{number}" for number in range(3_000)]
    text = " ".join(
        word + ("\n\n" if number % 40 == 39 else "") for number, word in enumerate(words)
    )
    async with open_studio(work) as studio:
        for at in range(0, len(text), 700):
            studio.main._take_event(Event(Text(text[at : at + 700]), "run", 0.0))
        studio.main._take_event(Event(PromptSent("next"), "run", 0.0))
        await studio.until(lambda: words[-1] in studio.chat_text, "the end of it")
        await studio.until(lambda: studio.chat_text.split()[:-1] == words, "all of it")
        assert len(studio.chat.log_view.children) > 5
