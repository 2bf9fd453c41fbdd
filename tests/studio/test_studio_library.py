"""The library as a drawing to walk in: `G` from the main screen."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Static

from flowstudio.mindflow.graph import Node
from flowstudio.skill import discover
from flowstudio.studio.commands import commands_of
from flowstudio.studio.help_dialog import HelpDialog
from flowstudio.studio.library_graph import LibraryGraph, name_of
from flowstudio.studio.library_screen import LibraryScreen
from flowstudio.studio.plan_screen import PlanScreen
from tests.studio.kit import Studio, open_studio, text_of, write_skill


def skill(name: str, fields: str, about: str = "") -> str:
    about = about or f"Does {name}."
    return f"---\nname: {name}\ndescription: {about}\n{fields}---\n\nDo it.\n"


@pytest.fixture
def kitchen(work: Path) -> Path:
    """Skills that boil water, brew tea from it and serve it; one of them is broken, none is a flow
    but `demo`."""
    write_skill(work, skill("boil", "effects: [has_water]\n"), "boil")
    write_skill(
        work,
        skill(
            "brew",
            "preconditions: [has_water]\neffects: [has_tea]\ncalled_skills: [boil]\n"
            "artifact: cup.md\nmethodology_scores: {meth_slow: 0.9}\n",
        ),
        "brew",
    )
    write_skill(work, skill("serve", "preconditions: [has_tea]\neffects: {no: list}\n"), "serve")
    beside = work / ".agents" / "skills"
    (beside / "states.yaml").write_text("has_tea: {en: 'there is [b]tea[/b] in the pot'}\n")
    folder = beside / "methodologies"
    folder.mkdir()
    (folder / "slow.yaml").write_text("id: meth_slow\nname: Slowly\nweight: 1\n")
    return work


async def open_library(studio: Studio, skill: str | None = None) -> LibraryScreen:
    if skill is not None:
        found = studio.main.library.catalogue.get(skill)  # type: ignore[union-attr]
        assert found is not None
        studio.main.pick_skill(found)
        await studio.until(lambda: studio.main.bench.pane.is_drawn, "the skill")
    await studio.press("G")
    await studio.until(lambda: isinstance(studio.app.screen, LibraryScreen), "the library")
    screen = studio.app.screen
    assert isinstance(screen, LibraryScreen)
    await studio.until(lambda: screen.is_mounted and screen.pane.is_drawn, "its drawing")
    await drawn(studio, screen)
    return screen


async def drawn(studio: Studio, screen: LibraryScreen) -> None:
    await studio.until(
        lambda: not screen.is_at_work and screen.view.drawing is not None, "its drawing"
    )
    await studio.pilot.pause()


def shown(screen: LibraryScreen) -> set[str]:
    assert screen.view.drawing is not None
    return set(screen.view.drawing.boxes)


async def select(studio: Studio, screen: LibraryScreen, node: Node) -> None:
    screen.view.select(name_of(node))
    await studio.pilot.pause()


def about(screen: LibraryScreen) -> str:
    return text_of(screen.query_one("#about", Static))


BREW, TEA, BOIL = Node("skill", "brew"), Node("state", "has_tea"), Node("skill", "boil")


async def test_g_draws_what_a_skill_hangs_on_and_enter_goes_on_from_there(kitchen: Path) -> None:
    async with open_studio(kitchen) as studio:
        screen = await open_library(studio, "brew")
        assert screen.centre == BREW
        near = {name_of(BREW), name_of(BOIL), "state:has_water", name_of(TEA)}
        assert shown(screen) == near | {"artifact:brew/cup.md"}
        for label in ("calls", "required by", "produces", "yields"):
            assert label in studio.text
        for text in ("Does brew.", "has_water", "score 0.", "Slowly 0.9"):
            assert text in about(screen)
        # From the state on: who brings it about, and who needs it.
        await select(studio, screen, TEA)
        assert "there is [b]tea[/b] in the pot" in about(screen)
        await studio.press("enter")
        await studio.until(lambda: screen.centre == TEA, "the state in the middle")
        await studio.until(lambda: "skill:serve" in shown(screen), "who needs it")
        assert name_of(BOIL) not in shown(screen)
        # Farther, nearer, back.
        await studio.press("plus")
        await studio.until(lambda: name_of(BOIL) in shown(screen), "two hops")
        assert screen.hops == 2
        await studio.press("minus")
        await studio.until(lambda: name_of(BOIL) not in shown(screen), "one hop")
        await studio.press("backspace")
        await studio.until(lambda: screen.centre == BREW, "the skill again")
        # Methodologies come and go: most skills have a line to each.
        await studio.press("s")
        await studio.until(lambda: "methodology:meth_slow" in shown(screen), "the methodology")
        assert "scores 0.9" in studio.text
        # A finding about a planning field does not hide its skill, and is said there.
        await studio.press("s", "a")
        await studio.until(lambda: screen.centre is None and "skill:demo" in shown(screen), "all")
        await select(studio, screen, Node("skill", "serve"))
        assert "effects" in about(screen) and "▲" in about(screen)
        assert "with findings" in studio.lines[0]
        await studio.press("escape")
        await studio.until(lambda: studio.app.screen is studio.main, "the studio")


async def test_a_skill_is_found_opened_and_planned_for(kitchen: Path) -> None:
    async with open_studio(kitchen) as studio:
        screen = await open_library(studio, "boil")
        # Its keys stand in the last line, in the palette and in the help.
        await studio.until(lambda: "go there" in studio.lines[-1], "the keys")
        assert "? help" in studio.lines[-1]
        offered = {one.title for one in studio.app.get_system_commands(screen)}
        for command in commands_of("library"):
            assert any(command.help in title for title in offered), command.id
        await studio.press("question_mark")
        await studio.until(lambda: isinstance(studio.app.screen, HelpDialog), "the help")
        await studio.until(lambda: "One hop farther" in studio.text, "the library's keys")
        await studio.press("escape", "z", "z")
        await studio.until(lambda: screen.pane.zoom == "title", "another zoom")
        # What is not drawn is looked for in the whole library.
        await studio.press("slash")
        await studio.until(lambda: screen.focused is not None, "the line to find")
        await studio.pilot.pause()
        await studio.press(*"serv")
        await studio.until(lambda: "enter goes to serve" in studio.text, "the find")
        await studio.press("enter")
        await studio.until(lambda: screen.centre == Node("skill", "serve"), "the skill there")
        await drawn(studio, screen)
        # A double click goes there, too.
        assert screen.view.drawing is not None
        box = screen.view.drawing.boxes[name_of(TEA)]
        at = screen.view.region.offset - screen.view.window.offset + (box.x + 3, box.y + 1)
        await studio.pilot.click(offset=at, times=2)
        await studio.until(lambda: screen.centre == TEA, "the state in the middle")
        await drawn(studio, screen)
        await select(studio, screen, BREW)
        await studio.press("o")
        await studio.until(lambda: studio.app.screen is studio.main, "the studio")
        assert studio.main.skill is not None and studio.main.skill.name == "brew"
        # From a state of the library to a plan for it.
        screen = await open_library(studio)
        await select(studio, screen, TEA)
        await studio.press("P")
        await studio.until(lambda: isinstance(studio.app.screen, PlanScreen), "the plan")
        plan = studio.app.screen
        assert isinstance(plan, PlanScreen)
        await studio.until(lambda: plan.planned is not None, "it is made")
        assert plan.planned is not None and plan.planned.wish.text == "has_tea"


def test_a_graph_server_that_is_gone_is_said_and_memory_takes_its_place(
    kitchen: Path, home: Path
) -> None:
    folder = home / "flowstudio" / "config"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text("search: {graph: 'bolt://127.0.0.1:9'}\n")
    graph = LibraryGraph(discover(kitchen), kitchen)
    assert any("in memory for now" in note for note in graph.notes)
    assert BOIL in graph.around(BREW, 1).distances


async def test_a_library_too_large_for_one_drawing_is_shown_in_part(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flowstudio.studio.library_screen._MOST", 4)
    for name in ("one", "two", "three", "four", "five"):
        write_skill(work, skill(name, f"effects: [has_{name}]\npreconditions: [has_all]\n"), name)
    async with open_studio(work) as studio:
        screen = await open_library(studio, "one")
        here = {"skill:one", "state:has_one", "state:has_all"}
        assert shown(screen) == here
        await studio.press("a")
        await studio.until(lambda: any("too many" in one for one in studio.toasts), "the reason")
        await studio.until(lambda: screen.centre == Node("skill", "one"), "where it was")
        await studio.press("plus")
        await studio.until(lambda: len(studio.toasts) > 1, "the reason")
        await drawn(studio, screen)
        assert screen.hops == 1 and shown(screen) == here
