"""The first minutes: the welcome, and the tour that ends with a branch forced by the user."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from flowstudio.models.llm import LLM
from flowstudio.paths import bundled
from flowstudio.run.session import Session
from flowstudio.run.state import RunState
from flowstudio.studio import setup
from flowstudio.studio.keymap import with_keys
from flowstudio.studio.tour import ASKED, DECISION, DONE, OVER, STEPS, Tour
from flowstudio.wire import ChoiceMade, Event, NodeEntered, NodeLeft, RunEnded, RunPaused, UserAsked
from tests.studio.kit import FakeModel, open_studio
from tests.terminal.kit import run_in_terminal


class Told:
    """A tour that is told a made-up run."""

    def __init__(self) -> None:
        self.tour = Tour()
        self.state = RunState()

    def take(self, body: object, node: str | None = None, *, looks_back: bool = False) -> str:
        self.state.apply(Event(body, "run", 0.0, node, 1))  # type: ignore[arg-type]
        self.tour.hear(self.state, looks_back=looks_back)
        return self.tour.text

    def stop_at(self, *nodes: str) -> str:
        for node in nodes:
            self.take(NodeEntered(1, "task", node, 1), node)
        return self.take(RunPaused("step", "before it"), nodes[-1])


def test_the_guide_goes_on_when_the_user_has_done_what_it_asks() -> None:
    told = Told()
    assert told.tour.text == with_keys(STEPS[0])
    assert told.stop_at("BEGIN", "prompt") == with_keys(STEPS[1])
    assert told.stop_at("drawing") == with_keys(STEPS[2])
    told.tour.hear(told.state, looks_back=True)
    assert told.tour.text == with_keys(STEPS[3])
    told.tour.hear(told.state, looks_back=False)
    assert told.tour.text == with_keys(STEPS[4])
    assert told.stop_at(DECISION) == with_keys(STEPS[5])
    told.take(ChoiceMade("go on", "user", forced=True), DECISION)
    assert told.take(NodeLeft("hands", "go on", "user", "", 0, 0.0), DECISION) == with_keys(DONE)
    assert told.tour.is_done


def test_a_choice_as_the_model_is_no_force_and_the_guide_says_so() -> None:
    told = Told()
    told.tour.at = 5
    told.stop_at(DECISION)
    assert told.take(UserAsked("1", "which?", ("a",)), DECISION) == with_keys(ASKED)
    told.take(ChoiceMade("go on", "user"), DECISION)
    told.take(NodeLeft("hands", "go on", "user", "", 0, 0.0), DECISION)
    assert not told.tour.is_done


def test_a_run_that_ends_without_a_force_asks_for_another() -> None:
    told = Told()
    told.stop_at("BEGIN", "prompt")
    assert told.take(RunEnded("reached_end", "the end", 3)) == with_keys(OVER)


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    home, work = tmp_path / "h", tmp_path / "w"
    home.mkdir()
    work.mkdir()
    return {"home": home, "work": work}


def test_an_empty_folder_without_a_key_is_welcomed_and_the_tour_ends_with_a_force(
    places: dict[str, Path],
) -> None:
    with run_in_terminal(size=(130, 36), **places) as terminal:
        terminal.shows("Welcome to Flow Studio")
        terminal.click("Take the tour")
        for step, keys in enumerate(("n", "n", "[", "escape", "n", "1")):
            terminal.shows(f"{step}/6")
            terminal.shows(with_keys(STEPS[step])[:40])
            terminal.press(keys)
        terminal.shows(with_keys(DONE)[:40])
        terminal.shows("⇢")
        terminal.press("ctrl+q")
        assert terminal.wait() == 0


def test_how_to_set_a_key_is_told_in_place_and_esc_looks_around(places: dict[str, Path]) -> None:
    with run_in_terminal(size=(120, 36), **places) as terminal:
        terminal.shows("Take the tour")
        terminal.press("k")
        terminal.shows("export OPENAI_API_KEY=")
        terminal.press("escape")
        terminal.until(lambda: "Welcome to" not in terminal.text, "the studio")
        terminal.press("ctrl+q")
        assert terminal.wait() == 0


def test_a_folder_with_skills_of_its_own_is_not_welcomed(places: dict[str, Path]) -> None:
    folder = places["work"] / ".agents" / "skills" / "mine"
    folder.mkdir(parents=True)
    (places["work"] / ".git").mkdir()
    text = "---\nname: mine\ndescription: x\ntype: flow\n---\n```mermaid\n"
    chart = "flowchart TD\n B([BEGIN]) --> one[My own box] --> E([END])\n```\n"
    (folder / "SKILL.md").write_text(text + chart)
    with run_in_terminal(size=(120, 36), **places) as terminal:
        terminal.shows("My own box")
        terminal.shows("rehearsal")
        assert "Welcome to" not in terminal.text
        terminal.press("ctrl+q")
        assert terminal.wait() == 0


async def test_a_copy_of_the_tour_in_the_folder_is_toured_too(work: Path) -> None:
    shutil.copytree(bundled("skills") / "tour", work / ".agents" / "skills" / "tour")
    async with open_studio(work) as studio:
        assert studio.main.skill is not None
        assert studio.main.skill.name != "tour"
        await studio.press("W")
        await studio.until(lambda: "Take the tour" in studio.text, "the welcome")
        await studio.press("t")
        await studio.until(lambda: "0/6" in studio.text, "the guide")
        assert (studio.main.skill.name, studio.main.skill.scope) == ("tour", "project")


async def test_a_tour_that_is_begun_before_the_session_stands_asks_no_model(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, gate, slow = FakeModel(), asyncio.Event(), setup.open_session

    async def late(*given: Any) -> tuple[Session, str]:
        opened = await slow(*given)
        opened[0].set_model(LLM(model, "fake", "fake", 100_000))  # type: ignore[arg-type]
        await gate.wait()
        return opened

    monkeypatch.setattr(setup, "open_session", late)
    async with open_studio(work, settle=False) as studio:
        await studio.press("W")
        await studio.until(lambda: "Take the tour" in studio.text, "the welcome")
        await studio.press("t")
        await studio.until(lambda: "0/6" in studio.text, "the guide")
        await studio.press("r")
        gate.set()
        await studio.asked_at(DECISION)
        assert studio.main.driver.model_name == "rehearsal"
        assert "rehearsal" in studio.lines[0]
        assert model.asked == []
        await studio.press("W")
        await studio.until(lambda: "0/6" not in studio.text, "the end of the tour")
        assert studio.main.driver.model_name == "fake"
