"""A drawing can be read back: it shows every node, edge and label, and nothing else."""

from __future__ import annotations

import pytest

from flowstudio.drawing import draw
from flowstudio.flow.chart import Chart
from flowstudio.flow.model import Direction
from tests.drawing.charts import SHAPES, layered_chart, program_chart, random_chart
from tests.drawing.reader import read, squeeze

WAYS: tuple[Direction, ...] = ("TD", "LR", "BT", "RL")


def check(chart: Chart, direction: Direction = "TD") -> None:
    drawing = draw(chart, direction=direction)
    picture = read(drawing.text())
    text = {node.id: squeeze(node.text) for node in chart.nodes.values()}
    assert sorted(box.text for box in picture.boxes) == sorted(text.values())
    wanted = sorted((text[e.src], text[e.dst], squeeze(e.label or "")) for e in chart.edges)
    assert picture.triples() == wanted
    assert picture.width <= drawing.width
    assert picture.height == drawing.height


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("way", WAYS)
def test_a_shape_reads_back_as_the_chart_it_was_drawn_from(name: str, way: Direction) -> None:
    check(SHAPES[name], way)


@pytest.mark.parametrize("part", range(10))
def test_random_charts_read_back(part: int) -> None:
    for seed in range(part * 30, part * 30 + 30):
        check(random_chart(seed), WAYS[seed % 4] if seed % 2 else "TD")
