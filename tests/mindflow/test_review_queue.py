"""The three levels of asking, the queue of changes, and undoing."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from flowstudio.mindflow.changes import Change, ChangeError, FileChange
from flowstudio.mindflow.database import Database
from flowstudio.mindflow.queue import QueueError, ReviewQueue
from flowstudio.mindflow.risk import (
    ChangeKind,
    Level,
    Reach,
    find_level,
    find_risk,
    must_answer,
)
from flowstudio.soul.approval import Approval, Decision
from flowstudio.wire import ApprovalAsked, Wire

HOUR = 3600.0


@dataclass
class Clock:
    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class User:
    """Answers what is asked at once."""

    verdict: str = "allow"
    asked: list[tuple[str, str]] = field(default_factory=list)

    async def request(self, tool: str, action: str, description: str, diff: str = "") -> Decision:
        self.asked.append((action, diff))
        return Decision(self.verdict, "no")  # pyright: ignore[reportArgumentType]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def queue(tmp_path: Path, clock: Clock) -> Iterator[ReviewQueue]:
    with Database(tmp_path / "library.sqlite3") as database:
        yield ReviewQueue(database, clock)


def change(root: Path, kind: ChangeKind = "skill_update", reach: Reach = "local") -> Change:
    """A new file `one/SKILL.md`."""
    path = root / "one" / "SKILL.md"
    before = path.read_text() if path.exists() else None
    file = FileChange(path, root, before, f"{before or ''}new {kind}\n")
    return Change(kind, reach, "a change", "since it is a test", (file,))


# ---- the table -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "reach", "risk", "level", "waits"),
    [
        ("artifact_add", "local", 0.1, "silent", False),
        ("artifact_add", "global", 0.15, "silent", False),
        ("skill_update", "local", 0.5, "queued", False),
        ("skill_update", "global", 0.75, "queued", True),
        ("skill_create", "local", 0.6, "queued", False),
        ("skill_create", "global", 0.9, "now", True),
        ("methodology_change", "local", 0.9, "now", True),
        ("methodology_change", "global", 1.0, "now", True),
    ],
)
def test_risk_is_base_times_reach_clamped(
    kind: ChangeKind, reach: Reach, risk: float, level: Level, waits: bool
):
    assert find_risk(kind, reach) == pytest.approx(risk)
    assert find_level(risk) == level
    assert must_answer(risk) is waits


@pytest.mark.parametrize(
    ("risk", "level"),
    [(0.0, "silent"), (0.2999, "silent"), (0.3, "queued"), (0.8, "queued"), (0.8001, "now")],
)
def test_the_bounds_of_the_levels(risk: float, level: Level):
    assert find_level(risk) == level


@pytest.mark.parametrize(("risk", "waits"), [(0.7, False), (0.7001, True)])
def test_the_bound_of_what_must_be_answered(risk: float, waits: bool):
    assert must_answer(risk) is waits


# ---- what happens to a proposal --------------------------------------------------------------


async def test_a_small_risk_is_written_without_a_word(queue: ReviewQueue, root: Path):
    user = User()
    found = await queue.propose(change(root, "artifact_add"), user)
    assert (root / "one/SKILL.md").read_text() == "new artifact_add\n"
    assert found.queued.state == "approved" and found.queued.decided_by == "level"
    assert user.asked == [] and queue.pending() == []


async def test_what_was_done_silently_can_be_undone(queue: ReviewQueue, root: Path):
    found = await queue.propose(change(root, "artifact_add"))
    assert queue.undo(found.queued.id).state == "undone"
    assert not (root / "one").exists()


async def test_a_middling_risk_waits_in_the_queue_and_nothing_is_written(
    queue: ReviewQueue, root: Path
):
    user = User()
    found = await queue.propose(change(root), user)
    assert [one.id for one in queue.pending()] == [found.queued.id]
    assert user.asked == [] and not (root / "one").exists()


async def test_a_high_risk_is_asked_at_once_with_its_diff(queue: ReviewQueue, root: Path):
    user = User()
    found = await queue.propose(change(root, "methodology_change"), user)
    [(action, diff)] = user.asked
    assert action == "change the library: methodology change"
    assert diff.startswith("--- /dev/null\n+++ ") and "+new methodology_change\n" in diff
    assert found.queued.state == "approved" and (root / "one/SKILL.md").exists()


async def test_a_high_risk_that_is_refused_is_not_written_nor_proposed_again(
    queue: ReviewQueue, root: Path
):
    user = User("reject")
    for _ in range(2):
        found = await queue.propose(change(root, "methodology_change"), user)
        assert found.queued.state == "rejected"
    assert not found.is_new and len(user.asked) == 1 and not (root / "one").exists()


async def test_a_high_risk_with_nobody_to_ask_waits_for_ever(
    queue: ReviewQueue, root: Path, clock: Clock
):
    await queue.propose(change(root, "methodology_change"))
    clock.now += 1000 * HOUR
    assert queue.settle() == []
    assert [one.must_answer for one in queue.pending()] == [True]


# ---- the hour --------------------------------------------------------------------------------


async def test_the_queue_approves_itself_after_an_hour(
    queue: ReviewQueue, root: Path, clock: Clock
):
    await queue.propose(change(root))
    clock.now += HOUR - 1
    assert queue.settle() == [] and not (root / "one").exists()
    clock.now += 1
    [done] = queue.settle()
    assert done.state == "approved" and done.decided_by == "time"
    assert (root / "one/SKILL.md").read_text() == "new skill_update\n"


async def test_what_must_be_answered_does_not_approve_itself(
    queue: ReviewQueue, root: Path, clock: Clock
):
    await queue.propose(change(root, "skill_update", "global"))
    clock.now += 100 * HOUR
    assert queue.settle() == []
    assert queue.pending()[0].must_answer


async def test_what_must_be_answered_stands_first(queue: ReviewQueue, root: Path):
    first = await queue.propose(change(root))
    other = Change(
        "skill_update", "global", "t", "w", (FileChange(root / "b.md", root, None, "b"),)
    )
    second = await queue.propose(other)
    assert [one.id for one in queue.pending()] == [second.queued.id, first.queued.id]


async def test_a_rejected_change_is_gone_when_its_hour_comes(
    queue: ReviewQueue, root: Path, clock: Clock
):
    found = await queue.propose(change(root))
    queue.reject(found.queued.id, "not like this")
    clock.now += 2 * HOUR
    assert queue.settle() == []
    assert queue.get(found.queued.id).note == "not like this"


# ---- deciding and undoing --------------------------------------------------------------------


async def test_a_change_can_be_decided_once(queue: ReviewQueue, root: Path):
    found = await queue.propose(change(root))
    queue.approve(found.queued.id)
    for act in (queue.approve, queue.reject):
        with pytest.raises(QueueError, match="does not wait any more: it is approved"):
            act(found.queued.id)


async def test_there_is_no_change_of_an_unknown_id(queue: ReviewQueue):
    with pytest.raises(QueueError, match="there is no change 7"):
        queue.approve(7)


async def test_a_change_to_a_file_that_somebody_edited_is_a_conflict(
    queue: ReviewQueue, root: Path
):
    found = await queue.propose(change(root))
    (root / "one").mkdir()
    (root / "one/SKILL.md").write_text("mine\n")
    done = queue.approve(found.queued.id)
    assert done.state == "conflict" and "was changed meanwhile" in done.note
    assert (root / "one/SKILL.md").read_text() == "mine\n"


async def test_undoing_puts_back_what_stood_there(queue: ReviewQueue, root: Path):
    (root / "one").mkdir()
    (root / "one/SKILL.md").write_bytes(b"mine\r\n")
    file = FileChange(root / "one/SKILL.md", root, "mine\r\n", "yours\r\n")
    found = await queue.propose(Change("artifact_add", "local", "t", "w", (file,)))
    assert (root / "one/SKILL.md").read_bytes() == b"yours\r\n"
    queue.undo(found.queued.id)
    assert (root / "one/SKILL.md").read_bytes() == b"mine\r\n"


async def test_undoing_refuses_to_lose_a_later_edit(queue: ReviewQueue, root: Path):
    found = await queue.propose(change(root, "artifact_add"))
    (root / "one/SKILL.md").write_text("later\n")
    with pytest.raises(QueueError, match=r"cannot be undone: .* was changed meanwhile"):
        queue.undo(found.queued.id)
    assert queue.get(found.queued.id).state == "approved"
    assert (root / "one/SKILL.md").read_text() == "later\n"


async def test_only_what_is_written_can_be_undone(queue: ReviewQueue, root: Path):
    found = await queue.propose(change(root))
    with pytest.raises(QueueError, match="is not written: it is open"):
        queue.undo(found.queued.id)


def test_a_change_of_several_files_is_written_whole_or_not_at_all(root: Path):
    files = (
        FileChange(root / "a.md", root, None, "a"),
        FileChange(root / "b.md", root, "there was something", "b"),
    )
    with pytest.raises(ChangeError, match="changed meanwhile"):
        Change("artifact_add", "local", "t", "w", files).apply()
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("path", ["../outside.md", "link/outside.md", "."])
def test_no_change_leads_out_of_its_folder_of_skills(root: Path, tmp_path: Path, path: str):
    (root / "link").symlink_to(tmp_path)
    one = Change("artifact_add", "local", "t", "w", (FileChange(root / path, root, None, "x"),))
    with pytest.raises(ChangeError, match="does not lie in"):
        one.apply()
    assert not (tmp_path / "outside.md").exists()


# ---- one place to answer ---------------------------------------------------------------------


async def test_the_end_of_a_task_asks_in_the_same_place_as_the_tools(
    queue: ReviewQueue, root: Path
):
    wire = Wire()
    approval = Approval(wire)
    asked: list[str] = []

    def answer(event: object) -> None:
        body = getattr(event, "body", None)
        if isinstance(body, ApprovalAsked):
            asked.append(body.diff)
            asyncio.get_running_loop().call_soon(approval.answer, body.id, "allow")

    wire.subscribe(answer)
    await queue.propose(change(root))
    [done] = await queue.review(approval)
    assert done.state == "approved" and done.decided_by == "user"
    assert len(asked) == 1 and "+new skill_update" in asked[0]


# ---- several processes -----------------------------------------------------------------------

_APPROVE = """
import sys
from pathlib import Path
from flowstudio.mindflow.database import Database
from flowstudio.mindflow.queue import QueueError, ReviewQueue
sys.stdin.readline()
with Database(Path(sys.argv[1])) as database:
    try:
        print(ReviewQueue(database).approve(1).state)
    except QueueError as error:
        print("late")
