"""SVG files: they stand alone, hold the whole picture, and line up in any font."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from itertools import pairwise

import pytest

from flowstudio.drawing import LIGHT, Drawing, EdgeRef, Marks, NodeRef, Palette, draw, draw_marked
from flowstudio.drawing.svg import CELL, ROW
from tests.drawing.charts import SHAPES, chart, program_chart, random_chart

SVG = "{http://www.w3.org/2000/svg}"
MARGIN = 16.0
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
ZOOMS = ["full", "title", "dot"]


def parse(svg: str) -> ET.Element:
    return ET.fromstring(svg)


def groups(root: ET.Element, kind: str) -> Iterator[ET.Element]:
    return (g for g in root.iter(f"{SVG}g") if g.attrib["class"].split()[0] == kind)


def words(element: ET.Element) -> list[str]:
    return ["".join(text.itertext()) for text in element.iter(f"{SVG}text")]


def points(path: ET.Element) -> list[tuple[float, float]]:
    """The corners of a path that is written with absolute M, L and Q alone."""
    numbers = [float(number) for number in NUMBER.findall(path.attrib["d"])]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def outline_of(drawing: Drawing, node: str) -> tuple[float, float, float, float]:
    """The left, upper, right and lower line of a node's box, in the SVG's units."""
    box = drawing.boxes[node]
    left, top = MARGIN + (box.x + 0.5) * CELL, MARGIN + (box.y + 0.5) * ROW
    return left, top, left + (box.width - 1) * CELL, top + (box.height - 1) * ROW


# ---- the whole picture ------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHAPES)
def test_every_word_of_the_drawing_is_text_in_its_node_or_edge(name: str) -> None:
    drawing = draw(SHAPES[name])
    shown: dict[object, list[str]] = {}
    for row in drawing.rows:
        for run in row:
            if run.role in ("label", "mark", "edge-label"):
                shown.setdefault(run.owner, []).append(run.text)

    root = parse(drawing.svg())

    nodes = {NodeRef(g.attrib["data-node"]): words(g) for g in groups(root, "node")}
    edges = {EdgeRef(int(g.attrib["data-edge"])): words(g) for g in groups(root, "edge")}
    assert {owner: text for owner, text in {**nodes, **edges}.items() if text} == shown
    assert len(nodes) == len(drawing.boxes)
    assert len(edges) == len(drawing.paths)


@pytest.mark.parametrize("direction", ["TD", "LR", "BT", "RL"])
@pytest.mark.parametrize("name", SHAPES)
def test_every_line_begins_and_its_arrow_ends_on_the_outlines_of_its_boxes(
    name: str, direction
) -> None:
    drawing = draw(SHAPES[name], direction=direction)

    for group in groups(parse(drawing.svg()), "edge"):
        path = drawing.paths[int(group.attrib["data-edge"])]
        line, head = group.iter(f"{SVG}path")
        for (x, y), node in ((points(line)[0], path.src), (points(head)[0], path.dst)):
            left, top, right, bottom = outline_of(drawing, node)
            on_side = min(abs(x - left), abs(x - right)) < 0.1 and top - 0.1 < y < bottom + 0.1
            on_level = min(abs(y - top), abs(y - bottom)) < 0.1 and left - 0.1 < x < right + 0.1
            assert on_side or on_level


@pytest.mark.parametrize("seed", range(20))
def test_nothing_lies_outside_the_picture(seed: int) -> None:
    root = parse(draw(random_chart(seed)).svg(notes=["a note that is rather long " * 4]))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])

    for path in root.iter(f"{SVG}path"):
        if "H" not in path.attrib["d"]:
            assert all(0 <= x <= width and 0 <= y <= height for x, y in points(path))
    for text in root.iter(f"{SVG}tspan"):
        assert 0 <= float(text.attrib["x"]) <= width
        assert 0 <= float(text.attrib["y"]) <= height


def test_kinds_of_nodes_have_shapes_of_their_own() -> None:
    root = parse(draw(SHAPES["ralph"]).svg())
    shapes = {
        g.attrib["data-node"]: [(child.tag.removeprefix(SVG), child.get("rx")) for child in g][1]
        for g in groups(root, "node")
    }
    assert shapes == {
        "BEGIN": ("rect", "18"),
        "R1": ("rect", "5"),
        "R2": ("path", None),
        "END": ("rect", "18"),
    }


def test_a_pointer_on_a_box_is_told_its_whole_prompt() -> None:
    prompt = "First: read.\nThen: write, whatever it takes.\nStop."
    root = parse(draw(chart("A", {"A": prompt}), zoom="dot").svg())
    (group,) = groups(root, "node")
    assert group.findtext(f"{SVG}title") == prompt


def test_a_title_a_description_and_notes_are_there_for_those_who_read() -> None:
    svg = draw(SHAPES["line"]).svg(title="A & B", describe="Goes <on>.", notes=["run 1: ended"])
    root = parse(svg)
    assert root.findtext(f"{SVG}title") == "A & B"
    assert root.findtext(f"{SVG}desc") == "Goes <on>."
    assert words(root)[-1] == "run 1: ended"


# ---- any font, any reader ---------------------------------------------------------------------


def test_wide_characters_stand_in_the_middle_of_their_two_cells() -> None:
    drawing = draw(SHAPES["cjk_and_emoji"])
    box = drawing.boxes["收集"]
    root = parse(drawing.svg())
    (group,) = (g for g in groups(root, "node") if g.attrib["data-node"] == "收集")
    first = next(group.iter(f"{SVG}text"))

    spans = [(span.text, float(span.attrib["x"])) for span in first]
    assert "".join(text or "" for text, _ in spans) == "列出要翻译的"
    assert {span.get("text-anchor") for span in first} == {"middle"}
    steps = {round(b[1] - a[1], 1) for a, b in pairwise(spans)}
    assert steps == {round(2 * CELL, 1)}
    assert MARGIN + box.x * CELL < spans[0][1] < MARGIN + (box.x + box.width) * CELL


def test_an_emoji_of_several_parts_stays_one_piece() -> None:
    root = parse(draw(chart("A", {"A": "x 👩‍🚀 y"})).svg())
    assert "👩‍🚀" in [span.text for span in root.iter(f"{SVG}tspan")]


def test_letters_are_given_the_width_of_their_cells() -> None:
    root = parse(draw(SHAPES["cjk_and_emoji"]).svg())
    lengths = {
        span.text: float(span.attrib["textLength"])
        for span in root.iter(f"{SVG}tspan")
        if "textLength" in span.attrib
    }
    assert lengths["BEGIN"] == pytest.approx(5 * CELL, abs=0.1)
    assert lengths[" naïve café"] == pytest.approx(11 * CELL, abs=0.1)


@pytest.mark.parametrize("zoom", ZOOMS)
@pytest.mark.parametrize(
    "text",
    [
        "".join(map(chr, range(0x20))),
        "".join(map(chr, range(0x7F, 0xA0))),
        "<script>alert(1)</script> & \"quoted\" 'too' ]]>",
        "\ud800 alone, \udfff too",
        "\ufffe\uffff\u202e\u2066 \u2028 end",
        "é" + "\u0301" * 40,
        "  \t blanks \t ",
    ],
    ids=["C0", "C1", "markup", "surrogates", "nonchars", "marks", "blanks"],
)
def test_any_label_makes_well_formed_xml(text: str, zoom) -> None:
    ids = {"A": text}
    drawing = draw_marked(
        chart(f"A -> B | {text.replace('|', '').splitlines()[-1:] or 'x'}", ids),
        Marks(nodes={"A": "now"}),
        zoom=zoom,
    )
    svg = drawing.svg(title=text, describe=text, notes=[text.replace("\n", " ")])
    root = parse(svg.encode("utf-8").decode("utf-8"))
    assert len(list(groups(root, "node"))) == 2
    assert not list(root.iter(f"{SVG}script"))


@pytest.mark.parametrize("name", SHAPES)
def test_it_refers_to_nothing_outside_itself_and_asks_for_nothing_rare(name: str) -> None:
    svg = draw(SHAPES[name]).svg(other=LIGHT)
    assert "href" not in svg
    assert "url(" not in svg
    assert "var(" not in svg
    assert svg.count("http") == 1
    assert all(" " not in x.attrib["x"] for x in parse(svg).iter(f"{SVG}tspan"))


def test_five_thousand_nodes_make_a_file_of_some_megabytes() -> None:
    large = program_chart(1, 5000)
    svg = draw(large, zoom="title").svg()
    assert len(list(groups(parse(svg), "node"))) == len(large.nodes)
    assert len(svg) < 12_000_000


# ---- colours ----------------------------------------------------------------------------------


def rules(svg: str) -> dict[str, str]:
    return dict(re.findall(r"\.(f-\w+)\{fill:([^}]+)\}", svg.split("@media")[0]))


def test_the_colours_are_those_of_the_palette() -> None:
    palette = Palette(background="#000001", text="#000002", now="#000003")
    found = rules(draw(SHAPES["line"]).svg(palette=palette))
    assert (found["f-background"], found["f-text"], found["f-now"]) == (
        "#000001",
        "#000002",
        "#000003",
    )


def test_a_second_palette_is_for_readers_who_want_the_other_brightness() -> None:
    svg = draw(SHAPES["line"]).svg(palette=Palette(), other=LIGHT)
    light = re.search(r"@media \(prefers-color-scheme:light\)\{(.*?)\}\}", svg, re.DOTALL)
    assert light is not None
    assert LIGHT.background in light[1]
    dark = draw(SHAPES["line"]).svg(palette=LIGHT, other=Palette())
    assert "prefers-color-scheme:dark" in dark


def test_palettes_take_their_colours_from_a_themes_roles() -> None:
    palette = Palette.of_roles({"now": "#123456", "panel": "#ffffff"})
    assert (palette.now, palette.text) == ("#123456", Palette().text)


def test_single_nodes_and_edges_can_have_a_colour_and_a_weight_of_their_own() -> None:
    svg = draw(SHAPES["loop_back"]).svg(
        colour={NodeRef("C"): "#f5b83d", EdgeRef(2): "red"}, weight={EdgeRef(2): 3.0}
    )
    root = parse(svg)
    styled = {
        group.get("data-node") or group.get("data-edge"): shape.attrib["style"]
        for group in root.iter(f"{SVG}g")
        for shape in group
        if "style" in shape.attrib and "stroke-width" in shape.attrib
    }
    assert styled == {"C": "stroke:#f5b83d", "2": "stroke:red"}
    widths = [
        float(p.attrib["stroke-width"]) for p in root.iter() if p.get("style") == "stroke:red"
    ]
    assert widths == [pytest.approx(3.9)]


# ---- states -----------------------------------------------------------------------------------

MARKS = Marks(
    nodes={"B": "done", "C": "now"},
    edges={1: "done", 3: "forced"},
    tags={"B": "✓3"},
    flags={"C": "⏸"},
    counts={1: 3, 3: 2},
    breakpoints=frozenset({"D"}),
)


def test_states_are_told_by_stroke_and_sign_as_well_as_by_colour() -> None:
    drawing = draw_marked(SHAPES["loop_back"], MARKS)
    root = parse(drawing.svg(marks=MARKS))
    nodes = {g.attrib["data-node"]: g for g in groups(root, "node")}
    edges = {int(g.attrib["data-edge"]): g for g in groups(root, "edge")}

    assert "✓3" in words(nodes["B"])
    assert "‖" in words(nodes["C"])
    assert "●" in words(nodes["D"])
    assert words(edges[1]) == ["×3"]
    assert words(edges[3]) == ["⇢ No ×2"]
    widths = {n: float(next(g.iter(f"{SVG}path")).attrib["stroke-width"]) for n, g in edges.items()}
    assert widths[1] == widths[3] > widths[0]
    dashed = [
        n for n, g in edges.items() if "stroke-dasharray" in next(g.iter(f"{SVG}path")).attrib
    ]
    assert dashed == [3]
    assert edges[1].findtext(f"{SVG}title") == (
        "Analyze the changes → Is code quality ok? (taken 3 times)"
    )


@pytest.mark.parametrize("zoom", ZOOMS)
def test_marks_can_be_shown_at_every_zoom(zoom) -> None:
    drawing = draw_marked(SHAPES["loop_back"], MARKS, zoom=zoom)
    root = parse(drawing.svg(marks=MARKS))
    looks = {g.attrib["data-node"]: g.attrib["class"].split()[-1] for g in groups(root, "node")}
    assert (looks["B"], looks["C"], looks["D"]) == ("done", "now", "plain")
