"""From a goal in words to states, and from a plan to a flow that any command takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from flowstudio.mindflow.failing import Troubles
from flowstudio.mindflow.model import Library, LibrarySkill
from flowstudio.mindflow.plan import Plan, plan_states
from flowstudio.mindflow.plan_flow import name_plan, plan_skill
from flowstudio.mindflow.plan_goal import find_states, match_goal, parse_goals, read_goal
from flowstudio.mindflow.search import Answer
from flowstudio.mindflow.serving import serve_goal
from flowstudio.skill import load_skill
from tests.servers.scripted import ScriptedServer, say
from tests.soul.bench import connect

STATES = {
    "has_csv_file": "有一个 CSV 文件 / there is a CSV file",
    "has_dataframe": "表格已读进来 / the table is loaded",
    "has_chart": "有一张图表 / there is a chart",
    "has_week_plan": "这一周的计划定好了 / the week is planned",
    "has_task_list": "有任务清单 / there is a list of tasks",
}
SKILLS = {
    one.name: one
    for one in (
        LibrarySkill(
            "csv", "CSV 处理 Reads tables.", "", (), ("has_csv_file",), ("has_dataframe",)
        ),
        LibrarySkill("draw", "Draws.", "", ("画个图",), ("has_dataframe",), ("has_chart",)),
        LibrarySkill("week", "Plans.", "", (), ("has_task_list",), ("has_week_plan",)),
        LibrarySkill("tasks", "Lists.", "", (), (), ("has_task_list",)),
    )
}
LIBRARY = Library(SKILLS, {}, STATES)


# ---- by words --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "states", "given"),
    [
        ("a chart of this CSV", ("has_chart",), ("has_csv_file",)),
        ("处理CSV并生成图表", ("has_chart",), ("has_csv_file",)),
        ("给我画个图", ("has_chart",), ()),
        ("plan the week, then the charts", ("has_week_plan", "has_chart"), ()),
        ("先做图表，再排这一周的计划", ("has_chart", "has_week_plan"), ()),
    ],
)
def test_a_goals_words_are_matched_in_both_languages(
    text: str, states: tuple[str, ...], given: tuple[str, ...]
):
    found = match_goal(text, LIBRARY)
    assert (found.states, found.given, found.by) == (states, given, "words")


def test_states_may_be_given_by_name():
    found = match_goal("has_chart, has_week_plan", LIBRARY)
    assert (found.states, found.by) == (("has_chart", "has_week_plan"), "names")


def test_a_goal_that_nothing_fits_gives_states_to_choose_from():
    found = match_goal("knit a sweater", LIBRARY)
    assert found.states == () and found.by == "nobody"
    assert found.near and set(found.near) <= set(STATES)


def test_a_state_that_nobody_knows_is_kept_with_a_hint():
    assert find_states(["has_csv_fil", "has_chart"], LIBRARY) == (
        ["has_csv_fil", "has_chart"],
        ["no skill here knows the state has_csv_fil; did you mean has_csv_file?"],
    )


# ---- by a model ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "goals", "given"),
    [
        ('{"goals": ["has_chart"], "given": ["has_csv_file"]}', ["has_chart"], ["has_csv_file"]),
        ('Sure!\n```json\n{"goals": ["has_chart"]}\n```\n', ["has_chart"], []),
        ('["has_chart", "has_week_plan"]', ["has_chart", "has_week_plan"], []),
        ('{"goals": ["has_charts", "gold", 7, "has_chart"]}', ["has_chart"], []),
        ('{"goals": []}', [], []),
        ('{"goals": ["has_chart"], "given": ["has_chart"]}', ["has_chart"], []),
    ],
)
def test_a_models_answer_is_read_whatever_stands_around_it(
    answer: str, goals: list[str], given: list[str]
):
    assert parse_goals(answer, STATES) == (tuple(goals), tuple(given))


@pytest.mark.parametrize(
    "answer",
    ["", "no", "{", '{"goals": 7}', "{" * 5000, "[" * 100_000],
    ids=["empty", "a word", "a brace", "no list", "braces", "brackets"],
)
def test_an_answer_that_is_no_such_json_is_none(answer: str):
    assert parse_goals(answer, STATES) is None


async def test_the_model_reads_the_goal_where_there_is_one(server: ScriptedServer):
    server.script(say('{"goals": ["has_week_plan"], "given": ["has_task_list"]}'))
    found = await read_goal("be ready on Monday", LIBRARY, llm=await connect(server.base_url))
    assert (found.states, found.given, found.by) == (
        ("has_week_plan",),
        ("has_task_list",),
        "model",
    )
    assert "has_chart: 有一张图表 / there is a chart" in server.requests[0].last_text


async def test_an_answer_that_cannot_be_understood_is_said_and_words_decide(
    server: ScriptedServer,
):
    server.script(say("I would rather not."))
    troubles = Troubles()
    found = await read_goal(
        "a chart", LIBRARY, llm=await connect(server.base_url), troubles=troubles
    )
    assert (found.states, found.by) == (("has_chart",), "words")
    assert troubles.said == [
        "The model's answer could not be understood. The goal is read by its words."
    ]


# ---- full, reduced, minimal ------------------------------------------------------------------


def even(_: LibrarySkill) -> float:
    return 0.5


async def test_a_goal_that_is_understood_is_planned_in_full():
    found = await serve_goal("a chart of this CSV", LIBRARY, score=even)
    assert found.way == "full" and found.plan is not None
    assert [step.skill.name for step in found.plan.steps] == ["csv", "draw"]
    assert found.plan.needs == ("has_csv_file",) and found.plan.have == frozenset()


def answer_with(verdict: str, *names: str) -> Answer:
    from flowstudio.mindflow.context import Boost
    from flowstudio.mindflow.scoring import Score
    from flowstudio.mindflow.search import Candidate

    ranked = tuple(
        Candidate(SKILLS[name], 0.9, 0.9, Score(0.5, 0.5), Boost(), 0.9) for name in names
    )
    return Answer("x", verdict, ranked)  # pyright: ignore[reportArgumentType]


async def test_a_goal_that_names_no_state_is_served_by_the_one_skill_that_fits():
    found = await serve_goal(
        "knit a sweater", LIBRARY, score=even, find=lambda _: answer_with("best", "draw")
    )
    assert found.way == "reduced" and found.plan is not None
    assert [step.skill.name for step in found.plan.steps] == ["csv", "draw"]


async def test_where_no_skill_is_clearly_meant_the_user_picks():
    found = await serve_goal(
        "knit", LIBRARY, score=even, find=lambda _: answer_with("choose", "draw", "csv")
    )
    assert found.way == "minimal" and found.plan is None
    assert [one.name for one in found.options] == ["draw", "csv"]


async def test_where_the_search_is_down_the_user_picks_and_is_told_in_plain_words():
    def broken(_: str) -> Answer:
        raise RuntimeError("VectorSearchError: Index not found")

    troubles = Troubles()
    found = await serve_goal("knit", LIBRARY, score=even, find=broken, troubles=troubles)
    assert found.way == "minimal" and len(found.options) == 4
    assert troubles.said[-1] == (
        "Sorry, the search does not work just now. Pick a skill from the list instead."
    )


# ---- the flow --------------------------------------------------------------------------------


def plan_of(*goals: str) -> Plan:
    return plan_states(SKILLS.values(), goals, score=even)


def write(tmp_path: Path, text: str, name: str) -> Path:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "SKILL.md").write_text(text)
    return folder


def test_a_plan_is_a_flow_with_a_node_for_each_skill(tmp_path: Path):
    made = plan_skill(plan_of("has_chart"), LIBRARY, "a chart of this CSV")
    skill = load_skill(write(tmp_path, made.text, made.name))
    assert skill.diagnostics == () and skill.flow == made.flow
    begin, one, two, end = made.flow.nodes.values()
    assert (begin.kind, end.kind) == ("begin", "end")
    assert one.text.startswith("Use the skill csv.\n") and "has_dataframe" in one.text
    assert two.text.startswith("Use the skill draw.\n")
    assert skill.meta["called_skills"] == ["csv", "draw"]
    assert skill.meta["preconditions"] == ["has_csv_file"]
    assert skill.meta["effects"] == ["has_chart"]


def test_the_prompts_speak_the_goals_language():
    made = plan_skill(plan_of("has_chart"), LIBRARY, "处理CSV并生成图表")
    assert "用技能 csv。" in made.text and "Use the skill" not in made.text


@pytest.mark.parametrize(
    ("goal", "name"),
    [
        ("Turn the CSV into a chart!", "plan-turn-the-csv-into-a-chart"),
        ("处理CSV并生成图表", "plan-处理csv并生成图表"),
        ("../../etc/passwd", "plan-etc-passwd"),
        ("?!", "plan"),
    ],
)
def test_a_plan_is_named_after_its_goal(goal: str, name: str):
    assert name_plan(goal) == name


def test_what_a_run_fills_in_is_not_in_the_prompts():
    made = plan_skill(plan_of("has_chart"), LIBRARY, "fill {{name}} with $ARGUMENTS")
    assert "{{name}}" not in made.text and "$ARGUMENTS" not in made.text


NASTY = st.text(max_size=120) | st.sampled_from(
    ["```\n---\n", '"]', "end", "<br>", "#35;", "a --> b", "%% x", "'\"\\", "\x00\x1b[31m", "---"]
)


@settings(max_examples=150, deadline=None)
@given(NASTY, NASTY, NASTY)
def test_whatever_the_texts_hold_the_plan_is_a_skill_without_findings(
    goal: str, description: str, meaning: str
):
    from flowstudio.skill.manifest import reread

    skill = LibrarySkill("x y", description, effects=("has_x",), preconditions=("has_y",))
    library = Library({"x y": skill}, {}, {"has_x": meaning, "has_y": meaning})
    plan = plan_states([skill], ["has_x"], score=even)
    made = plan_skill(plan, library, goal)
    base = load_skill(_EMPTY)
    read = reread(base, made.text)
    assert read.flow == made.flow, made.text
    assert [found.code for found in read.diagnostics] == [], made.text


_EMPTY = Path(__file__).parents[2] / "skills" / "csv"
