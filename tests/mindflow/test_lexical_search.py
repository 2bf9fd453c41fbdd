"""Ranking by words, in English and in Chinese."""

from __future__ import annotations

import pytest

from flowstudio.mindflow.lexical import LexicalIndex, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Planning the plans", ["plan", "plan"]),
        ("tidies, tidy!", ["tidy", "tidy"]),
        ("按月汇总", ["按月", "月汇", "汇总"]),
        ("看CSV表", ["看", "csv", "表"]),
        ("the of and", []),
        ("", []),
        ("café CAFÉ", ["café", "café"]),
    ],
)
def test_words_are_compared_without_endings_and_chinese_in_pairs(
    text: str, expected: list[str]
) -> None:
    assert terms(text) == expected


@pytest.fixture
def index() -> LexicalIndex:
    made = LexicalIndex()
    made.sync(
        {
            "csv": "sum up a table of orders 把表格按月汇总",
            "charts": "draw a chart of a table 画图表",
            "diary": "write how the day went 记日记",
        }
    )
    return made


@pytest.mark.parametrize(
    ("query", "first"),
    [("sum of the orders", "csv"), ("画一个图表", "charts"), ("记一下日记", "diary")],
)
def test_the_text_that_shares_the_rarest_words_comes_first(
    index: LexicalIndex, query: str, first: str
) -> None:
    assert index.rank(query, 3)[0][0] == first


def test_what_shares_no_word_is_not_found(index: LexicalIndex) -> None:
    assert [key for key, _ in index.rank("orders", 9)] == ["csv"]
    assert index.rank("quantum 量子", 9) == []


def test_equals_stand_in_the_order_of_their_names(index: LexicalIndex) -> None:
    index.sync({"b": "same words", "a": "same words"})
    assert [key for key, _ in index.rank("words", 9)] == ["a", "b"]


def test_a_text_is_replaced_and_dropped(index: LexicalIndex) -> None:
    index.put("csv", "something else")
    assert index.rank("orders", 9) == []
    index.drop("csv")
    index.drop("csv")
    assert index.rank("something", 9) == []
    assert len(index) == 2
