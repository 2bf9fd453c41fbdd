"""Markdown in the chat: lines of pieces that fit, whatever a model writes and wherever it stops."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st
from rich.cells import cell_len

from flowstudio.studio.chat_answer import Answer
from flowstudio.studio.chat_lines import Line, plain, wrap
from flowstudio.studio.chat_markdown import calm, last_block, markdown_lines


def shown(text: str, width: int = 40, *, is_live: bool = False) -> list[str]:
    return [plain(line).rstrip() for line in markdown_lines(text, width, is_live=is_live)]


def role_of(lines: list[Line], text: str) -> str:
    return next(role for line in lines for piece, role in line if text in piece)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("# Head\ntext", ["Head", "", "text"]),
        ("one\ntwo", ["one", "two"]),
        ("- a\n- b\n  - c", ["• a", "• b", "  • c"]),
        ("3. c\n4. d", ["3. c", "4. d"]),
        ("> said", ["▎ said"]),
        ("a **b** `c` ~~d~~", ["a b c d"]),
        ("[words](https://a.org/x)", ["words (https://a.org/x)"]),
        ("```sh\nls  -l\n```", [" ls  -l"]),
        ("text\n---\nmore", ["text", "", "─" * 40, "", "more"]),
        ("|a|b|\n|-|-|\n|1|2|", ["a   │ b", "────┼────", "1   │ 2"]),
        ("<b>not HTML</b> &lt;", ["<b>not HTML</b> <"]),
        ("[bold]no markup[/bold]", ["[bold]no markup[/bold]"]),
        ("![a cat](http://x/cat.png)", ["[a cat] http://x/cat.png"]),
    ],
)
def test_markdown_reads_as_it_is_meant(text: str, lines: list[str]) -> None:
    assert shown(text) == lines


def test_chinese_is_parted_between_signs_but_never_before_a_full_stop() -> None:
    lines = shown("这是一个很长的中文句子，需要换行，因为它没有空格。", 20)
    assert all(cell_len(line) <= 20 for line in lines)
    assert all(line[0] not in "，。" for line in lines)
    assert "".join(lines) == "这是一个很长的中文句子，需要换行，因为它没有空格。"


def test_a_wide_table_wraps_its_cells_and_in_no_room_becomes_a_list() -> None:
    table = "|name|what it says|\n|-|-|\n|one|" + "word " * 12 + "|\n"
    assert all(len(line) <= 30 for line in shown(table, 30))
    assert shown("|a|b|c|d|\n|-|-|-|-|\n|1|2|3|4|", 12) == ["a: 1", "b: 2", "c: 3", "d: 4"]


def test_the_dashes_of_a_table_say_where_its_columns_stand() -> None:
    table = "|name|count|sort|\n|:--|--:|:-:|\n|milk|7|a|\n|bread|1,250|long word|\n"
    assert shown(table) == [
        "name  │ count │   sort",
        "──────┼───────┼──────────",
        "milk  │     7 │     a",
        "bread │ 1,250 │ long word",
    ]


def test_columns_of_wide_signs_stand_in_line() -> None:
    table = "|名|数量|\n|-|-:|\n|牛奶|7|\n|面包 **黑**|一千二|\n"
    lines = shown(table)
    assert {cell_len(line.split("│")[0]) for line in lines if "│" in line} == {8}
    assert {cell_len(line) for line in lines} == {7 + 3 + 6}


def test_a_cell_that_is_folded_stands_at_its_side_in_each_line() -> None:
    table = "|a|b|\n|-|-:|\n|x|one two three four five six|\n"
    lines = shown(table, 16)
    assert [line[6:] for line in lines[2:]] == ["   one two", "three four", "  five six"]


def test_code_is_told_apart_by_the_theme_and_stands_on_its_own_ground() -> None:
    lines = markdown_lines('```python\ndef f():\n    return "x"  # why\n```', 40)
    assert role_of(lines, "def") == "accent @panel"
    assert role_of(lines, "x") == "done @panel"
    assert role_of(lines, "why") == "dim italic @panel"
    assert {cell_len(plain(line)) for line in lines} == {40}


def test_only_plain_addresses_become_links() -> None:
    assert "link=https://a.org" in role_of(markdown_lines("see https://a.org.", 40), "https")
    for bad in ("javascript:alert(1)", "file:///etc/passwd", "data:text/html,x"):
        lines = markdown_lines(f"[x](<{bad}>)", 60)
        assert not any("link=" in role for line in lines for _, role in line)
    lines = markdown_lines("[x](<https://a.org/\x1b]0;x>)", 60)
    assert not any("\x1b" in text + role for line in lines for text, role in line)


@pytest.mark.parametrize(
    ("half", "looks_like"),
    [
        ("a **bo", "a **bo**"),
        ("a **bold*", "a **bold**"),
        ("see `co", "see `co`"),
        ("text\n``", "text"),
        ("text\n-", "text"),
        ("text\n\n#", "text\n"),
        ("```py\nx = **", "```py\nx = **"),
    ],
)
def test_a_half_written_mark_does_not_flicker(half: str, looks_like: str) -> None:
    assert calm(half) == looks_like


def test_a_block_of_code_that_grows_never_looks_like_text() -> None:
    whole = "Look:\n\n```python\nx = 1\n# a comment\n- no list\n```\n\nDone."
    start, end = whole.index("x = 1"), whole.index("```\n\nDone")
    for cut in range(start + 1, end):
        lines = markdown_lines(whole[:cut], 40, is_live=True)
        inked = [role for line in lines[2:] for text, role in line if text]
        assert all("@panel" in role for role in inked), whole[:cut]


_MARKS = ["# ", "- ", "1. ", "> ", "```py\n", "```\n", "`", "**", "*", "|", "|-|-|\n", "[a](", ")"]
_WORDS = [
    "word ",
    "wörter ",
    "中文字，",
    "。",
    "\n",
    "\n\n",
    "    ",
    "\t",
    "<choice>",
    "🙂",
    "x" * 30,
]
_MARKDOWN = st.lists(
    st.sampled_from([*_MARKS, *_WORDS]),
    max_size=40,
).map("".join)


@settings(max_examples=60, deadline=None)
@given(text=_MARKDOWN, width=st.integers(14, 60), is_live=st.booleans())
def test_no_line_is_wider_than_the_pane(text: str, width: int, is_live: bool) -> None:
    for line in markdown_lines(text.expandtabs(4), width, is_live=is_live):
        assert cell_len(plain(line)) <= width


@settings(max_examples=60, deadline=None)
@given(
    words=st.lists(st.sampled_from(["a", "bcd", "中文", "x" * 25, "é", "。"])),
    width=st.integers(2, 30),
)
def test_wrapping_loses_no_sign(words: list[str], width: int) -> None:
    lines = wrap([(word + " ", "text") for word in words], width)
    assert "".join(map(plain, lines)).replace(" ", "") == "".join(words)
    assert all(cell_len(plain(line)) <= width for line in lines)


@settings(max_examples=40, deadline=None)
@given(blocks=st.lists(_MARKDOWN, min_size=3, max_size=12))
def test_an_answer_in_pieces_is_the_answer(blocks: list[str]) -> None:
    text = "\n\n".join(block + " some more words" * 20 for block in blocks)
    first = Answer(text)
    pieces = [first]
    while (after := pieces[-1].split()) is not None:
        pieces.append(after)
    assert "".join(piece.text for piece in pieces) == text
    assert pieces[-1].source == text.strip()


@pytest.mark.parametrize(
    ("text", "head", "rows"),
    [
        ("one\n\ntwo", "one\n\n", 1),
        ("text\n\n- a\n- b", "text\n\n", 1),
        ("- a\n- b\n- c", "- a\n- b\n", 0),
        ("- a\n\n- b\n\n- c", "- a\n\n- b\n\n", 1),
    ],
)
def test_an_answer_is_parted_where_a_block_or_an_item_begins(
    text: str, head: str, rows: int
) -> None:
    assert last_block(text) == (len(head), rows)


def test_a_single_block_is_not_parted() -> None:
    assert last_block("```\na\n\nb\n```") is None
    assert last_block("a\nb") is None
