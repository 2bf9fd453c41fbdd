"""Ranks and orders: as short as can be, and about as few crossings as Graphviz dot finds."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import pytest

from flowstudio.drawing import draw
from flowstudio.drawing.cycles import find_back_edges
from flowstudio.drawing.ranks import assign_ranks
from flowstudio.drawing.spine import find_spine
from tests.drawing.charts import CROSSING_CASES, SHAPES, program_chart, random_chart
from tests.drawing.reader import read

DOT = json.loads((Path(__file__).parent / "dot" / "crossings.json").read_text("utf-8"))


def test_the_data_of_dot_covers_the_charts_of_today() -> None:
    assert set(DOT["crossings"]) == set(CROSSING_CASES)


QUICK = [name for name in CROSSING_CASES if name.startswith(("shape", "program"))]


@pytest.mark.parametrize("group", sorted({name.split()[0] for name in QUICK}))
def test_crossings_are_at_most_a_quarter_more_than_those_of_dot_and_two(group: str) -> None:
    for name in QUICK:
        if name.split()[0] == group:
            mine = read(draw(CROSSING_CASES[name]()).text()).crossings
            assert mine <= DOT["crossings"][name] * 1.25 + 2, name


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_that_needs_no_crossing_has_none(name: str) -> None:
    assert read(draw(SHAPES[name]).text()).crossings == 0


BACK = [
    (2, [(0, 1), (1, 0)], [0], {1}),
    (3, [(0, 1), (1, 2), (2, 0), (2, 1)], [0], {2, 3}),
    (3, [(2, 0), (0, 1), (1, 2)], [0], {0}),
    (2, [(0, 0), (0, 1)], [0], set()),
    (3, [(0, 1), (0, 2), (1, 2)], [0], set()),
    (4, [(0, 1), (2, 3), (3, 2)], [0], {2}),
]


@pytest.mark.parametrize(("count", "edges", "first", "back"), BACK)
def test_an_edge_to_a_node_that_is_still_being_followed_leads_back(
    count: int, edges: list[tuple[int, int]], first: list[int], back: set[int]
) -> None:
    assert find_back_edges(count, edges, first) == back


def test_a_very_long_chain_needs_no_recursion() -> None:
    count = 50_000
    edges = [(n, n + 1) for n in range(count - 1)] + [(count - 1, 0)]
    assert find_back_edges(count, edges, [0]) == {count - 1}
    assert assign_ranks(count, edges[:-1]) == list(range(count))
    assert len(find_spine(count, edges[:-1], [0])) == count - 1


def without_back_edges(chart) -> tuple[int, list[tuple[int, int]]]:
    number = {node_id: index for index, node_id in enumerate(chart.nodes)}
    edges = [(number[edge.src], number[edge.dst]) for edge in chart.edges]
    back = find_back_edges(len(number), edges, [0])
    turned = ((v, u) if n in back else (u, v) for n, (u, v) in enumerate(edges))
    return len(number), [(u, v) for u, v in turned if u != v]


@pytest.mark.parametrize("part", range(4))
def test_all_edges_together_are_as_short_as_a_min_cost_flow_says(part: int) -> None:
    for seed in range(part * 20, part * 20 + 20):
        count, arcs = without_back_edges(random_chart(seed, 30))
        ranks = assign_ranks(count, arcs)
        assert all(ranks[dst] > ranks[src] for src, dst in arcs)
        graph = nx.DiGraph()
        graph.add_nodes_from(
            (n, {"demand": sum(v == n for _, v in arcs) - sum(u == n for u, _ in arcs)})
            for n in range(count)
        )
        graph.add_edges_from((u, v, {"weight": -1}) for u, v in arcs)
        assert sum(ranks[v] - ranks[u] for u, v in arcs) == -nx.network_simplex(graph)[0]


def test_the_main_line_is_what_every_way_leads_through() -> None:
    #      0 -> 1 -> (2 | 3) -> 4 -> 5, with 3 leading back to 1, and 6 a dead end of 4
    edges = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 1), (4, 5)]
    assert find_spine(6, edges, [0]) == [(0, 1), (1, 2), (2, 4), (4, 5)]


def test_flows_are_ranked_without_importing_networkx(run_python) -> None:
    code = (
        "import sys\n"
        "from tests.drawing.charts import SHAPES, program_chart\n"
        "from flowstudio.drawing import draw\n"
        "for chart in SHAPES.values(): draw(chart)\n"
        "draw(program_chart(1, 60))\n"
        "print('networkx' in sys.modules)"
    )
    assert run_python(code) == "False\n"
    assert program_chart(1, 60).nodes
