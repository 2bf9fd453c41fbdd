"""What an agent writes into a folder of skills: by its risk silent, queued, or asked at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flowstudio import paths
from flowstudio.config import Config
from flowstudio.mindflow.called import CalledSkills
from flowstudio.mindflow.database import Database
from flowstudio.mindflow.library_places import find_place
from flowstudio.mindflow.library_writes import LibraryWrites
from flowstudio.mindflow.queue import Queued, QueueError, ReviewQueue
from flowstudio.skill import Root, read_roots
from flowstudio.soul import Runtime
from flowstudio.soul.approval import ToolRejectedError
from flowstudio.soul.tools import make_tools
from flowstudio.wire import ApprovalAsked, ApprovalGiven, Event, Notice, Wire
from tests.servers.openai_server import openai_server
from tests.servers.scripted import Call, say, use
from tests.soul.bench import Bench, connect

SKILL = "---\nname: {}\ndescription: Does it.\n---\n\nDo it.\n"


@pytest.fixture(autouse=True)
def user_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of this test alone: skills are written there."""
    home = tmp_path / "home"
    monkeypatch.setattr(paths, "home", lambda: home)
    return home


class Desk:
    """An agent's tools in a work folder whose writes to the library are claimed."""

    def __init__(self, tmp_path: Path, **runtime: Any) -> None:
        self.work = tmp_path / "work"
        self.file = tmp_path / "library.sqlite3"
        self.mine = self.work / ".kimi/skills"
        for folder in (self.mine, self.work / ".git"):
            folder.mkdir(parents=True, exist_ok=True)
        self.said: list[Any] = []
        wire = Wire("run")
        wire.subscribe(self._take)
        self.answer = "reject"
        """What the user says to requests to change something."""
        self.runtime = Runtime.create(Config(), wire, work_dir=self.work, **runtime)
        self.runtime.claims = LibraryWrites(self.runtime, (), lambda: Database(self.file))
        self.tools = make_tools(self.runtime, ["WriteFile", "StrReplaceFile"])

    def _take(self, event: Event) -> None:
        self.said.append(event.body)
        if isinstance(event.body, ApprovalAsked):
            answer, asked = self.runtime.approval.answer, event.body
            verdict: Any = "allow" if asked.action.startswith("read ") else self.answer
            asyncio.get_running_loop().call_soon(lambda: answer(asked.id, verdict, "no, thanks"))

    @property
    def asked(self) -> list[ApprovalAsked]:
        """The requests to change something."""
        found = [one for one in self.said if isinstance(one, ApprovalAsked)]
        return [one for one in found if not one.action.startswith("read ")]

    def add(self, name: str, root: Path | None = None) -> Path:
        folder = (root or self.mine) / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(SKILL.format(name))
        return folder

    async def write(self, path: Path, text: str) -> Any:
        tool = self.tools.get("WriteFile")
        assert tool is not None
        return await tool.call({"path": str(path), "content": text})

    async def replace(self, path: Path, old: str, new: str) -> Any:
        tool = self.tools.get("StrReplaceFile")
        assert tool is not None
        return await tool.call({"path": str(path), "edits": [{"old": old, "new": new}]})

    def queue[T](self, use: Callable[[ReviewQueue], T]) -> T:
        with Database(self.file) as database:
            return use(ReviewQueue(database))

    @property
    def record(self) -> list[Queued]:
        return self.queue(lambda queue: queue.listed())


# ---- by its risk ------------------------------------------------------------------------------


async def test_a_new_file_beside_a_skill_is_written_silently_and_can_be_undone(tmp_path: Path):
    desk = Desk(tmp_path)
    target = desk.add("csv") / "templates/report.md"
    result = await desk.write(target, "# Report\n")
    assert not result.is_error and target.read_text() == "# Report\n"
    assert desk.asked == []
    [one] = desk.record
    assert (one.change.kind, one.state, one.decided_by) == ("artifact_add", "approved", "level")
    desk.queue(lambda queue: queue.undo(one.id))
    assert not target.parent.exists()


async def test_a_changed_skill_of_the_project_waits_in_the_queue(tmp_path: Path):
    desk = Desk(tmp_path)
    manifest = desk.add("csv") / "SKILL.md"
    result = await desk.replace(manifest, "Do it.", "Do it well.")
    assert not result.is_error and "waits for the user's answer" in result.message
    assert "Do it.\n" in manifest.read_text() and desk.asked == []
    [one] = desk.queue(lambda queue: queue.pending())
    assert one.change.kind == "skill_update" and one.change.risk == pytest.approx(0.5)
    assert "+Do it well." in one.change.diff()
    desk.queue(lambda queue: queue.approve(one.id))
    assert "Do it well.\n" in manifest.read_text()


