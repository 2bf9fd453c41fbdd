"""The queue of changes to the library: what is done silently, shown at the end, or asked at once.

    a change ─▶ risk ─▶ below 0.3: written      to 0.8: queued      above: asked (`Approval`)
                                                    │
                    above 0.7: waits for the user   └─ else: approves itself after an hour

Each change stays on record with its diff and can be undone. The queue is kept in the user's data;
several processes may work on it, and each change is written by exactly one of them.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from flowstudio.mindflow.changes import Change, ChangeError, FileChange
from flowstudio.mindflow.risk import APPROVES_AFTER, Level, find_level, must_answer
from flowstudio.paths import show_path

if TYPE_CHECKING:
    import sqlite3

    from flowstudio.mindflow.database import Database
    from flowstudio.mindflow.usage import Clock
    from flowstudio.soul.approval import Decision

type State = Literal["open", "writing", "approved", "rejected", "undoing", "undone", "conflict"]
type Decider = Literal["user", "level", "time", "yolo"]
"""Who decided: the user, the level of its risk (silent), the hour that passed, or the leave to do
all without asking."""

ABANDONED_AFTER = 60.0
"""Seconds after which a change that some process began to write is taken up by another."""
MOST_LISTED = 200


class QueueError(Exception):
    """There is no such change, or it is past what is asked; the message says so."""


class Asks(Protocol):
    """What asks the user at once: the soul's `Approval`."""

    async def request(self, tool: str, action: str, description: str, diff: str = "") -> Decision:
        """Ask for leave and wait for the answer."""
        ...


@dataclass(frozen=True, slots=True)
class Queued:
    """A change on record."""

    id: int
    change: Change
    time: float
    """When it was proposed."""
    state: State
    due: float | None
    """When it approves itself; None: never."""
    decided: float | None
    decided_by: str
    note: str
    """Why it could not be written or undone, or what the user said."""

    @property
    def must_answer(self) -> bool:
        """True where it waits until the user answers."""
        return self.state == "open" and self.due is None


@dataclass(frozen=True, slots=True)
class Proposed:
    """What became of a proposal."""

    level: Level
    queued: Queued
    is_new: bool = True
    """False where the same change was proposed before."""


