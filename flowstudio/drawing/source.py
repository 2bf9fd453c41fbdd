"""A chart as Mermaid or D2 with the marks of a run: colours as styles, counts as comments.

Reading it back gives the same flow: for a reader, styles and comments are only looks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from flowstudio.drawing.drawing import NodeRef
from flowstudio.drawing.marks import FAILED, PAUSED, Look, Marks
from flowstudio.drawing.palette import Palette, ink_of
from flowstudio.flow.chart import Chart
from flowstudio.flow.convert import d2_names, mermaid_names, write_d2, write_mermaid
from flowstudio.flow.model import Flow

_WORDS: Mapping[Look, str] = {
    "done": "visited",
    "now": "now",
    "fault": "failed",
    "forced": "by_hand",
    "chosen": "chosen",
}
"""The name of each look's class; `done` is `taken` where it is a line."""
_DASHED = ("forced", "chosen")


def mermaid_source(chart: Chart | Flow, marks: Marks, palette: Palette | None = None) -> str:
    """The chart as Mermaid, with `classDef`, `class` and `linkStyle` lines for the marks."""
    return write_mermaid(chart) + "".join(
        f"    {line}\n" for line in _mermaid_lines(chart, marks, palette or Palette())
    )


def _mermaid_lines(chart: Chart | Flow, marks: Marks, palette: Palette) -> Iterator[str]:
    names = mermaid_names(chart)
    for comment in _comments(chart, marks, names):
        yield f"%% {comment}"
    for look, nodes in _by_look(chart, marks).items():
        yield f"classDef {_WORDS[look]} stroke:{palette.of(ink_of(look))},stroke-width:3px"
        yield f"class {','.join(names[node] for node in nodes)} {_WORDS[look]}"
    edges: dict[Look, list[int]] = {}
    for index, look in sorted(marks.edges.items()):
        edges.setdefault(look, []).append(index)
    for look, numbers in edges.items():
        dash = ",stroke-dasharray:6 4" if look in _DASHED else ""
        colour = palette.of(ink_of(look))
        yield f"linkStyle {','.join(map(str, numbers))} stroke:{colour},stroke-width:3px{dash}"


def d2_source(chart: Chart | Flow, marks: Marks, palette: Palette | None = None) -> str:
    """The chart as D2, with style lines for the marks."""
    return write_d2(chart) + "".join(
        f"{line}\n" for line in _d2_lines(chart, marks, palette or Palette())
    )


def _d2_lines(chart: Chart | Flow, marks: Marks, palette: Palette) -> Iterator[str]:
    names = d2_names(chart)
    for comment in _comments(chart, marks, names):
        yield f"# {comment}"
    for look, nodes in _by_look(chart, marks).items():
        for node in nodes:
            yield f'{names[node]}.style.stroke: "{palette.of(ink_of(look))}"'
            yield f"{names[node]}.style.stroke-width: 3"
    seen: Counter[tuple[str, str]] = Counter()
    for index, edge in enumerate(chart.edges):
        ends = (edge.src, edge.dst)
        number = seen[ends]
        seen[ends] += 1
        look = marks.edges.get(index)
        if look is None:
            continue
        key = f"({names[edge.src]} -> {names[edge.dst]})[{number}].style"
        yield f'{key}.stroke: "{palette.of(ink_of(look))}"'
        yield f"{key}.stroke-width: 3"
        if look in _DASHED:
            yield f"{key}.stroke-dash: 4"


def _by_look(chart: Chart | Flow, marks: Marks) -> dict[Look, list[str]]:
    found: dict[Look, list[str]] = {}
    for node in chart.nodes:
        look = marks.look_of(NodeRef(node))
        if look in _WORDS:
            found.setdefault(look, []).append(node)
    return found


def _comments(chart: Chart | Flow, marks: Marks, names: Mapping[str, str]) -> Iterator[str]:
    """The marks in words, a line each; only names that the language itself takes stand in them."""
    for node in chart.nodes:
        words: list[str] = []
        look = marks.look_of(NodeRef(node))
        if look in _WORDS:
            is_paused = look == "now" and marks.flags.get(node) == PAUSED
            words.append("paused" if is_paused else _WORDS[look])
        tag = marks.tags.get(node, "").strip("✓ " + FAILED)
        if tag:
            words.append(f"{tag} times" if tag.isdecimal() else tag)
        if node in marks.breakpoints:
            words.append("breakpoint")
        if words:
            yield f"{names[node]}: {', '.join(words)}"
    for index, edge in enumerate(chart.edges):
        look = marks.edges.get(index)
        if look is None:
            continue
        count = marks.counts.get(index, 0)
        words = [f"taken {count} times" if count != 1 else "taken once"] if count else []
        words += ["by hand"] if look in _DASHED else []
        yield f"{names[edge.src]} to {names[edge.dst]}: {', '.join(words)}"
    for (src, dst), times in marks.jumps.items():
        if src in names and dst in names:
            yield f"{names[src]} to {names[dst]}: by hand, along no edge, {times} times"
