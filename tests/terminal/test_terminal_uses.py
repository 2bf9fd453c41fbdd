"""The three uses, in a real terminal: look into a run, bend it, edit its flow while it is on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.studio.kit import DEMO
from tests.terminal.conftest import Open
from tests.terminal.editors import EDITORS, edit_with
from tests.terminal.kit import Terminal


def skill_file(work: Path) -> Path:
    return work / ".agents" / "skills" / "demo" / "SKILL.md"


def start(terminal: Terminal) -> None:
    """Begin a run that is held before its first prompt."""
    terminal.shows("Write a first draft")
    terminal.shows("rehearsal")
    terminal.press("n")
    terminal.shows("paused before “write”")


def test_stepping_shows_where_the_run_stands_what_is_sent_and_why_it_waits(
    open_terminal: Open,
) -> None:
    with open_terminal(".", "--script", "script.yaml") as terminal:
        start(terminal)
        terminal.shows("⏸ Write a first draft ┃")  # the node, in heavy lines
        terminal.shows("before “write” · about to be sent:")  # why, and the prompt below it
        terminal.shows("BEGIN✓ ─ ⏸ write")  # the timeline
        terminal.press("n")
        terminal.shows("paused before “good”")
        terminal.shows("1 yes  → END")  # the branches, with their numbers
        terminal.shows("write✓ ─ ⏸ good")
        terminal.press("n")
        terminal.shows("“good” was answered “no”")  # looked at before it counts
        terminal.press("n")
        terminal.shows("paused before “mend”")
        terminal.shows("good→no ─ ⏸ mend")
        terminal.press("c")
        terminal.shows("✓ done")
        terminal.press("ctrl+q")
        assert terminal.wait() == 0
        assert b"Traceback" not in terminal.raw


def test_a_branch_is_overridden_before_it_is_asked_and_after_it_answered(
    open_terminal: Open,
) -> None:
    with open_terminal(".", "--script", "script.yaml") as terminal:
        start(terminal)
        terminal.press("n")
        terminal.shows("paused before “good”")
        terminal.press("2")  # before it is asked
        terminal.shows("paused before “mend”")
        terminal.shows("good⇢no ─ ⏸ mend")
        terminal.shows("╏ no ⇢")  # dashed, with a sign of its own
        terminal.shows("⇢ no   you")
        terminal.press("n")
        terminal.shows("visit 2 of good")
        terminal.shows("⏸ paused before “good”")
        terminal.press("n")
        terminal.shows("“good” was answered “yes”")
        terminal.press("2")  # after it answered
        terminal.shows("visit 2 of mend")
        terminal.shows("⇢ no   you, over the model’s")  # what it had said stays told
        terminal.press("c")
        terminal.shows("✓ done")


def test_saves_of_real_editors_are_followed_while_the_run_is_held(
    open_terminal: Open, work: Path
) -> None:
    """Each editor in turn changes the same flow: the picture follows, the place is kept."""
    with open_terminal(".", "--script", "script.yaml") as terminal:
        start(terminal)
        words = "what is bad"
        missing: list[str] = []
        for number, editor in enumerate(EDITORS):
            new = f"with care {number}"
            try:
                edit_with(editor, skill_file(work), words, new)
            except pytest.skip.Exception as reason:
                missing.append(str(reason))
                continue
            words = new
            terminal.shows(f"Mend {words}")
            assert "paused before “write”" in terminal.lines[0], editor
            assert "BEGIN✓ ─ ⏸ write" in terminal.text, editor
            edit_with(editor, skill_file(work), "mend --> good", "mend --> (good")
            terminal.shows("▲ SKILL.md:14:")  # dimmed, under the fault's place
            assert f"Mend {words}" in terminal.text, editor
            edit_with(editor, skill_file(work), "mend --> (good", "mend --> good")
            terminal.until(lambda: "SKILL.md:14:" not in terminal.text, "the fault gone")
            assert "⏸ Write a first draft ┃" in terminal.text, editor
        edit_with("formatter", skill_file(work), "Is it good?", "Is it really good?")
        terminal.shows("Is it really good?")
        terminal.press("n")
        terminal.shows("paused before “good”")
        terminal.press("n")  # the next visit uses the new words
        terminal.shows("“good” was answered “no”")
        terminal.press("ctrl+q")
        assert terminal.wait() == 0
    sent = [one.read_text() for one in (work.parent / "home").rglob("journal.jsonl")]
    assert "Is it really good?" in sent[0]
    if missing:
        pytest.skip(f"all went well, but {', '.join(missing)}")


def test_resizing_while_a_run_is_on_keeps_the_place(open_terminal: Open) -> None:
    with open_terminal(".", "--script", "script.yaml", size=(200, 60)) as terminal:
        start(terminal)
        terminal.press("n")
        terminal.shows("⏸ ◆ Is it good? ┃")
        for columns, rows in ((80, 24), (60, 20), (120, 40)):
            terminal.resize(columns, rows)
            edge = "╮" if columns < 120 else "╯"
            terminal.until(
                lambda: any(line.rstrip().endswith(edge) for line in terminal.lines[1:]),  # noqa: B023
                f"{columns} columns painted",
            )
            terminal.shows("⏸ ◆ Is it good? ┃")
            terminal.until(lambda: "paused" in terminal.lines[0], "the state in the top line")
        terminal.press("2")
        terminal.shows("good⇢no ─ ⏸ mend")


def test_what_the_tests_edit_is_there_to_be_edited() -> None:
    """Else an editor would change nothing, and nothing would be tested."""
    assert DEMO.count("what is bad") == 1
    assert DEMO.splitlines()[13].strip() == "mend --> good"
