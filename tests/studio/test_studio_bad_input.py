"""Whatever is opened or answered: a clear sentence or a sane picture, never a frozen screen."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from flowstudio.wire import ChoiceRejected, Notice
from tests.studio.kit import DEMO, FakeModel, choose, open_studio, write_skill

FILES = {
    "empty.mmd": b"",
    "blank.d2": b"\n\n   \n",
    "binary.mmd": bytes(range(256)) * 8,
    "prose.mmd": b"Dear all,\n\nthis is not a chart.\n",
    "prose.d2": b"{{{{ }}}} -> ;;; ->",
    "latin.mmd": "flowchart TD\n BEGIN --> caf\xe9 --> END\n".encode("latin-1"),
}


@pytest.mark.parametrize("name", FILES)
async def test_a_file_that_is_no_flow_is_shown_with_what_is_wrong(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name])
    async with open_studio(path, cwd=tmp_path) as studio:
        assert "▲" in studio.row_of(path.stem)
        assert studio.faults_shown.startswith("▲")
        await studio.press("r", "z", "down", "b", "n")
        assert studio.events == []


async def test_a_skill_that_is_no_flow_file_at_all_keeps_its_place(work: Path) -> None:
    (work / ".agents/skills/demo/SKILL.md").write_bytes(b"\x00\x01\x02" * 500)
    async with open_studio(work) as studio:
        assert "▲" in studio.row_of("demo")


async def test_a_file_of_ten_megabytes_opens_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "huge.mmd"
    path.write_text("flowchart TD\n" + "    a --> b\n" * 900_000, encoding="utf-8")
    async with open_studio(path, cwd=tmp_path) as studio:
        assert studio.faults_shown
        await studio.press("question_mark")
        await studio.until(lambda: "Driving a run" in studio.text, "the help")


async def test_a_chart_of_five_thousand_nodes_opens_and_pans_and_keys_count_meanwhile(
    tmp_path: Path,
) -> None:
    path = tmp_path / "big.mmd"
    rows = [f"    n{i}[Step {i}] --> n{i + 1}\n" for i in range(5000)]
    rows += [f"    n{i} --> n{i // 2}\n" for i in range(40, 5000, 400)]
    path.write_text("flowchart TD\n    BEGIN --> n0\n" + "".join(rows), encoding="utf-8")
    async with open_studio(path, cwd=tmp_path, settle=False) as studio:
        await studio.until(lambda: studio.main.driver.is_ready, "the session")
        await studio.press("question_mark")
        await studio.until(lambda: "Driving a run" in studio.text, "the help")
        await studio.press("escape")
        await studio.until(lambda: studio.view.drawing is not None, "the picture")
        assert len(studio.view.drawing.boxes) >= 5000  # type: ignore[union-attr]
        await studio.press("j", "j", "j")
        assert studio.view.scroll_offset.y > 0


async def test_a_path_that_is_not_there_closes_with_a_sentence(work: Path) -> None:
    async with open_studio(work / "nothing", cwd=work, settle=False) as studio:
        await studio.until(lambda: studio.app.return_code == 2, "the end")


# The model


@pytest.mark.parametrize("answer", ["", "   \n", "[bold]x[/bold] [@click=app.quit]y[/]"])
async def test_a_model_that_says_nothing_or_only_markup_leads_to_a_pause_that_says_why(
    work: Path, answer: str
) -> None:
    async with open_studio(work, model=FakeModel(good=[answer] * 9)) as studio:
        studio.main.driver.session.runtime.sleep = at_once  # type: ignore[union-attr]
        await studio.press("r")
        await studio.paused_at("good")
        assert studio.state is not None
        assert studio.state.reason in ("choice_failed", "model_failed")
        assert "⏸ paused" in studio.chat_text
        await studio.press("1")
        await studio.ended()


async def at_once(seconds: float) -> None:
    """A retry does not wait."""


async def test_escape_sequences_of_a_model_are_shown_and_not_sent(work: Path) -> None:
    answer = "\x1b[31mred\x1b[0m \x1b]52;c;ZXZpbA==\x07 [bold]b[/bold]"
    async with open_studio(work, model=FakeModel(write=answer)) as studio:
        await studio.press("r")
        await studio.ended()
        assert "[bold]b[/bold]" in studio.chat_text
        assert "\x1b" not in studio.text
        assert "\x1b" not in studio.chat_text


async def test_a_choice_with_escapes_in_it_is_refused_harmlessly(work: Path) -> None:
    answers = [choose("\x1b[2Jyes[/]"), choose("yes")]
    async with open_studio(work, model=FakeModel(good=answers)) as studio:
        await studio.press("r")
        await studio.ended()
        assert len(studio.said(ChoiceRejected)) == 1
        assert "\x1b" not in studio.chat_text


# The disk


async def test_a_skill_folder_that_vanishes_during_a_run_leaves_the_run_alone(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.begin()
        shutil.rmtree(work / ".agents")
        await studio.until(lambda: not studio.row_of("demo"), "the skill gone from the list")
        await studio.press("c")
        await studio.ended()
        assert studio.path[-1] == "END"


async def test_a_file_whose_reading_is_forbidden_says_so(work: Path) -> None:
    path = work / ".agents/skills/demo/SKILL.md"
    path.unlink()
    path.mkdir()
    async with open_studio(work) as studio:
        assert studio.main.is_settled


# Settings


async def test_wrong_settings_are_said_and_the_rest_counts(work: Path, home: Path) -> None:
    config = home / "flowstudio" / "config" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("yolo: perhaps\ntheme: studio-light\nnosuch: 1\n", encoding="utf-8")
    async with open_studio(work) as studio:
        await studio.until(lambda: studio.app.theme == "studio-light", "the theme")
        assert any("yolo" in said for said in studio.toasts)
        assert any("nosuch" in said for said in studio.toasts)


@pytest.mark.parametrize("text", ["\x00", "[1, 2", "- a list", "model: [x"])
async def test_settings_that_are_no_settings_do_not_keep_the_studio_shut(
    work: Path, home: Path, text: str
) -> None:
    config = home / "flowstudio" / "config" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(text, encoding="utf-8")
    async with open_studio(work) as studio:
        assert any("config.yaml" in said for said in studio.toasts)


async def test_a_model_that_is_not_there_is_said_and_a_rehearsal_begins(work: Path) -> None:
    async with open_studio(work, model_name="nosuch/model") as studio:
        await studio.until(lambda: studio.said(Notice), "a notice")
        assert "Until then this is a rehearsal." in studio.chat_text
        await studio.press("r")
        await studio.asked_at("good")
        await studio.press("1")
        await studio.ended()


async def test_a_script_that_cannot_be_read_is_said(work: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("decisions: 7\n", encoding="utf-8")
    async with open_studio(work, script=script) as studio:
        await studio.until(lambda: studio.said(Notice), "a notice")
        assert "script.yaml" in studio.chat_text


async def test_a_label_that_is_very_long_is_cut_for_the_eye_and_sent_whole(work: Path) -> None:
    long = "word " * 4000
    write_skill(work, DEMO.replace("Mend what is bad", long))
    model = FakeModel(good=[choose("no")])
    async with open_studio(work, model=model) as studio:
        await studio.select("mend")
        await studio.press("r")
        await studio.ended()
        assert ("mend", long.strip()) in model.asked


async def test_keys_that_are_typed_before_the_studio_stands_do_no_harm(work: Path) -> None:
    async with open_studio(work, settle=False) as studio:
        await studio.press("slash", "escape", "i", "escape", "z", "b", "down", "f", "1", "p", "s")
        await studio.settled()
