"""Editing while the studio looks on: real saves, followed without losing one's place."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from flowstudio.wire import FlowReloaded
from tests.studio.kit import BROKEN, DEMO, NOTES, FakeModel, Held, choose, open_studio, write_skill

EDITED = DEMO.replace("Mend what is bad", "Mend it with care")


def save_in_place(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def save_by_rename(path: Path, text: str) -> None:
    """As editors do: a file beside it, renamed over it."""
    beside = path.with_name(".SKILL.md.swp")
    beside.write_text(text, encoding="utf-8")
    beside.rename(path)


def skill_file(work: Path) -> Path:
    return work / ".agents" / "skills" / "demo" / "SKILL.md"


@pytest.mark.parametrize("save", [save_in_place, save_by_rename])
async def test_a_save_redraws_the_flow_and_keeps_the_selection(
    work: Path, save: Callable[[Path, str], None]
) -> None:
    async with open_studio(work) as studio:
        await studio.select("mend")
        save(skill_file(work), EDITED)
        await studio.until(lambda: "Mend it with care" in studio.text, "the new label")
        assert studio.view.selected == "mend"
        assert "Mend it with care" in studio.detail
        assert not studio.view.stale


async def test_a_broken_save_keeps_the_last_good_picture_under_its_fault(work: Path) -> None:
    async with open_studio(work) as studio:
        save_in_place(skill_file(work), BROKEN)
        await studio.until(lambda: studio.view.stale, "the fault")
        assert "▲ SKILL.md:14:9" in studio.faults_shown
        assert "SKILL.md:14:9" in studio.lines[0]
        assert "Mend what is bad" in studio.text
        assert "▲ 1" in studio.row_of("broken") or "▲ 1" in studio.row_of("demo")


async def test_error_other_error_good_each_shows_and_clears_by_itself(work: Path) -> None:
    async with open_studio(work) as studio:
        path = skill_file(work)
        broken = DEMO.replace("mend --> good", "mend[oops --> good")
        save_in_place(path, broken)
        await studio.until(lambda: ":14:9" in studio.faults_shown, "the first fault")
        save_in_place(path, DEMO.replace("|no| mend", "|yes| mend"))
        await studio.until(
            lambda: studio.faults_shown and ":14:9" not in studio.faults_shown, "the other fault"
        )
        save_in_place(path, EDITED)
        await studio.until(lambda: "Mend it with care" in studio.text, "the good flow")
        assert not studio.view.stale
        assert studio.faults_shown == ""
        assert "▲" not in studio.lines[0]
        assert "▲" not in studio.row_of("demo")


async def test_a_flow_that_was_broken_from_the_start_is_drawn_once_it_is_good(work: Path) -> None:
    path = write_skill(work, DEMO.replace("mend --> good", "mend[oops --> good"))
    async with open_studio(path, cwd=work) as studio:
        assert studio.faults_shown
        save_in_place(path, DEMO)
        await studio.until(lambda: not studio.faults_shown, "the good flow")
        await studio.until(lambda: "Mend what is bad" in studio.text, "the picture")
        assert not studio.view.stale


async def test_new_skill_folders_come_and_deleted_ones_go(work: Path) -> None:
    async with open_studio(work) as studio:
        write_skill(work, NOTES, "notes")
        await studio.until(lambda: studio.row_of("notes"), "the new skill")
        shutil.rmtree(work / ".agents" / "skills" / "notes")
        await studio.until(lambda: not studio.row_of("notes"), "the skill gone")
        assert studio.main.skill is not None
        assert studio.main.skill.name == "demo"


async def test_a_renamed_folder_is_followed(work: Path) -> None:
    async with open_studio(work) as studio:
        root = work / ".agents" / "skills"
        write_skill(work, NOTES, "notes")
        await studio.until(lambda: studio.row_of("notes"), "the skill")
        (root / "notes").rename(root / "moved")
        await studio.until(
            lambda: any(s.path.parent.name == "moved" for s in studio.main.library.skills),
            "the skill in its new folder",
        )
        assert studio.row_of("notes")


async def test_the_first_skill_of_a_folder_without_any_appears(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    (folder / ".git").mkdir(parents=True)
    async with open_studio(folder) as studio:
        write_skill(folder, DEMO)
        await studio.until(lambda: studio.row_of("demo"), "the new skill")


async def test_deleting_the_shown_skill_shows_another_or_says_so(work: Path) -> None:
    async with open_studio(work) as studio:
        shutil.rmtree(work / ".agents" / "skills" / "demo")
        await studio.until(lambda: not studio.row_of("demo"), "the skill gone")
        await studio.until(
            lambda: studio.main.skill is None or studio.main.skill.name != "demo",
            "another skill in its place",
        )


# While a run is on


async def test_a_reload_during_a_pause_keeps_position_and_selection(work: Path) -> None:
    model = FakeModel()
    async with open_studio(work, model=model) as studio:
        await studio.begin()
        await studio.select("mend")
        save_in_place(skill_file(work), EDITED)
        await studio.until(lambda: studio.said(FlowReloaded), "the new flow in the run")
        await studio.until(lambda: "Mend it with care" in studio.text, "the new label")
        assert (studio.phase, studio.current) == ("paused", "write")
        assert studio.view.selected == "mend"
        assert studio.view.marks.nodes["write"] == "now"
        await studio.press("n")
        await studio.paused_at("good")
        await studio.press("2")
        await studio.paused_at("mend")
        await studio.press("c")
        await studio.ended()
        assert ("mend", "Mend it with care") in model.asked


async def test_the_visit_in_flight_finishes_with_the_prompt_it_started_with(work: Path) -> None:
    held = Held("draft")
    model = FakeModel(write=held)
    async with open_studio(work, model=model) as studio:
        await studio.press("r")
        await studio.until(held.begun.is_set, "the first words")
        save_in_place(skill_file(work), DEMO.replace("Write a first draft", "Sing"))
        await studio.until(lambda: studio.said(FlowReloaded), "the new flow in the run")
        held.gate.set()
        await studio.ended()
        assert model.asked[0] == ("write", "Write a first draft")


async def test_a_broken_save_does_not_disturb_the_run(work: Path) -> None:
    async with open_studio(work, model=FakeModel(good=[choose("no")])) as studio:
        await studio.begin()
        save_in_place(skill_file(work), DEMO.replace("mend --> good", "mend[oops --> good"))
        await studio.until(lambda: studio.view.stale, "the fault")
        await studio.press("c")
        await studio.ended()
        assert studio.path == ["BEGIN", "write", "good", "mend", "good", "END"]


async def test_a_node_that_is_gone_pauses_the_run_which_goes_on_elsewhere(work: Path) -> None:
    held = Held("draft")
    async with open_studio(work, model=FakeModel(write=held)) as studio:
        await studio.press("r")
        await studio.until(held.begun.is_set, "the first words")
        save_in_place(skill_file(work), DEMO.replace("write", "compose"))
        await studio.until(lambda: studio.said(FlowReloaded), "the new flow in the run")
        held.gate.set()
        await studio.until(
            lambda: studio.state is not None and studio.state.reason == "node_gone", "the pause"
        )
        await studio.until(lambda: "compose" in (studio.view.drawing or held).boxes, "redrawn")
        await studio.select("good")
        await studio.press("J")
        await studio.until(lambda: studio.path[-1] in ("good", "END"), "the run going on")
        await studio.ended()