async def test_a_new_skill_for_everywhere_is_asked_at_once_where_tools_ask(tmp_path: Path):
    desk = Desk(tmp_path)
    desk.answer = "allow"
    target = paths.home() / ".kimi/skills/new/SKILL.md"
    result = await desk.write(target, SKILL.format("new"))
    assert not result.is_error and target.read_text() == SKILL.format("new")
    [asked] = desk.asked
    assert asked.action == "change the library: skill create" and "+Do it." in asked.diff
    [one] = desk.record
    assert (one.state, one.decided_by) == ("approved", "user")


async def test_a_refusal_ends_the_turn_as_with_any_tool_and_may_be_asked_again(tmp_path: Path):
    desk = Desk(tmp_path)
    desk.answer = "reject"
    target = paths.home() / ".kimi/skills/new/SKILL.md"
    result = await desk.write(target, SKILL.format("new"))
    assert isinstance(result, ToolRejectedError) and "no, thanks" in result.message
    assert not target.exists()
    desk.answer = "allow"
    assert not (await desk.write(target, SKILL.format("new"))).is_error
    assert target.exists()


async def test_a_methodology_is_asked_for_at_once_in_a_project_too(tmp_path: Path):
    desk = Desk(tmp_path)
    desk.answer = "reject"
    await desk.write(desk.mine / "methodologies/small.yaml", "id: small\n")
    assert [one.action for one in desk.asked] == ["change the library: methodology change"]


async def test_with_yolo_all_is_written_at_once_and_on_record(tmp_path: Path):
    desk = Desk(tmp_path, yolo=True)
    manifest = desk.add("csv") / "SKILL.md"
    before = manifest.read_text()
    result = await desk.replace(manifest, "Do it.", "Do it well.")
    assert "Do it well." in manifest.read_text() and "change 1 to the library" in result.message
    assert desk.asked == []
    [one] = desk.record
    assert (one.state, one.decided_by) == ("approved", "yolo")
    desk.queue(lambda queue: queue.undo(one.id))
    assert manifest.read_text() == before


async def test_what_is_written_is_also_taken_back_by_undo(tmp_path: Path):
    desk = Desk(tmp_path, yolo=True)
    manifest = desk.add("csv") / "SKILL.md"
    before = manifest.read_text()
    await desk.replace(manifest, "Do it.", "Do it well.")
    [write] = desk.runtime.undo.writes
    desk.runtime.undo.revert(write)
    assert manifest.read_text() == before


async def test_where_nobody_is_there_all_of_it_waits(tmp_path: Path):
    desk = Desk(tmp_path, policy="reject")
    folder = desk.add("csv")
    for path in (folder / "notes.md", paths.home() / ".kimi/skills/new/SKILL.md"):
        result = await desk.write(path, "text\n")
        assert not result.is_error and not path.exists()
    assert [one.state for one in desk.record] == ["open", "open"]
    assert not [one for one in desk.said if isinstance(one, ApprovalGiven)]


async def test_a_file_whose_change_waits_is_not_changed_a_second_way(tmp_path: Path):
    desk = Desk(tmp_path)
    manifest = desk.add("csv") / "SKILL.md"
    await desk.replace(manifest, "Do it.", "Do it well.")
    again = await desk.replace(manifest, "Do it.", "Do it well.")
    assert not again.is_error, "the same change waits already"
    other = await desk.replace(manifest, "Do it.", "Do it otherwise.")
    assert other.is_error and "waits for the user's answer already" in other.message
    assert len(desk.record) == 1


async def test_other_files_are_asked_for_as_ever(tmp_path: Path):
    desk = Desk(tmp_path)
    desk.answer = "allow"
    for path in (desk.work / "notes.md", desk.mine / "csv/.cache/x.md", desk.mine / "notes.txt"):
        assert not (await desk.write(path, "text\n")).is_error
        assert path.read_text() == "text\n"
    assert [one.action for one in desk.asked] == ["change files"] * 3
    assert not desk.file.exists()


async def test_where_no_record_can_be_kept_it_is_asked_for_like_any_file(tmp_path: Path):
    desk = Desk(tmp_path)
    (tmp_path / "blocked").write_text("")
    desk.file = tmp_path / "blocked/library.sqlite3"
    desk.answer = "allow"
    manifest = desk.add("csv") / "SKILL.md"
    assert not (await desk.replace(manifest, "Do it.", "Do it well.")).is_error
    assert [one.action for one in desk.asked] == ["change files"]


