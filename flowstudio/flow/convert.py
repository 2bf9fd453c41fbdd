"""Writes a chart as Mermaid or as D2, from which reading gives the same flow.

What a reader drops because it is only looks (colours, shapes, classes, comments) is not written.
Ids stay as they are where the other language can say them; others are written in letters, digits
and `_`, their node keeping its label, so that the flow is the same in all but these names. Blanks
around a label say nothing and are not written either.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from flowstudio.flow.d2_words import RESERVED, fold
from flowstudio.flow.d2_write import write_block, write_double
from flowstudio.flow.edit_mermaid import write_quoted
from flowstudio.flow.mermaid_scan import KEYWORD, KEYWORD_INSIDE

if TYPE_CHECKING:
    from flowstudio.flow.chart import Chart
    from flowstudio.flow.model import Flow, FlowNode

_WORD = re.compile(r"\w+(?:-\w+)*")
"""What both languages take for one id, but for their own words."""
_ASCII_DOTTED = re.compile(r"\w+(?:[-.]\w+)*", re.ASCII)
_OTHER = re.compile(r"\W+")
_LONGEST_STEM = 40
"""Characters of an id that can't be said which the name in its place is made of."""
_NEWLINE = re.compile(r"\r\n?")
_D2_VALUES = frozenset({"null", "true", "false", "suspend", "unsuspend"})
_D2_DIRECTIONS = {"TD": "", "BT": "up", "LR": "right", "RL": "left"}


def write_mermaid(chart: Chart | Flow) -> str:
    """The chart as a Mermaid flowchart: each node once, in order, then each edge on its line."""
    names = mermaid_names(chart)
    lines = [f"flowchart {chart.direction}"]
    exits = _count_exits(chart)
    for node in chart.nodes.values():
        text = write_quoted(_clean(node.text) or " ")  # Mermaid refuses ""
        match node.kind:
            case "begin" | "end":
                shape = f"([{text}])"
            case _ if exits.get(node.id, 0) > 1:
                shape = f"{{{text}}}"
            case _:
                shape = f"[{text}]"
        lines.append(f"    {names[node.id]}{shape}")
    for edge in chart.edges:
        label = _clean(edge.label or "")
        written = f"|{write_quoted(label)}|" if label else ""
        lines.append(f"    {names[edge.src]} -->{written} {names[edge.dst]}")
    return "\n".join(lines) + "\n"


def write_d2(chart: Chart | Flow) -> str:
    """The chart as a D2 diagram: each node once, in order, then each edge on its line."""
    names = d2_names(chart)
    lines: list[str] = []
    if way := _D2_DIRECTIONS[chart.direction]:
        lines.append(f"direction: {way}")
    for node in chart.nodes.values():
        lines.append(f"{names[node.id]}: {_d2_label(_clean(node.text))}")
    for edge in chart.edges:
        label = _clean(edge.label or "")
        written = f": {write_double(label)}" if label else ""
        lines.append(f"{names[edge.src]} -> {names[edge.dst]}{written}")
    return "\n".join(lines) + "\n"


def mermaid_names(chart: Chart | Flow) -> Mapping[str, str]:
    """What each node is called in `write_mermaid`, by its id."""
    return _name_nodes(chart.nodes, _is_mermaid_id, str)


def d2_names(chart: Chart | Flow) -> Mapping[str, str]:
    """What each node is called in `write_d2`, by its id."""
    return _name_nodes(chart.nodes, _is_d2_id, fold)


def _clean(label: str) -> str:
    return _NEWLINE.sub("\n", label).strip()


def _d2_label(label: str) -> str:
    return write_block(label, "", "\n") if "\n" in label else write_double(label)


def _count_exits(chart: Chart | Flow) -> Mapping[str, int]:
    exits: dict[str, int] = {}
    for edge in chart.edges:
        exits[edge.src] = exits.get(edge.src, 0) + 1
    return exits


def _name_nodes(
    nodes: Mapping[str, FlowNode], can_be_said: Callable[[str], bool], fold: Callable[[str], str]
) -> Mapping[str, str]:
    """A name for each node, its own id where that can be; no two that `fold` makes alike."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for node_id in nodes:
        if can_be_said(node_id) and fold(node_id) not in taken:
            names[node_id] = node_id
            taken.add(fold(node_id))
    numbers: dict[str, int] = {}
    for node_id in nodes:
        if node_id in names:
            continue
        stem = _OTHER.sub("_", node_id[:_LONGEST_STEM]).strip("_") or "n"
        if not can_be_said(f"{stem}_1"):
            stem = "n"
        name = stem
        while fold(name) in taken or not can_be_said(name):
            numbers[stem] = numbers.get(stem, 0) + 1
            name = f"{stem}_{numbers[stem]}"
        names[node_id] = name
        taken.add(fold(name))
    return names


def _is_mermaid_id(node_id: str) -> bool:
    if node_id.isascii():
        return bool(_ASCII_DOTTED.fullmatch(node_id)) and not KEYWORD.match(node_id)
    # Behind a letter that is not ASCII, Mermaid looks for its own words again.
    return (
        bool(_WORD.fullmatch(node_id))
        and not KEYWORD.match(node_id)
        and not KEYWORD_INSIDE.search(node_id)
        and all(sign.isascii() or (sign.isalpha() and sign <= "\uffff") for sign in node_id)
    )


def _is_d2_id(node_id: str) -> bool:
    word = fold(node_id)
    return (
        bool(_WORD.fullmatch(node_id))
        and node_id != "_"
        and word not in RESERVED
        and word not in _D2_VALUES
    )
