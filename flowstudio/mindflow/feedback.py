"""What the user said about what was found: “not this one”, “this one”; and what it was about."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from flowstudio.mindflow.lexical import terms

if TYPE_CHECKING:
    from flowstudio.mindflow.database import Database
    from flowstudio.mindflow.usage import Clock

type Said = Literal["chosen", "rejected"]

RECENT = 10
"""Keywords that `recent_topics` holds."""
LONGEST = 200
"""Characters of a query that are kept."""


@dataclass(frozen=True, slots=True)
class Wish:
    """Words by which the user meant a skill that was not found first."""

    words: str
    skill: str
    times: int


class FeedbackLog:
    """The feedback in the user's data."""

    def __init__(self, database: Database, clock: Clock = time.time) -> None:
        self._database = database
        self._clock = clock

    def reject(self, words: str, skill: str, project: str = "") -> None:
        """“Not this one.”"""
        self._note(words, skill, "rejected", project)

    def choose(self, words: str, skill: str, project: str = "") -> None:
        """“This one”, out of several, or after another was rejected."""
        self._note(words, skill, "chosen", project)

    def _note(self, words: str, skill: str, verdict: Said, project: str) -> None:
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO feedback (time, words, skill, verdict, project) VALUES (?,?,?,?,?)",
                (self._clock(), flat(words), skill, verdict, project),
            )

    def counts(self) -> dict[str, tuple[int, int]]:
        """How often each skill was chosen and rejected."""
        rows = self._database.rows(
            "SELECT skill, SUM(verdict = 'chosen') AS chosen, SUM(verdict = 'rejected') AS "
            "rejected FROM feedback GROUP BY skill ORDER BY skill"
        )
        return {row["skill"]: (row["chosen"], row["rejected"]) for row in rows}

    def wishes(self, least: int = 2) -> list[Wish]:
        """Words that were used at least so often for a skill after another one was rejected."""
        rows = self._database.rows(
            "SELECT words, skill, COUNT(*) AS times FROM feedback AS f WHERE verdict = 'chosen' "
            "AND EXISTS (SELECT 1 FROM feedback AS r WHERE r.words = f.words AND r.skill != "
            "f.skill AND r.verdict = 'rejected') GROUP BY words, skill HAVING COUNT(*) >= ? "
            "ORDER BY COUNT(*) DESC, words, skill",
            least,
        )
        return [Wish(row["words"], row["skill"], row["times"]) for row in rows]

    def add_topics(self, text: str, project: str = "") -> None:
        """Note what a query or a request was about."""
        found = list(dict.fromkeys(terms(text)))[:RECENT]
        with self._database.writing() as connection:
            connection.executemany(
                "INSERT INTO topics (time, word, project) VALUES (?, ?, ?)",
                [(self._clock(), word, project) for word in found],
            )
            connection.execute(
                "DELETE FROM topics WHERE id <= (SELECT MAX(id) FROM topics) - ?", (RECENT * 20,)
            )

    def recent_topics(self, project: str | None = None) -> tuple[str, ...]:
        """The last ten keywords, the latest first; of one project, if it is named."""
        rows = self._database.rows(
            "SELECT word, MAX(id) AS at FROM topics WHERE ? IS NULL OR project = ? "
            "GROUP BY word ORDER BY at DESC LIMIT ?",
            project,
            project,
            RECENT,
        )
        return tuple(row["word"] for row in rows)


def flat(words: str) -> str:
    """A query as it is kept: on one line, short."""
    return " ".join(words.split())[:LONGEST]
