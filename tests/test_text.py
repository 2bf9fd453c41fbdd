"""Text from outside, made harmless for terminals, pipes and files."""

from __future__ import annotations

import json

import pytest

from flowstudio.text import count, duration, first_line, harmless, in_tongue_of, shorten, to_json


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, 中文, é, 😀\n\tkept", "plain, 中文, é, 😀\n\tkept"),
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("bell\x07 nul\x00 del\x7f", "bell␇ nul␀ del␡"),
        ("line\r\nend", "line\nend"),
        ("\x9b31m \x9d0;title\x9c", "�31m �0;title�"),
        ("a\u202eb\u2066c", "a�b�c"),
        ("one\u2028two\u2029three", "one\ntwo\nthree"),
    ],
)
def test_nothing_in_a_text_can_act_on_the_terminal(text: str, shown: str) -> None:
    assert harmless(text) == shown


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", "gbk"])
@pytest.mark.parametrize(
    "text", ["plain", "é 中 😀", "\x1b\x07\x7f\x9b", "\u202e\u2066\u2028", "\ud800 \udfff", '"\\\n']
)
def test_json_loses_nothing_and_fits_the_stream(text: str, encoding: str) -> None:
    line = to_json({"text": text}, encoding=encoding)
    line.encode(encoding)
    assert json.loads(line) == {"text": text}
    assert harmless(line) == line


def test_json_stays_readable_where_the_stream_can_show_it() -> None:
    assert to_json({"a": "中é"}) == '{"a": "中é"}'
    assert to_json({"a": "中"}, encoding="ascii") == '{"a": "\\u4e2d"}'


@pytest.mark.parametrize(
    ("text", "line"),
    [("", ""), ("\n \n  a b \nc", "a b"), ("one", "one"), (" \n\t\n", "")],
)
def test_the_first_line_is_the_first_that_holds_anything(text: str, line: str) -> None:
    assert first_line(text) == line


@pytest.mark.parametrize(
    ("length", "short"), [(9, "a bc defg"), (8, "a bc de…"), (5, "a bc…"), (1, "…"), (0, "…")]
)
def test_a_text_is_shortened_on_one_line(length: int, short: str) -> None:
    assert shorten("a  bc\n defg", length) == short


@pytest.mark.parametrize(
    ("number", "shown"), [(0, "0"), (999, "999"), (12_345, "12.3k"), (4_100_000, "4.1M")]
)
def test_counts_are_short(number: int, shown: str) -> None:
    assert count(number) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.04, "0.0s"), (9.9, "9.9s"), (12.4, "12s"), (185, "3m05"), (7800, "2h10")],
)
def test_lengths_of_time_are_short(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


BOTH = "数据清洗：处理 CSV 里的重复。Data cleaning - settle duplicates in a table."


@pytest.mark.parametrize(
    ("reader", "text", "shown"),
    [
        ("tidy up", BOTH, "Data cleaning - settle duplicates in a table."),
        ("整理 CSV", BOTH, "数据清洗：处理 CSV 里的重复。"),
        ("整理", "Only in English, this one.", "Only in English, this one."),
        ("tidy up", "只有中文。", "只有中文。"),
        ("tidy up", "先读 JSON，再写 CSV file", "先读 JSON，再写 CSV file"),
        ("tidy up", "", ""),
    ],
)
def test_of_a_text_in_two_languages_the_readers_is_shown(reader: str, text: str, shown: str):
    assert in_tongue_of(reader, text) == shown
