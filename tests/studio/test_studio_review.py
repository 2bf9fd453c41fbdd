"""The queue of changes to the library in the studio: listed, answered, undone."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowstudio.mindflow.changes import Change, FileChange
from flowstudio.mindflow.database import Database
from flowstudio.mindflow.queue import ReviewQueue
from flowstudio.studio.review_dialog import ReviewDialog, show_age
from flowstudio.wire import Notice
from tests.studio.kit import Studio, open_studio


@pytest.fixture
def notes(mixed: Path) -> Path:
    """A file of the library that a change waits to be made to."""
    path = mixed / ".agents" / "skills" / "notes" / "SKILL.md"
    before = path.read_text(encoding="utf-8")
    files = (FileChange(path, path.parent.parent, before, f"{before}Say it once.\n"),)
    change = Change("skill_update", "local", "teach [b]notes[/b]", "you said so twice", files)
    with Database() as database:
        ReviewQueue(database).add(change)
    return path


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


async def review(studio: Studio) -> None:
    await studio.press("Q")
    await studio.until(lambda: "teach [b]notes[/b]" in studio.text, "the list of changes")


async def test_what_waits_is_listed_with_risk_age_reason_and_diff(mixed: Path, notes: Path) -> None:
    async with open_studio(mixed) as studio:
        await review(studio)
        await studio.until(lambda: "+Say it once." in studio.text, "the diff")
        for text in ("risk 0.", " s ago", "you said so twice"):
            assert text in studio.text


async def test_files_are_named_as_seen_from_the_work_folder_or_from_home(
    mixed: Path, notes: Path, home: Path
) -> None:
    own = home / "skills" / "own" / "SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text("Before.\n", encoding="utf-8")
    change = Change(
        "skill_update",
        "local",
        "teach my own",
        "you said so",
        (FileChange(own, own.parent.parent, "Before.\n", "After.\n"),),
    )
    with Database() as database:
        ReviewQueue(database).add(change)
    async with open_studio(mixed) as studio:
        await review(studio)
        await studio.until(lambda: "+++ .agents/skills/notes/SKILL.md" in studio.text, "the diff")
        await studio.press("down")
        await studio.until(lambda: "+++ ~/skills/own/SKILL.md" in studio.text, "the other")
        # So it is in what is said of a change that cannot be made.
        own.write_text("Meanwhile.\n", encoding="utf-8")
        await studio.press("a")
        await studio.until(
            lambda: "not written, ~/skills/own/SKILL.md was changed meanwhile" in studio.text,
            "why it was not written",
        )
        assert str(home) not in studio.text


async def test_an_approved_change_is_written_and_can_be_undone(mixed: Path, notes: Path) -> None:
    before = read(notes)
    async with open_studio(mixed) as studio:
        await review(studio)
        await studio.press("a")
        await studio.until(lambda: "· written" in studio.text, "its new state")
        assert read(notes) == f"{before}Say it once.\n"
        await studio.press("u")
        await studio.until(lambda: "· undone" in studio.text, "its new state")
        assert read(notes) == before


async def test_a_rejected_change_is_not_written(mixed: Path, notes: Path) -> None:
    before = read(notes)
    async with open_studio(mixed) as studio:
        await review(studio)
        await studio.press("x")
        await studio.until(lambda: "· rejected" in studio.text, "its new state")
        assert read(notes) == before


async def test_an_answer_that_is_past_says_so(mixed: Path, notes: Path) -> None:
    async with open_studio(mixed) as studio:
        await review(studio)
        await studio.press("u")
        await studio.until(lambda: "is not written: it is open" in studio.text, "the reason")


async def test_an_empty_queue_says_so_and_escape_closes_it(mixed: Path) -> None:
    async with open_studio(mixed) as studio:
        await studio.press("Q")
        await studio.until(lambda: "no change waits" in studio.text, "the empty list")
        await studio.press("a", "x", "u", "escape")
        assert not isinstance(studio.app.screen, ReviewDialog)


async def test_a_notice_at_the_end_of_a_task_names_the_key(mixed: Path, notes: Path) -> None:
    async with open_studio(mixed) as studio:
        session = studio.main.driver.session
        assert session is not None
        session.runtime.wire.emit(Notice("changes are proposed"))
        await studio.until(lambda: any("Q shows" in one for one in studio.toasts), "a notice")


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(-1.0, "0 s"), (59.9, "59 s"), (60.0, "1 min"), (7200.0, "2 h"), (86400.0 * 3, "3 d")],
)
def test_an_age_is_told_in_its_largest_unit(seconds: float, shown: str) -> None:
    assert show_age(seconds) == shown
