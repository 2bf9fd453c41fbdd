"""Zooming, the map, and looking for nodes."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events
from textual.geometry import Offset
from textual.widgets import Input

from flowstudio.studio.find_bar import FindBar
from flowstudio.studio.flow_layout import MARGIN
from flowstudio.studio.minimap import Minimap
from tests.studio.kit import FakeModel, Studio, open_studio, write_skill

STEPS = 40
LADDER = "flowchart TD\n    BEGIN([BEGIN]) --> n0\n" + "".join(
    f"    n{i}[Step number {i}] --> n{i + 1}\n" for i in range(STEPS)
)
LOOP = """\
---
name: loop
description: A small loop of work and check.
type: flow
---
```mermaid
flowchart TD
    A([BEGIN]) --> B["Analyze the changes"]
    B --> C{"Is the quality good?"}
    C -->|Yes| D["Write the report"]
    C -->|No| F["Repair what is wrong"]
    F --> B
    D --> E([END])
```
"""

WIDE_LOOPS = """\
flowchart TD
    BEGIN([BEGIN]) --> a[One]
    a --> b{Two}
    b -->|on| c{Three}
    c -->|on| END([END])
    b -->|not good enough| a
    b -->|not long enough| a
    c -->|begin all over| a
"""
"""Nodes in a narrow column, and edges far beside it."""


@pytest.fixture
def ladder(tmp_path: Path) -> Path:
    """A chart of 42 nodes, one below the other; two of them speak of a parrot."""
    path = tmp_path / "ladder.mmd"
    text = LADDER.replace("Step number 7", "Feed the Parrot").replace("Step number 30", "parrot")
    path.write_text(text + f"    n{STEPS}[last] --> END([END])\n", encoding="utf-8")
    return path


def minimap(studio: Studio) -> Minimap:
    return studio.main.query_one(Minimap)


def found(studio: Studio) -> str:
    return str(studio.main.query_one("#find-count").content)  # type: ignore[attr-defined]


# Zoom


async def test_plus_and_minus_go_between_dots_and_whole_prompts(work: Path) -> None:
    async with open_studio(work, size=(160, 50)) as studio:
        assert studio.flow.zoom == "title"
        for key, zoom in (
            ("plus", "full"),
            ("minus", "title"),
            ("minus", "dot"),
            ("plus", "title"),
        ):
            assert (await studio.redrawn(key)).zoom == zoom
        await studio.press("plus", "plus", "plus")
        await studio.until(lambda: studio.flow.zoom == "full", "the nearest zoom")


async def test_ctrl_and_the_wheel_zoom(work: Path) -> None:
    async with open_studio(work, size=(160, 50)) as studio:
        for kind, zoom in ((events.MouseScrollUp, "full"), (events.MouseScrollDown, "title")):
            before = studio.view.drawing
            event = kind(studio.view, 5, 5, 0, 0, 0, False, False, True)
            studio.view.post_message(event)
            await studio.until(lambda before=before: studio.view.drawing is not before, zoom)
            assert studio.flow.zoom == zoom


async def test_the_selected_node_keeps_its_place_in_a_zoom(ladder: Path) -> None:
    async with open_studio(ladder, cwd=ladder.parent, size=(120, 40)) as studio:
        await studio.select("n20")
        place = studio.place_of("n20")
        await studio.redrawn("plus")
        assert studio.view.selected == "n20"
        assert studio.place_of("n20") == place


async def test_without_a_selection_the_node_in_the_middle_keeps_its_place(ladder: Path) -> None:
    async with open_studio(ladder, cwd=ladder.parent, size=(120, 40)) as studio:
        studio.view.look_at(20, 60)
        middle = Offset(studio.view.size.width // 2, studio.view.size.height // 2)
        assert studio.view.drawing is not None
        near = min(studio.view.drawing.boxes, key=lambda n: abs(studio.place_of(n).y - middle.y))
        place = studio.place_of(near)
        await studio.redrawn("plus")
        assert studio.place_of(near) == place
        assert studio.view.selected is None


async def test_zooming_out_and_in_again_brings_the_same_window_back(ladder: Path) -> None:
    async with open_studio(ladder, cwd=ladder.parent, size=(120, 40)) as studio:
        await studio.select("n33")
        drawing, window = studio.view.drawing, studio.view.window
        await studio.redrawn("minus")
        assert studio.sees("n33")
        await studio.redrawn("plus")
        assert studio.view.drawing is drawing
        assert studio.view.window == window


async def test_fit_takes_the_nearest_zoom_that_shows_everything(work: Path, ladder: Path) -> None:
    async with open_studio(work, size=(160, 60)) as studio:
        await studio.redrawn("0")
        assert studio.flow.zoom == "full"
        assert all(map(studio.sees, studio.view.drawing.boxes if studio.view.drawing else ()))
    async with open_studio(ladder, cwd=ladder.parent, size=(160, 60)) as studio:
        await studio.redrawn("0")
        assert studio.flow.zoom == "dot"


# The map


async def test_a_flow_larger_than_the_pane_has_a_map(ladder: Path) -> None:
    async with open_studio(ladder, cwd=ladder.parent, size=(120, 40)) as studio:
        await studio.until(lambda: minimap(studio).display, "the map")
        assert studio.shows("#minimap")
        await studio.until(
            lambda: any(0x2800 < ord(char) < 0x2900 for char in studio.text), "its dots"
        )
        region = minimap(studio).content_region
        first = studio.lines[region.y][region.x : region.right]
        assert (first[0], first[-1]) == ("[", "]")  # the window, less than a row high


async def test_a_flow_that_is_as_wide_as_its_pane_scrolls_up_and_down_alone(work: Path) -> None:
    write_skill(work, LOOP, "loop")
    async with open_studio(work / ".agents" / "skills" / "loop", size=(120, 40)) as studio:
        view = studio.view
        for width in (120, 119, 121):
            await studio.pilot.resize_terminal(width, 40)
            await studio.until(lambda: view.show_vertical_scrollbar, "a bar for the height")
            drawing = view.drawing
            if drawing is not None and drawing.width + MARGIN.width == view.size.width:
                break
        else:
            pytest.fail("no drawing fills its pane: make the flow wider")
        assert not view.show_horizontal_scrollbar


async def test_a_flow_that_is_in_view_has_no_map(work: Path) -> None:
    async with open_studio(work, size=(160, 60)) as studio:
        assert not minimap(studio).display


async def test_a_flow_whose_nodes_are_all_in_view_has_no_map(tmp_path: Path) -> None:
    path = tmp_path / "wide.mmd"
    path.write_text(WIDE_LOOPS, encoding="utf-8")
    async with open_studio(path, cwd=tmp_path, size=(120, 50)) as studio:
        drawing = studio.view.drawing
        assert drawing is not None
        assert drawing.width > studio.view.size.width
        assert all(map(studio.sees, drawing.boxes))
        assert not minimap(studio).display


async def test_the_map_of_a_small_flow_hides_none_of_it(work: Path) -> None:
    write_skill(work, LOOP, "loop")
    seen = hidden = 0
    async with open_studio(work / ".agents" / "skills" / "loop", size=(120, 34)) as studio:
        view, drawing = studio.view, studio.view.drawing
        assert drawing is not None
        for _ in range(drawing.height):
            await studio.pilot.pause()
            if minimap(studio).display:
                seen += 1
                place = minimap(studio).region.translate(-view.region.offset)
                there = place.translate(view.window.offset)
                rows = drawing.window(there.x, there.y, there.width, there.height)
                assert not any(run.width for row in rows for run in row), studio.text
            else:
                hidden += 1
            view.action_pan(0, 1)
    # It is of use where a corner is free.
    assert seen and hidden


async def test_a_small_terminal_has_no_room_for_a_map(ladder: Path) -> None:
    async with open_studio(ladder, cwd=ladder.parent, size=(80, 24)) as studio:
        assert not minimap(studio).display


async def test_m_hides_the_map_and_brings_it_back(ladder: Path) -> None:
    async with open_studio(ladder, cwd=ladder.parent, size=(120, 40)) as studio:
        for shown in (False, True):
            await studio.press("m")
            await studio.until(lambda shown=shown: minimap(studio).display is shown, "m")


async def test_a_click_in_the_map_goes_there_and_a_drag_moves_on(ladder: Path) -> None:
    async with open_studio(ladder, cwd=ladder.parent, size=(120, 40)) as studio:
        await studio.until(lambda: studio.shows("#minimap"), "the map")
        region = minimap(studio).content_region
        x = region.x + region.width // 2
        assert not studio.sees("END")
        await studio.pilot.mouse_down(offset=(x, region.bottom - 1))
        await studio.until(lambda: studio.sees("END"), "the end")
        assert studio.view.selected is None
        await studio.pilot.hover(offset=(x, region.y))
        await studio.until(lambda: studio.sees("BEGIN"), "the beginning")
        await studio.pilot.mouse_up(offset=(x, region.y))
        window = studio.view.window
        await studio.pilot.hover(offset=(x, region.bottom - 1))
        await studio.pilot.pause()
        assert studio.view.window == window


async def test_the_map_marks_where_the_run_stands(ladder: Path) -> None:
    async with open_studio(ladder, cwd=ladder.parent, size=(120, 40), model=FakeModel()) as studio:
        await studio.begin()
        await studio.until(lambda: studio.shows("#minimap"), "the map")
        region = minimap(studio).content_region
        rows = [line[region.x : region.right] for line in studio.lines[region.y : region.bottom]]
        assert "▶" in rows[0]


async def test_the_map_does_not_lie_over_the_selected_node(ladder: Path) -> None:
    async with open_studio(ladder, cwd=ladder.parent, size=(120, 40)) as studio:
        await studio.select("n20")
        view = studio.view
        assert view.drawing is not None
        box = view.drawing.boxes["n20"]
        # Bring the node under the map's usual corner.
        view.action_pan(
            box.x + box.width - view.window.right + 1, box.y + box.height - view.window.bottom
        )
        await studio.pilot.pause()
        await studio.until(
            lambda: (
                not minimap(studio).region.contains_point(
                    view.region.offset + studio.place_of("n20")
                )
            ),
            "the map in the other corner",
        )


async def test_a_poor_terminal_has_a_map_of_plain_characters(
    ladder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "linux")
    async with open_studio(ladder, cwd=ladder.parent, size=(120, 40)) as studio:
        await studio.until(lambda: studio.shows("#minimap"), "the map")
        region = minimap(studio).content_region
        rows = [line[region.x : region.right] for line in studio.lines[region.y : region.bottom]]
        assert all(row.isascii() for row in rows)
        assert "#" in rows[0]


# Looking for nodes


async def test_a_node_is_found_as_its_text_is_typed(ladder: Path) -> None:
    async with open_studio(ladder, cwd=ladder.parent, size=(120, 40)) as studio:
        await studio.press("slash", *"parrot")
        await studio.until(lambda: found(studio) == "1 of 2", "the first of two")
        assert studio.view.selected == "n7"
        assert studio.sees("n7")
        await studio.until(lambda: "Feed the Parrot" in studio.detail, "its prompt")


async def test_enter_and_arrows_go_through_what_is_found_and_round(ladder: Path) -> None:
    async with open_studio(ladder, cwd=ladder.parent, size=(120, 40)) as studio:
        await studio.press("slash", *"parrot")
        for key, node in (("enter", "n30"), ("enter", "n7"), ("up", "n30"), ("down", "n7")):
            await studio.press(key)
            await studio.until(lambda node=node: studio.view.selected == node, key)


async def test_escape_closes_the_line_and_the_search_goes_on_by_key(ladder: Path) -> None:
    async with open_studio(ladder, cwd=ladder.parent, size=(120, 40)) as studio:
        await studio.press("slash", *"parrot", "escape")
        await studio.until(lambda: not studio.main.query_one(FindBar).display, "the line closed")
        assert studio.view.has_focus
        assert studio.view.selected == "n7"
        for key, node in ((">", "n30"), ("<", "n7"), ("f3", "n30")):
            await studio.press(key if key == "f3" else KEYS[key])
            await studio.until(lambda node=node: studio.view.selected == node, key)


KEYS = {">": "greater_than_sign", "<": "less_than_sign"}


async def test_what_is_not_there_is_said_and_selects_nothing(ladder: Path) -> None:
    async with open_studio(ladder, cwd=ladder.parent, size=(120, 40)) as studio:
        await studio.press("slash", *"walrus")
        await studio.until(lambda: found(studio) == "not found", "the word")
        assert studio.view.selected is None


async def test_in_the_list_of_skills_the_same_key_filters_them(ladder: Path, work: Path) -> None:
    async with open_studio(work, size=(120, 40)) as studio:
        studio.main.query_one("#skills").focus()
        await studio.pilot.pause()
        await studio.press("slash")
        assert isinstance(studio.app.focused, Input)
        assert studio.app.focused.id != "find-text"
