"""The bundled skills as a library: states that connect, methodologies, and queries to judge by."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from pathlib import Path

import pytest
import yaml

from flowstudio.mindflow.library import read_library, read_planning
from flowstudio.mindflow.model import Library, LibrarySkill
from flowstudio.mindflow.plan import plan_states
from flowstudio.skill import discover

ROOT = Path(__file__).parents[1]
QUERIES: dict[str, list[str]] = yaml.safe_load(
    (ROOT / "tests" / "mindflow" / "queries.yaml").read_text(encoding="utf-8")
)
METHODOLOGIES = {
    "meth_simple",
    "meth_stdlib",
    "meth_consistency",
    "meth_small_steps",
    "meth_review",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The bundled library alone: nobody's own skills are in scope."""
    empty = tmp_path_factory.mktemp("nothing")
    return read_library(discover(empty, home=empty))


def is_chinese(text: str) -> bool:
    """Whether a Chinese character stands in the text."""
    return any("\u4e00" <= one <= "\u9fff" for one in text)


def says_both(text: str) -> bool:
    """Whether a text of the library stands in Chinese and in English, one behind the other."""
    chinese, _, english = text.partition(" / ")
    return (
        any("\u4e00" <= one <= "\u9fff" for one in chinese) and english.isascii() and english != ""
    )


def test_the_library_reads_without_any_finding(library: Library) -> None:
    assert [str(finding) for finding in library.findings] == []


def test_the_five_methodologies_are_explained_in_both_languages(library: Library) -> None:
    assert set(library.methodologies) == METHODOLOGIES
    for one in library.methodologies.values():
        assert says_both(one.name), one.id
        assert says_both(one.description), one.id
        assert says_both(one.evaluation_rule), one.id
        assert 0 < one.weight < 1, one.id


def test_no_two_methodologies_rank_the_skills_alike(library: Library) -> None:
    scored = [skill for skill in library.skills.values() if len(skill.methodology_scores) == 5]
    columns = [tuple(skill.methodology_scores[m] for skill in scored) for m in METHODOLOGIES]
    assert len(scored) == 17
    assert len(set(columns)) == len(METHODOLOGIES)
    assert all(len(set(column)) > 3 for column in columns)


def test_the_glossary_of_states_is_that_of_the_skills_in_both_languages(library: Library) -> None:
    used = {
        state
        for skill in library.skills.values()
        for state in (*skill.preconditions, *skill.effects)
    }
    assert set(library.states) == used
    assert [state for state, text in library.states.items() if not says_both(text)] == []


def no_preference(skill: LibrarySkill) -> float:
    return 0.5


@pytest.mark.parametrize(
    ("have", "goal", "skills"),
    [
        ("has_csv_file", "has_chart", "csv data-cleaning data-visualization"),
        ("has_json_file", "has_chart", "json data-cleaning data-visualization"),
        ("has_json_file", "has_converted_data", "json data-conversion"),
        ("has_csv_file", "has_validation_report", "csv data-validation"),
        ("has_goal", "has_day_schedule", "task-breakdown schedule-planning"),
        ("has_goal", "has_week_plan", "task-breakdown weekly-plan"),
        ("has_goal", "has_weekly_summary", "task-breakdown daily-review weekly-review"),
        ("has_source_code", "has_refactored_code", "test-writing function-refactoring"),
    ],
)
def test_the_states_lead_from_what_one_has_to_what_one_wants(
    library: Library, have: str, goal: str, skills: str
) -> None:
    found = plan_states(library.skills.values(), [goal], [have], score=no_preference, assume=False)
    assert [step.skill.name for step in found.steps] == skills.split()
    assert found.gaps == ()


def test_every_state_can_be_had_from_what_only_a_user_can_give(library: Library) -> None:
    skills = library.skills.values()
    made = {state for skill in skills for state in skill.effects}
    given = {state for skill in skills for state in skill.preconditions} - made
    found = plan_states(skills, sorted(made), given, score=no_preference, assume=False)
    assert found.gaps == ()
    assert found.left == ()


def test_called_skills_lead_in_no_circle(library: Library) -> None:
    left = {name: set(skill.called_skills) for name, skill in library.skills.items()}
    while free := {name for name, called in left.items() if not called & left.keys()}:
        left = {name: called for name, called in left.items() if name not in free}
    assert left == {}


# ---- the queries that judge the search --------------------------------------------------------


_EMPTY = (
    "a an and are as at be before but by can do does for from get has have how i if in is it its "
    "just like make me my need no not of off on or our out over so that the their them then there "
    "they this to up us was we what when where which who will with you thi doe ha "
    "我的 一下 这个 那个 一个 什么 怎么 的是 了的 是不 不是"
)
EMPTY_WORDS = frozenset(_EMPTY.split())
"""Words that say nothing of what is wanted; pairs of characters for Chinese."""


def words(text: str) -> set[str]:
    """Latin words without a plural's or a verb's ending, and pairs of Chinese characters; apart
    from those of the search on purpose."""
    latin = {re.sub(r"(?:ing|ed|es|s)$", "", word) for word in re.findall(r"[a-z0-9]+", text)}
    runs = re.findall(r"[\u4e00-\u9fff]{2,}", text)
    pairs = {run[at : at + 2] for run in runs for at in range(len(run) - 1)}
    return (latin | pairs) - EMPTY_WORDS


def own_words(skill: LibrarySkill) -> set[str]:
    """What the file of a skill itself says of it to the search."""
    assert skill.skill is not None
    read, _ = read_planning(skill.skill)
    return words(" ".join([read.name, read.title, read.description, *read.utterances]).lower())


def test_the_queries_ask_for_each_skill_five_times_or_more(library: Library) -> None:
    assert set(QUERIES) == set(library.skills)
    assert min(map(len, QUERIES.values())) >= 5
    assert sum(map(len, QUERIES.values())) >= 130


def test_half_of_the_queries_for_each_skill_are_chinese() -> None:
    for name, queries in QUERIES.items():
        chinese = sum(map(is_chinese, queries))
        assert chinese * 2 == len(queries), name


def test_no_query_stands_twice() -> None:
    queries = [query for listed in QUERIES.values() for query in listed]
    assert len(set(queries)) == len(queries)


def test_no_query_is_much_like_a_sentence_that_the_search_knows(library: Library) -> None:
    for name, queries in QUERIES.items():
        for known in library.skills[name].utterances:
            for query in queries:
                alike = SequenceMatcher(None, query.lower(), known.lower()).ratio()
                assert alike <= 0.65, (query, known)


def test_queries_share_few_words_with_the_skill_that_they_ask_for(library: Library) -> None:
    shares: dict[str, float] = {}
    for name, queries in QUERIES.items():
        own = own_words(library.skills[name])
        for query in queries:
            said = words(query.lower())
            shares[query] = len(said & own) / len(said)
    assert {query: share for query, share in shares.items() if share > 0.34} == {}
    assert sum(shares.values()) / len(shares) < 0.1