class ReviewQueue:
    """The changes on record, and the ways to decide on them."""

    def __init__(self, database: Database, clock: Clock = time.time) -> None:
        self._database = database
        self._clock = clock

    # Proposing

    async def propose(
        self, change: Change, approval: Asks | None = None, *, anew: bool = False
    ) -> Proposed:
        """Take a change: write it, queue it, or ask at once, as its risk says.

        Args:
            approval: who is asked at once; without, such a change waits in the queue.
            anew: propose it although the same one was decided against: somebody wants it again.

        Raises:
            DatabaseError: it cannot be kept. Nothing was changed then.
        """
        if (known := self._find_same(change, anew=anew)) is not None:
            return Proposed(find_level(change.risk), known, is_new=False)
        level = find_level(change.risk)
        one = self._add(change)
        if level == "silent":
            return Proposed(level, self._decide(one.id, "level"))
        if level == "now" and approval is not None:
            return Proposed(level, await self.ask(one, approval))
        return Proposed(level, one)

    def add(self, change: Change, *, anew: bool = False) -> tuple[Queued, bool]:
        """Let a change wait, however small its risk; and whether it is a new one.

        Args:
            anew: as in `propose`.

        Raises:
            DatabaseError: it cannot be kept.
        """
        known = self._find_same(change, anew=anew)
        return (known, False) if known is not None else (self._add(change), True)

    def write(self, change: Change, by: Decider) -> Queued:
        """Write a change at once, however high its risk: it is on record and can be undone.

        Raises:
            DatabaseError: it cannot be kept. Nothing was changed then.
            QueueError: somebody else decides on it in this moment.
        """
        one, _ = self.add(change, anew=True)
        return self._decide(one.id, by)

    async def ask(self, one: Queued, approval: Asks) -> Queued:
        """Let the user decide in the place where tools ask too."""
        change = one.change
        action = f"change the library: {change.kind.replace('_', ' ')}"
        described = f"{change.title}\n{change.why}".strip()
        decision = await approval.request("Library", action, described, change.diff(show_path))
        if decision.allowed:
            return self.approve(one.id)
        return self.reject(one.id, decision.reason)

    async def review(self, approval: Asks) -> list[Queued]:
        """Ask for each open change, one after the other: the end of a task."""
        self.settle()
        return [await self.ask(one, approval) for one in self.pending()]

    # Deciding

    def pending(self) -> list[Queued]:
        """What waits for an answer: first what must be answered, then by age."""
        return self._load("state = 'open' ORDER BY due IS NOT NULL, id")

    def listed(self, most: int = MOST_LISTED) -> list[Queued]:
        """All changes on record, the latest first."""
        return self._load("1 ORDER BY id DESC LIMIT ?", most)

    def get(self, change_id: int) -> Queued:
        """The change of this id.

        Raises:
            QueueError: there is none.
        """
        found = self._load("id = ?", change_id)
        if not found:
            raise QueueError(f"there is no change {change_id}")
        return found[0]

    def approve(self, change_id: int) -> Queued:
        """Write a change that waits.

        Where it cannot be written, it is marked as a conflict with the reason in `note`.

        Raises:
            QueueError: there is none that waits.
        """
        return self._decide(change_id, "user")

    def reject(self, change_id: int, why: str = "") -> Queued:
        """Drop a change that waits; the same one is not proposed again.

        Raises:
            QueueError: there is none that waits.
        """
        self._move(change_id, "open", "rejected", by="user", note=why)
        return self.get(change_id)

    def undo(self, change_id: int) -> Queued:
        """Take a written change back.

        Raises:
            QueueError: it is not written, or its files were changed since.
        """
        one = self.get(change_id)
        self._move(change_id, "approved", "undoing", by=one.decided_by)
        try:
            one.change.undo()
        except ChangeError as error:
            self._move(change_id, "undoing", "approved", by=one.decided_by)
            raise QueueError(f"change {change_id} cannot be undone: {error}") from error
        self._move(change_id, "undoing", "undone", by="user")
        return self.get(change_id)

    def settle(self) -> list[Queued]:
        """Write what has waited its hour, and finish what a process that died began to write.

        To be called at the end of a task, at a start, and before the queue is shown.
        """
        now = self._clock()
        for one in self._load(
            "state IN ('writing', 'undoing') AND decided <= ?", now - ABANDONED_AFTER
        ):
            self._take_up(one)
        done: list[Queued] = []
        for one in self._load("state = 'open' AND due <= ? ORDER BY id", now):
            try:
                done.append(self._decide(one.id, "time"))
            except QueueError:
                continue  # another process, or the user, was quicker
        return done

    def _take_up(self, one: Queued) -> None:
        """Find out how far a process came that died in mid-work."""
        match one.change.stands():
            case True:
                new: State = "approved"
            case False:
                new = "undone" if one.state == "undoing" else "open"
            case None:
                new = "conflict"
        note = "its files were changed while it was being written" if new == "conflict" else ""
        with contextlib.suppress(QueueError):  # another process may do the same
            self._move(one.id, one.state, new, by=one.decided_by, note=note)

    def _decide(self, change_id: int, by: Decider) -> Queued:
        one = self.get(change_id)
        self._move(change_id, "open", "writing", by=by)
        try:
            one.change.apply()
        except ChangeError as error:
            self._move(change_id, "writing", "conflict", by=by, note=str(error))
        else:
            self._move(change_id, "writing", "approved", by=by)
        return self.get(change_id)

    # The rows

    def _add(self, change: Change) -> Queued:
        now = self._clock()
        due = None if must_answer(change.risk) else now + APPROVES_AFTER
        with self._database.writing() as connection:
            row = connection.execute(
                "INSERT INTO changes (time, kind, reach, title, why, risk, fingerprint, due, "
                "state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'open')",
                (
                    now,
                    change.kind,
                    change.reach,
                    change.title,
                    change.why,
                    change.risk,
                    change.fingerprint,
                    due,
                ),
            )
            number = cast("int", row.lastrowid)
            connection.executemany(
                "INSERT INTO change_files (change, number, path, root, before, after) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (number, at, str(file.path), str(file.root), file.before, file.after)
                    for at, file in enumerate(change.files)
                ],
            )
        return self.get(number)

    def _find_same(self, change: Change, *, anew: bool = False) -> Queued | None:
        """The same change, where it waits or, unless it is wanted anew, was decided against."""
        against = "" if anew else ", 'rejected', 'undone'"
        found = self._load(
            f"fingerprint = ? AND state IN ('open', 'writing', 'undoing'{against}) "
            "ORDER BY id DESC LIMIT 1",
            change.fingerprint,
        )
        return found[0] if found else None

    def _move(self, change_id: int, old: State, new: State, *, by: str, note: str = "") -> None:
        """Change the state of one change, if it is still in the old one: of two that try, one
        does."""
        with self._database.writing() as connection:
            row = connection.execute(
                "UPDATE changes SET state = ?, decided = ?, decided_by = ?, note = ? "
                "WHERE id = ? AND state = ?",
                (new, self._clock(), by, note, change_id, old),
            )
            moved = row.rowcount == 1
        if not moved:
            state = self.get(change_id).state
            wanted = "does not wait any more" if old == "open" else "is not written"
            raise QueueError(f"change {change_id} {wanted}: it is {state}")

    def _load(self, where: str, *values: Any) -> list[Queued]:
        rows = self._database.rows(f"SELECT * FROM changes WHERE {where}", *values)
        return [self._make(row) for row in rows]

    def _make(self, row: sqlite3.Row) -> Queued:
        files = self._database.rows(
            "SELECT * FROM change_files WHERE change = ? ORDER BY number", row["id"]
        )
        change = Change(
            row["kind"],
            row["reach"],
            row["title"],
            row["why"],
            tuple(
                FileChange(Path(one["path"]), Path(one["root"]), one["before"], one["after"])
                for one in files
            ),
        )
        return Queued(
            row["id"],
            change,
            row["time"],
            row["state"],
            row["due"],
            row["decided"],
            row["decided_by"],
            row["note"],
        )


def describe_due(one: Queued, now: float) -> str:
    """When a change that waits approves itself, for people."""
    if one.due is None:
        return "waits for your answer"
    minutes = max(0, round((one.due - now) / 60))
    return f"approves itself in {minutes} min" if minutes else "approves itself now"


def show_queue(queued: Sequence[Queued], now: float) -> str:
    """The changes that wait, a line each: what the end of a task shows."""
    return "\n".join(
        f"{one.id:>4}  {one.change.title}  ({describe_due(one, now)})" for one in queued
    )
