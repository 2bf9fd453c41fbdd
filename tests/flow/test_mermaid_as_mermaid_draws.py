"""Our Mermaid reader against mermaid.js 11, chart by chart.

`mermaid_charts.txt` holds the charts and `mermaid_answers.json` what `ask_mermaid.mjs` was told.
Where Mermaid draws a chart, we read the same nodes, labels and edges. Where it refuses one, we
report an error, or read it with a warning that says that Mermaid refuses it. Everything else
stands in `INTENDED`, with its reason.
"""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from flowstudio.flow import codes
from flowstudio.flow.chart import Chart
from flowstudio.flow.diagnostics import CODES
from flowstudio.flow.mermaid import read_mermaid

DATA = Path(__file__).parent.parent / "differential"

EMPTY = "an empty chart can be drawn but not run"
TAG = "a tag in a label is text for the model and no HTML"
LETTER = "Mermaid takes an x or o at an arrow for the arrow's end: we read the word, and warn"
LEFT = "an arrow to the left is drawn without a head, so it says nothing: we report it"
DIRECTION = "Mermaid loses a whole line that holds `direction LR`, also inside a label"
FORGOTTEN = "Mermaid takes a forgotten arrow's next line for the label: we report it"
TWICE = "Mermaid lets properties win over brackets within one `&` group: we let the last one win"
SEMICOLON = "Mermaid refuses a blank between properties and semicolon"

INTENDED = {
    "comment/bare": "a line of two percent signs alone is an empty comment, not a node",
    "comment/at a line start in a string": "two percent signs inside a label are text",
    'data/15 @{ shape: nosuch, label: "x" }': "shapes are looks, so their names are not checked",
    "data/29 @{ label: [a, b] }": "a list is no label: Mermaid glues it together, we report it",
    'id/a"b': "a quote inside an id is a slip: Mermaid makes a node of it, we report it",
    "looks/linkStyle 9 stroke:red": "the numbers of edges in linkStyle are not checked",
    "looks/semicolon line": "Mermaid loses a semicolon behind a colour, and then the line",
    "header/empty chart": EMPTY,
    "header/empty chart with comment": EMPTY,
    "random/69": EMPTY,
    "random/86": EMPTY,
    "label/choice tag": TAG,
    "label/style tag": TAG,
    "label/script tag": TAG,
    "label/img tag": TAG,
    "label/unclosed tag": TAG,
    "edge label/choice tag": TAG,
    "edge label/style tag": TAG,
    "edge label/script tag": TAG,
    "edge label/img tag": TAG,
    "edge label/unclosed tag": TAG,
    "label/direction words": DIRECTION,
    "edge label/direction words": DIRECTION,
    "edge text/x last tight": LETTER,
    "edge text/o last tight": LETTER,
    "edge text/slash tight": LETTER,
    "link/node o at line start": LETTER,
    "link/node x at line start": LETTER,
    "flow/triage": LETTER,
    "link/<---": LEFT,
    "link/<--- tight": LEFT,
    "link/<--- tight ids": LEFT,
    "link/<-.-": LEFT,
    "link/<-.- tight": LEFT,
    "link/<-.- tight ids": LEFT,
    "edge text/over lines": FORGOTTEN,
    "edge text/forgotten arrow": FORGOTTEN,
    "link/<--": FORGOTTEN,
    "link/<-- tight": FORGOTTEN,
    "link/<-- tight ids": FORGOTTEN,
    "link/--": FORGOTTEN,
    "link/-- tight": FORGOTTEN,
    "link/-- tight ids": FORGOTTEN,
    "link/--|": FORGOTTEN,
    "link/--| tight": FORGOTTEN,
    "link/--| tight ids": FORGOTTEN,
    "random/79": TWICE,
    "random/106": TWICE,
    "random/108": SEMICOLON,
    "random/120": SEMICOLON,
}

type Edge = tuple[str, str, str | None]


