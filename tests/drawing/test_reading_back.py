"""A drawing can be read back: it shows every node, edge and label, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flowstudio.drawing import draw, layers
from flowstudio.flow.chart import Chart
from flowstudio.flow.model import Direction, FlowEdge
from tests.drawing.charts import (
    SHAPES,
    build,
    layered_chart,
    program_chart,
    random_chart,
    sparse_chart,
)
from tests.drawing.reader import Unreadable, read, squeeze

WAYS: tuple[Direction, ...] = ("TD", "LR", "BT", "RL")
CORPUS = json.loads((Path(__file__).parents[1] / "corpus" / "graphs.json").read_text("utf-8"))


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


@pytest.mark.parametrize("graph", CORPUS["charts"], ids=lambda graph: graph["path"])
def test_a_flow_of_the_corpus_reads_back(graph: dict) -> None:
    edges = [FlowEdge(src, dst, label) for src, dst, label in graph["edges"]]
    check(build(graph["node_ids"], edges))
    check(build(graph["node_ids"], edges), "LR")


@pytest.mark.parametrize("part", range(10))
def test_random_charts_read_back(part: int) -> None:
    for seed in range(part * 30, part * 30 + 30):
        check(random_chart(seed), WAYS[seed % 4] if seed % 2 else "TD")


@pytest.mark.long
@pytest.mark.parametrize("part", range(40))
def test_thousands_of_random_charts_read_back(part: int) -> None:
    for seed in range(1_000 + part * 100, 1_100 + part * 100):
        for way in WAYS:
            check(random_chart(seed, 30), way)


@pytest.mark.parametrize("seed", range(4))
def test_charts_like_programs_read_back(seed: int) -> None:
    check(program_chart(seed, 80))
    check(program_chart(seed, 40), "LR")


@pytest.mark.parametrize("seed", range(3))
def test_dense_charts_read_back(seed: int) -> None:
    check(sparse_chart(seed, 30, 60))
    check(layered_chart(seed, 10, 6, 1.3))


def test_a_chart_of_two_hundred_nodes_reads_back() -> None:
    check(program_chart(7, 200))


@pytest.mark.long
@pytest.mark.parametrize("make", [program_chart, lambda s, n: sparse_chart(s, n, n * 13 // 10)])
def test_a_chart_of_a_thousand_nodes_reads_back(make) -> None:
    check(make(7, 1_000))


@pytest.mark.parametrize("way", ["TD", "LR"])
def test_charts_whose_long_edges_run_on_express_lanes_read_back(
    monkeypatch: pytest.MonkeyPatch, way: Direction
) -> None:
    monkeypatch.setattr(layers, "_MOST_PASSES", 0)
    monkeypatch.setattr(layers, "_PASSES_EACH", 0)
    monkeypatch.setattr(layers, "_SHORTEST_EXPRESS", 4)
    for seed in range(30):
        check(random_chart(seed, 40), way)


CROWDED = {
    "parallel edges": [FlowEdge("a", "b", None)] * 60,
    "labelled parallel edges": [FlowEdge("a", "b", f"way {n}") for n in range(30)],
    "self loops": [FlowEdge("a", "a", f"loop {n}") for n in range(40)],
    "back edges": [FlowEdge("a", "b", None), *(FlowEdge("b", "a", f"{n}") for n in range(40))],
    "edges both ways": [FlowEdge(x, y, None) for x in "abcdef" for y in "abcdef"],
}


@pytest.mark.parametrize("name", CROWDED)
@pytest.mark.parametrize("way", ["TD", "LR"])
def test_a_crowd_of_edges_at_one_node_reads_back(name: str, way: Direction) -> None:
    edges = CROWDED[name]
    ids = sorted({edge.src for edge in edges} | {edge.dst for edge in edges})
    check(build(ids, edges), way)


BROKEN = {
    "an edge without an arrowhead": "┌───┐\n│ A │\n└─┬─┘\n  │\n┌───┐\n│ B │\n└───┘\n",
    "an arrowhead that touches nothing": "┌───┐\n│ A │\n└─┬─┘\n  ▼\n\n┌───┐\n│ B │\n└───┘\n",
    "two edges on one cell": (
        "┌───┐  ┌───┐\n│ A │  │ B │\n└─┬─┘  └─┬─┘\n  ╰─╮╭───╯\n    ▼\n  ┌───┐\n  │ C │\n  └───┘\n"
    ),
    "boxes that touch": "┌───┐\n│ A │\n└───┘\n┌───┐\n│ B │\n└───┘\n",
    "a label beside two edges": (
        "┌─────────┐\n│ A       │\n└─┬─────┬─┘\n  │ yes │\n  ▼     ▼\n┌───┐ ┌───┐\n│ B │ │ C │\n"
        "└───┘ └───┘\n"
    ),
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_the_reader_refuses_a_drawing_with(text: str) -> None:
    with pytest.raises(Unreadable):
        read(text)
