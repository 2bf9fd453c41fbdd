"""What a session knows of the skills that run in it: the states that hold, and what was used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from uuid import uuid4

from flowstudio.mindflow.database import Database, DatabaseError
from flowstudio.mindflow.library import read_planning
from flowstudio.mindflow.usage import Outcome, UsageLog
from flowstudio.skill import Skill, SkillError, load_skill
from flowstudio.skill.skill import fold_name
from flowstudio.text import shorten

if TYPE_CHECKING:
    from pathlib import Path

    from flowstudio.mindflow.model import LibrarySkill
    from flowstudio.soul import KimiSoul, NeedsUser, Runtime


class FlowEnd(Protocol):
    """How the run of a called flow ended."""

    @property
    def reason(self) -> str:
        """As `RunEnded` says it: `reached_end`, `choice_failed`, `max_moves` …"""
        ...

    @property
    def message(self) -> str:
        """A sentence that says why."""
        ...

    @property
    def answer(self) -> str:
        """What its last node answered."""
        ...

    @property
    def steps(self) -> tuple[str, ...]:
        """The nodes that were done, with the branches taken."""
        ...

    @property
    def needs(self) -> NeedsUser | None:
        """The question that nobody was there to answer, where that ended it."""
        ...


class PlaysFlows(Protocol):
    """Runs a flow for a skill that calls it: the room `run` does."""

    async def __call__(
        self, soul: KimiSoul, skill: Skill, request: str, variables: Mapping[str, str]
    ) -> FlowEnd:
        """Run the flow of `skill` with this soul, whose wire hears all of it."""
        ...


@dataclass(slots=True)
class SkillUse:
    """A skill that runs, and what became of those that it called."""

    name: str
    note: str = ""
    """What the agent should be told beside the skill's text."""
    done: list[str] = field(default_factory=list[str])
    failed: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    _end: tuple[Outcome, str] | None = None

    def ended(self, outcome: Outcome, why: str = "") -> None:
        """Say how it ended; without a word, it ended well."""
        self._end = (outcome, why)

    @property
    def was_said(self) -> bool:
        """Whether anybody said how it ended."""
        return self._end is not None

    @property
    def end(self) -> tuple[Outcome, str]:
        """How it ended, and why."""
        return self._end or ("done", "")


class SkillSession:
    """The states that hold, the skills that can be called, and the record of their use."""

    def __init__(
        self,
        runtime: Runtime,
        open_database: Callable[[], Database] | None,
        play: PlaysFlows | None,
    ) -> None:
        self.runtime = runtime
        self.open_database = open_database
        self.play = play
        """None runs a called flow as any other skill, by its text."""
        self.states: set[str] = set()
        self.cannot_note = False
        """True once the user's data could not be written: it is said once."""
        self._calls = 0
        self._id = uuid4().hex

    @property
    def skills(self) -> Mapping[str, Skill]:
        """The skills that can be called, by their folded names."""
        skills = [one for one in self.runtime.skills if isinstance(one, Skill)]
        return {fold_name(one.name): one for one in skills}

    def next_call(self) -> int:
        """A number for a call, new each time."""
        self._calls += 1
        return self._calls

    def find(self, path: Path) -> LibrarySkill | None:
        """The planning fields of the skill in this file, whether it is one of the session's or
        not."""
        for one in self.skills.values():
            if one.path == path:
                return read_planning(one)[0]
        try:
            return read_planning(load_skill(path))[0]
        except SkillError:
            return None

    def note(
        self,
        soul: KimiSoul,
        name: str,
        outcome: Outcome,
        why: str,
        seconds: float,
        *,
        alone: bool = True,
    ) -> None:
        """Keep a use in the user's data; what cannot be kept is said once.

        Args:
            alone: False where others, that it called, stand for it in what is learned of rows.
        """
        if self.open_database is None:
            return
        session = (soul.wire.run or self._id) if alone else ""
        try:
            with self.open_database() as database:
                UsageLog(database).record(
                    name,
                    outcome,
                    why=shorten(why, 300),
                    seconds=seconds,
                    session=session,
                    project=self.runtime.work_dir.name,
                )
        except DatabaseError as error:
            self.say_unkept(soul, error)

    def say_unkept(self, soul: KimiSoul, error: DatabaseError) -> None:
        """Say, the first time, that the user's data cannot be kept."""
        if not self.cannot_note:
            self.cannot_note = True
            soul.notify(f"{error} The work goes on without it.", "warning")
