"""Panes resized by key and mouse, folded, alone; what the user set is there again next time."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowstudio.studio.layout import PaneArea
from flowstudio.studio.memory import load_memory
from tests.studio.kit import FakeModel, Studio, open_studio


def width(studio: Studio, selector: str) -> int:
    return studio.main.query_one(selector).outer_size.width


def height(studio: Studio, selector: str) -> int:
    return studio.main.query_one(selector).outer_size.height


async def drag(studio: Studio, start: tuple[int, int], end: tuple[int, int]) -> None:
    await studio.pilot.mouse_down(offset=start)
    await studio.pilot.hover(offset=end)
    await studio.pilot.mouse_up(offset=end)
    await studio.pilot.pause()


async def test_braces_make_the_pane_in_use_wider_and_narrower(work: Path) -> None:
    async with open_studio(work, model=FakeModel(), size=(160, 50)) as studio:
        await studio.press("shift+tab")
        before = width(studio, "#skills-pane")
        await studio.press("right_curly_bracket", "right_curly_bracket")
        await studio.until(lambda: width(studio, "#skills-pane") == before + 4, "wider")
        await studio.press("left_curly_bracket")
        await studio.until(lambda: width(studio, "#skills-pane") == before + 2, "narrower")
        await studio.press("tab")
        chat, flow = width(studio, "#chat-pane"), width(studio, "#middle")
        await studio.press("right_curly_bracket")
        await studio.until(lambda: width(studio, "#middle") == flow + 2, "a wider flow")
        assert width(studio, "#chat-pane") == chat - 2


async def test_parentheses_change_the_height_of_the_nodes_pane(work: Path) -> None:
    async with open_studio(work, model=FakeModel(), size=(120, 40)) as studio:
        before = height(studio, "#detail-pane")
        await studio.press("right_parenthesis", "right_parenthesis", "right_parenthesis")
        await studio.until(lambda: height(studio, "#detail-pane") == before + 3, "taller")
        await studio.press("left_parenthesis")
        await studio.until(lambda: height(studio, "#detail-pane") == before + 2, "flatter")


async def test_a_border_is_dragged_and_the_size_is_remembered(work: Path) -> None:
    async with open_studio(work, model=FakeModel(), size=(160, 50)) as studio:
        edge = studio.main.query_one("#skills-pane").region.right - 1
        await drag(studio, (edge, 20), (edge + 8, 20))
        await studio.until(lambda: width(studio, "#skills-pane") == edge + 9, "the new width")
        left = studio.main.query_one("#chat-pane").region.x
        await drag(studio, (left, 20), (left - 6, 20))
        await studio.until(
            lambda: studio.main.query_one("#chat-pane").region.x == left - 6, "a wider chat"
        )
        top = studio.main.query_one("#detail-pane").region.y
        await drag(studio, (left - 30, top), (left - 30, top - 5))
        await studio.until(
            lambda: studio.main.query_one("#detail-pane").region.y == top - 5, "a taller node"
        )
        await studio.until(lambda: "detail" in load_memory().sizes, "the memory")
        sizes = [width(studio, "#skills-pane"), width(studio, "#chat-pane")]
        sizes.append(height(studio, "#detail-pane"))
    async with open_studio(work, model=FakeModel(), size=(160, 50)) as studio:
        await studio.until(
            lambda: (
                sizes
                == [
                    width(studio, "#skills-pane"),
                    width(studio, "#chat-pane"),
                    height(studio, "#detail-pane"),
                ]
            ),
            "the same sizes",
        )


async def test_a_pane_is_folded_and_going_there_unfolds_it(work: Path) -> None:
    async with open_studio(work, model=FakeModel(), size=(160, 50)) as studio:
        await studio.press("shift+tab", "F")
        await studio.until(lambda: not studio.shows("#skills-pane"), "no skills")
        assert studio.main.pane == "flow"
        await studio.until(lambda: load_memory().folded == ["skills"], "the memory")
        await studio.press("shift+tab")
        await studio.until(lambda: studio.shows("#skills-pane"), "the skills")
        await studio.press("tab", "F")
        await studio.until(lambda: not studio.shows("#timeline-pane"), "the flow alone")
        assert not studio.shows("#detail-pane")
        await studio.press("F")
        await studio.until(lambda: studio.shows("#detail-pane"), "the node again")


async def test_a_pane_is_maximised_and_tab_goes_on_from_there(work: Path) -> None:
    async with open_studio(work, model=FakeModel(), size=(160, 50)) as studio:
        await studio.press("Z")
        await studio.until(lambda: width(studio, "#middle") == 160, "the flow alone")
        await studio.press("i")
        await studio.until(lambda: width(studio, "#chat-pane") == 160, "the chat alone")
        assert not studio.shows("#middle")
        await studio.press("escape", "Z")
        await studio.until(lambda: studio.shows("#skills-pane"), "all of them")
        assert studio.shows("#chat-pane")


@pytest.mark.parametrize("size", [(80, 24), (60, 20), (20, 5), (100, 30), (121, 14)])
async def test_sizes_of_a_large_terminal_leave_a_small_one_usable(
    work: Path, size: tuple[int, int]
) -> None:
    async with open_studio(work, model=FakeModel(), size=(200, 60)) as studio:
        area = studio.main.query_one(PaneArea)
        for pane, cells in (("skills", 70), ("chat", 90), ("detail", 40)):
            area._resize(pane, cells)
        await studio.pilot.resize_terminal(*size)
        await studio.pilot.pause()
        assert studio.shows("#flow")
        view = studio.view.size
        assert view.width >= min(size[0] - 2, 20)
        assert view.height >= 1
        await studio.pilot.resize_terminal(200, 60)
        await studio.until(lambda: width(studio, "#skills-pane") == 70, "the user's width again")


async def test_a_run_stays_where_it_is_while_the_terminal_changes_its_size(work: Path) -> None:
    async with open_studio(work, model=FakeModel(), size=(200, 60)) as studio:
        await studio.begin()
        await studio.press("n")
        await studio.paused_at("good")
        await studio.press("left_square_bracket")
        await studio.until(lambda: studio.main.driver.look is not None, "a look back")
        for size in ((60, 20), (120, 40), (80, 24), (200, 60)):
            await studio.pilot.resize_terminal(*size)
            await studio.until(lambda: studio.sees("write"), f"the visit at {size}")
        await studio.press("escape", "c")
        await studio.ended()
