"""Text and SVG files: the same from the same text, complete, and without surprises."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from flowstudio.drawing import EdgeRef, NodeRef, Palette, draw
from tests.drawing.charts import SHAPES

SVG = "{http://www.w3.org/2000/svg}"
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


@pytest.mark.parametrize("name", SHAPES)
def test_an_svg_holds_every_run_at_its_cell(name: str) -> None:
    drawing = draw(SHAPES[name])
    root = ET.fromstring(drawing.svg())
    texts = root.findall(f"{SVG}text")
    shown = "".join(text.text or "" for text in texts)
    assert shown == "".join(run.text for row in drawing.rows for run in row)
    places = [(float(t.attrib["y"]), float(x)) for t in texts for x in t.attrib["x"].split()]
    assert len(set(places)) == len(places)


def test_an_svg_gives_wide_characters_two_cells_each() -> None:
    root = ET.fromstring(draw(SHAPES["cjk_and_emoji"]).svg())
    lengths = {
        text.text: float(text.attrib["textLength"])
        for text in root.findall(f"{SVG}text")
        if "textLength" in text.attrib
    }
    cell = lengths["BEGIN"] / 5
    assert lengths["不一致"] == pytest.approx(6 * cell, abs=0.1)
    assert lengths["列出要翻译的"] == pytest.approx(12 * cell, abs=0.1)


def test_colours_of_an_svg_follow_a_mapping_from_owners() -> None:
    drawing = draw(SHAPES["loop_back"])
    svg = drawing.svg(colour={NodeRef("C"): "#f5b83d", EdgeRef(2): "#5fbf86"})
    root = ET.fromstring(svg)
    for text in root.findall(f"{SVG}text"):
        assert (text.attrib["fill"] == "#f5b83d") == (text.attrib.get("data-node") == "C")
        assert (text.attrib["fill"] == "#5fbf86") == (text.attrib.get("data-edge") == "2")


def test_colours_of_an_svg_follow_a_function_of_the_run() -> None:
    svg = draw(SHAPES["line"]).svg(
        colour=lambda run: "red" if run.role == "arrow" else None,
        palette=Palette(background="white", text="black"),
        title="A & B",
    )
    root = ET.fromstring(svg)
    red = [text.text for text in root.findall(f"{SVG}text") if text.attrib["fill"] == "red"]
    assert red == ["▼", "▼", "▼"]
    assert root.findtext(f"{SVG}title") == "A & B"
    assert root.find(f"{SVG}rect").attrib["fill"] == "white"


def test_an_svg_refers_to_nothing_outside_itself() -> None:
    svg = draw(SHAPES["cjk_and_emoji"]).svg()
    assert "href" not in svg
    assert "url(" not in svg
    assert svg.count("http") == 1


def test_importing_the_room_loads_neither_networkx_nor_a_screen(run_python) -> None:
    code = (
        "import sys, flowstudio.drawing\n"
        "print([name for name in ('networkx', 'textual', 'kosong') if name in sys.modules])"
    )
    assert run_python(code) == "[]\n"