# ---- what is bundled --------------------------------------------------------------------------


@pytest.fixture
def bundled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program's own skills: one with a script."""
    folder = tmp_path / "program/skills"
    (folder / "csv/scripts").mkdir(parents=True)
    (folder / "csv/SKILL.md").write_text(SKILL.format("csv"))
    (folder / "csv/scripts/look.py").write_text("print(1)\n")
    (folder / "states.yaml").write_text("a: b\n")
    monkeypatch.setattr(paths, "bundled", lambda _: folder)
    return folder


async def test_a_bundled_skill_is_copied_first_and_never_written(tmp_path: Path, bundled: Path):
    desk = Desk(tmp_path)
    result = await desk.replace(bundled / "csv/SKILL.md", "Do it.", "Do it well.")
    assert "waits for the user's answer" in result.message
    [one] = desk.queue(lambda queue: queue.pending())
    assert one.change.kind == "skill_update" and one.must_answer
    mine = paths.home() / ".kimi/skills/csv"
    assert not mine.exists()
    desk.queue(lambda queue: queue.approve(one.id))
    assert "Do it well." in (mine / "SKILL.md").read_text()
    assert (mine / "scripts/look.py").read_text() == "print(1)\n"
    assert (bundled / "csv/SKILL.md").read_text() == SKILL.format("csv")
    # The user's own copy is the one to change from then on.
    again = await desk.replace(bundled / "csv/SKILL.md", "Do it.", "Do more.")
    assert again.is_error and str(mine) in again.message


async def test_yolo_does_not_write_what_is_bundled_either(tmp_path: Path, bundled: Path):
    desk = Desk(tmp_path, yolo=True)
    await desk.write(bundled / "csv/scripts/look.py", "print(2)\n")
    assert (bundled / "csv/scripts/look.py").read_text() == "print(1)\n"
    assert (paths.home() / ".kimi/skills/csv/scripts/look.py").read_text() == "print(2)\n"
    await desk.write(bundled / "states.yaml", "a: c\n")
    assert (bundled / "states.yaml").read_text() == "a: b\n"
    assert (paths.home() / ".kimi/skills/states.yaml").read_text() == "a: c\n"
    first, second = reversed(desk.record)
    for one in (second, first):
        assert desk.queue(lambda queue, one=one: queue.undo(one.id)).state == "undone"
    assert not (paths.home() / ".kimi/skills/csv").exists()


def test_in_a_checkout_of_the_program_its_skills_are_the_projects_own(
    tmp_path: Path, bundled: Path
):
    (bundled.parent / ".git").mkdir()
    place = find_place(bundled / "csv/SKILL.md", bundled.parent)
    assert place is not None and not place.is_bundled and place.reach == "local"


# ---- at the end of a task ---------------------------------------------------------------------


async def test_what_waits_is_shown_when_the_task_ends(tmp_path: Path):
    root = tmp_path / ".kimi/skills"
    for name in ("main", "csv"):
        (root / name).mkdir(parents=True)
        (root / name / "SKILL.md").write_text(SKILL.format(name))
    async with openai_server() as server:
        write = {"path": ".kimi/skills/csv/SKILL.md", "content": SKILL.format("csv") + "More.\n"}
        server.script(use(Call("WriteFile", write)), say("It waits."))
        skills = read_roots([Root(root, "project", tmp_path)]).skills
        bench = Bench(await connect(server.base_url), tmp_path, tools=["WriteFile"], skills=skills)
        database = lambda: Database(tmp_path / "library.sqlite3")  # noqa: E731
        bench.runtime.skill_host = CalledSkills(bench.runtime, database)
        bench.runtime.claims = LibraryWrites(bench.runtime, (), database)
        await bench.soul.run("/skill:main go")
    [notice] = bench.said_of(Notice)
    assert "wait for your answer" in notice.text and "csv changes: csv/SKILL.md" in notice.text


def test_writing_at_once_follows_the_one_change_that_waits(tmp_path: Path):
    desk = Desk(tmp_path)
    manifest = desk.add("csv") / "SKILL.md"
    asyncio.run(desk.replace(manifest, "Do it.", "Do it well."))
    desk.runtime.approval.set_yolo(True)
    asyncio.run(desk.replace(manifest, "Do it.", "Do it well."))
    [one] = desk.record
    assert one.state == "approved"
    with pytest.raises(QueueError):
        desk.queue(lambda queue: queue.approve(one.id))
