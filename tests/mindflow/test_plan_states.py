"""Planning: from wanted states backward to the skills that bring them about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from flowstudio.mindflow.model import LibrarySkill
from flowstudio.mindflow.plan import Plan, plan_states


def skill(name: str, needs: str = "", gives: str = "") -> LibrarySkill:
    return LibrarySkill(name, preconditions=tuple(needs.split()), effects=tuple(gives.split()))


DATA = [
    skill("csv", "csv_file", "table"),
    skill("clean", "table", "clean_table"),
    skill("chart", "clean_table", "chart"),
    skill("report", "chart clean_table", "report"),
]


def plan(skills: list[LibrarySkill], goals: str, have: str = "", /, **scores: float) -> Plan:
    return plan_states(
        skills, goals.split(), have.split(), score=lambda one: scores.get(one.name, 0.5)
    )


def names(found: Plan) -> list[str]:
    return [step.skill.name for step in found.steps]


def test_a_goal_is_had_by_its_skill_and_before_it_those_that_it_needs():
    found = plan(DATA, "chart", "csv_file")
    assert names(found) == ["csv", "clean", "chart"]
    assert found.needs == () and found.gaps == ()


def test_what_holds_already_is_not_done():
    assert names(plan(DATA, "chart", "clean_table")) == ["chart"]
    assert names(plan(DATA, "chart", "chart")) == []


def test_each_skill_comes_once_however_many_need_it():
    assert names(plan(DATA, "chart report clean_table", "csv_file")) == [
        "csv",
        "clean",
        "chart",
        "report",
    ]


def test_goals_are_met_in_the_order_in_which_they_are_wanted():
    two = [skill("a", "", "x"), skill("b", "", "y")]
    assert names(plan(two, "y x")) == ["b", "a"]


def test_of_several_skills_the_one_with_the_best_score_is_taken():
    two = [skill("quick", "", "x"), skill("good", "", "x")]
    found = plan(two, "x", good=0.9, quick=0.4)
    assert names(found) == ["good"]
    assert found.steps[0].score == 0.9
    assert found.steps[0].others == ("quick",)


def test_of_equally_good_skills_the_first_by_name_is_taken():
    assert names(plan([skill("b", "", "x"), skill("a", "", "x")], "x")) == ["a"]


def test_a_good_skill_that_cannot_be_used_is_passed_over():
    two = [skill("good", "never", "x"), skill("plain", "here", "x")]
    assert names(plan(two, "x", "here", good=0.9)) == ["plain"]


def test_a_step_says_what_later_steps_have_from_it():
    both = [skill("a", "", "x y z"), skill("b", "x", "goal")]
    assert [step.provides for step in plan(both, "goal").steps] == [("x",), ("goal",)]


def test_a_skill_that_another_one_makes_needless_is_left_out():
    skills = [skill("a", "", "x"), skill("b", "", "x y"), skill("c", "x y", "goal")]
    assert names(plan(skills, "goal", a=0.9)) == ["b", "c"]


def test_what_no_skill_brings_about_is_taken_for_granted_and_named():
    found = plan(DATA, "chart")
    assert names(found) == ["csv", "clean", "chart"]
    assert found.needs == ("csv_file",)


def test_nothing_is_taken_for_granted_where_it_is_not_needed():
    skills = [skill("good", "wish", "x"), skill("plain", "", "x")]
    found = plan(skills, "x", good=0.9)
    assert names(found) == ["plain"] and found.needs == ()


def test_a_caller_may_forbid_that_anything_is_taken_for_granted():
    found = plan_states(DATA, ["chart"], score=lambda _: 0.5, assume=False)
    assert found.steps == ()
    assert [(gap.state, gap.missing) for gap in found.gaps] == [("chart", ("csv_file",))]


def test_a_goal_that_nobody_brings_about_is_a_gap_and_the_others_are_planned():
    found = plan(DATA, "gold chart", "table")
    assert names(found) == ["clean", "chart"]
    assert [(gap.state, gap.missing) for gap in found.gaps] == [("gold", ("gold",))]
    assert found.reached == ("chart",)


def test_states_that_wait_for_each_other_are_named_as_a_circle():
    skills = [skill("hen", "egg", "hen"), skill("egg", "hen", "egg"), skill("cook", "egg", "meal")]
    [gap] = plan(skills, "meal").gaps
    assert gap.missing == ()
    assert [str(circle) for circle in gap.circles] == ["egg (by egg) needs hen (by hen) needs egg"]


def test_having_one_state_of_a_circle_opens_it():
    skills = [skill("hen", "egg", "hen"), skill("egg", "hen", "egg")]
    assert names(plan(skills, "hen", "egg")) == ["hen"]


def test_a_better_skill_that_would_lead_in_a_circle_gives_way():
    skills = [
        skill("best", "y", "x"),
        skill("back", "x", "y"),
        skill("plain", "", "x"),
    ]
    found = plan(skills, "y", best=0.9)
    assert names(found) == ["plain", "back"]
    assert [set(circle.skills) for circle in found.left] == [{"best", "back"}]


def test_a_skill_that_needs_what_it_brings_about_is_of_no_use():
    [gap] = plan([skill("self", "x", "x")], "x").gaps
    assert gap.circles[0].states == ("x",)


def test_a_chain_of_ten_thousand_skills_is_planned_without_recursion():
    chain = [skill(f"s{n}", f"x{n}", f"x{n + 1}") for n in range(10_000)]
    assert len(plan(chain, "x10000", "x0").steps) == 10_000


class Counted(tuple[str, ...]):
    """States that count how often they are gone through."""

    looks = 0

    def __iter__(self) -> Iterator[str]:
        Counted.looks += 1
        return super().__iter__()

    def __reversed__(self) -> Iterator[str]:
        Counted.looks += 1
        return iter(self[::-1])


def chain(length: int) -> list[LibrarySkill]:
    return [skill(f"a{at}", f"x{at + 1}", f"x{at}") for at in range(length)]


def circles(length: int) -> list[LibrarySkill]:
    """The best skill for each state needs the state after it: each choice is revised."""
    back = [skill(f"b{at}", f"x{at - 1}", f"x{at}") for at in range(1, length + 1)]
    return [*chain(length), *back, skill("b0", "", "x0")]


@pytest.mark.parametrize("make", [chain, circles])
def test_for_twice_as_many_skills_there_is_twice_as_much_to_look_at(
    make: Callable[[int], list[LibrarySkill]],
) -> None:
    def looks(length: int) -> int:
        skills = [replace(one, preconditions=Counted(one.preconditions)) for one in make(length)]
        Counted.looks = 0
        found = plan_states(skills, ["x0"], score=lambda one: 0.9 if one.name[0] == "a" else 0.1)
        assert found.reached == ("x0",)
        return Counted.looks

    assert looks(400) <= 2.2 * looks(200)


STATES = st.sampled_from("abcdefgh")
SETS = st.sets(STATES, max_size=3)
SKILLS = st.lists(st.tuples(SETS, SETS, st.floats(0, 1)), max_size=14)


@settings(max_examples=300, deadline=None)
@given(SKILLS, st.lists(STATES, min_size=1, max_size=3), SETS)
def test_every_plan_can_be_carried_out_and_each_goal_that_can_be_had_is_had(
    rows: list[tuple[set[str], set[str], float]], goals: list[str], have: set[str]
):
    skills = [
        LibrarySkill(f"s{at}", preconditions=tuple(sorted(pre)), effects=tuple(sorted(eff)))
        for at, (pre, eff, _) in enumerate(rows)
    ]
    scores = {f"s{at}": score for at, (_, _, score) in enumerate(rows)}
    found = plan_states(skills, goals, have, score=lambda one: scores[one.name], assume=False)

    held = set(have)
    for step in found.steps:
        assert held.issuperset(step.skill.preconditions), "a step comes before what it needs"
        held.update(step.skill.effects)
    assert held.issuperset(found.reached)

    can = set(have)
    for _ in skills:
        for one in skills:
            if can.issuperset(one.preconditions):
                can.update(one.effects)
    assert set(found.reached) == set(goals) & can
    assert {gap.state for gap in found.gaps} == set(goals) - can
    for gap in found.gaps:
        assert gap.missing or gap.circles


@pytest.mark.parametrize("first", [True, False])
@settings(max_examples=200, deadline=None)
@given(rows=SKILLS, goal=STATES)
def test_what_is_taken_for_granted_makes_the_plan_complete(
    first: bool, rows: list[tuple[set[str], set[str], float]], goal: str
):
    skills = [
        LibrarySkill(f"s{at}", preconditions=tuple(sorted(pre)), effects=tuple(sorted(eff)))
        for at, (pre, eff, _) in enumerate(rows)
    ]
    if not first:
        skills.reverse()
    found = plan_states(skills, [goal], score=lambda _: 0.5)
    held = set(found.needs)
    made = {state for one in skills for state in one.effects}
    assert made.isdisjoint(found.needs)
    for step in found.steps:
        assert held.issuperset(step.skill.preconditions)
        held.update(step.skill.effects)
    assert held.issuperset(found.reached)
