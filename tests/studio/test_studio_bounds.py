"""Breakpoints that are listed, bounds that are raised, loops from a prompt, and the watchdog."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowstudio.run.breakpoints import parse_breakpoint
from flowstudio.run.kept_breakpoints import keep_breakpoints, load_breakpoints
from flowstudio.run.ralph import split_rounds
from flowstudio.studio.pick_dialogs import NumberDialog, PointsDialog
from flowstudio.wire import CommandGiven, RunPaused
from tests.studio.kit import DEMO, FakeModel, choose, open_studio, write_skill


async def test_what_a_typed_condition_means_is_said_as_it_is_typed(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.select("good")
        await studio.press("B", *"choice = no")
        await studio.until(
            lambda: "pauses after “good”, each time that choice = no" in studio.text, "its meaning"
        )
        await studio.press("ctrl+u", *"tokens >")
        await studio.until(lambda: "column 9" in studio.text, "what is wrong")
        await studio.press(*" 20k")
        await studio.until(lambda: "each time that tokens > 20" in studio.text, "the meaning")


async def test_all_breakpoints_of_a_flow_are_listed_shown_and_cleared(work: Path) -> None:
    flow = write_skill(work, DEMO)
    points = [parse_breakpoint("write", ""), parse_breakpoint("good", "visit >= 2")]
    keep_breakpoints(flow, [*points, parse_breakpoint("gone", "")])
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.press("L")
        await studio.until(lambda: isinstance(studio.app.screen, PointsDialog), "the list")
        await studio.until(lambda: "● good  before visit >= 2" in studio.text, "its lines")
        assert "gone  before  (no such node in the flow)" in studio.text
        await studio.press("down", "enter")
        await studio.until(lambda: studio.view.selected == "good", "the node")
        await studio.press("L")
        await studio.until(lambda: isinstance(studio.app.screen, PointsDialog), "the list")
        await studio.press("x")
        await studio.until(lambda: "write" not in studio.view.marks.breakpoints, "one less")
        await studio.press("escape")
    assert [point.node for point in load_breakpoints(flow)[0]] == ["good", "gone"]


async def test_capital_m_allows_more_moves(work: Path) -> None:
    model = FakeModel(R2=[choose("CONTINUE", f"part {n}") for n in range(2)] + [choose("STOP")])
    async with open_studio(work, model=model, max_ralph_iterations=1) as studio:
        await studio.type("Write")
        await studio.paused_at("R2")
        assert studio.said(RunPaused)[0].why == "max_moves"
        await studio.press("escape", "M")
        await studio.until(lambda: isinstance(studio.app.screen, NumberDialog), "the question")
        await studio.press("5", "enter")
        await studio.ended()
        given = [(body.command, body.value) for body in studio.said(CommandGiven)]
        assert ("allow_more", "5") in given


async def test_ralph_repeats_a_prompt_as_often_as_it_is_told(work: Path) -> None:
    model = FakeModel(R2=[choose("CONTINUE", f"part {n}") for n in range(4)])
    async with open_studio(work, model=model) as studio:
        await studio.type("/ralph 2 Write a poem")
        await studio.paused_at("R2")
        assert "was not told to stop in 2 rounds" in studio.said(RunPaused)[0].message
        assert [node for node, _ in model.asked] == ["R1", "R2", "R2"]
        assert model.asked[0] == ("R1", "Write a poem")
        assert studio.view.drawing is not None
        assert "R2" in studio.view.drawing.boxes


async def test_ralph_without_a_prompt_says_how_it_is_used(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.type("/ralph 3")
        await studio.until(lambda: any("/ralph [rounds]" in one for one in studio.toasts), "how")


@pytest.mark.parametrize(
    ("text", "rounds", "prompt"),
    [
        ("5 Make it", 5, "Make it"),
        ("-1 Make it", -1, "Make it"),
        ("Make 5", None, "Make 5"),
        ("0 Make it", None, "0 Make it"),
        ("-2 Make it", None, "-2 Make it"),
        ("² Make it", None, "² Make it"),
        ("3", 3, ""),
        ("", None, ""),
    ],
)
def test_a_number_before_the_prompt_is_the_number_of_rounds(
    text: str, rounds: int | None, prompt: str
) -> None:
    assert split_rounds(text) == (rounds, prompt)


async def test_a_loop_that_gets_nowhere_is_held_with_what_was_seen_and_what_can_be_done(
    work: Path,
) -> None:
    model = FakeModel(good=[choose("no", "It is still bad, in all the same ways.")] * 20)
    async with open_studio(work, model=model) as studio:
        await studio.press("r")
        await studio.until(lambda: studio.phase == "paused", "the watchdog")
        paused = studio.said(RunPaused)[0]
        assert paused.why == "no_progress"
        await studio.until(lambda: "goes on" in studio.chat_text, "what can be done")
        assert paused.message[:30] in studio.chat_text
