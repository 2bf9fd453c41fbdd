"""Three zoom levels, two glyph sets, marks."""

from __future__ import annotations

import pytest

from flowstudio.drawing import draw
from tests.drawing.charts import SHAPES, chart

PROMPT = (
    "First pass: correctness. Read every hunk together with its function.\nNote findings.\nStop."
)

ASCII_SHAPES = [
    name
    for name, one in SHAPES.items()
    if all(node.text.isascii() for node in one.nodes.values())
    and all((edge.label or "").isascii() for edge in one.edges)
]


def test_full_shows_the_whole_prompt() -> None:
    text = draw(chart("A", {"A": PROMPT}), zoom="full").text()
    shown = "".join(text.replace("│", " ").split())
    assert "".join(PROMPT.split()) in shown


def test_title_shows_the_first_line_shortened_and_counts_the_hidden_lines() -> None:
    text = draw(chart("A", {"A": PROMPT}), zoom="title").text()
    assert text.split("\n")[1] == "│ First pass: correctness. Read… +2 │"


def test_title_counts_nothing_where_nothing_is_hidden() -> None:
    assert "+" not in draw(SHAPES["loop_back"], zoom="title").text()


def test_dot_shows_each_node_as_a_sign_of_its_kind() -> None:
    drawing = draw(SHAPES["ralph"], zoom="dot")
    assert drawing.text() == "●\n▼\n■\n▼\n◆──╮\n◆◄─╯\n▼\n●\n"


@pytest.mark.parametrize("name", SHAPES)
def test_each_zoom_level_is_smaller_than_the_one_before(name: str) -> None:
    full, title, dot = (draw(SHAPES[name], zoom=zoom) for zoom in ("full", "title", "dot"))
    assert full.height >= title.height > dot.height
    assert title.width > dot.width


@pytest.mark.parametrize("zoom", ["full", "title", "dot"])
@pytest.mark.parametrize("name", ASCII_SHAPES)
def test_the_ascii_set_is_ascii(name: str, zoom) -> None:
    text = draw(SHAPES[name], glyphs="ascii", zoom=zoom).text()
    assert text.replace("…", "").isascii()


def test_the_kinds_of_nodes_are_told_apart_by_outline_and_sign() -> None:
    rows = draw(SHAPES["ralph"]).text().split("\n")
    assert [row.strip() for row in (rows[0], rows[4], rows[8])] == [
        "╭───────╮",
        "┌─────────────┐",
        "╔═════════════════════════╗",
    ]
    assert "◆ Is the task complete?" in rows[9]


def test_a_mark_stands_in_the_upper_border_of_its_node() -> None:
    drawing = draw(SHAPES["ralph"], marks={"R1": "✓ 12"})
    box = drawing.boxes["R1"]
    assert "─✓ 12─┐" in drawing.text().split("\n")[box.y]
    assert [run.role for run in drawing.rows[box.y]] == ["border", "mark", "border"]
