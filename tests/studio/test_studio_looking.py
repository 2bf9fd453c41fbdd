"""Looking at a flow: selecting, panning, zooming; and what a chart's text may not do."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.geometry import Offset

from tests.studio.kit import DEMO, FakeModel, Studio, open_studio, write_skill

LONG = (
    "Read the whole draft once without a pencil.<br/>Then read it again, slowly, and write "
    "down each sentence that you would not say to a friend who sits across the table from you"
)
WIDE = "flowchart LR\n    BEGIN([BEGIN]) --> n0 -->|ahead| n1\n" + "".join(
    f"    n{i}[Step number {i}] --> n{i + 1}\n" for i in range(1, 30)
)
TALL = WIDE.replace("LR", "TD", 1)


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    """A chart that is much larger than the pane in both directions."""
    path = tmp_path / "wide.mmd"
    rows = "".join(f"    n0 -->|way {i}| m{i}[Branch {i}] --> n1\n" for i in range(12))
    path.write_text(TALL + rows + "    n30 --> END([END])\n", encoding="utf-8")
    return path


def place(studio: Studio) -> Offset:
    return studio.view.scroll_offset


# Selecting


async def test_a_click_on_a_node_selects_it_and_shows_its_whole_prompt(work: Path) -> None:
    write_skill(work, DEMO.replace("Mend what is bad", LONG))
    async with open_studio(work, size=(160, 50)) as studio:
        await studio.click("Read the whole")
        assert studio.view.selected == "mend"
        assert "who sits across the table from you" in studio.detail
        assert "Read the whole draft once without a pencil." in studio.detail


async def test_a_click_on_nothing_selects_nothing(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.click("Mend what is bad")
        assert studio.view.selected == "mend"
        region = studio.view.region
        await studio.pilot.click(offset=(region.x, region.y))
        assert studio.view.selected is None


async def test_a_click_on_a_decision_shows_its_branches_and_where_they_lead(work: Path) -> None:
    async with open_studio(work) as studio:
        await studio.click("Is it good?")
        assert "good" in studio.detail
        assert "yes  → END" in studio.detail
        assert "no  → Mend what is bad" in studio.detail


async def test_arrow_keys_go_from_node_to_node(work: Path) -> None:
    async with open_studio(work) as studio:
        studio.view.focus()
        seen: list[str | None] = []
        for key in ("down", "down", "down", "up"):
            await studio.press(key)
            seen.append(studio.view.selected)
        assert seen == ["BEGIN", "write", "good", "write"]


# Panning


@pytest.mark.parametrize(
    ("there", "back"),
    [("j", "k"), ("l", "h"), ("shift+down", "shift+up"), ("shift+right", "shift+left")],
)
async def test_keys_pan_and_pan_back(wide: Path, there: str, back: str) -> None:
    async with open_studio(wide, cwd=wide.parent, size=(100, 30)) as studio:
        studio.view.focus()
        await studio.press("j", "l")
        start = place(studio)
        await studio.press(there)
        assert place(studio) != start
        await studio.press(back)
        assert place(studio) == start


async def test_the_wheel_pans(wide: Path) -> None:
    async with open_studio(wide, cwd=wide.parent, size=(100, 30)) as studio:
        start = place(studio)
        region = studio.view.region
        assert await studio.pilot._post_mouse_events(
            [scroll_down()], offset=(region.x + 5, region.y + 5)
        )
        await studio.until(lambda: place(studio).y > start.y, "the picture moving")


async def test_dragging_moves_the_picture_with_the_mouse_and_selects_nothing(wide: Path) -> None:
    async with open_studio(wide, cwd=wide.parent, size=(100, 30)) as studio:
        await studio.press("j", "j", "j", "l", "l", "l")
        start, region = place(studio), studio.view.region
        x, y = region.x + 20, region.y + 8
        await studio.pilot.mouse_down(offset=(x, y))
        await studio.pilot.hover(offset=(x - 6, y - 3))
        await studio.pilot.mouse_up(offset=(x - 6, y - 3))
        assert place(studio) == start + Offset(6, 3)
        assert studio.view.selected is None


async def test_panning_by_hand_ends_following_and_f_begins_it_again(work: Path) -> None:
    async with open_studio(work, model=FakeModel(), size=(80, 24)) as studio:
        await studio.begin()
        assert studio.flow.following
        await studio.press("j")
        await studio.pilot.pause()
        assert not studio.flow.following
        await studio.press("f")
        assert studio.flow.following


async def test_a_flow_that_is_shown_once_more_stays_in_the_middle_of_each_terminal(
    work: Path,
) -> None:
    async with open_studio(work) as studio:
        assert studio.main.skill is not None
        home = studio.place_of("write")
        studio.main.show_skill(studio.main.skill)
        draws = [one for one in studio.app.workers if one.group == "draw"]
        await studio.until(lambda: all(one.is_finished for one in draws), "the picture")
        await studio.pilot.resize_terminal(200, 60)
        await studio.pilot.pause()
        left, view = studio.place_of("write").x, studio.view.size.width
        assert left > home.x
        assert abs(left - view // 2) < 20


async def test_the_current_node_is_kept_in_view_as_the_run_goes_on(wide: Path) -> None:
    async with open_studio(wide, cwd=wide.parent, size=(100, 30), model=FakeModel()) as studio:
        await studio.begin()
        for _ in range(4):
            before = studio.current
            await studio.press("n")
            await studio.until(
                lambda before=before: studio.current != before or studio.phase == "paused", "a step"
            )
        await studio.until(lambda: is_in_view(studio, studio.current), "the current node in view")


def is_in_view(studio: Studio, node: str | None) -> bool:
    """Whether some of a node's cells are in the window."""
    size = studio.view.size
    return any(
        studio.view.node_at(Offset(x, y)) == node
        for y in range(size.height)
        for x in range(size.width)
    )


