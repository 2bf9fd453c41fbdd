"""What shows on which size of terminal, in which theme, and where every command can be found."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.command import CommandPalette

from flowstudio.run.state import RunState
from flowstudio.studio.commands import PANE_KEYS, commands_of
from flowstudio.studio.help_dialog import HelpDialog
from tests.studio.kit import DEMO, FakeModel, Studio, open_studio, text_of, write_skill
from tests.studio.test_studio_looking import is_in_view

PANES = ("#skills-pane", "#flow-pane", "#chat-pane")


def panes(studio: Studio) -> list[str]:
    """Which of the three panes show."""
    return [pane.removesuffix("-pane")[1:] for pane in PANES if studio.shows(pane)]


# Sizes


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        ((200, 60), ["skills", "flow", "chat"]),
        ((120, 40), ["skills", "flow", "chat"]),
        ((100, 30), ["flow", "chat"]),
        ((80, 24), ["flow"]),
        ((60, 20), ["flow"]),
        ((20, 5), ["flow"]),
    ],
)
async def test_each_size_shows_its_panes(
    mixed: Path, size: tuple[int, int], shown: list[str]
) -> None:
    async with open_studio(mixed, size=size) as studio:
        assert panes(studio) == shown
        assert len(studio.lines) == size[1]
        assert "╭───────╮" in studio.text


async def test_on_a_narrow_terminal_tab_brings_one_pane_after_the_other(work: Path) -> None:
    async with open_studio(work, size=(80, 24)) as studio:
        seen: list[list[str]] = []
        for _ in range(3):
            await studio.press("escape", "tab")
            await studio.pilot.pause()
            seen.append(panes(studio))
            if studio.main.pane == "chat":
                await studio.press("tab")
                await studio.pilot.pause()
                seen.append(panes(studio))
        assert seen[:3] == [["chat"], ["skills"], ["flow"]]


async def test_on_a_narrow_terminal_a_click_on_a_tab_brings_its_pane(work: Path) -> None:
    async with open_studio(work, size=(80, 24)) as studio:
        for name in ("Skills", "Chat", "Flow"):
            await studio.click(name, within="#tabs")
            await studio.pilot.pause()
            assert panes(studio) == [name.lower()]


@pytest.mark.parametrize("size", [(20, 5), (10, 3), (1, 1), (300, 100)])
async def test_a_run_goes_through_at_any_size(work: Path, size: tuple[int, int]) -> None:
    async with open_studio(work, size=size, model=FakeModel()) as studio:
        await studio.begin()
        await studio.press("z", "question_mark", "escape", "down", "b", "slash", "escape", "c")
        await studio.press("f", "c", "c")
        await studio.until(lambda: studio.phase in ("ended", "paused"), "the run")


async def test_resizing_keeps_the_current_node_in_view_and_panes_in_step(work: Path) -> None:
    async with open_studio(work, size=(160, 50), model=FakeModel()) as studio:
        await studio.begin()
        await studio.press("n")
        await studio.paused_at("good")
        for width, height, shown in (
            (60, 20, ["flow"]),
            (100, 24, ["flow", "chat"]),
            (20, 5, ["flow"]),
            (140, 40, ["skills", "flow", "chat"]),
        ):
            await studio.pilot.resize_terminal(width, height)
            await studio.until(lambda shown=shown: panes(studio) == shown, f"{width}x{height}")
            await studio.until(lambda: is_in_view(studio, "good"), f"good at {width}x{height}")
        await studio.press("c")
        await studio.ended()


async def test_a_long_name_leaves_room_for_the_state_in_the_top_line(work: Path) -> None:
    write_skill(work, DEMO.replace("name: demo", "name: " + "a-very-long-name-" * 3 + "x"), "x")
    async with open_studio(work, size=(80, 24), model=FakeModel()) as studio:
        await studio.begin()
        await studio.until(lambda: "⏸ paused" in studio.lines[0], "the state")


async def test_what_the_run_waits_for_counts_for_more_than_how_full_the_context_is(
    work: Path,
) -> None:
    state = RunState(phase="running", tokens=220, context_usage=0.4)
    async with open_studio(work, size=(120, 30), model=FakeModel()) as studio:
        studio.main.top.run_state = state
        await studio.until(lambda: "40% context ▰▰▰▰▱" in studio.lines[0], "the bar")
        state.waits_for = "may WriteFile write notes.txt?"
        studio.main.top.run_state = state
        await studio.until(lambda: state.waits_for in studio.lines[0], "the whole question")
        assert "220 tokens" in studio.lines[0]
        await studio.pilot.resize_terminal(40, 20)
        await studio.until(lambda: "tokens" not in studio.lines[0], "room for the state")
        assert not studio.lines[0].rstrip().endswith("…")


# Colours


async def test_a_theme_is_chosen_by_name(work: Path) -> None:
    async with open_studio(work, theme="studio-light") as studio:
        await studio.until(lambda: studio.app.theme == "studio-light", "the theme")
        assert not studio.app.current_theme.dark


async def test_a_theme_that_is_not_there_is_said_with_those_that_are(work: Path) -> None:
    async with open_studio(work, theme="nosuch") as studio:
        await studio.until(lambda: any("nosuch" in said for said in studio.toasts), "a sentence")
        assert any("studio-light" in said for said in studio.toasts)
        assert studio.app.theme == "studio-dark"


async def test_a_theme_of_the_users_own_is_read_and_a_broken_one_is_named(
    work: Path, home: Path
) -> None:
    folder = home / "flowstudio" / "config" / "themes"
    folder.mkdir(parents=True)
    own = 'name: mine\ndark: true\ncolours:\n  accent: "#123456"\n'
    (folder / "mine.yaml").write_text(own, encoding="utf-8")
    (folder / "bad.yaml").write_text("colours: red\n", encoding="utf-8")
    async with open_studio(work, theme="mine") as studio:
        await studio.until(lambda: studio.app.theme == "mine", "the theme")
        assert studio.app.theme_variables["role-accent"] == "#123456"
        assert any("bad.yaml" in said for said in studio.toasts)


async def test_every_bundled_theme_can_be_switched_to_while_a_run_is_on(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.begin()
        names = [n for n in studio.app.available_themes if not n.startswith(("ansi", "textual"))]
        assert {"studio-light", "studio-dark", "high-contrast-dark"} <= set(names)
        for name in ("studio-light", "high-contrast-dark", "studio-dark"):
            studio.app.theme = name
            await studio.pilot.pause()
            assert "⏸" in studio.text


async def test_without_colours_each_state_has_its_sign(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    write_skill(work, DEMO.replace("name: demo", "name: b").replace("mend --", "mend[x --"), "b")
    async with open_studio(work, model=FakeModel(), size=(140, 40)) as studio:
        await studio.select("END")
        await studio.press("b")
        await studio.begin()
        await studio.press("n")
        await studio.paused_at("good")
        await studio.press("2")
        await studio.paused_at("mend")
        await studio.pilot.pause()
        flow = studio.text
        for sign in ("✓", "⏸", "●", "⇢", "▲", "━"):
            assert sign in flow, f"{sign} is missing"
        assert any(dash in flow for dash in "╌╎╍╏")
        for strip in studio.app.screen._compositor.render_strips():
            for segment in strip:
                color = segment.style.color if segment.style else None
                assert color is None or is_grey(color), segment


def is_grey(color: object) -> bool:
    """Whether a Rich colour has no hue."""
    red, green, blue = color.get_truecolor()  # type: ignore[attr-defined]
    return red == green == blue


# Where commands are found


async def test_the_help_names_every_command(work: Path) -> None:
    async with open_studio(work, size=(120, 110)) as studio:
        await studio.press("question_mark")
        await studio.until(lambda: isinstance(studio.app.screen, HelpDialog), "the help")
        await studio.until(lambda: "Keys" in studio.text, "the help on the screen")
        for command in commands_of("studio"):
            if command.id.startswith("run.branch") or command.id == "help":
                continue
            assert command.help[:30] in studio.text, command.id
        for _, text in (*PANE_KEYS["everywhere"], *PANE_KEYS["flow"]):
            assert text[:30] in studio.text
        await studio.press("escape")
        assert studio.app.screen is studio.main


async def test_the_palette_offers_every_command(work: Path) -> None:
    async with open_studio(work) as studio:
        offered = " ".join(c.title for c in studio.app.get_system_commands(studio.main))
        for command in commands_of("studio"):
            if not command.id.startswith("run.branch"):
                assert command.help in offered, command.id
        assert "Theme" in offered
        assert "Quit" in offered


async def test_a_command_of_the_palette_is_carried_out(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.press("ctrl+p")
        await studio.until(lambda: isinstance(studio.app.screen, CommandPalette), "the palette")
        await studio.press(*"selected")
        await studio.until(lambda: "Run the selected flow" in studio.text, "the command")
        await studio.press("enter")
        await studio.ended()


async def test_the_footer_names_the_keys_of_a_run(work: Path) -> None:
    async with open_studio(work, size=(200, 40)) as studio:
        for words in ("r run", "n step", "c continue", "p pause", "s stop", "1-9 branch", "? help"):
            await studio.until(lambda words=words: words in studio.lines[-1], words)


async def test_the_hint_in_an_empty_detail_pane_says_how_to_select(work: Path) -> None:
    async with open_studio(work) as studio:
        assert "click a node" in text_of(studio.main.query_one("#detail"))


@pytest.mark.parametrize("width", [60, 80, 100, 120])
async def test_the_halves_of_the_top_line_never_run_into_each_other(work: Path, width: int) -> None:
    async with open_studio(work, size=(width, 24)) as studio:
        top = studio.main.top
        for letters in range(1, 60):
            top.subject = "s" * letters
            top.problem = "p" * letters
            line = top.render().plain
            assert len(line) == width
            assert "  rehearsal" in line, line
