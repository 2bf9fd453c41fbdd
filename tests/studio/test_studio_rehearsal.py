"""Without a model the user is the model: tasks are done at once, decisions are asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.studio.kit import open_studio


async def test_a_decision_is_asked_and_answered_by_its_digit(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.press("r")
        await studio.asked_at("good")
        assert "You are the model: which branch?" in studio.chat_text
        await studio.press("1")
        await studio.ended()
        assert studio.choices == [("yes", "user", False)]


@pytest.mark.parametrize("typed", ["yes", "1", "<choice>yes</choice>"])
async def test_a_decision_is_answered_by_typing(work: Path, typed: str) -> None:
    async with open_studio(work) as studio:
        await studio.press("r")
        await studio.asked_at("good")
        await studio.type(typed)
        await studio.ended()
        assert studio.choices == [("yes", "user", False)]


async def test_the_top_line_says_that_it_is_the_users_turn(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.press("r")
        await studio.asked_at("good")
        await studio.until(lambda: "? your turn" in studio.lines[0], "the user's turn")
        assert studio.view.marks.flags["good"] == "⏸"


async def test_a_digit_beyond_the_branches_is_refused(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.press("r")
        await studio.asked_at("good")
        await studio.press("7")
        assert "there are 2 answers to choose from" in studio.toasts
        await studio.press("1")
        await studio.ended()


async def test_an_answer_that_names_no_branch_is_asked_again(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.press("r")
        await studio.asked_at("good")
        await studio.type("perhaps")
        await studio.until(lambda: "You are the model again" in studio.chat_text, "once more")
        await studio.press("escape", "1")
        await studio.ended()


@pytest.mark.parametrize("key", ["n", "c"])
async def test_going_on_past_the_question_is_refused_with_what_to_do(work: Path, key: str) -> None:
    async with open_studio(work) as studio:
        await studio.press("r")
        await studio.asked_at("good")
        await studio.press(key)
        assert "you are the model here: press the number of a branch" in studio.toasts


async def test_s_stops_at_the_question(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.press("r")
        await studio.asked_at("good")
        await studio.press("s")
        await studio.ended("stopped")
        await studio.type("hello")
        await studio.until(lambda: "This is a rehearsal" in studio.chat_text, "an answer")


async def test_a_seed_walks_by_itself(work: Path) -> None:
    async with open_studio(work, seed=3) as studio:
        await studio.press("r")
        await studio.ended()
        assert {by for _, by, _ in studio.choices} == {"seed"}