def scroll_down() -> type:
    from textual.events import MouseScrollDown

    return MouseScrollDown


# Zoom


async def test_z_goes_through_the_zoom_levels_and_keeps_the_selection(work: Path) -> None:
    write_skill(work, DEMO.replace("Mend what is bad", LONG))
    async with open_studio(work, size=(160, 50)) as studio:
        await studio.select("mend")
        seen = [studio.view.drawing.zoom if studio.view.drawing else None]
        for _ in range(3):
            before = studio.view.drawing
            await studio.press("z")
            await studio.until(
                lambda before=before: studio.view.drawing is not before, "another picture"
            )
            seen.append(studio.view.drawing.zoom if studio.view.drawing else None)
            assert studio.view.selected == "mend"
        assert seen == ["title", "full", "dot", "title"]


async def test_whole_prompts_show_at_full_zoom(work: Path) -> None:
    write_skill(work, DEMO.replace("Mend what is bad", LONG))
    async with open_studio(work, size=(160, 60)) as studio:
        await studio.press("z")
        await studio.until(
            lambda: studio.view.drawing is not None and studio.view.drawing.zoom == "full", "zoom"
        )
        await studio.select("mend")
        assert "slowly" in studio.text


# A label is data


async def test_markup_and_escapes_in_a_chart_act_on_nothing(work: Path) -> None:
    evil = "[bold red]not red[/] [@click=app.quit]no[/] \x1b[2J\x1b]0;title\x07 \u202ednb"
    write_skill(work, DEMO.replace("Mend what is bad", f'"{evil}"').replace("yes", '"[u]yes[/u]"'))
    async with open_studio(work, size=(200, 60), model=FakeModel()) as studio:
        await studio.select("mend")
        assert "[bold red]not red[/]" in studio.detail
        assert "[bold red]" in studio.text
        for sign in ("\x1b", "\x07", "\u202e"):
            assert sign not in studio.text
        await studio.press("r")
        await studio.ended()
        assert studio.choices[0][0] == "[u]yes[/u]"
        assert "[u]yes[/u]" in studio.chat_text
