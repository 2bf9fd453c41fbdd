"""Changes that the studio makes for the author: a prompt written back, a new name, a new skill."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input, TextArea

from flowstudio.studio.dialogs import PromptDialog
from flowstudio.studio.source_dialogs import NameDialog
from flowstudio.studio.wizard import Wizard
from flowstudio.wire import FlowReloaded
from tests.studio.kit import DEMO, FakeModel, Held, Studio, choose, open_studio


def skill_file(work: Path) -> Path:
    return work / ".agents" / "skills" / "demo" / "SKILL.md"


def text_of(work: Path) -> str:
    return skill_file(work).read_text(encoding="utf-8")


async def edit_prompt(studio: Studio, text: str) -> None:
    """Edit the prompt about to be sent, as `e` does."""
    await studio.press("e")
    await studio.until(lambda: isinstance(studio.app.screen, PromptDialog), "the dialog")
    studio.app.screen.query_one(TextArea).text = text
    await studio.press("ctrl+s")
    await studio.until(lambda: studio.app.screen is studio.main, "the studio again")


async def rename(studio: Studio, node: str, name: str) -> None:
    """Rename a node, as `R` does."""
    await studio.select(node)
    await studio.press("R")
    await studio.until(lambda: isinstance(studio.app.screen, NameDialog), "the dialog")
    studio.app.screen.query_one(Input).value = name
    await studio.press("enter")
    await studio.until(lambda: studio.app.screen is studio.main, "the studio again")


# Writing back


async def test_an_edited_prompt_is_written_back_and_taken_back(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.begin()
        await edit_prompt(studio, "Write a better draft")
        assert text_of(work) == DEMO
        await studio.press("w")
        assert text_of(work) == DEMO.replace("Write a first draft", "Write a better draft")
        await studio.until(lambda: "Write a better draft" in studio.view.drawing.text(), "it drawn")
        await studio.press("ctrl+z")
        assert text_of(work) == DEMO


async def test_without_an_edited_prompt_w_says_what_it_is_for(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.press("w")
        assert "edited with e" in studio.toasts[-1]
        assert text_of(work) == DEMO


async def test_a_write_back_is_not_taken_back_over_a_later_edit(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.begin()
        await edit_prompt(studio, "Write a better draft")
        await studio.press("w")
        later = text_of(work).replace("# Demo", "# Demonstration")
        skill_file(work).write_text(later, encoding="utf-8")
        await studio.press("ctrl+z")
        assert "was edited since" in studio.toasts[-1]
        assert text_of(work) == later


# Renaming


async def test_a_renamed_node_is_renamed_everywhere_and_stays_selected(work: Path) -> None:
    async with open_studio(work) as studio:
        await rename(studio, "good", "verdict")
        assert text_of(work) == DEMO.replace("good{", "verdict{").replace(
            "good -->", "verdict -->"
        ).replace("--> good\n", "--> verdict\n")
        await studio.until(lambda: "verdict" in studio.view.drawing.boxes, "the new picture")
        assert studio.view.selected == "verdict"


async def test_a_breakpoint_follows_the_new_name(work: Path) -> None:
    async with open_studio(work, model=FakeModel(good=[choose("no")])) as studio:
        await studio.select("mend")
        await studio.press("b")
        await rename(studio, "mend", "repair")
        await studio.until(lambda: "repair" in studio.view.drawing.boxes, "the new picture")
        skill = studio.main.skill
        assert skill is not None
        assert studio.main.driver.points.of(skill).nodes == {"repair"}
        await studio.press("r")
        await studio.paused_at("repair")


async def test_a_run_that_stands_on_the_node_goes_on_under_its_new_name(work: Path) -> None:
    model = FakeModel()
    async with open_studio(work, model=model) as studio:
        await studio.begin()
        await rename(studio, "write", "compose")
        await studio.until(lambda: studio.said(FlowReloaded), "the new flow in the run")
        assert studio.current == "compose"
        await studio.press("c")
        await studio.ended()
        assert [node for node, _ in model.asked] == ["compose", "good"]


async def test_a_visit_in_flight_ends_and_leads_on_from_the_new_name(work: Path) -> None:
    held = Held("draft")
    model = FakeModel(write=held)
    async with open_studio(work, model=model) as studio:
        await studio.press("r")
        await studio.until(held.begun.is_set, "the first words")
        await rename(studio, "write", "compose")
        held.gate.set()
        await studio.ended()
        assert [node for node, _ in model.asked] == ["write", "good"]
        assert len(studio.said(FlowReloaded)) == 1


@pytest.mark.parametrize(
    ("name", "said"), [("good", "already"), ("a b", "no id"), ("end", "Mermaid")]
)
async def test_a_name_that_cannot_be_is_refused_in_words(work: Path, name: str, said: str) -> None:
    async with open_studio(work) as studio:
        await rename(studio, "write", name)
        assert said in studio.toasts[-1]
        assert text_of(work) == DEMO


# The wizard


async def test_the_wizard_makes_a_skill_and_opens_its_source(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.press("N")
        await studio.until(lambda: isinstance(studio.app.screen, Wizard), "the wizard")
        await studio.press(*"my-flow", "enter")
        path = work / ".agents" / "skills" / "my-flow" / "SKILL.md"
        await studio.until(path.exists, "the file")
        await studio.until(
            lambda: studio.main.skill is not None and studio.main.skill.path == path, "it shown"
        )
        await studio.until(
            lambda: (
                studio.main.source.is_furnished and "name: my-flow" in studio.main.source.area.text
            ),
            "its source",
        )


async def test_the_wizard_says_what_is_wrong_with_a_name_and_writes_nothing(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.press("N")
        await studio.until(lambda: isinstance(studio.app.screen, Wizard), "the wizard")
        await studio.press(*"demo", "enter")
        await studio.until(lambda: "is there already" in studio.text, "the reason")
        assert isinstance(studio.app.screen, Wizard)
        await studio.press("escape")
        assert text_of(work) == DEMO
