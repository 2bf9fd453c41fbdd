"""The design's rules: score, context boost, shares, the decision, and the reasons given."""

from __future__ import annotations

import pytest

from flowstudio.mindflow.context import MOST_BOOST, Boost, Context, boost_skill
from flowstudio.mindflow.model import History, LibrarySkill, Methodology
from flowstudio.mindflow.scoring import score_skill
from flowstudio.mindflow.search import Found, Judge, Scale, decide, is_weak, share_out
from tests.mindflow.libraries import SIMPLE, STDLIB, data_library, library_of

BOTH = (SIMPLE, STDLIB)  # weights 0.8 and 0.4
SCALE = Scale(spread=0.1, floor=0.2)


@pytest.mark.parametrize(
    ("scores", "history", "expected"),
    [
        ({"meth_simple": 0.9, "meth_stdlib": 0.6}, None, (0.8 * 0.9 + 0.4 * 0.6) / 1.2),
        ({"meth_simple": 0.9}, None, (0.8 * 0.9 + 0.4 * 0.5) / 1.2),
        ({}, None, 0.5),
        ({"meth_other": 1.0}, None, 0.5),
        ({}, History(4, 1.0), 0.7 * 0.5 + 0.3 * 1.0),
        ({}, History(4, 0.0), 0.7 * 0.5),
        ({}, History(0, 1.0), 0.5),
        ({"meth_simple": 1.0, "meth_stdlib": 1.0}, History(1, 5.0), 1.0),
    ],
    ids=[
        "weighted mean",
        "0.5 where a score is missing",
        "no scores at all",
        "a methodology that nobody defines",
        "history counts 0.3",
        "failures count against it",
        "never used: history is silent",
        "clamped to 1",
    ],
)
def test_a_score_is_the_weighted_compliance_mixed_with_history(
    scores: dict[str, float], history: History | None, expected: float
) -> None:
    skill = LibrarySkill("s", methodology_scores=scores)
    assert score_skill(skill, BOTH, history).value == pytest.approx(expected)


@pytest.mark.parametrize("methodologies", [(), (Methodology("m", weight=0.0),)])
def test_without_a_weight_the_score_is_the_middle(methodologies: tuple[Methodology, ...]) -> None:
    skill = LibrarySkill("s", methodology_scores={"m": 1.0})
    assert score_skill(skill, methodologies).value == 0.5


def test_context_keeps_the_last_ten_keywords_each_once() -> None:
    context = Context.of([f"word{at}" for at in range(14)] + ["word12"])
    assert len(context.recent_topics) == 10
    assert context.recent_topics[-2:] == ("word13", "word12")
    assert "word3" not in context.recent_topics


CSV = data_library().skills["csv"]


@pytest.mark.parametrize(
    ("context", "nearness", "expected"),
    [
        (Context(), 1.0, Boost()),
        (Context.of(["guitar"]), 1.0, Boost()),
        (Context.of(["tables"]), 1.0, Boost(0.5 * 0.7 / 3, ("tables",))),
        (Context.of(["汇总"]), 1.0, Boost(0.5 * 0.7 / 3, ("汇总",))),
        (Context((), "csv tools"), 1.0, Boost(0.5 * 0.3, (), "csv tools")),
        (Context.of(["tables csv export month"], "csv"), 1.0, None),
        (Context.of(["tables"]), 0.0, Boost(0.0, ("tables",))),
    ],
    ids=["none", "other topics", "one topic", "Chinese", "project", "all of it", "far from it"],
)
def test_shared_topics_and_the_project_boost_by_at_most_a_half(
    context: Context, nearness: float, expected: Boost | None
) -> None:
    boost = boost_skill(CSV, context, nearness)
    if expected is None:
        assert boost.value == MOST_BOOST
        return
    assert boost.value == pytest.approx(expected.value)
    assert (boost.topics, boost.project) == (expected.topics, expected.project)


def test_shares_grow_e_fold_with_each_spread_and_leave_room_for_none() -> None:
    high, low = share_out([0.5, 0.4], [0.5, 0.5], SCALE)
    assert high / low == pytest.approx(2.718, rel=1e-3)
    assert high + low < 1
    unlike = share_out([0.1, 0.05], [0.5, 0.5], SCALE)
    assert sum(unlike) < 0.5  # below the floor, none is the likeliest


def test_a_better_score_weighs_between_equally_similar_skills() -> None:
    good, poor = share_out([0.5, 0.5], [0.9, 0.3], SCALE)
    assert good / poor == pytest.approx(3.0)


@pytest.mark.parametrize("similarity", [-1e6, 1e6, 0.0])
def test_shares_stay_between_nought_and_one(similarity: float) -> None:
    assert all(0 <= share <= 1 for share in share_out([similarity, 0.3], [0.0, 1.0], SCALE))


TWINS = library_of(LibrarySkill("a"), LibrarySkill("b"), LibrarySkill("c"))


@pytest.mark.parametrize(
    ("similarities", "verdict"),
    [
        ((0.9, 0.4, 0.3), "best"),
        ((0.9, 0.88, 0.3), "choose"),
        ((0.15, 0.1, 0.05), "nothing"),
    ],
)
def test_a_clear_lead_decides_else_the_user_chooses(
    similarities: tuple[float, ...], verdict: str
) -> None:
    found = [Found(name, near) for name, near in zip("abc", similarities, strict=True)]
    ranked = Judge(TWINS, SCALE).rank(found)
    assert decide(ranked, SCALE)[0] == verdict


def test_nothing_found_is_weak_and_no_find() -> None:
    assert is_weak([])
    assert decide([], SCALE) == ("nothing", 0.0)
    assert Judge(TWINS, SCALE).rank([Found("ghost", 0.9)]) == []


def test_context_decides_between_two_that_fit_alike() -> None:
    found = [Found("csv", 0.50), Found("cleaning", 0.51)]
    plain = Judge(data_library(), SCALE).rank(found)
    at_work = Judge(data_library(), SCALE, Context.of(["month export total"])).rank(found)
    assert at_work[0].skill.name == "csv"
    assert at_work[0].total - at_work[1].total > plain[0].total - plain[1].total


def test_each_candidate_explains_itself() -> None:
    judge = Judge(data_library(), SCALE, Context.of(["export"]), {"csv": History(5, 0.8)})
    (one,) = judge.rank([Found("csv", 0.5, "calls", "cleaning")])
    why = one.why()
    assert why[0].startswith("similarity 0.50: ")
    assert why[1] == "cleaning calls it"
    assert why[2] == "methodologies 0.85 (simple 0.9, stdlib 0.75)"
    assert why[3] == "used 5 times, 80% of them went well"
    assert why[4].startswith("context +0.12 (export")
