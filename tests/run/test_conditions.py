"""The language of breakpoints: what can be typed, what it means, what is said when it is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from flowstudio.run.breakpoints import (
    Breakpoint,
    Breakpoints,
    parse_break_option,
    parse_breakpoint,
)
from flowstudio.run.conditions import (
    Condition,
    ConditionError,
    Facts,
    format_conditions,
    parse_conditions,
)

SEEN = Facts(visit=3, tokens=20_500, choice="Not yet", answer="Two tests fail.\nError: no disk")


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("", True),
        ("visit = 3", True),
        ("visit == 3", True),
        ("visit >= 3", True),
        ("visit≥3", True),
        ("visit > 3", False),
        ("visit != 3", False),
        ("visit <= 2", False),
        ("VISIT < 4", True),
        ("tokens > 20k", True),
        ("tokens > 20,500", False),
        ("tokens >= 20_500", True),
        ("tokens < 1M", True),
        ("choice = Not yet", True),
        ("choice = not  YET", True),
        ('choice = "Not yet"', True),
        ("choice = No", False),
        ("choice != No", True),
        ("answer ~ Error", True),
        ("answer ~ ^Error", False),
        ("answer ~ (?m)^Error", True),
        (r"answer ~ \bno\s+disk$", True),
        ("answer !~ (?i)passed", True),
        ("answer !~ Error", False),
        ("visit >= 3 and choice = Not yet", True),
        ("visit >= 3 and choice = Yes", False),
        ("answer ~ tests and fail AND visit = 3", False),
        ("answer ~ tests fail AND visit = 3", True),
    ],
)
def test_a_condition_holds_or_not(text: str, holds: bool) -> None:
    assert (Breakpoint("q", "after", parse_conditions(text)).why(SEEN) is not None) is holds


def test_a_value_goes_on_to_the_next_and_that_begins_a_condition() -> None:
    assert parse_conditions("choice = stop and go and visit > 2") == (
        Condition("choice", "=", "stop and go"),
        Condition("visit", ">", 2),
    )


def test_a_quoted_value_may_hold_anything() -> None:
    assert parse_conditions('choice = "say ""no"" and visit > 2" and visit > 4') == (
        Condition("choice", "=", 'say "no" and visit > 2'),
        Condition("visit", ">", 4),
    )


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("vist >= 3", 1, "“vist” is nothing that can be compared; write a condition such as"),
        ("3 visits", 1, "a condition begins with a word"),
        ("visit", 6, "“visit” is compared by =, !=, <, <=, >, >="),
        ("visit ~ 3", 7, "“visit” is compared by"),
        ("visit >= three", 10, "takes a whole number, such as 3 or 20k"),
        ("visit >= 3.5", 10, "takes a whole number"),
        ("tokens > 5 choice = No", 12, "joined by “and”"),
        ("tokens > 5 and", 12, "joined by “and”"),
        ("choice =", 9, "a value is missing"),
        ('choice = "No', 10, "the quote is not closed"),
        ("answer = yes", 8, "“answer” is compared by ~, !~"),
        ("answer ~ (oops", 10, "this is no regular expression: missing )"),
        (f"answer ~ {'a' * 1001}", 10, "at most 1000 characters"),
        ("before choice = No", 1, "known only after the node; write “after”"),
        ("before visit > 2 and answer ~ x", 1, "“answer” is known only after"),
        ("after visit > 2 and foo = 1", 21, "“foo” is nothing"),
    ],
)
def test_what_is_wrong_is_said_with_its_column(text: str, column: int, said: str) -> None:
    with pytest.raises(ConditionError) as caught:
        parse_breakpoint("q", text)
    assert caught.value.column == column
    assert str(caught.value).startswith(f"column {column}: ")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("", "before"),
        ("after", "after"),
        ("visit >= 3", "before visit >= 3"),
        ("when tokens > 20k", "before tokens > 20000"),
        ("choice=No", "after choice = No"),
        ("after if visit > 2 and answer ~ a.b", "after visit > 2 and answer ~ a.b"),
        ('choice = "No and visit > 3"', 'after choice = "No and visit > 3"'),
    ],
)
def test_a_breakpoint_is_written_in_one_way(text: str, written: str) -> None:
    point = parse_breakpoint("q", text)
    assert point.text == written
    assert parse_breakpoint("q", written) == point


COUNTS = st.builds(
    Condition,
    st.sampled_from(["visit", "tokens"]),
    st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
    st.integers(0, 10**9),
)
WORDS = st.one_of(
    st.text(min_size=1),
    st.lists(st.sampled_from(['"', " and ", "visit > 3", "no", "\n", " "]), min_size=1).map(
        "".join
    ),
)
CHOICES = st.builds(Condition, st.just("choice"), st.sampled_from(["=", "!="]), WORDS)


@given(st.lists(st.one_of(COUNTS, CHOICES), max_size=4).map(tuple))
def test_what_was_written_is_read_back_as_the_same(conditions: tuple[Condition, ...]) -> None:
    assert parse_conditions(format_conditions(conditions)) == conditions


@given(st.text(st.sampled_from('visit tokens choice answer and >=<~!"3k()[+*\\'), max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        parse_breakpoint("q", text)
    except ConditionError as error:
        assert 1 <= error.column <= len(text) + 1


def test_a_breakpoint_says_why_it_holds() -> None:
    def why(text: str) -> str | None:
        return parse_breakpoint("q", text).why(SEEN)

    assert why("before") == "breakpoint before “q”"
    assert why("visit >= 3") == "breakpoint before “q”: this is visit 3"
    assert why("after tokens > 20k and choice != No and answer ~ (?i)ERROR") == (
        "breakpoint after “q”: 20,500 tokens are spent and the choice is “Not yet” and "
        "the answer holds “Error”"
    )
    assert why("answer !~ fine") == "breakpoint after “q”: the answer does not match fine"


def test_a_pattern_that_would_take_for_ever_holds_the_run_and_says_so() -> None:
    # Python's `re` needs hours for this one.
    point = parse_breakpoint("q", "answer ~ ^(a|aa)+$")
    assert point.why(Facts(1, 0, None, "a" * 60 + "!")) == (
        "breakpoint after “q”: whether the answer matches ^(a|aa)+$ could not be told in time"
    )


def test_before_a_node_no_choice_and_no_answer_is_known() -> None:
    for text in ("choice = x", "choice != x", "answer ~ x", "answer !~ x"):
        assert Breakpoint("q", "after", parse_conditions(text)).why(Facts(1, 0)) is None


def test_on_a_command_line_the_node_stands_before_the_condition() -> None:
    nodes = ["q", "q 2", "check"]
    assert parse_break_option("q", nodes) == Breakpoint("q")
    assert parse_break_option("q 2 after", nodes) == Breakpoint("q 2", "after")
    assert parse_break_option("check visit >= 2", nodes).text == "before visit >= 2"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("chek", "column 1: the flow has no node “chek”; it has q, check"),
        ("", "column 1: the flow has no node “”"),
        ("check visit > x", "column 15: “visit >” takes a whole number"),
    ],
)
def test_a_wrong_breakpoint_on_a_command_line_is_said(text: str, said: str) -> None:
    with pytest.raises(ConditionError) as caught:
        parse_break_option(text, ["q", "check"])
    assert str(caught.value).startswith(said)


# The collection


def test_a_node_has_at_most_one_breakpoint_before_and_one_after_it() -> None:
    points = Breakpoints(["a", parse_breakpoint("a", "after"), parse_breakpoint("a", "visit > 2")])
    assert [point.text for point in points.at("a")] == ["before visit > 2", "after"]
    points.discard("a", "before")
    assert [point.text for point in points] == ["after"]
    assert points.nodes == {"a"}


def test_toggling_clears_whatever_a_node_has() -> None:
    points = Breakpoints([parse_breakpoint("a", "after visit > 2")])
    assert not points.toggle("a")
    assert len(points) == 0
    assert points.toggle("a")
    assert list(points) == [Breakpoint("a")]


def test_whoever_keeps_the_breakpoints_hears_of_each_change() -> None:
    points = Breakpoints()
    seen: list[int] = []
    points.on_change = lambda: seen.append(len(points))
    points.add("a")
    points.toggle("b")
    points.discard("a")
    points.clear()
    assert seen == [1, 2, 1, 0]
