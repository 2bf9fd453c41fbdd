"""Plans in the studio: `P`, a goal in words, the flow that comes of it, what is done with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input, OptionList, Static

from flowstudio import paths
from flowstudio.skill import load_skill
from flowstudio.studio.commands import commands_of
from flowstudio.studio.dialogs import TrustDialog
from flowstudio.studio.help_dialog import HelpDialog
from flowstudio.studio.plan_save import SaveDialog
from flowstudio.studio.plan_screen import PlanScreen
from flowstudio.studio.state_field import StateField
from tests.studio.kit import FakeModel, Held, Studio, open_studio, text_of, write_skill
from tests.studio.test_studio_library import skill


@pytest.fixture
def kitchen(work: Path) -> Path:
    """Skills that lead from a kettle to tea that is served; a hen and an egg that wait for each
    other."""
    for name, fields, about in (
        ("boil", "preconditions: [has_kettle]\neffects: [has_water]\n", "Boil water."),
        ("brew", "preconditions: [has_water]\neffects: [has_tea]\n", "Brew a pot of tea."),
        ("hen", "preconditions: [has_egg]\neffects: [has_hen]\n", "Hatch a hen."),
        ("egg", "preconditions: [has_hen]\neffects: [has_egg]\n", "Lay an egg."),
    ):
        write_skill(work, skill(name, fields, about), name)
    states = work / ".agents" / "skills" / "states.yaml"
    states.write_text("has_tea: {en: a pot of tea is ready, zh: 泡好了一壶茶}\n", encoding="utf-8")
    return work


async def open_plan(studio: Studio) -> PlanScreen:
    await studio.press("P")
    await studio.until(lambda: isinstance(studio.app.screen, PlanScreen), "the planner")
    screen = studio.app.screen
    assert isinstance(screen, PlanScreen)
    await studio.until(lambda: bool(screen.query_one(StateField).states), "the library is read")
    return screen


async def plan(studio: Studio, screen: PlanScreen, goal: str) -> None:
    """Type a goal and wait for what becomes of it."""
    before = screen.planned
    await studio.until(lambda: screen.pane.is_attached, "the screen")
    await studio.press("g")
    screen.query_one("#goal", Input).value = goal
    screen.query_one("#goal", Input).focus()
    await studio.pilot.pause()
    await studio.press("enter")
    await made(studio, screen, before)


async def made(studio: Studio, screen: PlanScreen, before: object) -> None:
    await studio.until(
        lambda: not screen.is_at_work and screen.planned not in (None, before), "a plan"
    )
    if screen.planned is not None and screen.planned.skill is not None:
        await studio.until(lambda: screen.view.drawing is not None, "its drawing")
        await studio.until(lambda: screen.view.has_focus, "the drawing in use")
    await studio.pilot.pause()


def story(screen: PlanScreen) -> str:
    return "\n".join(text_of(one) for one in screen.query("PlanStory > Static").results(Static))


def steps(screen: PlanScreen) -> list[str]:
    found = screen.planned.served.plan if screen.planned else None
    return [step.skill.name for step in found.steps] if found else []


async def test_a_goal_in_words_becomes_a_flow_that_says_why(kitchen: Path) -> None:
    async with open_studio(kitchen) as studio:
        screen = await open_plan(studio)
        assert "no model is set up" in studio.lines[0]
        await studio.until(lambda: "enter plan" in studio.lines[-1], "the keys while typing")
        await plan(studio, screen, "a pot of tea please")
        await studio.until(lambda: "r run" in studio.lines[-1], "the keys of the plan")
        assert steps(screen) == ["boil", "brew"]
        assert screen.view.drawing is not None
        assert set(screen.view.drawing.boxes) == {"BEGIN", "step1", "step2", "END"}
        for text in (
            "read by its words: no model is set up",
            "has_tea  a pot of tea is ready",
            "no skill here brings it about",
            "has_kettle",
            "→ has_water",
            "score 0.",
        ):
            assert text in story(screen)
        # Selecting a box shows its reasons.
        screen.view.select("step2")
        await studio.until(lambda: screen.query_one("#step2").has_class("-chosen"), "the step")
        # What is at hand is completed from the known states, by a part of the name.
        await studio.press("a")
        await studio.press(*"kettl")
        await studio.until(lambda: screen.query_one(StateField).query_one(OptionList).display, "it")
        before = screen.planned
        await studio.press("tab", "enter")
        await made(studio, screen, before)
        assert screen.planned is not None and screen.planned.wish.have == ("has_kettle",)
        assert "at hand, as you say" in story(screen)
        # In Chinese the prompts are Chinese, and so is what the states mean.
        await plan(studio, screen, "泡一壶茶")
        assert steps(screen)[-1] == "brew"
        assert "泡好了一壶茶" in story(screen) and "a pot of tea is ready" not in story(screen)
        # Its keys stand in the palette and in the help.
        offered = {one.title for one in studio.app.get_system_commands(screen)}
        for command in commands_of("plan"):
            assert any(command.help in title for title in offered), command.id
        await studio.press("question_mark")
        await studio.until(lambda: isinstance(studio.app.screen, HelpDialog), "the help")
        await studio.until(lambda: "Save the plan as a skill" in studio.text, "its keys")


async def test_what_cannot_be_had_is_named_with_what_to_do(kitchen: Path) -> None:
    async with open_studio(kitchen) as studio:
        screen = await open_plan(studio)
        await plan(studio, screen, "has_hen")
        assert screen.planned is not None and screen.planned.skill is None
        for text in ("cannot be had: has_hen", "has_hen (by hen) needs has_egg", "would open it"):
            assert text in story(screen)
        assert "1 cannot be had" in studio.lines[0]
        await studio.press("escape", "r")  # nothing to run, and nothing breaks
        # Words that mean nothing here: what is nearest can be picked.
        screen = await open_plan(studio)
        await plan(studio, screen, "zzz qqq")
        picks = screen.query_one("#picks", OptionList)
        await studio.until(lambda: picks.has_focus, "what can be picked")
        assert "not understood well enough" in story(screen)
        names = [option.id for option in picks.options]
        picks.highlighted = names.index("skill:brew")
        before = screen.planned
        await studio.press("enter")
        await made(studio, screen, before)
        assert steps(screen) == ["boil", "brew"]


async def test_a_plan_is_run_and_opened_unsaved_or_saved_writing_over_nothing(
    kitchen: Path,
) -> None:
    write_skill(kitchen, "mine", "plan-has-tea")
    unsaved = paths.state_file().parent / "plans"
    for number in range(30):
        file = unsaved / f"old-{number}" / "SKILL.md"
        file.parent.mkdir(parents=True)
        file.touch()
    async with open_studio(kitchen) as studio:
        screen = await open_plan(studio)
        await plan(studio, screen, "has_tea")
        await studio.press("r")
        await studio.ended()
        assert studio.app.screen is studio.main
        assert studio.path == ["BEGIN", "step1", "step2", "END"]
        assert studio.main.skill is not None and studio.main.skill.name == "plan-has_tea"
        assert not (kitchen / ".agents" / "skills" / "plan-has_tea").exists()
        assert (unsaved / "plan-has_tea" / "SKILL.md").exists()
        assert len(list(unsaved.iterdir())) == 20, "older ones that nobody saved are gone"
        # The plan is still there when the planner is opened again.
        screen = await open_plan(studio)
        await studio.until(lambda: screen.view.drawing is not None, "the same plan")
        assert steps(screen) == ["boil", "brew"]
        await studio.press("o")
        await studio.until(lambda: studio.app.screen is studio.main, "the studio")
        assert any("not saved" in one for one in studio.toasts)
        # Saved, it is a skill like any other.
        screen = await open_plan(studio)
        await studio.until(lambda: screen.view.has_focus, "the plan")
        await studio.press("s")
        await studio.until(lambda: isinstance(studio.app.screen, SaveDialog), "the question")
        await studio.until(lambda: "is there already" in studio.text, "what is wrong with it")
        await studio.press("enter")
        assert isinstance(studio.app.screen, SaveDialog)
        await studio.press(*"-today", "enter")
        path = kitchen / ".agents" / "skills" / "plan-has-tea-today" / "SKILL.md"
        await studio.until(path.exists, "the file")
        saved = load_skill(path)
        assert saved.name == "plan-has-tea-today" and saved.flow is not None and not saved.errors
        assert (path.parent.parent / "plan-has-tea" / "SKILL.md").read_text() == "mine"
        await studio.until(lambda: studio.app.screen is screen, "the plan")
        await studio.press("o")
        await studio.until(lambda: studio.app.screen is studio.main, "the studio")
        assert studio.main.skill is not None and studio.main.skill.path == path
        await studio.until(lambda: studio.row_of("plan-has-tea-today"), "it in the list")


async def test_a_model_reads_the_goal_where_one_is_set_up(
    kitchen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FLOWSTUDIO_TRUST", raising=False)
    answer = '{"goals": ["has_tea"], "given": ["has_kettle"]}'
    model = FakeModel(talk=[answer, "no idea"])
    async with open_studio(kitchen, model=model) as studio:
        screen = await open_plan(studio)
        assert "fake reads the goal" in studio.lines[0]
        await plan(studio, screen, "something warm for the guests")
        assert steps(screen) == ["boil", "brew"] and "fake read it" in story(screen)
        # What cannot be understood is read by its words, and that is said.
        await plan(studio, screen, "a pot of tea")
        assert steps(screen) == ["boil", "brew"]
        assert "could not be understood" in story(screen) and "by its words" in story(screen)
        # Names of states need nobody to read them.
        await plan(studio, screen, "has_water")
        assert len(model.asked) == 2 and "named by its states" in story(screen)
        # Prompts quote the skills of this folder, which nobody has trusted yet.
        await studio.press("r")
        await studio.until(lambda: isinstance(studio.app.screen, TrustDialog), "the question")
        await studio.press("n")
        await studio.until(lambda: studio.app.screen is studio.main, "the studio")
        assert studio.end is None and not studio.main.driver.is_running
        # Once it is, nothing more is asked: the plan itself is the studio's own.
        screen = await open_plan(studio)
        await studio.until(lambda: screen.view.has_focus, "the plan")
        await studio.press("r")
        await studio.until(lambda: isinstance(studio.app.screen, TrustDialog), "the question")
        await studio.press("y")
        await studio.ended()
        assert studio.path == ["BEGIN", "step1", "END"]


async def test_a_model_that_is_slow_can_be_stopped_and_is_not_waited_for_forever(
    kitchen: Path,
) -> None:
    first, second = Held("{}"), Held("{}")
    model = FakeModel(talk=[first, second])
    async with open_studio(kitchen, model=model) as studio:
        screen = await open_plan(studio)
        goal = screen.query_one("#goal", Input)
        goal.value = "a pot of tea"
        await studio.press("enter")
        await studio.until(first.begun.is_set, "the question to the model")
        await studio.until(lambda: "asking fake" in studio.lines[0], "the sign of it")
        await studio.press("escape")
        await studio.until(lambda: "stopped" in studio.lines[0], "the end of it")
        assert screen.planned is None and studio.app.screen is screen
        screen._planner.patience = 0.05
        await plan(studio, screen, "a pot of tea")
        assert second.begun.is_set() and steps(screen) == ["boil", "brew"]
        assert "did not answer within" in story(screen)
