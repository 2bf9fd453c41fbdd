"""Taking a branch by hand: before the decision is asked, while it is, and after it answered."""

from __future__ import annotations

from pathlib import Path

from flowstudio.drawing.marks import Look
from flowstudio.wire import PromptSent
from tests.studio.kit import FakeModel, Held, Studio, choose, open_studio


def look_of(studio: Studio, src: str, dst: str) -> Look:
    """How the line between two nodes is shown."""
    drawing = studio.view.drawing
    assert drawing is not None
    index = next(path.index for path in drawing.paths if (path.src, path.dst) == (src, dst))
    return studio.view.marks.edges.get(index, "plain")


async def test_a_branch_taken_before_it_is_asked_spares_the_model_the_question(work: Path) -> None:
    model = FakeModel()
    async with open_studio(work, model=model) as studio:
        await studio.begin()
        await studio.press("n")
        await studio.paused_at("good")
        await studio.press("2")
        await studio.paused_at("mend")
        assert studio.choices == [("no", "user", True)]
        assert [node for node, _ in model.asked] == ["write"]


async def test_a_branch_taken_while_it_is_asked_waits_for_the_answer(work: Path) -> None:
    held = Held(choose("yes"))
    async with open_studio(work, model=FakeModel(good=[held, choose("yes")])) as studio:
        await studio.press("r")
        await studio.until(held.begun.is_set, "the first words")
        await studio.press("2")
        assert "“no” will be taken when the answer is there" in studio.toasts
        assert look_of(studio, "good", "mend") == "chosen"
        held.gate.set()
        await studio.ended()
        assert studio.choices[0] == ("no", "user", True)
        assert "you, over the model’s “yes”" in studio.chat_text


async def test_a_branch_taken_after_the_answer_goes_over_the_models(work: Path) -> None:
    async with open_studio(work, model=FakeModel(good=choose("yes"))) as studio:
        await studio.begin()
        await studio.press("n")
        await studio.paused_at("good")
        await studio.press("n")
        await studio.until(
            lambda: studio.state is not None and studio.state.reason == "answered", "the answer"
        )
        await studio.press("2")
        await studio.paused_at("mend")
        assert studio.choices == [("no", "user", True)]
        assert "you, over the model’s “yes”" in studio.chat_text


async def test_a_forced_branch_never_looks_like_a_chosen_one(work: Path) -> None:
    async with open_studio(work, model=FakeModel(good=[choose("yes")])) as studio:
        await studio.begin()
        await studio.press("n")
        await studio.paused_at("good")
        await studio.press("2")
        await studio.paused_at("mend")
        assert look_of(studio, "good", "mend") == "forced"
        assert look_of(studio, "write", "good") == "done"
        await studio.pilot.pause()
        assert "good⇢no" in studio.text
        assert any(glyph in studio.text for glyph in "╌╎╍╏")
        await studio.press("c")
        await studio.ended()
        assert look_of(studio, "good", "END") == "done"
        assert look_of(studio, "good", "mend") == "forced"


async def test_the_branch_that_the_model_would_take_anyway_is_not_forced(work: Path) -> None:
    held = Held(choose("yes"))
    async with open_studio(work, model=FakeModel(good=held)) as studio:
        await studio.press("r")
        await studio.until(held.begun.is_set, "the first words")
        await studio.press("1")
        held.gate.set()
        await studio.ended()
        assert studio.choices == [("yes", "model", False)]
        assert look_of(studio, "good", "END") == "done"


async def test_the_digits_stand_beside_the_branches_of_the_current_decision(work: Path) -> None:
    async with open_studio(work, model=FakeModel(), size=(140, 45)) as studio:
        await studio.begin()
        await studio.press("n")
        await studio.paused_at("good")
        assert sorted(studio.view.marks.numbers.values()) == [1, 2]
        await studio.pilot.pause()
        assert "1yes" in studio.text.replace(" ", "")


async def test_a_branch_that_is_not_there_is_refused_with_the_number_there_are(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.begin()
        await studio.press("n")
        await studio.paused_at("good")
        await studio.press("3")
        assert "“good” has 2 branches" in studio.toasts
        assert studio.current == "good"


async def test_a_node_with_one_exit_has_nothing_to_choose(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.begin()
        await studio.press("1")
        assert "“write” has a single exit: nothing to choose" in studio.toasts


async def test_a_digit_without_a_run_says_how_to_begin_one(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.press("1")
        assert studio.toasts == ["no run is on: r runs the flow, n steps through it"]


async def test_where_no_choice_comes_the_run_waits_for_a_digit(work: Path) -> None:
    async with open_studio(work, model=FakeModel(good=["hm"] * 4)) as studio:
        await studio.press("r")
        await studio.until(
            lambda: studio.state is not None and studio.state.reason == "choice_failed",
            "the pause after all retries",
        )
        assert studio.view.marks.nodes["good"] == "fault"
        assert len(studio.said(PromptSent)) == 5
        await studio.press("1")
        await studio.ended()
        assert studio.choices == [("yes", "user", True)]


async def test_an_answer_without_a_choice_is_asked_again_and_said_so(work: Path) -> None:
    async with open_studio(work, model=FakeModel(good=["maybe", choose("yes")])) as studio:
        await studio.press("r")
        await studio.ended()
        assert "no choice; asking again for: yes, no" in studio.chat_text
        assert "→ yes   model, try 2" in studio.chat_text
