"""Where things stand: what a Drawing promises to whoever shows it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from rich.cells import cell_len

from flowstudio.drawing import Box, Drawing, EdgeRef, NodeRef, choose_direction, draw
from flowstudio.drawing.text import clusters
from flowstudio.flow.model import Direction, Flow, group_edges
from tests.drawing.charts import SHAPES, build, chart, program_chart, random_chart

DRAWN = [*SHAPES.values(), *(random_chart(seed) for seed in range(40)), program_chart(3, 60)]
WAYS: tuple[Direction, ...] = ("TD", "LR", "BT", "RL")


def touches(box: Box, cell: tuple[int, int]) -> bool:
    x, y = cell
    beside = x in (box.x - 1, box.x + box.width) and box.y <= y < box.y + box.height
    over = y in (box.y - 1, box.y + box.height) and box.x <= x < box.x + box.width
    return beside or over


def bends(cells: tuple[tuple[int, int], ...]) -> int:
    ways = [(x1 - x0, y1 - y0) for (x0, y0), (x1, y1) in pairwise(cells)]
    return sum(a != b for a, b in pairwise(ways))


@pytest.mark.parametrize("zoom", ["full", "title", "dot"])
def test_a_path_leads_cell_by_cell_from_its_source_to_its_target(zoom) -> None:
    for number, one in enumerate(DRAWN):
        drawing = draw(one, zoom=zoom, direction=WAYS[number % 4])
        assert [path.index for path in drawing.paths] == list(range(len(one.edges)))
        for path, edge in zip(drawing.paths, one.edges, strict=True):
            assert (path.src, path.dst) == (edge.src, edge.dst)
            cells = path.cells
            assert all(abs(a - c) + abs(b - d) == 1 for (a, b), (c, d) in pairwise(cells))
            assert len(set(cells)) == len(cells)
            assert touches(drawing.boxes[path.src], cells[0])
            assert touches(drawing.boxes[path.dst], cells[-1])


@pytest.mark.parametrize("zoom", ["full", "title", "dot"])
def test_rows_hold_runs_in_order_that_do_not_overlap_and_are_as_wide_as_they_say(zoom) -> None:
    for number, one in enumerate(DRAWN):
        drawing = draw(one, zoom=zoom, direction=WAYS[number % 4])
        assert len(drawing.rows) == drawing.height
        for row in drawing.rows:
            end = 0
            for run in row:
                assert run.x >= end
                assert run.width == cell_len(run.text) > 0
                end = run.x + run.width
            assert end <= drawing.width


def test_boxes_keep_at_least_one_cell_apart() -> None:
    for one in DRAWN:
        boxes = sorted(draw(one).boxes.values(), key=lambda box: box.y)
        for number, a in enumerate(boxes):
            for b in boxes[number + 1 :]:
                apart = (
                    a.x + a.width < b.x
                    or b.x + b.width < a.x
                    or a.y + a.height < b.y
                    or b.y + b.height < a.y
                )
                assert apart


def test_each_cell_knows_what_it_belongs_to() -> None:
    drawing = draw(SHAPES["loop_back"])
    box = drawing.boxes["C"]
    for x in range(box.x, box.x + box.width):
        for y in range(box.y, box.y + box.height):
            assert drawing.at(x, y) == NodeRef("C")
    for path in drawing.paths:
        assert drawing.at(*path.cells[-1]) == EdgeRef(path.index)
        if path.label:
            assert drawing.at(*path.label[:2]) == EdgeRef(path.index)
    assert drawing.at(0, 0) is None
    assert drawing.at(-1, 0) is None
    assert drawing.at(0, drawing.height) is None


def test_forward_edges_go_in_the_direction_of_the_drawing() -> None:
    for one in DRAWN:
        down, right = draw(one), draw(one, direction="LR")
        for drawing, side in ((down, "y"), (right, "x")):
            for path in drawing.paths:
                start = getattr(drawing.boxes[path.src], side)
                end = getattr(drawing.boxes[path.dst], side)
                assert path.src == path.dst or (end < start) == path.back


def test_begin_stands_first_even_where_edges_lead_back_to_it() -> None:
    one = chart("A -> BEGIN\nBEGIN -> B -> A\nB -> END | done")
    assert draw(one).boxes["BEGIN"].y == 0
    assert draw(one, direction="LR").boxes["BEGIN"].x == 0


@pytest.mark.parametrize("way", WAYS)
def test_a_chain_is_straight(way: Direction) -> None:
    one = chart("BEGIN -> a -> a longer step -> b -> END")
    for path in draw(one, direction=way).paths:
        assert bends(path.cells) == 0


def test_the_main_line_is_straight_and_a_branch_beside_it_turns_once() -> None:
    drawing = draw(SHAPES["loop_back"])
    assert [bends(path.cells) for path in drawing.paths] == [0, 0, 0, 1, 2, 0]


def test_the_review_pipeline_is_compact() -> None:
    one = SHAPES["review_pipeline"]
    assert len(one.nodes) == 20
    drawing = draw(one)
    assert drawing.height <= 80
    assert drawing.width <= 60


def test_the_main_line_of_a_long_flow_does_not_drift() -> None:
    for seed, most in ((0, 120), (1, 105), (2, 115)):
        assert draw(program_chart(seed, 200), zoom="title").width <= most


def test_a_wished_width_makes_a_drawing_narrower() -> None:
    one = SHAPES["long_labels"]
    assert draw(one, width=50).width <= 50 < draw(one).width


def test_only_back_edges_and_self_loops_are_marked_as_leading_back() -> None:
    drawing = draw(SHAPES["nested_loops"])
    back = {(path.src, path.dst) for path in drawing.paths if path.back}
    assert back == {("test", "code"), ("review", "plan"), ("review", "code")}


def test_a_drawing_wider_than_the_window_is_turned_to_go_down() -> None:
    one = chart("BEGIN -> collect -> check -> publish -> END", direction="LR")
    assert choose_direction(one, width=200) == "LR"
    assert choose_direction(one, width=40) == "TD"


def test_an_empty_chart_gives_an_empty_drawing() -> None:
    drawing = draw(build([], []))
    assert isinstance(drawing, Drawing)
    assert (drawing.width, drawing.height, drawing.text()) == (0, 0, "")


def test_a_flow_and_its_chart_give_the_same_picture() -> None:
    for one in (SHAPES["loop_back"], SHAPES["review_pipeline"], SHAPES["ralph"]):
        flow = Flow(dict(one.nodes), group_edges(one.nodes, one.edges), "BEGIN", "END")
        drawing = draw(flow)
        assert drawing.text() == draw(one).text()
        edges = tuple(flow.edges)
        assert [(path.src, path.dst) for path in drawing.paths] == [(e.src, e.dst) for e in edges]


def test_the_order_in_which_edges_of_different_nodes_are_written_does_not_matter() -> None:
    one = SHAPES["review_pipeline"]

    turned = sorted(one.edges, key=lambda edge: -list(one.nodes).index(edge.src))
    labels = {node.id: node.text for node in one.nodes.values()}
    assert draw(build(list(one.nodes), turned, labels)).text() == draw(one).text()


WINDOWS = [(0, 0, 20, 10), (5, 3, 7, 30), (13, -2, 60, 90), (500, 0, 9, 9)]


def test_a_window_shows_the_same_cells_as_the_whole() -> None:
    for one in (SHAPES["cjk_and_emoji"], SHAPES["review_pipeline"], random_chart(7, 30)):
        whole = cells_of(draw(one).rows)
        for x, y, width, height in (
            (0, 0, 20, 10),
            (5, 3, 7, 30),
            (13, -2, 60, 90),
            (500, 0, 9, 9),
        ):
            seen = cells_of(draw(one).window(x, y, width, height), y)
            for cell, shown in seen.items():
                assert x <= cell[0] < x + width
                # Half of a wide character at the window's edge is shown as a space.
                assert shown == whole[cell] or (shown[0] == " " and cell_len(whole[cell][0]) != 1)
            inside = {c for c in whole if x <= c[0] < x + width and y <= c[1] < y + height}
            assert set(seen) == inside


def cells_of(rows, top: int = 0) -> dict[tuple[int, int], tuple[str, object]]:
    """Character and owner of each cell; the second cell of a wide character is empty."""
    found: dict[tuple[int, int], tuple[str, object]] = {}
    for y, row in enumerate(rows, top):
        for run in row:
            x = run.x
            for cluster, size in clusters(run.text):
                found[x, y] = (cluster, run.owner)
                for more in range(1, size):
                    found[x + more, y] = ("", run.owner)
                x += size
    return found
