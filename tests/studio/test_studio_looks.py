"""Themes, signs and colours: how the studio looks where a terminal or its user wants another."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual.widgets import OptionList

from flowstudio.studio.glyphs import GlyphFilter, glyphs_for, has_few_colours
from flowstudio.studio.theme import default_theme, one_theme, remember_theme, remembered_theme
from flowstudio.studio.theme_dialog import ThemeDialog
from tests.studio.cells import read_cells
from tests.studio.kit import FakeModel, Studio, open_studio


def settings(home: Path, text: str) -> None:
    place = home / "flowstudio" / "config" / "config.yaml"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


async def choose_theme(studio: Studio) -> None:
    studio.app.action_change_theme()
    await studio.until(lambda: isinstance(studio.app.screen, ThemeDialog), "the themes")
    await studio.pilot.pause()


# Themes


async def test_each_theme_shows_as_it_is_looked_at_and_escape_brings_back_the_old(
    work: Path,
) -> None:
    async with open_studio(work) as studio:
        before = studio.app.theme
        await choose_theme(studio)
        await studio.press("down")
        looked_at = studio.app.screen.query_one(OptionList).highlighted_option
        assert looked_at is not None
        assert studio.app.theme == looked_at.id != before
        await studio.press("escape")
        assert studio.app.theme == before
        assert studio.app.screen is studio.main


async def test_the_theme_that_was_taken_is_there_at_the_next_start(work: Path) -> None:
    async with open_studio(work) as studio:
        await choose_theme(studio)
        await studio.press("up", "enter")
        taken = studio.app.theme
        assert taken != "studio-dark"
        await studio.until(lambda: f"{taken} is remembered" in "".join(studio.toasts), "a word")
    async with open_studio(work) as studio:
        assert studio.app.theme == taken
    async with open_studio(work, theme="paper") as studio:
        assert studio.app.theme == "paper"


async def test_nothing_keeps_the_colours_of_the_theme_before(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.begin()
        await studio.press("n")
        await studio.paused_at("good")
        studio.app.theme = "studio-light"
        roles = ("text", "now", "muted", "dim")
        dark = {(one_theme("studio-dark") or default_theme()).variables[f"role-{r}"] for r in roles}

        def is_light() -> bool:
            if studio.app.theme_variables["role-text"] in dark:
                return False
            legend = " ".join(read_cells(studio.app).legend).lower()
            return not any(colour.lower() in legend for colour in dark)

        await studio.until(is_light, "the colours of the new theme, everywhere")


async def test_a_configured_theme_comes_before_the_one_that_is_remembered(
    work: Path, home: Path
) -> None:
    settings(home, "theme: paper\n")
    assert remember_theme("ember") == ""
    async with open_studio(work) as studio:
        await studio.until(lambda: studio.app.theme == "paper", "the configured theme")
        await choose_theme(studio)
        await studio.press("up", "enter")
        await studio.until(lambda: "theme: paper" in "".join(studio.toasts), "who wins")


@pytest.mark.parametrize(
    "state", ["", "[]", "{", '{"theme": 3}', '{"theme": "../x"}', '{"theme": "gone"}']
)
async def test_a_memory_that_cannot_be_read_costs_no_more_than_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    file = tmp_path / "state.json"
    file.write_text(state, encoding="utf-8")
    monkeypatch.setattr("flowstudio.paths.state_file", lambda: file)
    assert one_theme(remembered_theme() or "") is None


async def test_a_transparent_studio_leaves_the_terminals_own_background(
    work: Path, home: Path
) -> None:
    settings(home, "transparent: true\n")
    async with open_studio(work) as studio:
        await studio.until(lambda: studio.app.native_ansi_color, "the settings in force")
        await studio.pilot.pause()
        strips = studio.app.screen._compositor.render_strips()
        styles = [segment.style for strip in strips for segment in strip if segment.style]
        grounds = [style.bgcolor for style in styles]
        bare = sum(one is None or one.is_default for one in grounds)
        assert bare > len(grounds) * 0.8


# Signs


@pytest.mark.parametrize("by", ["configuration", "option"])
async def test_ascii_alone_draws_the_whole_screen(work: Path, home: Path, by: str) -> None:
    settings(home, "glyphs: ascii\n" if by == "configuration" else "glyphs: unicode\n")
    async with open_studio(work, glyphs="ascii" if by == "option" else None) as studio:
        await studio.begin()
        await studio.until(lambda: studio.text.isascii(), "a screen in ASCII")
        assert "Write a first draft" in studio.text
        assert "+--" in studio.text


@pytest.mark.parametrize("glyphs", ["ascii", "console"])
def test_each_sign_is_replaced_by_one_of_its_width(glyphs: str) -> None:
    table = GlyphFilter(glyphs)._table  # type: ignore[arg-type]
    assert all(len(str(stand_in)) == 1 for stand_in in table.values())


@pytest.mark.parametrize(("glyphs", "sign"), [("ascii", "="), ("console", "║")])
async def test_a_pause_looks_like_two_bars_and_like_no_quotation(
    work: Path, glyphs: str, sign: str
) -> None:
    async with open_studio(work, glyphs=glyphs) as studio:
        await studio.begin()
        await studio.until(lambda: f"{sign} paused before" in studio.lines[0], "the top line")
        assert f"{sign} Write a first draft" in studio.text
        assert f"BEGIN{'+' if glyphs == 'ascii' else '√'}" in studio.text


def test_no_sign_of_the_studio_is_left_out_of_the_ascii_signs() -> None:
    source = Path(__file__).parents[2] / "flowstudio" / "studio"
    signs = {
        sign
        for file in source.glob("*.py")
        for sign in re.findall(r"[\u2190-\u2bff]", file.read_text(encoding="utf-8"))
    }
    assert not {sign for sign in signs if ord(sign) not in GlyphFilter("ascii")._table}


@pytest.mark.parametrize(
    ("environ", "glyphs"),
    [
        ({"TERM": "xterm-256color", "LANG": "C.UTF-8"}, "unicode"),
        ({"TERM": "linux"}, "console"),
        ({"TERM": "dumb"}, "ascii"),
        ({"TERM": "xterm", "LC_ALL": "C"}, "ascii"),
        ({}, "unicode"),
    ],
)
def test_the_terminal_says_which_signs_it_has(environ: dict[str, str], glyphs: str) -> None:
    assert glyphs_for("auto", environ) == glyphs


@pytest.mark.parametrize(
    ("environ", "few"),
    [
        ({"TERM": "linux"}, True),
        ({"TERM": "xterm"}, True),
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, False),
        ({"TERM": "xterm-kitty"}, False),
        ({}, False),
    ],
)
def test_the_terminal_says_whether_it_has_few_colours(environ: dict[str, str], few: bool) -> None:
    assert has_few_colours(environ) is few
