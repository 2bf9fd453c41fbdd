"""Plans for the studio: the goal is read by a model where one is set up, else by its words.

Nothing here draws. The model is asked in the event loop, where its connection lives; all else is
done in a thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio.mindflow.failing import Troubles
from flowstudio.mindflow.plan_flow import plan_skill
from flowstudio.mindflow.plan_goal import find_states, match_goal, read_goal
from flowstudio.mindflow.serving import Served, plan_one, serve_goal
from flowstudio.studio.aside import aside
from flowstudio.studio.library_graph import read_histories

if TYPE_CHECKING:
    from flowstudio.mindflow.model import Library
    from flowstudio.mindflow.plan import Score
    from flowstudio.mindflow.plan_flow import PlannedSkill
    from flowstudio.mindflow.plan_goal import Goal
    from flowstudio.mindflow.search import Answer
    from flowstudio.models.llm import LLM
    from flowstudio.skill import Catalogue

PATIENCE = 30.0
"""Seconds that a model may take to read a goal; then its words are matched."""
_INDEXING = 6.0
"""Seconds that the index of a new library is waited for, where no state fits a goal."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user wants, and what holds already."""

    text: str = ""
    have: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Planned:
    """What became of a wish."""

    wish: Wish
    served: Served
    skill: PlannedSkill | None
    """The plan as a skill; None where nothing is to be done, or nothing can be."""
    reader: str
    """Who read the goal, for people: `kimi-k2 read it`."""
    said: tuple[str, ...] = ()
    """What did not work on the way, a sentence each."""


@dataclass(slots=True)
class Planner:
    """Plans with the skills of one catalogue.

    Args:
        llm: reads the goals; None where there is no model but the user.
        patience: seconds that it may take.
    """

    catalogue: Catalogue
    work_dir: Path
    llm: LLM | None = None
    patience: float = PATIENCE
    library: Library | None = None
    """Once it was read."""
    _score: Score | None = None
    _notes: list[str] = field(default_factory=list[str])

    async def read(self) -> Library:
        """The library; read once."""
        if self.library is None:
            self.library, self._score = await aside(self._read)
        return self.library

    def _read(self) -> tuple[Library, Score]:
        from flowstudio.mindflow.library import read_library
        from flowstudio.mindflow.plan import scores_of

        library = read_library(self.catalogue)
        histories, problem = read_histories()
        if problem:
            self._notes.append(f"{problem} The plan is made without it.")
        return library, scores_of(library, histories)

    @property
    def states(self) -> Mapping[str, str]:
        """All states that the library knows, with what they mean; empty before it was read."""
        if self.library is None:
            return {}
        known = dict(self.library.states)
        for skill in self.library.skills.values():
            for state in (*skill.preconditions, *skill.effects):
                known.setdefault(state, "")
        return known

    def asks_model(self, wish: Wish) -> bool:
        """Whether a model would be asked: the names of states need nobody to read them."""
        if self.llm is None or self.library is None:
            return False
        return match_goal(wish.text, self.library).by != "names"

    async def plan(self, wish: Wish) -> Planned:
        """The best that can be done about a wish. What does not work is said, never raised."""
        library = await self.read()
        troubles = Troubles(list(self._notes))
        have, odd = find_states(wish.have, library)
        for sentence in odd:
            troubles.add(sentence[:1].upper() + sentence[1:] + ".")
        goal, reader = await self._read_goal(wish, library, troubles)
        score = self._score
        assert score is not None

        def serve() -> tuple[Served, PlannedSkill | None]:
            served = asyncio.run(
                serve_goal(
                    wish.text,
                    library,
                    score=score,
                    have=have,
                    goal=goal,
                    find=lambda words: self._find(words, library),
                    troubles=troubles,
                )
            )
            return served, self._as_skill(served, library, wish.text)

        served, skill = await aside(serve)
        return Planned(wish, served, skill, reader, tuple(troubles.said))

    async def plan_for(self, wish: Wish, name: str, served: Served) -> Planned:
        """A plan that ends with one skill, which the user picked."""
        library = await self.read()
        score = self._score
        assert score is not None

        def make() -> tuple[Served, PlannedSkill | None]:
            plan = plan_one(library.skills[name], library, wish.have, score)
            made = Served("reduced", served.goal, plan)
            return made, self._as_skill(made, library, wish.text)

        made, skill = await aside(make)
        return Planned(wish, made, skill, "you picked the skill")

    def named(self, planned: Planned, name: str) -> PlannedSkill | None:
        """The plan as a skill of another name."""
        if self.library is None:
            return None
        return self._as_skill(planned.served, self.library, planned.wish.text, name)

    async def _read_goal(
        self, wish: Wish, library: Library, troubles: Troubles
    ) -> tuple[Goal, str]:
        """The goal, and who read it."""
        llm = self.llm if self.asks_model(wish) else None
        goal: Goal | None = None
        if llm is not None:
            try:
                async with asyncio.timeout(self.patience):
                    goal = await read_goal(wish.text, library, llm=llm, troubles=troubles)
            except TimeoutError:
                troubles.add(
                    f"{llm.name} did not answer within {self.patience:g} s. "
                    "The goal is read by its words."
                )
        if goal is None:
            goal = await aside(lambda: match_goal(wish.text, library))
        match goal.by:
            case "model":
                reader = f"{llm.name if llm else 'a model'} read it"
            case "names":
                reader = "named by its states"
            case "words" if self.llm is None:
                reader = "read by its words: no model is set up"
            case "words":
                reader = "read by its words"
            case "nobody":
                reader = "not understood"
        return goal, reader

    def _find(self, words: str, library: Library) -> Answer:
        from flowstudio.config import load_config
        from flowstudio.mindflow.opening import open_finder

        finder = open_finder(load_config().config.search, self.work_dir)
        try:
            finder.update(library)
            # Until the vectors of a new library are there, words alone are compared.
            finder.wait(_INDEXING)
            return finder.find(words)
        finally:
            threading.Thread(target=finder.close, daemon=True).start()

    def _as_skill(
        self, served: Served, library: Library, text: str, name: str | None = None
    ) -> PlannedSkill | None:
        plan = served.plan
        if plan is None or not plan.steps:
            return None
        return plan_skill(plan, library, text, name)


def plan_name(planned: Planned) -> str:
    """A name under which a plan may be saved: as its own, but made as names of skills are."""
    own = planned.skill.name if planned.skill else ""
    return "-".join(part for part in own.replace("_", "-").split("-") if part)


def parts_of(planned: Planned) -> Sequence[Path]:
    """The files of the skills that a plan uses: what its prompts say comes from there."""
    plan = planned.served.plan
    found = (step.skill.skill for step in plan.steps) if plan else ()
    return tuple(dict.fromkeys(skill.path for skill in found if skill is not None))
