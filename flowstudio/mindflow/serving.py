"""From a goal to what can be done about it: a plan; else one skill; else skills to choose from.

The steps down are those of the Mindflow design ("优雅降级"): full, reduced, minimal. Each step says
in a sentence why the one above it was not possible.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from flowstudio.mindflow.failing import Troubles, first_way
from flowstudio.mindflow.plan import Plan, Score, Step, plan_states
from flowstudio.mindflow.plan_goal import Goal, read_goal

if TYPE_CHECKING:
    from flowstudio.mindflow.failing import Sleep
    from flowstudio.mindflow.model import Library, LibrarySkill
    from flowstudio.mindflow.search import Answer
    from flowstudio.models.llm import LLM

type Find = Callable[[str], Answer]
"""Searches the library: `Finder.find`."""

MOST_OPTIONS = 5
_NO_PLAN = "The goal names nothing that a plan could aim at, so a single skill is looked for."
_NO_SEARCH = "Sorry, the search does not work just now. Pick a skill from the list instead."


@dataclass(frozen=True, slots=True)
class Served:
    """What can be done about a goal."""

    way: Literal["full", "reduced", "minimal"]
    """`full`: a plan of skills. `reduced`: one skill that fits, with what it needs. `minimal`:
    skills from which the user picks."""
    goal: Goal
    plan: Plan | None = None
    """None in the minimal way."""
    options: tuple[LibrarySkill, ...] = ()
    """Skills to choose from, the best first."""


async def serve_goal(
    text: str,
    library: Library,
    *,
    score: Score,
    have: Iterable[str] = (),
    goal: Goal | None = None,
    llm: LLM | None = None,
    find: Find | None = None,
    troubles: Troubles | None = None,
    sleep: Sleep = asyncio.sleep,
) -> Served:
    """The best that can be done about a goal. Never raises for what a part of it cannot do.

    Args:
        goal: `text` as it was read already; left out, it is read here.
        llm: reads the goal, where there is one.
        find: searches the library where no state fits the goal; may fail.
        troubles: gets a sentence for each thing that did not work.
    """
    troubles = troubles if troubles is not None else Troubles()
    have = tuple(have)
    if goal is None:
        goal = await read_goal(text, library, llm=llm, troubles=troubles, sleep=sleep)
    skills = library.skills.values()
    if goal.states:
        given = [one for one in goal.given if one not in have and one not in goal.states]
        plan = plan_states(skills, goal.states, [*have, *given], score=score)
        return Served("full", goal, _name_needs(plan, have, given))
    troubles.add(_NO_PLAN)
    answer = None
    if find is not None:
        answer = first_way([(lambda: find(text), _NO_SEARCH)], None, troubles)
    if answer is not None:
        for note in answer.notes:
            troubles.add(note)
        if answer.best is not None:
            return Served("reduced", goal, plan_one(answer.best.skill, library, have, score))
    found = [one.skill for one in answer.candidates] if answer is not None else []
    # Nothing found: the skills that did best so far.
    options = found or sorted(skills, key=lambda one: (-score(one), one.name))
    return Served("minimal", goal, options=tuple(options[:MOST_OPTIONS]))


def _name_needs(plan: Plan, have: tuple[str, ...], given: list[str]) -> Plan:
    """The plan with what the goal takes for granted among its needs, as far as it is used."""
    used = {state for step in plan.steps for state in step.skill.preconditions}
    needs = [*(state for state in given if state in used), *plan.needs]
    return replace(plan, have=frozenset(have), needs=tuple(needs))


def plan_one(skill: LibrarySkill, library: Library, have: Iterable[str], score: Score) -> Plan:
    """The plan whose last step is this skill."""
    before = plan_states(
        (one for one in library.skills.values() if one.name != skill.name),
        skill.preconditions,
        have,
        score=score,
    )
    lacking = (gap.state for gap in before.gaps)
    return Plan(
        skill.effects,
        before.have,
        (*before.steps, Step(skill, skill.effects, score(skill))),
        tuple(dict.fromkeys([*before.needs, *lacking])),
        (),
        before.left,
    )
