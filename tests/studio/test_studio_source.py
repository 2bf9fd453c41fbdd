"""The source pane: the SKILL.md beside its drawing, edited, saved, and never lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.text import Text
from textual.widgets import OptionList

from flowstudio.studio.source_area import SourceArea
from flowstudio.studio.source_pane import SourcePane
from tests.studio.kit import BROKEN, DEMO, NOTES, Studio, open_studio, write_skill


def skill_file(work: Path) -> Path:
    return work / ".agents" / "skills" / "demo" / "SKILL.md"


async def open_source(studio: Studio) -> SourceArea:
    """Open the source by its key, and wait for it."""
    await studio.press("v")
    pane = studio.main.query_one(SourcePane)
    await studio.until(lambda: pane.is_furnished and pane.area.has_focus, "the source pane")
    return pane.area


async def put_cursor(studio: Studio, area: SourceArea, text: str) -> None:
    """Put the cursor before a text."""
    lines = area.text.split("\n")
    row = next(n for n, line in enumerate(lines) if text in line)
    area.move_cursor((row, lines[row].index(text)))
    await studio.pilot.pause()


async def test_the_source_stands_beside_the_flow_on_a_wide_terminal(work: Path) -> None:
    async with open_studio(work) as studio:
        await open_source(studio)
        assert studio.shows("#source-pane")
        assert studio.shows("#flow-pane")
        assert "description: Improve a text" in studio.text


async def test_the_source_is_a_tab_on_a_narrow_terminal(work: Path) -> None:
    async with open_studio(work, size=(80, 24)) as studio:
        await studio.click("Source", within="#tabs")
        await studio.until(lambda: studio.shows("#source-pane"), "the source")
        assert not studio.shows("#flow-pane")
        await studio.press("escape")
        await studio.until(lambda: studio.shows("#flow-pane"), "the flow")


async def test_the_drawing_follows_each_key_while_the_text_parses(work: Path) -> None:
    async with open_studio(work) as studio:
        area = await open_source(studio)
        await put_cursor(studio, area, "what is bad")
        await studio.press(*"all ")
        await studio.until(lambda: "Mend all what is bad" in studio.flow.view.drawing.text(), "it")
        assert skill_file(work).read_text(encoding="utf-8") == DEMO


async def test_a_letter_paints_its_own_line_and_those_that_look_otherwise(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    painted: set[int] = set()
    async with open_studio(work) as studio:
        area = await open_source(studio)
        await put_cursor(studio, area, "what is bad")
        await studio.press("a")
        await studio.until(lambda: "Mend a" in studio.flow.view.drawing.text(), "the drawing")
        row, paint = area.cursor_location[0], area.get_line

        def note(line: int) -> Text:
            painted.add(line)
            return paint(line)

        monkeypatch.setattr(area, "get_line", note)
        await studio.press("b")
        await studio.until(lambda: "Mend ab" in studio.flow.view.drawing.text(), "the drawing")
        assert painted == {row}
        await studio.press("up")
        await studio.until(lambda: len(painted) > 1, "the cursor elsewhere")
        assert painted == {row - 1, row}


async def test_a_text_that_does_not_parse_keeps_the_last_good_picture_dimmed(work: Path) -> None:
    async with open_studio(work) as studio:
        area = await open_source(studio)
        await put_cursor(studio, area, "[Mend")
        await studio.press("[")
        await studio.until(lambda: studio.view.stale, "the fault")
        assert "▲" in studio.text
        says = str(studio.main.query_one("#source-says").content)
        assert says.startswith("▲ 13:")
        await studio.press("backspace")
        await studio.until(lambda: not studio.view.stale, "the good picture")


async def test_undo_and_redo_go_through_what_was_typed(work: Path) -> None:
    async with open_studio(work) as studio:
        area = await open_source(studio)
        await put_cursor(studio, area, "what is bad")
        await studio.press("x")
        assert "xwhat" in area.text
        await studio.press("ctrl+z")
        assert area.text == DEMO
        await studio.press("ctrl+y")
        assert "xwhat" in area.text


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(DEMO.replace("\n", "\r\n").encode(), id="crlf"),
        pytest.param(b"\xef\xbb\xbf" + DEMO.encode(), id="byte order mark"),
        pytest.param(DEMO.replace("# Demo\n", "# Demo\r\n").encode(), id="mixed line ends"),
        pytest.param(DEMO.replace("# Demo", "# De\x0cmo\u2028x").encode(), id="odd separators"),
        pytest.param(DEMO.encode().rstrip(b"\n"), id="no last line end"),
    ],
)
async def test_saving_changes_nothing_but_what_was_typed(work: Path, raw: bytes) -> None:
    path = skill_file(work)
    path.write_bytes(raw)
    path.chmod(0o640)
    async with open_studio(work) as studio:
        area = await open_source(studio)
        await put_cursor(studio, area, "what is bad")
        await studio.press("x")
        assert "unsaved" in str(studio.main.source.border_title)
        await studio.press("ctrl+s")
        await studio.until(lambda: b"xwhat" in path.read_bytes(), "the saved file")
        assert path.read_bytes() == raw.replace(b"what is bad", b"xwhat is bad")
        assert path.stat().st_mode & 0o777 == 0o640
        await studio.until(
            lambda: "unsaved" not in str(studio.main.source.border_title), "a clean title"
        )


async def test_the_cursor_on_a_node_selects_it_in_the_drawing(work: Path) -> None:
    async with open_studio(work) as studio:
        area = await open_source(studio)
        await put_cursor(studio, area, "mend[Mend")
        await studio.until(lambda: studio.view.selected == "mend", "the selection")
        await put_cursor(studio, area, "write[Write")
        await studio.until(lambda: studio.view.selected == "write", "the other selection")


async def test_a_node_selected_in_the_drawing_is_found_in_the_source(work: Path) -> None:
    async with open_studio(work) as studio:
        area = await open_source(studio)
        await studio.press("escape")
        await studio.select("mend")
        await studio.until(lambda: area.cursor_location == (12, 17), "the place of the node")


async def test_node_ids_complete(work: Path) -> None:
    async with open_studio(work) as studio:
        area = await open_source(studio)
        await put_cursor(studio, area, "mend --> good")
        area.move_cursor((13, len("    mend --> good")))
        await studio.press("enter", *"wr")
        words = studio.main.query_one("#source-words", OptionList)
        await studio.until(lambda: words.display, "completions")
        assert [str(option.prompt) for option in words.options] == ["write"]
        await studio.press("tab")
        assert area.document.get_line(14).strip() == "write"
        assert not words.display


async def test_quitting_with_unsaved_changes_asks_and_esc_stays(work: Path) -> None:
    async with open_studio(work) as studio:
        area = await open_source(studio)
        await put_cursor(studio, area, "what is bad")
        await studio.press("x", "ctrl+q")
        await studio.until(lambda: "Not saved" in studio.text, "the question")
        await studio.press("escape")
        await studio.until(lambda: "Not saved" not in studio.text, "the studio again")
        await studio.press("ctrl+q")
        await studio.until(lambda: "Not saved" in studio.text, "the question again")
        await studio.press("s")
        await studio.until(lambda: "xwhat" in skill_file(work).read_text("utf-8"), "the save")


async def test_discarded_changes_are_kept_as_a_copy(work: Path, tmp_path: Path) -> None:
    async with open_studio(work) as studio:
        area = await open_source(studio)
        await put_cursor(studio, area, "what is bad")
        await studio.press("x", "ctrl+q")
        await studio.until(lambda: "Not saved" in studio.text, "the question")
        await studio.press("d")
        await studio.until(lambda: studio.app._exit, "the end")
    from flowstudio import paths

    copies = list((paths.state_file().parent / "backups").iterdir())
    assert any("xwhat" in copy.read_text("utf-8") for copy in copies)
    assert skill_file(work).read_text("utf-8") == DEMO


async def test_an_unsaved_text_is_there_again_after_a_look_at_another_skill(work: Path) -> None:
    write_skill(work, NOTES, "notes")
    async with open_studio(work) as studio:
        area = await open_source(studio)
        await put_cursor(studio, area, "what is bad")
        await studio.press("x")
        studio.main.browser.show_skills(studio.main.library.skills, "notes")
        await studio.until(lambda: "Short sentences" in area.text, "the other source")
        studio.main.browser.show_skills(studio.main.library.skills, "demo")
        await studio.until(lambda: "xwhat" in area.text, "the edited source")


# Changes from outside


async def test_a_change_elsewhere_in_the_file_is_merged_with_what_was_typed(work: Path) -> None:
    async with open_studio(work) as studio:
        area = await open_source(studio)
        await put_cursor(studio, area, "what is bad")
        await studio.press("x")
        theirs = DEMO.replace("Improve a text", "Better a text")
        skill_file(work).write_text(theirs, encoding="utf-8")
        await studio.until(lambda: "Better a text" in area.text, "both changes")
        assert "xwhat" in area.text
        await studio.press("ctrl+s")
        await studio.until(lambda: "xwhat" in skill_file(work).read_text("utf-8"), "the save")
        assert skill_file(work).read_text("utf-8") == theirs.replace("what is", "xwhat is")


@pytest.mark.parametrize("winner", ["m", "t"])
async def test_a_change_in_the_same_line_asks_and_keeps_what_gives_way(
    work: Path, winner: str
) -> None:
    from flowstudio import paths

    theirs = DEMO.replace("Mend what is bad", "Their words")
    async with open_studio(work) as studio:
        area = await open_source(studio)
        await put_cursor(studio, area, "what is bad")
        await studio.press("x")
        skill_file(work).write_text(theirs, encoding="utf-8")
        await studio.until(lambda: "Changed here and on the disk" in studio.text, "the question")
        assert "Their words" in studio.text
        await studio.press(winner)
        kept = "Their words" if winner == "m" else "xwhat"
        there = "xwhat" if winner == "m" else "Their words"
        await studio.until(lambda: there in area.text, "the winner")
        copies = (paths.state_file().parent / "backups").iterdir()
        assert any(kept in copy.read_text("utf-8") for copy in copies)
        if winner == "m":
            await studio.press("ctrl+s")
            await studio.until(lambda: "xwhat" in skill_file(work).read_text("utf-8"), "the save")


async def test_a_clean_source_takes_the_change_on_the_disk_and_can_undo_it(work: Path) -> None:
    async with open_studio(work) as studio:
        area = await open_source(studio)
        write_skill(work, DEMO.replace("Mend what is bad", "Their words"))
        await studio.until(lambda: "Their words" in area.text, "the change")
        await studio.press("ctrl+z")
        assert area.text == DEMO


async def test_a_file_deleted_under_its_editor_can_be_saved_again(work: Path) -> None:
    path = skill_file(work)
    async with open_studio(work) as studio:
        area = await open_source(studio)
        await put_cursor(studio, area, "what is bad")
        await studio.press("x")
        path.unlink()
        await studio.until(
            lambda: any(draft.is_gone for draft in studio.main.author.unsaved), "the loss noticed"
        )
        await studio.press("ctrl+q")
        await studio.until(lambda: "Not saved" in studio.text, "the question")
        await studio.press("s")
        await studio.until(lambda: path.exists() and "xwhat" in path.read_text("utf-8"), "the file")


async def test_a_broken_skill_opens_at_its_source_with_its_findings(work: Path) -> None:
    path = write_skill(work, BROKEN, "broken")
    async with open_studio(path, cwd=work) as studio:
        area = await open_source(studio)
        assert area.text == BROKEN
        await studio.until(lambda: "never" in studio.text or "▲ 14" in studio.text, "the finding")


async def test_a_long_line_is_wrapped_anew_in_each_size_of_the_terminal(work: Path) -> None:
    async with open_studio(work) as studio:
        await open_source(studio)
        for width in (200, 80, 120, 200, 80, 120):
            await studio.pilot.resize_terminal(width, 40)
            await studio.until(lambda size=width: studio.main.size.width == size, "the size")
            await studio.pilot.pause()
            lines = studio.main.source.area.region
            shown = " ".join(line[lines.x : lines.right] for line in studio.lines)
            assert "until it is good." in " ".join(shown.split())
