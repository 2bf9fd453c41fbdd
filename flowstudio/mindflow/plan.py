"""From the states that are wanted to the skills that bring them about, in the order of doing.

The search goes backward ("Skills 组合机制" of the Mindflow design): for each wanted state the skill
with the best score that produces it, its preconditions first. Nothing here recurses, and a plan is
found whenever there is one:

1. forward, once: which states can come about at all, and how early (`_reach`);
2. backward: each state takes its best skill. Where the choices lead in a circle, one of those that
   cannot begin the circle gives way to the next best. A state's earliest skill needs only states
   that are earlier still, so it is never in the way and there is always one left;
3. from the goals down, preconditions first, what a step before brings about is not done again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from flowstudio.mindflow.model import History, Library, LibrarySkill
from flowstudio.mindflow.scoring import score_skill

type Score = Callable[[LibrarySkill], float]
"""How good a skill is, 0 to 1."""

MOST_OTHERS = 3
"""How many of the skills that were not taken a step names."""


@dataclass(frozen=True, slots=True)
class Step:
    """One skill of a plan."""

    skill: LibrarySkill
    provides: tuple[str, ...]
    """The states that a later step, or the goal, has from it."""
    score: float = 0.0
    others: tuple[str, ...] = ()
    """Skills that would have served too, the best first; at most `MOST_OTHERS`."""


@dataclass(frozen=True, slots=True)
class Circle:
    """States that wait for each other: each is had by a skill that needs the next."""

    states: tuple[str, ...]
    skills: tuple[str, ...]
    """`skills[i]` brings about `states[i]`, and needs the state after it (the last: the first)."""

    def __str__(self) -> str:
        pairs = zip(self.states, self.skills, strict=True)
        parts = [f"{state} (by {skill})" for state, skill in pairs]
        return " needs ".join([*parts, self.states[0]])


@dataclass(frozen=True, slots=True)
class Gap:
    """A goal that cannot be had, and why."""

    state: str
    missing: tuple[str, ...] = ()
    """The states that no skill brings about: the goal itself, or, where nothing may be taken for
    granted, what its skills wait for."""
    circles: tuple[Circle, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do, and what is missing."""

    goals: tuple[str, ...]
    have: frozenset[str] = frozenset()
    """The states that held at the beginning, as the call said."""
    steps: tuple[Step, ...] = ()
    """In the order of doing; empty where all goals hold already, or none can be had."""
    needs: tuple[str, ...] = ()
    """States that must hold at the beginning beside `have`: no skill brings them about."""
    gaps: tuple[Gap, ...] = ()
    left: tuple[Circle, ...] = ()
    """Ways that looked better, but would have led in a circle."""

    @property
    def reached(self) -> tuple[str, ...]:
        """The goals that hold when the plan is done."""
        lost = {gap.state for gap in self.gaps}
        return tuple(goal for goal in self.goals if goal not in lost)


def plan_states(
    skills: Iterable[LibrarySkill],
    goals: Sequence[str],
    have: Iterable[str] = (),
    *,
    score: Score,
    assume: bool = True,
) -> Plan:
    """The plan that brings about `goals`, beginning with `have`.

    Args:
        skills: those that may be used.
        goals: the wanted states, in the order in which they are wanted.
        have: the states that hold now.
        score: how good a skill is; of two that serve, the better one is taken.
        assume: take states that no skill brings about for granted where a goal cannot be had
            without; they are in `Plan.needs`.
    """
    goals = tuple(dict.fromkeys(goals))
    start = frozenset(have)
    library = _Producers.of(skills, score)
    reach = _reach(library, start)
    if assume and any(goal not in reach.of_state for goal in goals):
        roots = library.needed - library.by_state.keys() - set(goals)
        reach = _reach(library, start | roots, reach)
    wanted = [goal for goal in goals if goal in reach.of_state]
    chosen, left = _choose(library, reach, wanted)
    order = _order(reach.start, wanted, chosen)
    steps = _prune(order, wanted, reach.start)
    held = set(start)
    needs: dict[str, None] = {}
    for skill in steps:
        needs.update(dict.fromkeys(state for state in skill.preconditions if state not in held))
        held.update(skill.effects)
        held.update(skill.preconditions)
    return Plan(
        goals,
        start,
        _explain_steps(library, reach, steps, wanted),
        tuple(needs),
        tuple(_explain_gap(library, reach, goal) for goal in goals if goal not in reach.of_state),
        left,
    )


