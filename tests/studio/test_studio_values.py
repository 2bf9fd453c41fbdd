"""Values that prompts lack, plain prompts as loops, and breakpoints over restarts."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowstudio.run.breakpoints import parse_breakpoint
from flowstudio.run.kept_breakpoints import breakpoints_file, keep_breakpoints, load_breakpoints
from flowstudio.wire import CommandGiven, RunPaused, RunStarted
from tests.studio.kit import DEMO, FakeModel, choose, open_studio, write_skill

NEEDY = DEMO.replace("Write a first draft", "Write about {{topic}} for $ARGUMENTS").replace(
    "Mend what is bad", "Mend it in the style of {{style}}"
)


async def test_values_that_the_prompts_lack_are_asked_for_before_the_run(work: Path) -> None:
    write_skill(work, NEEDY)
    model = FakeModel(good=[choose("no"), choose("yes")])
    async with open_studio(work, model=model) as studio:
        await studio.press("r")
        await studio.until(lambda: "The prompts of “demo” need:" in studio.text, "the dialog")
        assert "topic, first in “write”" in studio.text
        assert "the input, first in “write”" in studio.text
        assert "style, first in “mend”" in studio.text
        assert model.asked == []
        await studio.press(*"sea", "enter", *"Ada", "enter", *"Joyce", "enter")
        await studio.ended()
        prompts = {node: prompt.splitlines()[0] for node, prompt in model.asked}
        assert prompts["write"] == "Write about sea for Ada"
        assert prompts["mend"] == "Mend it in the style of Joyce"
        started = studio.said(RunStarted)[0]
        assert started.variables == {"topic": "sea", "style": "Joyce"}


async def test_escape_runs_nothing(work: Path) -> None:
    write_skill(work, NEEDY)
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.press("r")
        await studio.until(lambda: "need:" in studio.text, "the dialog")
        await studio.press("escape")
        await studio.until(lambda: "need:" not in studio.text, "no dialog")
        assert not studio.main.driver.is_running


async def test_a_flow_command_gives_the_input_and_asks_for_the_rest(work: Path) -> None:
    write_skill(work, NEEDY)
    model = FakeModel()
    async with open_studio(work, model=model) as studio:
        await studio.type("/flow:demo Ada")
        await studio.until(lambda: "need:" in studio.text, "the dialog")
        assert "the input" not in studio.text
        await studio.press(*"sea", "enter", *"x", "enter")
        await studio.ended()
        assert model.asked[0] == ("write", "Write about sea for Ada")


# The Ralph loop


async def test_what_is_typed_becomes_a_loop_that_is_drawn(work: Path) -> None:
    model = FakeModel(R2=[choose("CONTINUE"), choose("STOP")])
    async with open_studio(work, model=model, max_ralph_iterations=5) as studio:
        await studio.type("Write a {{poem}}")
        await studio.ended()
        assert studio.path == ["BEGIN", "R1", "R2", "R2", "END"]
        assert model.asked[0] == ("R1", "Write a {{poem}}")
        assert studio.view.drawing is not None
        assert set(studio.view.drawing.boxes) == {"BEGIN", "R1", "R2", "END"}
        assert "Write a {{poem}}" in studio.flow.view.drawing.text()


async def test_a_loop_that_is_used_up_waits_and_c_allows_more(work: Path) -> None:
    model = FakeModel(R2=[choose("CONTINUE", f"part {n}") for n in range(2)] + [choose("STOP")])
    async with open_studio(work, model=model, max_ralph_iterations=2) as studio:
        await studio.type("Write")
        await studio.paused_at("R2")
        assert "was not told to stop in 2 rounds" in studio.said(RunPaused)[0].message
        await studio.press("escape", "c")
        await studio.ended()


async def test_talk_within_a_paused_run_is_no_loop(work: Path) -> None:
    model = FakeModel(talk="I see.")
    async with open_studio(work, model=model, max_ralph_iterations=2) as studio:
        await studio.begin()
        await studio.type("Mind the gap")
        await studio.until(lambda: "I see." in studio.chat_text, "the answer")
        assert len(studio.said(RunStarted)) == 1
        assert studio.path == ["BEGIN", "write"]
        await studio.press("escape", "s")
        await studio.ended("stopped")


# Breakpoints


async def test_breakpoints_are_there_again_when_the_studio_is_opened_anew(work: Path) -> None:
    flow = write_skill(work, DEMO)
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.select("mend")
        await studio.press("b")
    assert [point.node for point in load_breakpoints(flow)[0]] == ["mend"]
    model = FakeModel(good=[choose("no"), choose("yes")])
    async with open_studio(work, model=model) as studio:
        assert studio.view.marks.breakpoints == {"mend"}
        await studio.press("r")
        await studio.paused_at("mend")
        await studio.press("s")
        await studio.ended("stopped")


async def test_a_breakpoint_with_a_condition_is_typed_in_one_line(work: Path) -> None:
    flow = write_skill(work, DEMO)
    async with open_studio(work, model=FakeModel(good=[choose("no"), choose("yes")])) as studio:
        await studio.select("good")
        await studio.press("B")
        await studio.until(lambda: "Breakpoint at “good”" in studio.text, "the dialog")
        await studio.press(*"choise = no", "enter")
        await studio.until(lambda: "“choise” is nothing that" in studio.text, "what is wrong")
        await studio.press("delete", "delete", "delete", "delete", "delete", "delete")
        await studio.press(*"choice", "enter")
        await studio.until(lambda: studio.view.marks.breakpoints == {"good"}, "the mark")
        assert [point.text for point in load_breakpoints(flow)[0]] == ["after choice = no"]
        await studio.press("B")
        await studio.until(lambda: "after choice = no" in studio.text, "the line that is there")
        await studio.press("ctrl+u", "enter")
        await studio.until(lambda: not studio.view.marks.breakpoints, "no mark")
    assert load_breakpoints(flow) == ((), "")


async def test_a_kept_condition_holds_the_run_and_is_said(work: Path) -> None:
    flow = write_skill(work, DEMO)
    keep_breakpoints(flow, [parse_breakpoint("good", "choice = no")])
    async with open_studio(work, model=FakeModel(good=[choose("no")])) as studio:
        await studio.press("r")
        await studio.paused_at("good")
        assert studio.said(RunPaused)[0].message == "breakpoint after “good”: the choice is “no”"
        await studio.press("b", "c")
        await studio.ended()
        assert [body.command for body in studio.said(CommandGiven)] == ["unbreak", "continue"]


@pytest.mark.parametrize(
    "text", ["{", '{"format": 1, "breakpoints": [{"node": "x", "break": "?"}]}']
)
async def test_a_broken_file_of_breakpoints_harms_nothing(work: Path, text: str) -> None:
    flow = write_skill(work, DEMO)
    file = breakpoints_file(flow)
    file.parent.mkdir(parents=True)
    file.write_text(text)
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.press("r")
        await studio.ended()
