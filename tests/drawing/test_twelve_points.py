"""What a drawing must satisfy, on hundreds of seeded charts, as the independent reader sees it.

Outlines, labels, edges, arrowheads, shared cells and the places of labels are the reader's own
rules: what breaks one cannot be read. Crossings are compared with those of Graphviz dot.
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from flowstudio.drawing import Drawing, Zoom, draw
from flowstudio.flow.chart import Chart
from flowstudio.flow.convert import write_d2, write_mermaid
from flowstudio.flow.d2 import read_d2
from flowstudio.flow.mermaid import read_mermaid
from flowstudio.flow.model import Direction
from tests.drawing.charts import CROSSING_CASES, SHAPES
from tests.drawing.reader import Picture, read, squeeze

DOT = json.loads((Path(__file__).parent / "dot" / "crossings.json").read_text("utf-8"))["crossings"]
SMALL = [name for name in CROSSING_CASES if not name.startswith("large")]
FEW = [name for number, name in enumerate(SMALL) if number % 7 == 0]
LARGE = sorted(set(CROSSING_CASES) - set(SMALL))
WAYS: tuple[Direction, ...] = ("TD", "LR", "BT", "RL")
ZOOMS: tuple[Zoom, ...] = ("full", "title")


def check(chart: Chart, direction: Direction = "TD", zoom: Zoom = "full") -> Picture:
    """Read a drawing back and compare it with its chart; gives what was read."""
    drawing = draw(chart, direction=direction, zoom=zoom)
    picture = read(drawing.text())
    assert (picture.height, picture.width <= drawing.width) == (drawing.height, True)
    node = {(box.x, box.y, box.width, box.height): box.id for box in drawing.boxes.values()}
    seen = {node[box.x, box.y, box.width, box.height]: box for box in picture.boxes}
    assert set(seen) == set(chart.nodes)
    for node_id, box in seen.items():
        wanted = squeeze(chart.nodes[node_id].text)
        shown = box.text.partition("…")[0].rpartition("+")[0] or box.text.partition("…")[0]
        assert box.text == wanted if zoom == "full" else wanted.startswith(shown)
    name = {id(box): node_id for node_id, box in seen.items()}
    edges = sorted((name[id(edge.src)], name[id(edge.dst)], edge.label) for edge in picture.edges)
    assert edges == sorted((e.src, e.dst, squeeze(e.label or "")) for e in chart.edges)
    check_way(drawing, chart)
    return picture


def check_way(drawing: Drawing, chart: Chart) -> None:
    """Forward edges go the drawing's way, and BEGIN comes before everything else."""
    across, turned = drawing.direction in ("LR", "RL"), drawing.direction in ("BT", "RL")

    def depth(node_id: str) -> int:
        box = drawing.boxes[node_id]
        if across:
            return drawing.width - box.x - box.width if turned else box.x
        return drawing.height - box.y - box.height if turned else box.y

    for path in drawing.paths:
        if path.src != path.dst:
            assert (depth(path.dst) < depth(path.src)) == path.back
    for node in chart.nodes.values():
        if node.kind == "begin":
            assert depth(node.id) == min(map(depth, drawing.boxes))


def check_crossings(picture: Picture, name: str) -> None:
    assert picture.crossings <= DOT[name] * 1.25 + 2


@pytest.mark.parametrize("name", FEW)
def test_a_chart_is_drawn_as_promised(name: str) -> None:
    check_crossings(check(CROSSING_CASES[name]()), name)


@pytest.mark.parametrize(("name", "way", "zoom"), list(product(FEW[::6], WAYS, ZOOMS)))
def test_a_chart_is_drawn_as_promised_in_all_directions_and_zooms(
    name: str, way: Direction, zoom: Zoom
) -> None:
    check(CROSSING_CASES[name](), way, zoom)


@pytest.mark.long
@pytest.mark.parametrize("name", SMALL)
def test_each_of_hundreds_of_charts_is_drawn_as_promised(name: str) -> None:
    chart = CROSSING_CASES[name]()
    check_crossings(check(chart), name)
    for way, zoom in list(product(WAYS, ZOOMS))[1:]:
        check(chart, way, zoom)


@pytest.mark.long
@pytest.mark.parametrize("name", LARGE)
def test_a_large_chart_is_drawn_as_promised(name: str) -> None:
    check_crossings(check(CROSSING_CASES[name](), zoom="title"), name)


@pytest.mark.parametrize("name", FEW)
def test_in_ascii_everything_stands_where_it_stands_in_unicode(name: str) -> None:
    chart = CROSSING_CASES[name]()
    plain, rich = draw(chart, glyphs="ascii"), draw(chart)
    assert (plain.width, plain.height, plain.boxes) == (rich.width, rich.height, rich.boxes)
    assert plain.paths == rich.paths
    for row, other in zip(plain.rows, rich.rows, strict=True):
        assert [(r.x, r.width, r.role, r.owner) for r in row] == [
            (r.x, r.width, r.role, r.owner) for r in other
        ]
        assert all(
            run.text.isascii() for run in row if run.role in ("border", "edge", "arrow", "crossing")
        )


@pytest.mark.parametrize("name", SHAPES)
def test_twins_in_mermaid_and_d2_give_the_same_picture(name: str) -> None:
    chart = SHAPES[name]
    one = read_mermaid(write_mermaid(chart))
    other = read_d2(write_d2(one))
    back = read_mermaid(write_mermaid(other))
    assert draw(one).text() == draw(other).text() == draw(back).text()
