"""Marks in text: each state is seen without colours, in both glyph sets and at every zoom."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from flowstudio.drawing import Drawing, Marks, NodeRef, Palette, draw, draw_marked
from flowstudio.drawing.lines import text_lines
from flowstudio.drawing.marks import legend
from flowstudio.drawing.text import width_of
from tests.drawing.charts import SHAPES, chart, random_chart, sparse_chart
from tests.drawing.reader import read, squeeze

LOOP = SHAPES["loop_back"]  # 0 BEGIN-B, 1 B-C, 2 C-D Yes, 3 C-E No, 4 E-B, 5 D-END


def rows_of(drawing, node: str) -> list[str]:
    """The characters of a node's box, row by row."""
    box = drawing.boxes[node]
    cut: list[str] = []
    for row in drawing.text().split("\n")[box.y : box.y + box.height]:
        assert row.isprintable()
        cut.append(row[box.x : box.x + box.width])
    return cut


def test_without_marks_it_is_the_plain_drawing() -> None:
    for one in SHAPES.values():
        assert draw_marked(one, Marks()).text() == draw(one).text()


@pytest.mark.parametrize(
    ("glyphs", "marks", "upper"),
    [
        ("unicode", Marks(nodes={"B": "done"}, tags={"B": "✓3"}), "┌──────────────────✓3─┐"),
        ("unicode", Marks(nodes={"B": "now"}, flags={"B": "▶"}), "┏━━━━━━━━━━━━━━━━━━━▶━┓"),
        ("unicode", Marks(nodes={"B": "fault"}, flags={"B": "✗"}), "┏━━━━━━━━━━━━━━━━━━━✗━┓"),
        ("unicode", Marks(breakpoints=frozenset("B")), "┌───────────────────●─┐"),
        (
            "unicode",
            Marks({"B": "now"}, flags={"B": "⏸"}, tags={"B": "visit 2"}, breakpoints={"B"}),
            "┏━━━━━━━━━● ⏸ visit 2━┓",
        ),
        ("ascii", Marks(nodes={"B": "done"}, tags={"B": "✓3"}), "+-----------------ok3-+"),
        ("ascii", Marks(nodes={"B": "now"}, flags={"B": "▶"}), "*" * 19 + ">>**"),
        ("ascii", Marks(nodes={"B": "fault"}, flags={"B": "✗"}), "*" * 19 + "XX**"),
        ("ascii", Marks(breakpoints=frozenset("B")), "+-----------------(B)-+"),
    ],
)
def test_a_state_is_told_by_the_outline_and_by_a_sign(glyphs, marks: Marks, upper: str) -> None:
    drawing = draw_marked(LOOP, marks, glyphs=glyphs)
    assert rows_of(drawing, "B")[0] == upper


def test_a_box_is_made_wide_enough_for_what_stands_in_its_border() -> None:
    marks = Marks({"A": "now"}, tags={"A": "visit 1234567"}, flags={"A": "⏸"})
    drawing = draw_marked(chart("A"), marks)
    assert "⏸ visit 1234567" in drawing.text()
    assert drawing.text().split("\n")[1].strip("┃ ") == "A"


def test_taken_lines_are_heavy_forced_ones_dashed_and_others_light() -> None:
    text = draw_marked(LOOP, Marks(edges={4: "done", 3: "forced"}, counts={3: 1, 4: 1})).text()
    assert "┃" in text
    assert "╏ ⇢ No" in text
    assert "│ Yes" in text


def test_a_line_that_is_all_arrowhead_shows_by_it_whether_it_was_taken() -> None:
    small = chart("A -> B -> C")
    text = draw_marked(small, Marks(nodes={"A": "done"}, edges={0: "done"}, counts={0: 1})).text()
    assert [sign for sign in text if sign in "▼▽"] == ["▼", "▽"]


def test_counts_above_one_stand_beside_their_edge() -> None:
    marks = Marks(edges=dict.fromkeys(range(5), "done"), counts={0: 1, 1: 3, 4: 12})
    text = draw_marked(LOOP, marks).text()
    assert "×3" in text
    assert "×12" in text
    assert "×1 " not in text


def test_in_ascii_every_taken_edge_has_its_count_for_there_are_no_heavy_lines() -> None:
    marks = Marks(edges={0: "done", 3: "forced"}, counts={0: 1, 3: 2})
    text = draw_marked(LOOP, marks, glyphs="ascii").text()
    assert text.isascii()
    assert "x1" in text
    assert "~> No x2" in text


@pytest.mark.parametrize("seed", range(12))
def test_where_a_taken_line_crosses_another_the_cross_tells_which_is_which(seed: int) -> None:
    one = random_chart(seed, 14)
    marks = Marks(
        edges=dict.fromkeys(range(0, len(one.edges), 2), "done"),
        counts=dict.fromkeys(range(0, len(one.edges), 2), 1),
    )
    drawing = draw_marked(one, marks)
    taken = {path.index: path.index in marks.edges for path in drawing.paths}
    ways: dict[tuple[int, int], dict[str, bool]] = {}
    for path in drawing.paths:
        for before, here in pairwise(path.cells):
            axis = "level" if before[1] == here[1] else "upright"
            for cell in (before, here):
                ways.setdefault(cell, {})[axis] = taken[path.index]
    crosses = {(False, False): "┼", (True, False): "┿", (False, True): "╂", (True, True): "╋"}
    for y, row in enumerate(drawing.rows):
        for run in row:
            if run.role == "crossing":
                assert run.text == crosses[ways[run.x, y]["level"], ways[run.x, y]["upright"]]


