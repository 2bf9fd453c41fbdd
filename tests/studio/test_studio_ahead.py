"""Commands typed ahead: kept until the run can take them, shown meanwhile, and taken back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from flowstudio.studio.ahead import MOST
from tests.studio.kit import FakeModel, Held, Studio, choose, open_studio


def starting(studio: Studio) -> bool:
    return studio.main.desk.ahead.is_starting


@pytest.fixture
def late_session(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """The session stands once the test lets it."""
    from flowstudio.studio import setup

    gate, open_session = asyncio.Event(), setup.open_session

    async def open_late(*given: object, **more: object) -> object:
        await gate.wait()
        return await open_session(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(setup, "open_session", open_late)
    return gate


async def test_a_step_typed_while_the_run_starts_is_taken_once_it_is_ready(
    work: Path, late_session: asyncio.Event
) -> None:
    async with open_studio(work, settle=False) as studio:
        await studio.press("n", "n")
        await studio.until(lambda: starting(studio), "a run that is about to start")
        await studio.until(lambda: "starting · 1 step ahead" in studio.lines[0], "what is kept")
        late_session.set()
        await studio.paused_at("good")
        assert studio.path == ["BEGIN", "write", "good"]
        assert studio.toasts == []


async def test_c_typed_while_a_stepped_run_starts_runs_it_on(
    work: Path, late_session: asyncio.Event
) -> None:
    async with open_studio(work, settle=False) as studio:
        await studio.press("n", "c")
        await studio.until(lambda: starting(studio), "a run that is about to start")
        late_session.set()
        await studio.settled()
        await studio.asked_at("good")
        assert studio.main.driver.control is not None
        assert studio.main.driver.control.mode == "run"


async def test_p_typed_while_a_run_starts_pauses_it_before_anything_is_sent(
    work: Path, late_session: asyncio.Event
) -> None:
    async with open_studio(work, settle=False) as studio:
        await studio.press("r", "p")
        await studio.until(lambda: starting(studio), "a run that is about to start")
        late_session.set()
        await studio.paused_at("BEGIN")


async def test_s_typed_while_a_run_starts_gives_it_up(
    work: Path, late_session: asyncio.Event
) -> None:
    async with open_studio(work, settle=False) as studio:
        await studio.press("n", "n", "s")
        await studio.until(lambda: "the run was not started" in studio.toasts, "the word on it")
        late_session.set()
        await studio.settled()
        assert studio.path == []
        assert not starting(studio)
        await studio.begin()
        assert studio.path == ["BEGIN", "write"]


async def test_steps_typed_while_a_node_runs_are_taken_one_after_the_other(work: Path) -> None:
    held = Held("draft.")
    model = FakeModel(write=held, good=choose("no"))
    async with open_studio(work, model=model) as studio:
        await studio.begin()
        await studio.press("n")
        await studio.until(held.begun.is_set, "the first words")
        await studio.press("n", "n")
        await studio.until(lambda: "2 steps ahead" in studio.lines[0], "what is kept")
        held.gate.set()
        # The decision is asked, then its answer is taken: two steps, as they are without hurry.
        await studio.paused_at("mend")
        assert studio.path == ["BEGIN", "write", "good", "mend"]
        assert "ahead" not in studio.lines[0]


async def test_steps_typed_at_once_at_a_pause_are_all_taken(work: Path) -> None:
    async with open_studio(work, model=FakeModel(good=choose("no"))) as studio:
        await studio.begin()
        for _ in range(3):  # as quick as keys can come: the run has no turn between them
            studio.main.desk.step()
        await studio.paused_at("mend")


@pytest.mark.parametrize("key", ["p", "escape"])
async def test_what_is_kept_can_be_taken_back(work: Path, key: str) -> None:
    held = Held("draft.")
    async with open_studio(work, model=FakeModel(write=held)) as studio:
        await studio.begin()
        await studio.press("n")
        await studio.until(held.begun.is_set, "the first words")
        await studio.press("n", "n", key)
        assert "ahead" not in studio.lines[0]
        held.gate.set()
        await studio.paused_at("good")
        await studio.pilot.pause()
        assert studio.path == ["BEGIN", "write", "good"]


async def test_a_pause_that_is_to_come_is_shown_until_it_has_come(work: Path) -> None:
    held = Held("draft.")
    async with open_studio(work, model=FakeModel(write=held)) as studio:
        await studio.press("r")
        await studio.until(held.begun.is_set, "the first words")
        await studio.press("p")
        await studio.until(lambda: "pauses after this node" in studio.lines[0], "what is to come")
        held.gate.set()
        await studio.paused_at("good")
        await studio.until(lambda: "pauses after" not in studio.lines[0], "the pause itself")
        await studio.press("p")
        assert "the run is paused: n steps" in studio.toasts[-1]


async def test_s_ends_the_run_whatever_is_kept(work: Path) -> None:
    held = Held("draft.")
    async with open_studio(work, model=FakeModel(write=held)) as studio:
        await studio.begin()
        await studio.press("n")
        await studio.until(held.begun.is_set, "the first words")
        await studio.press("n", "n", "s")
        await studio.ended("stopped")
        assert studio.path == ["BEGIN", "write"]


async def test_a_breakpoint_is_not_run_over_by_what_was_typed_before(work: Path) -> None:
    held = Held("draft.")
    async with open_studio(work, model=FakeModel(write=held)) as studio:
        await studio.begin()
        await studio.select("good")
        await studio.press("b", "n")
        await studio.until(held.begun.is_set, "the first words")
        await studio.press("n", "n")
        held.gate.set()
        await studio.paused_at("good")
        assert studio.state is not None
        assert studio.state.reason == "breakpoint"
        assert "ahead" not in studio.lines[0]


async def test_a_key_that_is_held_down_is_kept_only_a_few_times(work: Path) -> None:
    held = Held("draft.")
    async with open_studio(work, model=FakeModel(write=held)) as studio:
        await studio.begin()
        await studio.press("n")
        await studio.until(held.begun.is_set, "the first words")
        await studio.press(*"n" * (MOST + 7))
        await studio.until(lambda: f"{MOST} steps ahead" in studio.lines[0], "what is kept")
        held.gate.set()
        # BEGIN, write, good, END: the steps that are left begin no second run.
        await studio.ended()
        await studio.pilot.pause()
        assert studio.phase == "ended"


# Where a run begins


async def test_on_a_narrow_terminal_a_run_brings_its_flow_to_the_front(work: Path) -> None:
    async with open_studio(work, size=(80, 24), model=FakeModel()) as studio:
        studio.main.show_pane("skills")
        await studio.until(lambda: studio.shows("#skills-pane"), "the skills")
        await studio.begin()
        await studio.until(lambda: studio.shows("#flow-pane"), "the flow")
        assert not studio.shows("#skills-pane")


async def test_a_run_takes_nobody_from_the_chat(work: Path) -> None:
    async with open_studio(work, size=(80, 24), model=FakeModel()) as studio:
        studio.main.show_pane("chat")
        await studio.press(*"words")
        studio.main.desk.start(stepping=True)
        await studio.until(lambda: studio.phase == "paused", "a pause")
        assert studio.main.pane == "chat"
        assert studio.chat.input.value == "words"
