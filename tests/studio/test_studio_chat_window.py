"""A long chat: a window onto its entries; what is old is let go of, the rest is only painted."""

from __future__ import annotations

from pathlib import Path

from flowstudio.studio import chat_stack
from flowstudio.studio.chat_answer import PIECE, Answer
from flowstudio.studio.chat_entries import note
from flowstudio.studio.chat_stack import Stack
from flowstudio.wire import Event, PromptSent, Text
from tests.studio.kit import Studio, open_studio


def say(studio: Studio, count: int) -> None:
    for number in range(count):
        for body in (PromptSent(f"question {number}?"), Text(f"answer {number}.\n" * 3)):
            studio.main._take_event(Event(body, "run", 0.0))


async def test_the_chat_stays_at_its_end_until_the_user_scrolls_up_to_read(work: Path) -> None:
    async with open_studio(work) as studio:
        log = studio.chat.log_view
        say(studio, 100)
        await studio.until(lambda: "answer 99." in studio.text, "the end in view")
        log.focus()
        await studio.press("home")
        await studio.until(lambda: "question 0?" in studio.text, "the beginning")
        before = log.max_scroll_y
        say(studio, 3)
        await studio.until(lambda: log.max_scroll_y > before, "more below")
        assert "question 0?" in studio.text
        await studio.press("end")
        await studio.until(lambda: "answer 2." in studio.text, "the end again")
        # Read upwards, page by page, nothing is left out.
        seen: list[str] = []
        for _ in range(4):
            await studio.press("pageup")
            await studio.pilot.pause()
            seen.append(studio.text)
        for number in (95, 90, 85, 80):
            assert any(f"question {number}?" in page for page in seen)


async def test_a_long_answer_goes_on_in_new_entries_without_losing_a_word(work: Path) -> None:
    words = [f"word{number}" for number in range(3_000)]
    text = " ".join(
        word + ("\n\n" if number % 40 == 39 else "") for number, word in enumerate(words)
    )
    async with open_studio(work) as studio:
        for at in range(0, len(text), 700):
            studio.main._take_event(Event(Text(text[at : at + 700]), "run", 0.0))
        studio.main._take_event(Event(PromptSent("next"), "run", 0.0))
        assert studio.chat_text.split()[:-1] == words
        answers = [one for one in studio.chat.log_view.stack.entries if isinstance(one, Answer)]
        assert len(answers) > 5
        assert all(len(one.text) < 4 * PIECE for one in answers)
        assert answers[2].source == text.strip(), "the whole answer is what one copies"


def test_the_oldest_entries_are_let_go_of_and_the_rest_keeps_its_rows() -> None:
    stack = Stack()
    stack.width = 40
    for number in range(chat_stack.MOST + 1):
        stack.add(note(f"entry {number}", "text"))
    before = stack.height
    rows = stack.trim()
    assert rows > 0
    assert stack.height == before - rows
    assert len(stack.entries) <= chat_stack.MOST
    assert stack.place_of(stack.entries[0]) == 0
    assert stack.entries[-1].plain == f"entry {chat_stack.MOST}"


def test_entries_that_hold_much_text_are_fewer() -> None:
    stack = Stack()
    stack.width = 40
    for _ in range(100):
        stack.add(Answer("x" * 50_000))
        stack.trim()
    assert sum(entry.length for entry in stack.entries) <= chat_stack.LARGEST


def test_only_some_entries_are_kept_laid_out() -> None:
    stack = Stack()
    stack.width = 20
    for number in range(500):
        stack.add(note(f"one {number} " * 5, "text"))
    for place in range(500):
        stack.measure(place)
    assert len(stack._lines) <= 50
    assert stack.height == sum(len(stack.lines_of(place)) for place in range(500))
