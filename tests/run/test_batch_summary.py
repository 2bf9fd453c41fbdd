"""What the runs of a batch add up to, and how it looks on the drawing."""

from __future__ import annotations

import json
from collections import Counter
from xml.etree import ElementTree

import pytest

from flowstudio.flow import parse_mermaid_flowchart
from flowstudio.run.batch_summary import BatchSummary, spread
from flowstudio.run.heat import HeatMap, find_colour
from flowstudio.run.jobs import Choice, Job, JobResult, make_failure
from tests.run.rig import FORK

GOOD = JobResult(
    Job(1, 1, 1, "first", {"a": "b"}),
    "run-1",
    "reached_end",
    "the run reached END",
    path=("B", "a", "q", "a", "q", "E"),
    choices=(Choice("q", "no", "model"), Choice("q", "yes", "model")),
    taken=Counter(
        {("B", "a", None): 1, ("a", "q", None): 2, ("q", "a", "no"): 1, ("q", "E", "yes"): 1}
    ),
    tokens=120,
    model_calls=4,
    retries=1,
    seconds=2.0,
)
LOST = make_failure(Job(2, 2, 1), "run-2", "its process died: signal 9")


def test_a_result_survives_its_way_between_processes() -> None:
    assert JobResult.from_json(json.loads(json.dumps(GOOD.to_json()))) == GOOD


def test_a_summary_counts_outcomes_paths_branches_and_edges() -> None:
    summary = BatchSummary(3)
    for result in (LOST, GOOD):
        summary.add(result)
    record = summary.to_json("fork")
    assert (record["planned"], record["done"]) == (3, 2)
    assert record["outcomes"] == {"reached_end": 1, "failed": 1}
    assert record["paths"] == [{"count": 1, "path": list(GOOD.path)}]
    assert record["branches"] == {
        "q": {"no": {"count": 1, "share": 0.5}, "yes": {"count": 1, "share": 0.5}}
    }
    assert {"src": "a", "dst": "q", "label": None, "count": 2} in record["edges"]
    assert record["visits"]["q"] == 2
    assert record["tokens"] == {"total": 120, "median": 120, "p90": 120, "max": 120}
    assert [run["number"] for run in record["runs"]] == [1, 2]


def test_failures_are_listed_with_run_and_line() -> None:
    summary = BatchSummary(2)
    summary.add(LOST)
    (failure,) = summary.to_json("fork")["failures"]
    assert (failure["run"], failure["line"]) == ("run-2", 2)
    assert "signal 9" in failure["message"]


def test_a_batch_is_good_only_when_every_planned_run_reached_end() -> None:
    summary = BatchSummary(2)
    summary.add(GOOD)
    assert not summary.is_good
    summary.add(GOOD)
    assert summary.is_good


@pytest.mark.parametrize(
    ("values", "median", "p90"),
    [([], 0, 0), ([7], 7, 7), ([3, 1, 2], 2, 3), (list(range(1, 101)), 50, 90)],
)
def test_median_and_p90_are_values_that_occurred(
    values: list[float], median: float, p90: float
) -> None:
    found = spread(values)
    assert (found.median, found.p90, found.total) == (median, p90, sum(values))


HEAT = HeatMap(parse_mermaid_flowchart(FORK), GOOD.taken, {"B": 1, "a": 2, "q": 2, "E": 1})


def test_the_drawing_shows_a_count_at_each_edge_and_node() -> None:
    text = HEAT.text()
    assert "no 1×" in text
    assert "yes 1×" in text
    assert "2×" in text
    assert "×" not in HEAT.text(glyphs="ascii")


def test_an_edge_that_was_never_taken_shows_0() -> None:
    assert "no 0×" in HeatMap(HEAT.flow, {("q", "E", "yes"): 3}, {}).text()


def test_the_svg_colours_edges_by_how_often_they_were_taken() -> None:
    svg = HEAT.svg()
    ElementTree.fromstring(svg)
    for count in (1, 2):
        assert find_colour(count, 2) in svg
    assert find_colour(1, 2) != find_colour(2, 2) != find_colour(0, 2)


def test_the_hottest_edge_has_the_last_colour_of_the_scale() -> None:
    assert find_colour(5, 5) == find_colour(1, 1) == "#ef5a4a"