"""


def test_of_two_processes_that_approve_a_change_one_writes_it(tmp_path: Path, root: Path):
    file = tmp_path / "library.sqlite3"
    with Database(file) as database:
        asyncio.run(ReviewQueue(database).propose(change(root)))
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", _APPROVE, str(file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    said = [one.communicate("go\n", timeout=60)[0].strip() for one in racers]
    assert sorted(said) == ["approved", "late"]
    assert (root / "one/SKILL.md").read_text() == "new skill_update\n"


@pytest.mark.parametrize(
    ("begun", "written", "state"),
    [
        ("writing", False, "open"),
        ("writing", True, "approved"),
        ("undoing", True, "approved"),
        ("undoing", False, "undone"),
    ],
)
async def test_what_a_process_left_in_mid_work_is_taken_up(
    queue: ReviewQueue,
    root: Path,
    clock: Clock,
    tmp_path: Path,
    begun: str,
    written: bool,
    state: str,
):
    found = await queue.propose(change(root, "skill_update", "global"))
    if written:
        found.queued.change.apply()
    with Database(tmp_path / "library.sqlite3") as other, other.writing() as connection:
        connection.execute("UPDATE changes SET state = ?, decided = ?", (begun, clock.now))
    queue.settle()
    assert queue.get(found.queued.id).state == begun, "it may still be at work"
    clock.now += 61
    queue.settle()
    assert queue.get(found.queued.id).state == state