@pytest.mark.parametrize(
    ("marks", "sign"),
    [
        (Marks(nodes={"B": "done"}), "✓"),
        (Marks(nodes={"B": "now"}, flags={"B": "⏸"}), "⏸"),
        (Marks(nodes={"B": "fault"}, flags={"B": "✗"}), "✗"),
        (Marks(breakpoints=frozenset("B")), "◉"),
    ],
)
def test_as_a_dot_a_node_is_the_sign_of_its_state(marks: Marks, sign: str) -> None:
    assert sign in draw_marked(LOOP, marks, zoom="dot").text()
    assert sign not in draw(LOOP, zoom="dot").text()


def test_a_window_shows_the_same_marks_as_the_whole() -> None:
    marks = Marks({"B": "now"}, {1: "done"}, flags={"B": "▶"}, counts={1: 2})
    drawing = draw_marked(LOOP, marks)
    whole = drawing.rows[:]
    assert drawing.window(0, 0, drawing.width, drawing.height) == tuple(whole)
    assert drawing.rows[-1] == whole[-1]
    assert len(drawing.rows) == drawing.height


# read back by a reader that knows nothing of marks

PLAIN = str.maketrans("━┃╍╏╌╎┏┓┗┛┿╂╋△▷▽◁", "─│─│─│╭╮╰╯┼┼┼▲►▼◄")


def unmark(drawing: Drawing) -> str:
    """The drawing with plain strokes, and the borders of tasks in the place of their tags."""
    lines: list[str] = []
    borders = {
        (box.id, y): box for box in drawing.boxes.values() for y in (box.y, box.y + box.height - 1)
    }
    for y, row in enumerate(drawing.rows):
        line = ""
        for run in row:
            line += " " * (run.x - width_of(line))
            is_tag = isinstance(run.owner, NodeRef) and (run.owner.id, y) in borders
            if run.role == "mark" and is_tag:
                line += "─" * run.width
            elif run.role in ("edge", "arrow", "crossing"):
                line += run.text.translate(PLAIN)
            else:
                line += run.text
        lines.append(line)
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize("seed", range(48))
def test_a_marked_drawing_reads_back_as_the_chart_with_its_counts(seed: int) -> None:
    chosen = random.Random(seed)
    one = random_chart(seed) if seed % 2 else sparse_chart(seed, 9, 12)
    tasks = [node.id for node in one.nodes.values() if node.kind != "decision"]
    counts = {n: chosen.randint(1, 12) for n in range(len(one.edges)) if chosen.random() < 0.6}
    marks = Marks(
        nodes=dict.fromkeys(tasks, "done"),
        edges={n: chosen.choice(["done", "forced"]) for n in counts},
        tags={node: f"✓{chosen.randint(1, 200)}" for node in tasks},
        counts=counts,
        breakpoints=frozenset(chosen.sample(tasks, len(tasks) // 2)),
    )
    drawing = draw_marked(one, marks, direction=("TD", "LR", "BT", "RL")[seed // 2 % 4])

    picture = read(unmark(drawing))

    text = {node.id: squeeze(node.text) for node in one.nodes.values()}
    wanted: list[tuple[str, str, str]] = []
    for n, edge in enumerate(one.edges):
        sign = "⇢" if marks.edges.get(n) == "forced" else ""
        count = f"×{counts[n]}" if counts.get(n, 1) > 1 else ""
        wanted.append((text[edge.src], text[edge.dst], squeeze(sign + (edge.label or "") + count)))
    assert picture.triples() == sorted(wanted)
    assert sorted(box.text for box in picture.boxes) == sorted(text.values())


# legend


def test_the_legend_names_the_signs_that_are_used_and_no_others() -> None:
    marks = Marks({"B": "done", "C": "now"}, {3: "forced"}, flags={"C": "⏸"}, counts={3: 2})
    assert legend(marks) == (
        "⏸ paused or waiting   ✓ visited   ━ ▼ taken   × times taken   ⇢ ╍ by hand"
    )
    assert legend(Marks()) == ""
    assert legend(marks, "ascii").isascii()


# lines


def test_lines_are_painted_by_state_and_read_the_same_without_the_paint() -> None:
    marks = Marks({"B": "now", "C": "done"}, {3: "forced", 4: "done"}, flags={"B": "▶"})
    drawing = draw_marked(LOOP, marks)
    inks: dict[str, set[str]] = {}

    def note(text: str, ink: str) -> str:
        inks.setdefault(ink, set()).add(text)
        return text

    lines = list(text_lines(drawing, marks, paint=note))

    assert lines == drawing.text().split("\n")[:-1]
    assert "▶" in inks["now"]
    assert any("╍" in text or "╏" in text for text in inks["forced"])
    assert any("┃" in text for text in inks["done"])
    assert "Analyze the changes" in inks["text"]
    assert "◆" in inks["accent"]
    assert set(inks) <= {name for name, _ in Palette().items()}


def test_what_an_encoding_cannot_say_leaves_the_columns_in_place() -> None:
    drawing = draw(SHAPES["cjk_and_emoji"], glyphs="ascii")
    lines = list(text_lines(drawing, encoding="ascii"))
    assert all(line.isascii() for line in lines)
    whole = drawing.text().split("\n")
    assert [len(line) for line in lines] == [width_of(line) for line in whole[:-1]]
    assert "????????????" in "\n".join(lines)
