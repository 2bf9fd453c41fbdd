"""The list of skills searches by meaning: what is asked, what is shown, what is noted."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from flowstudio.mindflow.database import Database, database_file
from flowstudio.mindflow.feedback import FeedbackLog
from flowstudio.mindflow.finder import Finder
from flowstudio.studio.skills_pane import is_sentence
from tests.studio.kit import DEMO, Studio, open_studio, text_of, write_skill


def skill(name: str, description: str) -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\n\nDo it.\n"


@pytest.fixture
def kitchen(work: Path) -> Path:
    """A folder with a flow and three skills that speak of soup more or less."""
    write_skill(work, DEMO)
    write_skill(work, skill("cook", "Cook a warm soup of vegetables."), "cook")
    write_skill(work, skill("serve", "Serve soup to the guests at table."), "serve")
    write_skill(work, skill("wash", "Wash plates after a meal of soup."), "wash")
    return work


def found(studio: Studio) -> list[str]:
    """The rows below the heading of what the finder gave."""
    rows = studio.rows
    at = next((i for i, row in enumerate(rows) if row.startswith(("BY MEANING", "BY WORDS"))), None)
    return [] if at is None else rows[at + 1 :]


def about(studio: Studio) -> str:
    return text_of(studio.skills.query_one("#about"))


async def ask(studio: Studio, *keys: str) -> None:
    await studio.press("ctrl+k", *keys)
    await studio.until(lambda: found(studio), "an answer of the finder")


SENTENCE = ("s", "o", "u", "p", "space", "v", "e", "g", "e", "t", "a", "b", "l", "e", "s")


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("", False),
        ("soup", False),
        ("soup ", False),
        ("warm soup", True),
        ("审查代", False),
        ("审查代码", True),
        ("スープを", True),
        ("éàüö", False),
    ],
)
def test_two_words_or_four_signs_of_a_script_without_spaces_are_a_sentence(
    text: str, is_one: bool
) -> None:
    assert is_sentence(text) is is_one


async def test_a_sentence_that_rests_is_answered_with_shares_and_reasons(kitchen: Path) -> None:
    async with open_studio(kitchen) as studio:
        await ask(studio, *SENTENCE, "space", "f", "o", "r", "space", "m", "e")
        assert "cook" in found(studio)[0] and "%" in found(studio)[0]
        assert "likely to be meant" in about(studio)
        assert "no model for meanings is in use" in about(studio)


async def test_the_best_is_shown_whatever_was_selected_while_typing(kitchen: Path) -> None:
    async with open_studio(kitchen) as studio:
        await studio.press("ctrl+k", *"guests")
        assert studio.skills.selected is not None and studio.skills.selected.name == "serve"
        await ask(studio, "end", "space", *"warm", "space", *"soup", "space", *"vegetables")
        assert studio.skills.selected is not None and studio.skills.selected.name == "cook"


async def test_one_word_is_filtered_and_never_asked(
    kitchen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    async with open_studio(kitchen) as studio:
        monkeypatch.setattr(studio.main.meaning, "ask", asked.append)
        await studio.press("ctrl+k", *"soup")
        await studio.press("enter")
        await studio.pilot.pause(0.4)  # longer than a sentence rests
        assert asked == []
        assert studio.row_of("cook") and not studio.row_of("demo")


async def test_enter_asks_where_no_word_matches(kitchen: Path) -> None:
    async with open_studio(kitchen) as studio:
        await ask(studio, *"vegetables-soup", "enter")
        assert "cook" in found(studio)[0]


async def test_escape_clears_what_was_found(kitchen: Path) -> None:
    async with open_studio(kitchen) as studio:
        await ask(studio, *SENTENCE)
        await studio.press("escape")
        assert not found(studio)
        assert studio.row_of("demo")


async def test_not_this_one_brings_the_next_and_is_noted(kitchen: Path) -> None:
    async with open_studio(kitchen) as studio:
        await ask(studio, *SENTENCE, "space", "f", "o", "r", "space", "m", "e")
        await studio.press("enter", "X")
        await studio.until(lambda: "cook" not in "".join(found(studio)), "the next ones")
        assert any("serve" in row or "wash" in row for row in found(studio))
        await studio.until(lambda: feedback().get("cook") == (0, 1), "a note of it")


async def test_enter_on_a_skill_that_was_found_opens_it_and_notes_the_choice(kitchen: Path) -> None:
    async with open_studio(kitchen) as studio:
        await ask(studio, *SENTENCE, "space", "f", "o", "r", "space", "m", "e")
        await studio.press("enter", "X")
        await studio.until(lambda: "cook" not in "".join(found(studio)), "the next ones")
        await studio.press("enter")
        await studio.until(lambda: studio.main.pane == "flow", "the flow pane")
        taken = studio.skills.selected
        assert taken is not None and taken.name in ("serve", "wash")
        assert studio.main.skill is taken
        await studio.until(lambda: feedback().get(taken.name) == (1, 0), "a note of the choice")


async def test_not_this_one_without_a_search_says_how_to_search(kitchen: Path) -> None:
    async with open_studio(kitchen) as studio:
        await studio.press("X")
        assert any("First search" in toast for toast in studio.toasts)
        assert not database_file().exists()


async def test_an_answer_that_comes_late_for_another_text_is_dropped(
    kitchen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, begun = threading.Event(), threading.Event()
    find = Finder.find

    def slow(self: Finder, query: str, *more: Any) -> Any:
        begun.set()
        assert gate.wait(20)
        return find(self, query, *more)

    monkeypatch.setattr(Finder, "find", slow)
    async with open_studio(kitchen) as studio:
        await studio.press("ctrl+k", *SENTENCE)
        await studio.until(begun.is_set, "a question")
        # The keys go on while the finder thinks.
        await studio.press("escape", "ctrl+k", *"wash")
        gate.set()
        await studio.until(lambda: _is_done(studio), "its end")
        assert studio.row_of("wash") and not found(studio)


def _is_done(studio: Studio) -> bool:
    return all(one.is_finished for one in studio.main.workers if one.group == "meaning")


def feedback() -> dict[str, tuple[int, int]]:
    """How often each skill was chosen and rejected."""
    if not database_file().exists():
        return {}
    with Database() as database:
        return FeedbackLog(database).counts()