@dataclass(frozen=True, slots=True)
class _Producers:
    """The skills by what they bring about."""

    skills: tuple[LibrarySkill, ...]
    scores: Mapping[str, float]
    by_state: Mapping[str, tuple[LibrarySkill, ...]]
    """The best first."""
    needed: frozenset[str]
    """Every state that some skill needs."""

    @classmethod
    def of(cls, skills: Iterable[LibrarySkill], score: Score) -> _Producers:
        """Sorted by score; of equals, the one whose name comes first."""
        useful = [skill for skill in skills if skill.effects]
        scores = {skill.name: score(skill) for skill in useful}
        useful.sort(key=lambda skill: (-scores[skill.name], skill.name))
        by_state: dict[str, list[LibrarySkill]] = {}
        for skill in useful:
            for state in dict.fromkeys(skill.effects):
                by_state.setdefault(state, []).append(skill)
        return cls(
            tuple(useful),
            scores,
            {state: tuple(found) for state, found in by_state.items()},
            frozenset(state for skill in useful for state in skill.preconditions),
        )


@dataclass(frozen=True, slots=True)
class _Reach:
    """What can come about, and in which round of doing everything that can be done."""

    start: frozenset[str]
    of_state: Mapping[str, int]
    of_skill: Mapping[str, int]
    solid: frozenset[str]
    """The skills that can be used without taking anything for granted."""

    def is_early(self, skill: LibrarySkill, state: str) -> bool:
        """True where all that the skill needs is there before `state` can be."""
        return all(self.of_state[one] < self.of_state[state] for one in skill.preconditions)


def _reach(library: _Producers, start: frozenset[str], before: _Reach | None = None) -> _Reach:
    """Forward, round by round. What `before` could reach keeps its rounds: they are earlier."""
    of_state = dict(before.of_state) if before else {}
    of_skill = dict(before.of_skill) if before else {}
    waiting: dict[str, int] = {}
    waits_for: dict[str, list[LibrarySkill]] = {}
    ready: list[LibrarySkill] = []
    for skill in library.skills:
        if skill.name in of_skill:
            continue
        lacking = {state for state in skill.preconditions if state not in of_state}
        for state in lacking:
            waits_for.setdefault(state, []).append(skill)
        waiting[skill.name] = len(lacking)
        if not lacking:
            ready.append(skill)
    now = max(of_state.values(), default=-1) + 1
    fresh = [state for state in sorted(start) if state not in of_state]
    while fresh or ready:
        of_state.update(dict.fromkeys(fresh, now))
        for state in fresh:
            for skill in waits_for.get(state, ()):
                waiting[skill.name] -= 1
                if not waiting[skill.name]:
                    ready.append(skill)
        now += 1
        made: dict[str, None] = {}
        for skill in ready:
            of_skill[skill.name] = now
            made.update(dict.fromkeys(one for one in skill.effects if one not in of_state))
        fresh, ready = list(made), []
    return _Reach(start, of_state, of_skill, before.solid if before else frozenset(of_skill))


def _choose(
    library: _Producers, reach: _Reach, goals: Sequence[str]
) -> tuple[Mapping[str, LibrarySkill], tuple[Circle, ...]]:
    """A skill for each state that the goals come to need, without a circle."""
    options: dict[str, list[LibrarySkill]] = {}

    def best(state: str) -> LibrarySkill:
        if state not in options:
            able = [one for one in library.by_state[state] if one.name in reach.of_skill]
            solid = [one for one in able if one.name in reach.solid]
            options[state] = solid or able
        return options[state][0]

    left: list[Circle] = []
    done: set[str] = set(reach.start)
    for goal in goals:
        path = _Path()
        if goal not in done:
            path.enter(goal, best(goal))
        while path.states:
            if not path.todo[-1]:
                done.add(path.leave())
                continue
            state = path.todo[-1].pop()
            if state in path.places:
                states = tuple(path.states[path.places[state] :])
                left.append(Circle(states, tuple(best(one).name for one in states)))
                late = [one for one in states if not reach.is_early(best(one), one)]
                giving = min(late, key=lambda one: _loss(library, options[one]))
                # What is done leads nowhere on the path and stays; the walk goes on from here.
                while path.leave() != giving:
                    pass
                del options[giving][0]
                path.enter(giving, best(giving))
            elif state not in done:
                path.enter(state, best(state))
    return {state: found[0] for state, found in options.items()}, tuple(left)


