"""Editing keeps the picture: what was not touched stays where it is on the screen."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.geometry import Offset

from flowstudio.drawing.drawing import Box
from flowstudio.studio import slide
from tests.studio.kit import DEMO, FakeModel, Studio, open_studio, write_skill

STEPS = 30
LADDER = (
    DEMO.split("```")[0]
    + "```mermaid\nflowchart TD\n    BEGIN([BEGIN]) --> n0\n"
    + "".join(f"    n{i}[Step number {i}] --> n{i + 1}\n" for i in range(STEPS))
    + f"    n{STEPS}[last] --> END([END])\n```\n"
)
INSERTED = LADDER.replace("n2[Step number 2] --> n3", "n2[Step number 2] --> new[New] --> n3")


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing slides, but where a test asks for it."""
    monkeypatch.setenv("NO_ANIMATION", "1")


async def edit(studio: Studio, work: Path, text: str) -> None:
    """Save another text and wait for its picture."""
    before = studio.view.drawing
    write_skill(work, text)
    await studio.until(lambda: studio.view.drawing is not before, "the new picture")
    await studio.pilot.pause()


async def test_a_step_put_in_above_leaves_the_selected_node_where_it_is(work: Path) -> None:
    write_skill(work, LADDER)
    async with open_studio(work) as studio:
        await studio.select("n15")
        place, below = studio.place_of("n15"), studio.place_of("n16")
        await edit(studio, work, INSERTED)
        assert (studio.place_of("n15"), studio.place_of("n16")) == (place, below)
        assert studio.view.selected == "n15"


async def test_without_a_selection_the_node_in_the_middle_stays(work: Path) -> None:
    write_skill(work, LADDER)
    async with open_studio(work) as studio:
        studio.view.look_at(20, 70)
        await studio.pilot.pause()
        assert studio.view.drawing is not None
        seen = {n: studio.place_of(n) for n in studio.view.drawing.boxes if studio.sees(n)}
        assert len(seen) > 2
        await edit(studio, work, INSERTED)
        assert {n: studio.place_of(n) for n in seen} == seen


@pytest.mark.parametrize("node", ["n0", "n1", "n29", "END"])
async def test_at_the_ends_of_the_flow_nothing_moves_either(work: Path, node: str) -> None:
    write_skill(work, INSERTED)
    async with open_studio(work) as studio:
        await studio.select(node)
        place = studio.place_of(node)
        await edit(studio, work, LADDER)
        assert studio.place_of(node) == place
        await edit(studio, work, INSERTED)
        assert studio.place_of(node) == place


async def test_a_picture_that_was_held_lies_as_usual_once_the_user_pans(work: Path) -> None:
    write_skill(work, INSERTED)
    async with open_studio(work) as studio:
        await studio.select("n0")
        await edit(studio, work, LADDER.replace("n0[Step number 0] --> n1", "n0[Zero] --> n1"))
        await studio.press("shift+up", "shift+up", "shift+up")
        assert studio.view.window.y >= -1


async def test_the_old_picture_comes_back_with_the_old_text(work: Path) -> None:
    text = DEMO.replace("mend --> good", "mend --> good\n    good -->|again| write")
    write_skill(work, text)
    async with open_studio(work) as studio:
        assert studio.view.drawing is not None
        picture = studio.view.drawing.text()
        await edit(studio, work, text.replace("mend --> good", "mend --> more[More] --> good"))
        assert studio.view.drawing.text() != picture
        await edit(studio, work, text)
        assert studio.view.drawing.text() == picture


async def test_an_edit_while_a_run_stands_keeps_its_marks_on_the_right_nodes(work: Path) -> None:
    async with open_studio(work, model=FakeModel(), size=(160, 50)) as studio:
        await studio.begin()
        await studio.press("n")
        await studio.paused_at("good")
        await edit(studio, work, DEMO.replace("write[Write", "zero[Zero] --> write[Write"))
        assert studio.view.marks.nodes["good"] == "now"
        assert studio.view.marks.nodes["write"] == "done"
        assert "zero" not in studio.view.marks.nodes


# Motion


async def test_boxes_slide_to_their_new_places_and_stop(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_ANIMATION")
    now = 1_000.0
    monkeypatch.setattr("flowstudio.studio.flow_view.monotonic", lambda: now)
    write_skill(work, LADDER)
    async with open_studio(work, size=(120, 50)) as studio:
        await studio.select("n2")
        before = studio.place_of("n3")
        await edit(studio, work, INSERTED)
        after = studio.place_of("n3")
        assert after.y > before.y

        def row() -> int:
            return studio.find("Step number 3", within="#flow")[1] - studio.view.region.y

        assert row() == before.y
        now += slide.SECONDS / 2
        await studio.until(lambda: before.y < row() < after.y, "the node on its way")
        now += slide.SECONDS
        await studio.until(lambda: row() == after.y, "the node in its place")


def test_boxes_that_move_by_a_cell_do_not_slide() -> None:
    boxes = [Box("a", 4, 0, 9, 3), Box("b", 4, 5, 9, 3)]
    for way, slides in (((1, 0), False), ((-1, 1), False), ((0, 2), True), ((-3, 1), True)):
        before = {"a": Offset(4, 0), "b": Offset(4, 5) + way}
        planned = slide.plan_slide(before, boxes, Offset(0, 0), 10.0)
        assert (planned is not None) == slides


def test_a_slide_has_as_many_pictures_as_it_has_cells_to_go() -> None:
    boxes = [Box("a", 4, 0, 9, 3)]
    planned = slide.plan_slide({"a": Offset(4, 2)}, boxes, Offset(0, 0), 10.0)
    assert planned is not None
    rows = [planned.shifts(10.0 + slide.SECONDS * part / 100)["a"].y for part in range(101)]
    assert sorted(set(rows)) == [0, 1, 2]
    assert rows == sorted(rows, reverse=True)


@pytest.mark.parametrize("how", ["NO_ANIMATION", "level"])
async def test_nothing_slides_where_the_user_wants_no_motion(
    work: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr("flowstudio.studio.flow_view.monotonic", lambda: 1_000.0)
    if how == "level":
        monkeypatch.delenv("NO_ANIMATION")
    write_skill(work, LADDER)
    async with open_studio(work, size=(120, 50)) as studio:
        if how == "level":
            studio.app.animation_level = "none"
        await studio.select("n2")
        await edit(studio, work, INSERTED)
        y = studio.find("Step number 3", within="#flow")[1] - studio.view.region.y
        assert y == studio.place_of("n3").y
