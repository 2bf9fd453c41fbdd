"""Planning over big libraries: python -m tests.benchmarks.bench_plan

Prints CPU milliseconds (the least of several rounds) of one plan over 500 and 5,000 synthetic
skills, and the ratio to the floor: only going once through all skills' states. The worst case is
made on purpose: for each state the best skill leads in a circle, so that every choice is revised.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from zlib import crc32

from flowstudio.mindflow.model import Library, LibrarySkill
from flowstudio.mindflow.plan import plan_states
from flowstudio.mindflow.plan_flow import plan_skill
from flowstudio.mindflow.plan_goal import match_goal

ROUNDS = 7


def layered(count: int, seed: int = 1) -> list[LibrarySkill]:
    """Skills in some ten layers, each needing one to three states of the layer before."""
    chance = random.Random(seed)
    layers = 10
    wide = count // layers
    skills: list[LibrarySkill] = []
    for layer in range(layers):
        for at in range(wide):
            needs = [f"s{layer - 1}_{chance.randrange(wide)}" for _ in range(chance.randint(1, 3))]
            gives = [f"s{layer}_{chance.randrange(wide)}" for _ in range(chance.randint(1, 2))]
            gives.append(f"s{layer}_{at}")
            name = f"skill-{layer}-{at}"
            utterances = (f"make thing {at} of kind {layer}", f"做出第{at}号东西")
            skills.append(
                LibrarySkill(
                    name, f"Makes s{layer}_{at}.", "", utterances, tuple(needs), tuple(gives)
                )
            )
    return skills


def circles(count: int) -> list[LibrarySkill]:
    """A chain in which each state's best skill needs the state after it."""
    half = count // 2
    good = [
        LibrarySkill(f"a{at}", preconditions=(f"x{at + 1}",), effects=(f"x{at}",))
        for at in range(half)
    ]
    plain = [
        LibrarySkill(f"b{at}", preconditions=(f"x{at - 1}",) if at else (), effects=(f"x{at}",))
        for at in range(half + 1)
    ]
    return [*good, *plain]


def measure(call: Callable[[], object]) -> float:
    """The least CPU time of a call, in milliseconds."""
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.process_time()
        call()
        best = min(best, time.process_time() - began)
    return best * 1000


def walk_once(skills: Sequence[LibrarySkill]) -> int:
    """The floor: each state of each skill is looked at once."""
    return len({state for one in skills for state in (*one.preconditions, *one.effects)})


def main() -> None:
    """Print the table."""
    print(f"{'library':<24}{'plan ms':>9}{'steps':>7}{'floor ms':>10}{'ratio':>7}")
    for count in (500, 5000):
        skills = layered(count)
        wide = count // 10
        goals = [f"s9_{at}" for at in range(0, wide, max(wide // 5, 1))][:5]
        start = [f"s-1_{at}" for at in range(wide)]
        plan = plan_states(skills, goals, start, score=score)
        took = measure(lambda: plan_states(skills, goals, start, score=score))  # noqa: B023
        floor = measure(lambda: walk_once(skills))  # noqa: B023
        print(f"{count:>5} in layers{'':<10}{took:>8.2f}{len(plan.steps):>7}{floor:>10.2f}", end="")
        print(f"{took / floor:>7.1f}")
        library = Library({one.name: one for one in skills})
        words = measure(lambda: match_goal("make thing 7 of kind 9", library))  # noqa: B023
        written = measure(lambda: plan_skill(plan, library, "make it"))  # noqa: B023
        print(f"{'':<6}goal by words {words:.1f} ms, the plan written as a skill {written:.1f} ms")
    for count in (500, 5000):
        skills = circles(count)
        best = {one.name: 0.9 if one.name[0] == "a" else 0.1 for one in skills}
        took = measure(lambda: plan_states(skills, ["x0"], score=lambda one: best[one.name]))  # noqa: B023
        print(f"{count:>5} all in circles{'':<5}{took:>8.2f}")


def score(skill: LibrarySkill) -> float:
    """A score that differs from skill to skill."""
    return (crc32(skill.name.encode()) % 97) / 97


if __name__ == "__main__":
    main()
