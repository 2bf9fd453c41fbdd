"""Parts of a chart that no edge connects stand apart, within the width wished for."""

from __future__ import annotations

import pytest

from flowstudio.drawing import Drawing, draw
from flowstudio.drawing.parts import find_parts
from flowstudio.flow.chart import Chart
from flowstudio.flow.model import Direction
from tests.drawing.charts import build, chart, random_chart
from tests.drawing.reader import read

MANY = chart(
    "x -> y\ny -> x | back\n"
    + "\n".join(f"p{n} -> q{n} -> r{n}\np{n} -> r{n} | skip" for n in range(12))
    + "\nBEGIN -> A -> END\nalone\nanother"
)
WAYS: tuple[Direction, ...] = ("TD", "LR", "BT", "RL")

FOUND: list[tuple[int, list[tuple[int, int]], list[int], list[list[int]]]] = [
    (0, [], [], []),
    (3, [], [], [[0], [1], [2]]),
    (4, [(0, 2), (3, 1)], [], [[0, 2], [1, 3]]),
    (4, [(0, 2), (3, 1)], [3], [[1, 3], [0, 2]]),
    (3, [(1, 1), (2, 0), (0, 2)], [1], [[1], [0, 2]]),
]


@pytest.mark.parametrize(("count", "edges", "first", "parts"), FOUND)
def test_parts_come_in_source_order_but_that_with_begin_is_first(
    count: int, edges: list[tuple[int, int]], first: list[int], parts: list[list[int]]
) -> None:
    assert [part.nodes for part in find_parts(count, edges, first)] == parts


def areas(drawing: Drawing, one: Chart) -> list[tuple[int, int, int, int]]:
    """The first and last columns and rows of each part, its lines included."""
    number = {node_id: index for index, node_id in enumerate(one.nodes)}
    found = find_parts(len(number), [(number[e.src], number[e.dst]) for e in one.edges], [])
    names = list(number)
    areas: list[tuple[int, int, int, int]] = []
    for part in found:
        ids = {names[node] for node in part.nodes}
        cells = [cell for path in drawing.paths if path.src in ids for cell in path.cells]
        for node_id in ids:
            box = drawing.boxes[node_id]
            cells += [(box.x, box.y), (box.x + box.width - 1, box.y + box.height - 1)]
        columns, rows = zip(*cells, strict=True)
        areas.append((min(columns), max(columns), min(rows), max(rows)))
    return areas


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("width", [None, 40, 150])
def test_no_part_reaches_into_another(way: Direction, width: int | None) -> None:
    for one in (MANY, random_chart(3, 30), random_chart(8, 30)):
        drawing = draw(one, direction=way, width=width)
        found = areas(drawing, one)
        for index, (left, right, top, bottom) in enumerate(found):
            for other in found[index + 1 :]:
                beside = right < other[0] or other[1] < left
                assert beside or bottom < other[2] or other[3] < top


@pytest.mark.parametrize("width", [30, 60, 100])
def test_parts_are_packed_into_the_width_that_is_wished_for(width: int) -> None:
    narrow, wide = draw(MANY, width=width), draw(MANY, width=500)
    assert narrow.width <= width < wide.width
    assert narrow.height > wide.height


def test_without_a_wish_parts_fill_a_usual_window() -> None:
    assert draw(MANY).width <= 80
    nodes = build([f"n{number}" for number in range(900)], [])
    drawing = draw(nodes)
    assert drawing.height < drawing.width < 4 * drawing.height


@pytest.mark.parametrize("way", WAYS)
def test_the_part_with_begin_stands_at_the_beginning(way: Direction) -> None:
    drawing = draw(MANY, direction=way, width=40)
    box = drawing.boxes["BEGIN"]
    at_top, at_left = box.y == 0, box.x <= 1
    at_bottom = box.y + box.height == drawing.height
    at_right = box.x + box.width == drawing.width
    assert {"TD": at_top, "LR": at_left, "BT": at_bottom, "RL": at_right}[way]


def test_an_edit_in_one_part_leaves_the_others_as_they_are() -> None:
    before = draw(random_chart(8, 30))
    one = random_chart(8, 30)
    changed = build(
        [*one.nodes, "new", "more"], list(one.edges), {i: n.text for i, n in one.nodes.items()}
    )
    after = draw(changed, previous=before)
    for node_id, box in before.boxes.items():
        assert (after.boxes[node_id].width, after.boxes[node_id].height) == (box.width, box.height)
    assert read(after.text()).crossings == read(before.text()).crossings
    assert draw(one, previous=after).text() == before.text()