def load_charts() -> dict[str, str]:
    text = (DATA / "mermaid_charts.txt").read_text(encoding="utf-8")
    charts: dict[str, str] = {}
    for part in re.split(r"^#### ", text, flags=re.MULTILINE)[1:]:
        name, _, chart = part.partition("\n")
        charts[name.strip()] = re.sub(
            r"\\u\{([0-9A-F]+)\}", lambda m: chr(int(m[1], 16)), chart.removesuffix("\n")
        )
    return charts


CHARTS = load_charts()
ANSWERS: dict[str, Any] = json.loads((DATA / "mermaid_answers.json").read_text(encoding="utf-8"))[
    "charts"
]


def plain(text: str) -> str:
    """The text of a label as it stands in Mermaid's database; indentation is looks."""
    # Mermaid hides entities of its own kind (#quot;) behind these signs until it draws.
    text = text.replace("\ufb02\u00b0\u00b0", "&#").replace("\ufb02\u00b0", "&")
    text = text.replace("\u00b6\u00df", ";")
    text = unescape(re.sub(r"<br\s*/?>|\\n", "\n", text, flags=re.IGNORECASE))
    return "\n".join(line.strip() for line in text.strip().split("\n"))


def read_answer(answer: dict[str, Any]) -> tuple[list[tuple[str, str]], list[Edge]]:
    nodes = [(node_id, plain(label)) for node_id, label, _ in answer["nodes"]]
    edges: list[Edge] = []
    for src, dst, label, head, stroke in answer["edges"]:
        if stroke == "invisible":
            continue
        edges.append((src, dst, plain(label) or None))
        if head == "double_arrow_point":
            edges.append((dst, src, plain(label) or None))
    return nodes, edges


def read_ours(chart: Chart) -> tuple[list[tuple[str, str]], list[Edge]]:
    nodes = [(node.id, plain_ours(node.text)) for node in chart.nodes.values()]
    edges = [(e.src, e.dst, plain_ours(e.label) if e.label else None) for e in chart.edges]
    return nodes, edges


def plain_ours(text: str) -> str:
    return "\n".join(line.strip() for line in text.split("\n")).strip()


def find_difference(name: str) -> str | None:
    """What the two readers do not agree about, in words; None where they agree."""
    answer, chart = ANSWERS[name], read_mermaid(CHARTS[name])
    is_broken = any(CODES[d.code].parse for d in chart.errors)
    is_loose = any(d.code == codes.LOOSE_SYNTAX for d in chart.diagnostics)
    if "refused" in answer:
        return None if is_broken or is_loose else "Mermaid refuses it, and we do not say so"
    if is_broken:
        return f"Mermaid draws it, and we report {chart.errors[0]}"
    if is_loose:
        return "we say that Mermaid refuses it, but it draws it"
    ours, official = read_ours(chart), read_answer(answer)
    if ours != official:
        return f"ours {ours}\nofficial {official}"
    return None


def test_there_is_an_answer_for_every_chart() -> None:
    assert list(ANSWERS) == list(CHARTS)
    assert len(CHARTS) > 1000


@pytest.mark.parametrize("name", [name for name in CHARTS if name not in INTENDED])
def test_a_chart_is_read_as_mermaid_draws_it(name: str) -> None:
    assert find_difference(name) is None, CHARTS[name]


@pytest.mark.parametrize("name", INTENDED)
def test_an_intended_difference_is_still_one(name: str) -> None:
    assert find_difference(name) is not None, f"no longer different: {INTENDED[name]}"


@pytest.mark.parametrize("name", [n for n in CHARTS if "refused" not in ANSWERS[n]])
def test_the_direction_is_the_one_that_mermaid_draws(name: str) -> None:
    # Mermaid has no mirrored "BR"; it draws it from the top down, as "TB", which we call "TD".
    official = {"TB": "TD", "BR": "TD"}.get(ANSWERS[name]["direction"], ANSWERS[name]["direction"])
    assert read_mermaid(CHARTS[name]).direction == official