class _Path:
    """The states from a goal to where the walk is, each needed by the one before it."""

    def __init__(self) -> None:
        self.states: list[str] = []
        self.places: dict[str, int] = {}
        self.todo: list[list[str]] = []
        """For each of them, what its skill needs and was not looked at; the next one last."""

    def enter(self, state: str, skill: LibrarySkill) -> None:
        self.places[state] = len(self.states)
        self.states.append(state)
        self.todo.append(list(reversed(skill.preconditions)))

    def leave(self) -> str:
        self.todo.pop()
        state = self.states.pop()
        del self.places[state]
        return state


def _loss(library: _Producers, options: Sequence[LibrarySkill]) -> float:
    """What is lost where the best skill gives way to the next."""
    return library.scores[options[0].name] - library.scores[options[1].name]


def _order(
    start: frozenset[str], goals: Sequence[str], chosen: Mapping[str, LibrarySkill]
) -> list[LibrarySkill]:
    """The chosen skills, each after what it needs; states that hold by then are passed over."""
    held = set(start)
    order: list[LibrarySkill] = []
    todo: list[str | LibrarySkill] = list(reversed(goals))
    while todo:
        one = todo.pop()
        if not isinstance(one, str):
            order.append(one)
            held.update(one.effects)
        elif one not in held:
            todo.append(chosen[one])
            todo.extend(reversed(chosen[one].preconditions))
    return order


def _prune(
    order: Sequence[LibrarySkill], goals: Sequence[str], start: frozenset[str]
) -> list[LibrarySkill]:
    """The order without the skills that nothing after them needs."""
    needed = set(goals) - start
    kept: list[LibrarySkill] = []
    for skill in reversed(order):
        if needed.isdisjoint(skill.effects):
            continue
        kept.append(skill)
        needed.difference_update(skill.effects)
        needed.update(state for state in skill.preconditions if state not in start)
    return kept[::-1]


def _explain_steps(
    library: _Producers, reach: _Reach, steps: Sequence[LibrarySkill], goals: Sequence[str]
) -> tuple[Step, ...]:
    explained: list[Step] = []
    wanted = set(goals)
    for skill in reversed(steps):
        provides = tuple(state for state in skill.effects if state in wanted)
        wanted.update(skill.preconditions)
        others = dict.fromkeys(
            one.name
            for state in provides
            for one in library.by_state[state]
            if one.name in reach.of_skill and one.name != skill.name
        )
        some = tuple(others)[:MOST_OTHERS]
        explained.append(Step(skill, provides, library.scores[skill.name], some))
    return tuple(reversed(explained))


def _explain_gap(library: _Producers, reach: _Reach, goal: str) -> Gap:
    """What keeps a goal from being had: states that nobody brings about, and circles."""
    missing: dict[str, None] = {}
    circles: list[Circle] = []
    # Backward over states that cannot be had. Each is looked at once.
    seen: set[str] = set()
    todo = [goal]
    while todo:
        state = todo.pop()
        if state in seen:
            continue
        seen.add(state)
        producers = library.by_state.get(state, ())
        if not producers:
            missing[state] = None
        todo.extend(
            one
            for skill in reversed(producers)
            for one in reversed(skill.preconditions)
            if one not in reach.of_state
        )
    if not missing:
        circles.append(_follow_circle(library, reach, goal))
    return Gap(goal, tuple(missing), tuple(circles))


def _follow_circle(library: _Producers, reach: _Reach, goal: str) -> Circle:
    """The circle in which a goal's best skills wait for each other; nothing on it is missing."""
    path: dict[str, LibrarySkill] = {}
    state = goal
    while state not in path:
        path[state] = library.by_state[state][0]
        state = next(one for one in path[state].preconditions if one not in reach.of_state)
    states = list(path)
    states = states[states.index(state) :]
    return Circle(tuple(states), tuple(path[one].name for one in states))


def scores_of(library: Library, histories: Mapping[str, History]) -> Score:
    """The score of each skill of a library by its methodologies and its history."""
    methodologies = tuple(library.methodologies.values())

    def score(skill: LibrarySkill) -> float:
        return score_skill(skill, methodologies, histories.get(skill.name)).value

    return score
