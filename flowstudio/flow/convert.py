"""Writes a chart as Mermaid or as D2, from which reading gives the same flow.

What a reader drops because it is only looks (colours, shapes, classes, comments) is not written.
Ids stay as they are where the other language can say them; others become `n1`, `n2`, …, their node
keeping its label, so that the flow is the same in all but these names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from flowstudio.flow.d2_write import write_block, write_double
from flowstudio.flow.edit_mermaid import write_quoted

if TYPE_CHECKING:
    from flowstudio.flow.chart import Chart
    from flowstudio.flow.model import Flow, FlowNode

_SIMPLE = re.compile(r"[^\W\d]\w*")
_MERMAID_WORDS = (
    *("graph", "flowchart", "subgraph", "end", "style", "linkStyle", "classDef", "class"),
    *("click", "href", "call", "default", "direction", "accTitle", "accDescr"),
)
"""Words with which no id of ours begins: mermaid.js takes them for something else."""
_D2_WORDS = frozenset(
    (
        *("label", "desc", "shape", "icon", "constraint", "tooltip", "link", "near", "width"),
        *("height", "top", "left", "direction", "class", "classes", "style", "vars", "layers"),
        *("scenarios", "steps", "null", "true", "false", "suspend", "unsuspend"),
    )
)
"""Keys that mean looks in D2, and its own words."""
_D2_DIRECTIONS = {"TD": "", "BT": "up", "LR": "right", "RL": "left"}


def write_mermaid(chart: Chart | Flow) -> str:
    """The chart as a Mermaid flowchart: each node once, in order, then each edge on its line."""
    names = _name_nodes(chart.nodes, _is_mermaid_id)
    lines = [f"flowchart {chart.direction}"]
    exits = _count_exits(chart)
    for node in chart.nodes.values():
        text = write_quoted(node.text)
        match node.kind:
            case "begin" | "end":
                shape = f"([{text}])"
            case _ if exits.get(node.id, 0) > 1:
                shape = f"{{{text}}}"
            case _:
                shape = f"[{text}]"
        lines.append(f"    {names[node.id]}{shape}")
    for edge in chart.edges:
        label = f"|{write_quoted(edge.label)}|" if edge.label is not None else ""
        lines.append(f"    {names[edge.src]} -->{label} {names[edge.dst]}")
    return "\n".join(lines) + "\n"


def write_d2(chart: Chart | Flow) -> str:
    """The chart as a D2 diagram: each node once, in order, then each edge on its line."""
    names = _name_nodes(chart.nodes, _is_d2_id)
    lines: list[str] = []
    if way := _D2_DIRECTIONS[chart.direction]:
        lines.append(f"direction: {way}")
    for node in chart.nodes.values():
        lines.append(f"{names[node.id]}: {_d2_label(node.text)}")
    for edge in chart.edges:
        label = f": {write_double(edge.label)}" if edge.label is not None else ""
        lines.append(f"{names[edge.src]} -> {names[edge.dst]}{label}")
    return "\n".join(lines) + "\n"


def _d2_label(label: str) -> str:
    return write_block(label, "", "\n") if "\n" in label else write_double(label)


def _count_exits(chart: Chart | Flow) -> Mapping[str, int]:
    exits: dict[str, int] = {}
    for edge in chart.edges:
        exits[edge.src] = exits.get(edge.src, 0) + 1
    return exits


def _name_nodes(
    nodes: Mapping[str, FlowNode], can_be_said: Callable[[str], bool]
) -> Mapping[str, str]:
    """A name for each node, its own id where that can be; no two alike but for case."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for node_id in nodes:
        if can_be_said(node_id) and node_id.casefold() not in taken:
            names[node_id] = node_id
            taken.add(node_id.casefold())
    number = 0
    for node_id in nodes:
        if node_id in names:
            continue
        number += 1
        while f"n{number}" in taken:
            number += 1
        names[node_id] = f"n{number}"
        taken.add(f"n{number}")
    return names


def _is_mermaid_id(node_id: str) -> bool:
    return bool(_SIMPLE.fullmatch(node_id)) and not node_id.startswith(_MERMAID_WORDS)


def _is_d2_id(node_id: str) -> bool:
    return bool(_SIMPLE.fullmatch(node_id)) and node_id.casefold() not in _D2_WORDS
