"""What the user's use of the skills says about them: how often, and how it ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from flowstudio.mindflow.model import History

if TYPE_CHECKING:
    from flowstudio.mindflow.database import Database

type Outcome = Literal["done", "partial", "failed"]
type Clock = Callable[[], float]
"""Seconds since the epoch."""

WORTH: dict[Outcome, float] = {"done": 1.0, "partial": 0.5, "failed": 0.0}
"""What each outcome counts in the success rate."""
LONGEST_WHY = 300


@dataclass(frozen=True, slots=True)
class SkillUse:
    """What is known of the use of one skill."""

    skill: str
    done: int
    partial: int
    failed: int
    last: float
    """When it was used last."""
    seconds: float
    """The mean time that it took."""
    last_why: str
    """Why it failed last; empty where it never did."""

    @property
    def history(self) -> History:
        """As scoring takes it."""
        count = self.done + self.partial + self.failed
        worth = self.done * WORTH["done"] + self.partial * WORTH["partial"]
        return History(count, worth / count if count else 0.0)


class UsageLog:
    """The uses in the user's data."""

    def __init__(self, database: Database, clock: Clock = time.time) -> None:
        self._database = database
        self._clock = clock

    def record(
        self,
        skill: str,
        outcome: Outcome,
        *,
        why: str = "",
        seconds: float = 0.0,
        session: str = "",
        project: str = "",
    ) -> None:
        """Note that a skill was used. A failure lowers its success rate.

        Raises:
            DatabaseError: it cannot be written.
        """
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO uses (time, skill, outcome, why, seconds, session, project) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (self._clock(), skill, outcome, why[:LONGEST_WHY], seconds, session, project),
            )

    def of_skills(self) -> list[SkillUse]:
        """What is known of each skill that was ever used, the one used most first."""
        rows = self._database.rows(
            "SELECT skill, SUM(outcome = 'done') AS done, SUM(outcome = 'partial') AS partial, "
            "SUM(outcome = 'failed') AS failed, MAX(time) AS last, AVG(seconds) AS seconds, "
            "COALESCE((SELECT why FROM uses AS f WHERE f.skill = uses.skill AND f.outcome = "
            "'failed' ORDER BY f.id DESC LIMIT 1), '') AS why "
            "FROM uses GROUP BY skill ORDER BY COUNT(*) DESC, skill"
        )
        return [
            SkillUse(
                row["skill"],
                row["done"],
                row["partial"],
                row["failed"],
                row["last"],
                row["seconds"],
                row["why"],
            )
            for row in rows
        ]

    def histories(self) -> dict[str, History]:
        """The history of each skill that was ever used, for scoring."""
        return {one.skill: one.history for one in self.of_skills()}

    def sequences(self, most: int = 500) -> list[tuple[str, ...]]:
        """The skills of each session that went well, in their order; the latest session first."""
        rows = self._database.rows(
            "SELECT session, skill FROM uses WHERE outcome = 'done' AND session IN ("
            "SELECT session FROM uses WHERE session != '' GROUP BY session "
            "ORDER BY MAX(id) DESC LIMIT ?) ORDER BY id",
            most,
        )
        found: dict[str, list[str]] = {}
        for row in rows:
            found.setdefault(row["session"], []).append(row["skill"])
        return [tuple(skills) for skills in reversed(found.values())]
