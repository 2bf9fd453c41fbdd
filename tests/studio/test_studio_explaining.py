"""Stepping that explains itself, and looking back: what the screen says of each moment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from flowstudio.run import moment
from flowstudio.run.moment import Moments, state_at
from flowstudio.run.state import RunState, Visit
from flowstudio.run.usage import Usage, add_up
from flowstudio.studio.look import look_at
from flowstudio.studio.past_talk import PastTalk, read_talk
from flowstudio.studio.timeline import Timeline
from flowstudio.studio.waiting import explain
from tests.studio.kit import DEMO, FakeModel, choose, open_studio, write_skill

NEEDY = DEMO.replace("Write a first draft", "Write about {{topic}} for $ARGUMENTS")


async def test_a_paused_node_shows_why_the_filled_prompt_and_what_each_key_does(
    work: Path,
) -> None:
    write_skill(work, NEEDY)
    async with open_studio(work, model=FakeModel(), size=(120, 50)) as studio:
        await studio.press("n")
        await studio.until(lambda: "need:" in studio.text, "the values")
        await studio.press(*"sea", "enter", *"Ada", "enter")
        await studio.paused_at("write")
        assert "⏸ before “write”" in studio.detail
        assert "about to be sent:\nWrite about sea for Ada" in studio.detail
        assert " n sends it, then pauses" in studio.detail
        assert " c runs on" in studio.detail
        assert "1-9" not in studio.detail
        await studio.press("n")
        await studio.paused_at("good")
        assert " 1-9 takes that branch unasked" in studio.detail
        assert "1 yes  → END" in studio.detail
        assert set(studio.view.marks.numbers.values()) == {1, 2}


async def test_the_input_stands_before_the_first_prompt_where_no_label_takes_it(
    work: Path,
) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        studio.main.desk.ask_and_run(studio.main.skill, "Be brief.", stepping=True)  # type: ignore[arg-type]
        await studio.paused_at("write")
        assert "about to be sent:\nBe brief.\n\nWrite a first draft" in studio.detail
        await studio.press("n")
        await studio.paused_at("good")
        assert "Be brief." not in studio.detail


async def test_an_edited_prompt_is_shown_as_what_is_sent_and_can_be_edited_again(
    work: Path,
) -> None:
    model = FakeModel()
    async with open_studio(work, model=model) as studio:
        await studio.begin()
        await studio.press("e")
        await studio.until(lambda: "this visit only" in studio.text, "the editor")
        await studio.press(*" now", "ctrl+s")
        await studio.until(lambda: "edited, about to be sent:" in studio.detail, "the edit")
        await studio.press("e")
        await studio.until(lambda: "this visit only" in studio.text, "the editor")
        await studio.press(*", please", "ctrl+s")
        await studio.until(lambda: "draft now, please" in studio.detail, "both edits")
        await studio.press("n")
        await studio.paused_at("good")
        assert model.asked[0] == ("write", "Write a first draft now, please")


async def test_an_answer_that_is_looked_at_says_how_to_keep_it_or_to_take_another(
    work: Path,
) -> None:
    async with open_studio(work, model=FakeModel(good=[choose("no")])) as studio:
        await studio.begin()
        await studio.press("n")
        await studio.paused_at("good")
        await studio.press("n")
        await studio.until(lambda: "keeps the answer" in studio.detail, "what n does")
        assert "takes another branch" in studio.detail
        assert "about to be sent" not in studio.detail


@pytest.mark.parametrize(
    ("reason", "key"),
    [
        ("max_moves", "M"),
        ("model_failed", "c"),
        ("choice_failed", "1-9"),
        ("node_gone", "J"),
        ("disk", "c"),
        ("no_progress", "c"),
        ("breakpoint", "n"),
    ],
)
def test_each_kind_of_pause_names_the_keys_that_help(reason: str, key: str) -> None:
    from flowstudio.flow.model import FlowNode

    node = FlowNode("q", "Is it?", "decision")
    state = RunState(phase="paused", reason=reason, why="so", current="q")
    found = explain(state, node, "Is it?", is_edited=False, has_branches=True)
    assert found is not None
    assert key in [one for one, _ in found.keys]


# Looking back


async def test_the_whole_screen_follows_the_visit_that_is_looked_at(work: Path) -> None:
    model = FakeModel(
        write="A first draft.",
        good=[choose("no", "Bad."), choose("yes", "Fine.")],
        mend="Mended.",
    )
    async with open_studio(work, model=model) as studio:
        await studio.press("r")
        await studio.ended()
        await studio.press(*["left_square_bracket"] * 3)
        await studio.until(lambda: studio.view.selected == "good", "the first question")
        assert "◂ visit 1, move 3" in studio.detail
        assert "→ no by the model" in studio.detail
        assert "Bad." in studio.detail
        assert "Fine." not in studio.detail
        marks = studio.view.marks
        assert marks.nodes["write"] == "done"
        assert "mend" not in marks.nodes
        await studio.until(lambda: bool(studio.main.query(PastTalk)), "the context as it was")
        await studio.until(lambda: "visit 1 of “good”:" in studio.text, "its head")
        assert not studio.chat.log_view.display
        assert "◂ past" in studio.lines[0]
        await studio.press("right_square_bracket")
        await studio.until(lambda: "Mended." in studio.detail, "the next visit")
        await studio.press("escape")
        await studio.until(lambda: studio.chat.log_view.display, "what is now")
        assert "✓ done" in studio.lines[0]


async def test_the_arrows_in_the_timeline_scrub_and_a_click_goes_to_a_visit(work: Path) -> None:
    model = FakeModel(good=[choose("no"), choose("yes")])
    async with open_studio(work, model=model, size=(160, 50)) as studio:
        await studio.press("r")
        await studio.ended()
        await studio.click("write", within="#timeline")
        await studio.until(lambda: studio.view.selected == "write", "the visit")
        assert isinstance(studio.app.focused, Timeline)
        await studio.press("right")
        await studio.until(lambda: studio.view.selected == "good", "the next one")
        await studio.press("home")
        await studio.until(lambda: studio.view.selected == "BEGIN", "the first one")
        await studio.press("end", "left")
        await studio.until(lambda: "visit 2, move 5" in studio.detail, "the last but one")


async def test_a_command_about_what_is_now_ends_the_look_back(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.begin()
        await studio.press("n")
        await studio.paused_at("good")
        await studio.press("left_square_bracket")
        await studio.until(lambda: studio.view.selected == "write", "the visit before")
        await studio.press("c")
        await studio.ended()
        assert studio.main.driver.look is None


async def test_looking_back_reads_the_runs_folder_and_writes_nothing_in_it(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.press("r")
        await studio.ended()
        folder = studio.main.driver.session.folder.path  # type: ignore[union-attr]
        before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
        await studio.press("left_square_bracket", "left_square_bracket")
        await studio.until(lambda: studio.main.driver.look is not None, "the look")
        look = studio.main.driver.look
        assert look is not None
        talk = read_talk(look)
        assert "Write a first draft" in [line.text for line in talk.lines if line.role == "user"]
        after = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
        assert after == before


def test_a_state_at_a_visit_holds_nothing_that_came_later() -> None:
    from flowstudio.run.state import Visit

    run = RunState(phase="ended", reason="reached_end")
    way = [("BEGIN", "a"), ("a", "q"), ("q", "a"), ("a", "q"), ("q", "END"), ("END", None)]
    for move, (node, to) in enumerate(way, 1):
        visit = Visit(node, 1 + (move > 3), move, "task", node, 0.0, seconds=1.0, to=to)
        visit.branch = "no" if (node, to) == ("q", "a") else None
        visit.forced = visit.branch is not None
        run.visits.append(visit)
    then = state_at(run, 3)
    assert [visit.node for visit in then.visits] == ["BEGIN", "a", "q", "a"]
    assert then.current == "a"
    assert dict(then.done) == {"BEGIN": 1, "a": 1, "q": 1}
    assert then.taken["q", "a", "no"] == 1
    assert then.forced == {("q", "a", "no")}
    assert ("a", "q", None) in then.taken
    assert then.taken["a", "q", None] == 1
    assert len(run.visits) == 6


def long_run(visits: int) -> RunState:
    """To and fro between two nodes; the last visit is in flight."""
    run = RunState(phase="running")
    for move in range(1, visits + 1):
        here, there = "ab"[move % 2], "ba"[move % 2]
        is_done = move < visits
        visit = Visit(here, move, move, "task", here, 1.0, usage=Usage(1, 3, 0, 2, 1.0))
        if is_done:
            visit.seconds, visit.to, visit.tokens, visit.prompt = 1.0, there, 5, "Do it."
        run.visits.append(visit)
    return run


def test_each_moment_of_a_long_run_is_what_its_visits_come_to() -> None:
    run = long_run(2_202)
    moments = Moments(run)
    for index in (0, 1, 1_000, 999, 2_201, 2_200, -1):
        then, place = moments.at(index), index % 2_202
        assert (then.tokens, then.done.total(), then.taken.total()) == (5 * place, place, place)
        assert then.usage.tokens == 5 * (place + 1)
        assert then == state_at(run, index)
        then.done["a"] = then.taken["a", "b", None] = -1  # whose it is
    run.rename("a", "c")
    assert moments.at(2_000).taken == {("b", "c", None): 1_000, ("c", "b", None): 1_000}
    assert moments.at(2_000).done == {"b": 1_000, "c": 1_000}


def test_a_step_along_a_long_run_does_not_add_up_all_of_it(monkeypatch: Any) -> None:
    added: list[int] = []

    def count(parts: Sequence[Usage]) -> Usage:
        added.append(len(parts))
        return add_up(parts)

    look = look_at(long_run(5_500), cast(Any, None), None, 5_400)
    monkeypatch.setattr(moment, "add_up", count)
    assert (then := look.at(5_399)) is not None
    assert then.then.usage.calls == 5_400
    assert max(added) < 1_100
