"""Labels become harmless, keep their width, and are wrapped and shortened by cells."""

from __future__ import annotations

from unicodedata import category

import pytest
from hypothesis import given, strategies as st
from rich.cells import cell_len

from flowstudio.drawing import draw
from flowstudio.drawing.text import clean, clusters, fit, shorten, width_of, wrap
from tests.drawing.charts import build, chart
from tests.drawing.reader import read

HARMLESS = [
    ("\x1b[31mred\x1b[0m", ("␛[31mred␛[0m",)),
    ("bell\x07 null\x00 delete\x7f", ("bell␇ null␀ delete␡",)),
    ("\x9b31m", ("�31m",)),
    ("a\u202eb\u2066c\u200f", ("a�b�c�",)),
    ("zero\u200bwidth\ufeff", ("zero�width�",)),
    ("a\tb\n\tc", ("a   b", "    c")),
    ("one\r\ntwo\rthree\u2028four", ("one", "two", "three", "four")),
    ("e\u0301te\u0301", ("e\u0301te\u0301",)),
    ("\u0301alone", ("◌\u0301alone",)),
    ("lone \ud800 surrogate", ("lone � surrogate",)),
    ("hard\xa0space", ("hard space",)),
    ("👨\u200d👩\u200d👧 ❤\ufe0f", ("👨\u200d👩\u200d👧 ❤\ufe0f",)),
    ("\n\n  text  \n\n", ("  text",)),
    ("", ()),
    (" \n ", ()),
]


@pytest.mark.parametrize(("text", "lines"), HARMLESS)
def test_what_could_disturb_a_terminal_is_shown_as_a_sign(
    text: str, lines: tuple[str, ...]
) -> None:
    assert clean(text) == lines


@given(st.text())
def test_cleaned_text_shows_everything_and_stays_as_it_is_when_cleaned_again(
    text: str,
) -> None:
    lines = clean(text)
    for line in lines:
        assert all(
            char.isprintable() or char == "\u200d" or category(char) in ("Co", "Cn")
            for char in line
        )
    assert clean("\n".join(lines)) == lines


@given(st.text())
def test_widths_agree_with_what_the_terminal_library_measures(text: str) -> None:
    for line in clean(text):
        assert width_of(line) == cell_len(line) == sum(size for _, size in clusters(line))


@given(st.text(), st.integers(2, 40))
def test_wrapped_rows_fit_and_lose_nothing_but_spaces(text: str, width: int) -> None:
    for line in clean(text):
        rows = wrap(line, width)
        assert all(width_of(row) <= width for row in rows)
        assert "".join("".join(rows).split()) == "".join(line.split())
        assert not any(row.endswith(" ") for row in rows)


@given(st.text(), st.integers(2, 40))
def test_a_shortened_line_fits_and_says_that_something_is_missing(text: str, width: int) -> None:
    for line in clean(text):
        short = shorten(line, width)
        assert width_of(short) <= width
        assert short == line or short.endswith("…")


WRAPPED = [
    ("read every hunk of it", 10, ("read every", "hunk of it")),
    ("abcdefghijkl", 5, ("abcde", "fghij", "kl")),
    ("  - an indented point", 12, ("  - an", "  indented", "  point")),
    ("列出要翻译的文件", 7, ("列出要", "翻译的", "文件")),
    ("两边的结构，一致吗", 10, ("两边的结", "构，一致吗")),
    ("run git diff 然后检查结果", 14, ("run git diff", "然后检查结果")),
]


@pytest.mark.parametrize(("line", "width", "rows"), WRAPPED)
def test_lines_are_wrapped_at_words_and_between_wide_characters(
    line: str, width: int, rows: tuple[str, ...]
) -> None:
    assert fit((line,), width) == rows


def test_a_node_without_a_label_shows_its_id() -> None:
    assert "│ the id │" in draw(build(["the id"], [], {"the id": ""})).text()


def test_a_hostile_label_cannot_leave_its_box() -> None:
    labels = {
        "a": "\x1b[2J\x1b]0;title\x07 \u202e right to left \ufeff",
        "b": "עברית العربية ไทย हिन्दी",
        "c": "🇩🇪 👩‍🚀 ✔️ " + "\u0301" * 40,
    }
    one = chart("a -> b -> c\nb -> a | \x1b[0m", labels)
    text = draw(one).text()
    assert "\x1b" not in text
    assert "\u202e" not in text
    rows = text.split("\n")[:-1]
    for box in draw(one).boxes.values():
        right = box.x + box.width - 1
        for y in range(box.y + 1, box.y + box.height - 1):
            head = ""
            for char in rows[y]:
                if cell_len(head) >= right:
                    break
                head += char
            assert cell_len(head) == right
    assert len(read(draw(chart("a -> b")).text()).boxes) == 2


@pytest.mark.parametrize(
    "label", ["word " * 4_000, "x" * 20_000, "列出要翻译" * 4_000, "- a\n" * 4_000]
)
def test_a_very_long_label_is_drawn_whole_and_shortened_to_a_title(label: str) -> None:
    one = chart("A", {"A": label})
    shown = draw(one).text().replace("│", " ")
    assert "".join(label.split()) in "".join(shown.split())
    assert draw(one, zoom="title").width < 50
