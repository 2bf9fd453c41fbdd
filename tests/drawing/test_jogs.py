"""No needless bends: lines do not step aside by a cell or two where they could run straight."""

from __future__ import annotations

import pytest

from flowstudio.drawing import Drawing, Path, draw
from flowstudio.flow.chart import Chart
from tests.drawing.charts import SHAPES, program_chart

PROGRAMS = [program_chart(seed, 60) for seed in range(8)]


def jogs(path: Path) -> int:
    """Steps of one or two cells to the side on a line that goes on as before."""
    found = 0
    points = path.points
    for a, b, c, d in zip(points, points[1:], points[2:], points[3:], strict=False):
        on = (b[1] - a[1]) * (d[1] - c[1]) > 0
        found += b[1] == c[1] and on and abs(b[0] - c[0]) <= 2
    return found


def count(drawings: list[Drawing]) -> tuple[int, int, int]:
    """Edges, their bends, and their jogs."""
    paths = [path for drawing in drawings for path in drawing.paths]
    bends = sum(max(len(path.points) - 2, 0) for path in paths)
    return len(paths), bends, sum(map(jogs, paths))


@pytest.mark.parametrize(
    ("charts", "bends_each", "most"), [(list(SHAPES.values()), 0.56, 1), (PROGRAMS, 0.56, 3)]
)
def test_lines_bend_little_and_hardly_ever_step_aside(
    charts: list[Chart], bends_each: float, most: int
) -> None:
    edges, bends, stepping = count([draw(one) for one in charts])
    assert bends <= bends_each * edges
    assert stepping <= most


@pytest.mark.parametrize("one", PROGRAMS)
def test_a_line_does_not_step_aside_just_before_or_behind_a_box(one: Chart) -> None:
    for path in draw(one).paths:
        for points in (path.points[:4], path.points[-4:]):
            if not path.back and len(points) == 4:
                assert abs(points[1][0] - points[2][0]) > 2
