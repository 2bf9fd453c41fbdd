"""Drawings as text: as approved, and the same from the same chart."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowstudio.drawing import draw
from tests.drawing.charts import SHAPES

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_looks_as_it_was_approved(name: str) -> None:
    path = GOLDEN / f"{name}.txt"
    assert draw(SHAPES[name]).text() == path.read_text("utf-8")


def test_no_approved_drawing_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == {*SHAPES, "review_pipeline_LR"}


def test_a_flow_to_the_right_looks_as_it_was_approved() -> None:
    text = draw(SHAPES["review_pipeline"], direction="LR").text()
    assert text == (GOLDEN / "review_pipeline_LR.txt").read_text("utf-8")


def test_the_same_chart_gives_the_same_bytes_whatever_the_hash_seed(run_python) -> None:
    code = (
        "import sys\n"
        "from tests.drawing.charts import SHAPES, random_chart, sparse_chart\n"
        "from flowstudio.drawing import draw\n"
        "for chart in [*SHAPES.values(), random_chart(3, 30), sparse_chart(1, 30, 50)]:\n"
        "    sys.stdout.write(draw(chart).text() + draw(chart).svg())"
    )
    assert run_python(code, PYTHONHASHSEED="1") == run_python(code, PYTHONHASHSEED="2")


def test_text_has_no_trailing_spaces_and_ends_with_a_newline() -> None:
    for one in SHAPES.values():
        text = draw(one).text()
        assert text.endswith("\n")
        assert all(row == row.rstrip() for row in text.split("\n"))


def test_importing_the_room_loads_neither_networkx_nor_a_screen(run_python) -> None:
    code = (
        "import sys, flowstudio.drawing\n"
        "print([name for name in ('networkx', 'textual', 'kosong') if name in sys.modules])"
    )
    assert run_python(code) == "[]\n"
