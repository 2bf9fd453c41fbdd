"""The history: earlier runs looked at, gone on with, forked, replayed, compared, deleted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flowstudio import paths
from flowstudio.run.history import RunSummary, list_runs
from flowstudio.studio.history_compare import CompareScreen
from flowstudio.studio.history_rows import arrange
from flowstudio.studio.history_screen import HistoryScreen
from flowstudio.studio.pick_dialogs import ChoiceDialog, RewindDialog
from flowstudio.wire import RunForked, RunReopened
from tests.studio.kit import DEMO, FakeModel, Studio, choose, open_studio, write_skill


async def run_through(work: Path, *branches: str) -> None:
    """A run of the demo to its end, whose model takes these branches."""
    model = FakeModel(good=[choose(branch) for branch in branches])
    async with open_studio(work, model=model) as studio:
        await studio.press("r")
        await studio.ended()


async def break_off(work: Path) -> None:
    """A run that is left as it waits before `good`."""
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.begin()
        await studio.press("n")
        await studio.paused_at("good")
        studio.main.driver.session.runner = None  # type: ignore[union-attr]


async def open_history(studio: Studio) -> HistoryScreen:
    await studio.press("H")
    await studio.until(lambda: isinstance(studio.app.screen, HistoryScreen), "the history")
    screen = studio.app.screen
    assert isinstance(screen, HistoryScreen)
    await studio.until(lambda: screen.is_read, "the runs")
    await studio.pilot.pause()
    return screen


async def dialog(studio: Studio, kind: type) -> None:
    await studio.until(lambda: isinstance(studio.app.screen, kind), kind.__name__)
    await studio.pilot.pause()


def in_order_of_birth() -> list[RunSummary]:
    """A run and its fork, whose seconds may be the same."""
    return sorted(
        list_runs(paths.runs_dir()), key=lambda run: bool(run.header and run.header.parent)
    )


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != "lock"
    }


async def test_the_history_tells_flow_state_visits_and_where_each_run_stands(work: Path) -> None:
    await run_through(work, "no", "yes")
    await break_off(work)
    async with open_studio(work, model=FakeModel()) as studio:
        await dialog(studio, ChoiceDialog)
        await studio.press("escape")
        await open_history(studio)
        assert "2 of 2 runs" in studio.text
        rows = [line for line in studio.lines if " demo " in line]
        assert "broken off at good" in rows[0]
        assert "╳" in rows[0]
        assert "reached end" in rows[1]
        assert "✓" in rows[1]
        assert "just now" in rows[1]
        await studio.press("slash", *"broken")
        await studio.until(lambda: "1 of 2 runs" in studio.text, "the filter")
        await studio.press("escape", "escape")
        await studio.until(lambda: studio.app.screen is studio.main, "the studio")


async def test_a_run_is_looked_at_on_its_flow_and_esc_comes_back(work: Path) -> None:
    await run_through(work, "no", "yes")
    async with open_studio(work, model=FakeModel()) as studio:
        await open_history(studio)
        await studio.press("enter")
        await studio.until(lambda: studio.main.driver.look is not None, "the look")
        await studio.pilot.pause()
        assert studio.view.marks.tags["good"] == "✓2"
        assert studio.view.selected == "END"
        await studio.press("left_square_bracket", "left_square_bracket", "left_square_bracket")
        await studio.until(lambda: studio.view.selected == "good", "the first question")
        assert "as it was at visit 1 of “good”" in studio.lines[0]
        assert "good" not in studio.view.marks.tags
        assert studio.view.marks.flags["good"]
        await studio.press("escape")
        await studio.until(lambda: not studio.view.marks.nodes, "what is now")
        assert studio.main.driver.look is None


async def test_a_run_of_a_flow_that_is_not_shown_is_looked_at_where_it_ended(work: Path) -> None:
    steps = "".join(f" --> n{i}[Step {i}]" for i in range(30))
    text = DEMO.replace("name: demo", "name: long").replace("-->|yes| ", f"-->|yes| w{steps} --> ")
    async with open_studio(write_skill(work, text, "long").parent, model=FakeModel()) as studio:
        await studio.press("r")
        await studio.ended()
    async with open_studio(work / ".agents" / "skills" / "demo", cwd=work) as studio:
        await open_history(studio)
        await studio.press("enter")
        await studio.until(lambda: studio.view.drawing and studio.sees("END"), "its last visit")
        assert studio.view.selected == "END"


async def test_a_run_that_was_broken_off_is_offered_at_the_start_and_goes_on(work: Path) -> None:
    await break_off(work)
    model = FakeModel()
    async with open_studio(work, model=model) as studio:
        await dialog(studio, ChoiceDialog)
        assert "was broken off at “good”" in studio.text
        await studio.press("y")
        await studio.paused_at("good")
        assert len(studio.said(RunReopened)) == 1
        assert "Write a first draft" in studio.chat_text
        assert studio.view.marks.nodes["write"] == "done"
        await studio.press("c")
        await studio.ended()
        assert [node for node, _ in model.asked] == ["good"]
    assert [run.reason for run in list_runs(paths.runs_dir())] == ["reached_end"]


async def test_an_offer_that_was_declined_is_not_made_again(work: Path) -> None:
    await break_off(work)
    async with open_studio(work, model=FakeModel()) as studio:
        await dialog(studio, ChoiceDialog)
        await studio.press("escape")
        await studio.until(lambda: studio.app.screen is studio.main, "the studio")
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.press("n")
        await studio.paused_at("write")
        assert studio.app.screen is studio.main


async def test_a_resume_after_the_file_has_changed_asks_which_flow_is_meant(work: Path) -> None:
    await break_off(work)
    write_skill(work, DEMO.replace("Is it good?", "Is it great?"))
    model = FakeModel()
    async with open_studio(work, model=model) as studio:
        await dialog(studio, ChoiceDialog)
        await studio.press("y")
        await studio.until(lambda: "Which flow?" in studio.text, "the question")
        await studio.press("r")
        await studio.paused_at("good")
        await studio.press("c")
        await studio.ended()
        assert model.asked[0][1].startswith("Is it good?")


async def test_a_run_that_reached_its_end_is_not_resumed_and_says_what_would(work: Path) -> None:
    await run_through(work, "yes")
    async with open_studio(work, model=FakeModel()) as studio:
        await open_history(studio)
        await studio.press("r")
        await studio.until(lambda: any("reached END" in said for said in studio.toasts), "why not")


async def test_a_rewind_forks_at_the_visit_and_leaves_the_old_run_as_it_was(work: Path) -> None:
    model = FakeModel(good=[choose("no"), choose("yes"), choose("yes")])
    async with open_studio(work, model=model) as studio:
        await studio.press("r")
        await studio.ended()
        old = studio.main.driver.session.folder  # type: ignore[union-attr]
        before = files_of(old.path)
        await studio.press("left_square_bracket", *["left_square_bracket"] * 2)
        await studio.until(lambda: studio.view.selected == "good", "the first question")
        await studio.press("u")
        await dialog(studio, RewindDialog)
        assert "1 take yes" in studio.text
        await studio.press("1")
        await studio.paused_at("good")
        assert studio.said(RunForked) == []  # it is the journal's, and was told before
        await studio.press("c")
        await studio.until(lambda: studio.phase == "ended", "the end")
        assert studio.choices[-1] == ("yes", "user", True)
        assert files_of(old.path) == before
    first, new = in_order_of_birth()
    assert new.header is not None
    assert (new.header.parent, new.header.parent_move) == (first.id, 3)
    assert new.reason == "reached_end"


async def test_a_rewind_of_the_run_that_is_on_stops_that_one_and_it_can_go_on(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        await studio.begin()
        await studio.press("n")
        await studio.paused_at("good")
        await studio.press("u")
        await dialog(studio, RewindDialog)
        await studio.press("enter")
        await studio.paused_at("write")
        await studio.press("c")
        await studio.until(lambda: studio.phase == "ended", "the end")
    old, new = in_order_of_birth()
    assert (new.reason, old.reason, old.can_resume) == ("reached_end", "stopped", True)


async def test_a_digit_at_an_earlier_visit_forks_there_after_a_question(work: Path) -> None:
    model = FakeModel(good=[choose("no"), choose("yes"), choose("yes")])
    async with open_studio(work, model=model) as studio:
        await studio.press("r")
        await studio.ended()
        await studio.press(*["left_square_bracket"] * 3)
        await studio.press("1")
        await dialog(studio, ChoiceDialog)
        await studio.press("y")
        await studio.paused_at("good")
        assert studio.view.marks.edges


async def test_a_fork_from_the_history_stands_below_its_parent(work: Path) -> None:
    await run_through(work, "yes")
    async with open_studio(work, model=FakeModel()) as studio:
        await open_history(studio)
        await studio.press("f")
        await dialog(studio, RewindDialog)
        await studio.press("up", "enter")
        await studio.paused_at("good")
        await studio.press("c")
        await studio.until(lambda: studio.phase == "ended", "the end")
        await open_history(studio)
        assert any("└ demo@3" in line for line in studio.lines), studio.text


async def test_a_replay_walks_through_the_visits_without_a_model(work: Path) -> None:
    await run_through(work, "no", "yes")
    model = FakeModel()
    async with open_studio(work, model=model) as studio:
        await open_history(studio)
        await studio.press("p")
        await studio.until(lambda: studio.main.driver.look is not None, "the replay")
        await studio.until(lambda: studio.view.selected == "END", "its end")
        assert model.asked == []
        assert not any("differs" in said for said in studio.toasts)


async def test_two_runs_are_compared_on_one_picture(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # They begin in the same second: which is the earlier one must not hang on chance.
    monkeypatch.setattr("flowstudio.run.folder.stamp_now", lambda: "2026-01-01T00:00:00Z")
    await run_through(work, "yes")
    await run_through(work, "no", "yes")
    async with open_studio(work, model=FakeModel()) as studio:
        await open_history(studio)
        await studio.press("space", "space", "d")
        await dialog(studio, CompareScreen)
        screen = studio.app.screen
        assert isinstance(screen, CompareScreen)
        await studio.until(lambda: screen.comparison is not None, "the comparison")
        await studio.pilot.pause()
        view = screen.view
        await studio.until(lambda: view.selected is not None, "the drawing")
        marks = view.marks
        assert marks.nodes["write"] == "done"
        assert (marks.nodes["mend"], marks.tags["mend"]) == ("forced", "B")
        assert marks.tags["good"] == "A1 B2"
        assert "B" in marks.letters.values()
        assert view.selected == "good"
        assert screen.difference is not None
        assert screen.difference.aspect == "answer"
        assert "- <choice>yes</choice>" in studio.text
        assert "+ <choice>no</choice>" in studio.text
        await studio.press("n")
        await studio.until(lambda: "▼ mend" in studio.text, "the difference in the path")
        assert "▼ END" in studio.text
        await studio.press("escape", "escape")
        await studio.until(lambda: studio.app.screen is studio.main, "the studio")


async def test_runs_are_deleted_only_after_a_question(work: Path) -> None:
    for _ in range(3):
        await run_through(work, "yes")
    async with open_studio(work, model=FakeModel()) as studio:
        screen = await open_history(studio)
        await studio.press("x")
        await dialog(studio, ChoiceDialog)
        await studio.press("escape")
        assert len(list_runs(paths.runs_dir())) == 3
        await studio.press("P", "ctrl+u", "1", "enter")
        await dialog(studio, ChoiceDialog)
        assert "2 runs older than the latest 1" in studio.text
        await studio.press("y")
        await studio.until(lambda: len(list_runs(paths.runs_dir())) == 1, "two runs less")
        await studio.until(lambda: "1 of 1 runs" in studio.text, "the new list")
        assert screen.run is not None


async def test_a_damaged_run_stays_in_the_list_and_says_what_is_wrong(work: Path) -> None:
    await run_through(work, "yes")
    journal = list_runs(paths.runs_dir())[0].path / "journal.jsonl"
    journal.write_bytes(b"{}\n" * 5)
    async with open_studio(work, model=FakeModel()) as studio:
        await open_history(studio)
        assert "damaged" in studio.text
        await studio.press("enter")
        await studio.until(lambda: any("cannot be read" in one for one in studio.toasts), "why")


def test_forks_follow_their_parents_and_circles_end(tmp_path: Path) -> None:
    def run(name: str, parent: str | None = None) -> RunSummary:
        from flowstudio.run.folder import Header

        header = Header(name, "f", None, "m", "", "", "", parent=parent, parent_move=2)
        return RunSummary(name, tmp_path, "ended", header)

    runs = [run("d", "b"), run("c", "a"), run("b", "a"), run("a"), run("x", "y"), run("y", "x")]
    rows = arrange(runs)
    assert [(row.run.id, row.depth, row.branch) for row in rows] == [
        ("a", 0, ""),
        ("c", 1, "├ "),
        ("b", 1, "└ "),
        ("d", 2, "  └ "),
        ("x", 0, ""),
        ("y", 0, ""),
    ]
    assert [row.run.id for row in arrange(runs, "nothing like it")] == []


def test_ten_thousand_runs_in_one_line_of_forks_are_arranged_without_recursion(
    tmp_path: Path,
) -> None:
    from flowstudio.run.folder import Header

    runs = [
        RunSummary(
            str(n),
            tmp_path,
            "ended",
            Header(str(n), "f", None, "m", "", "", "", parent=str(n - 1) if n else None),
        )
        for n in range(10_000)
    ]
    assert len(arrange(runs)) == 10_000


def test_the_memory_of_a_broken_file_is_empty_and_is_written_whole(home: Path) -> None:
    from flowstudio.studio.memory import load_memory, save_memory

    memory = load_memory()
    memory.declined = [str(n) for n in range(200)]
    assert save_memory(memory) == ""
    assert load_memory().declined[-1] == "199"
    assert len(load_memory().declined) < 100
    for text in ("{", "[]", json.dumps({"sizes": {"skills": 10**9}})):
        paths.state_file().write_text(text)
        assert load_memory().declined == []
    paths.state_file().unlink()
    paths.state_file().mkdir()
    assert "cannot be written" in save_memory(memory)
