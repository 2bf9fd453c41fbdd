"""Whether the exits of one node can be told apart by the model that has to choose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowstudio.flow import codes
from flowstudio.flow.diagnostics import Diagnostic, Related, finding
from flowstudio.flow.graph import Graph, place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flowstudio.flow.model import FlowEdge, FlowNode

LONGEST_BRANCH = 60
"""Characters in a branch's label beyond which a model can hardly be trusted to repeat it."""

_MOST_RELATED = 5


def check_branches(graph: Graph, node: FlowNode) -> Iterator[Diagnostic]:
    """The findings about the exits of a task or a decision."""
    exits = graph.outgoing[node.id]
    if len(exits) == 1:
        yield from _check_single(exits[0])
    if len(exits) < 2:
        return
    by_label: dict[str, FlowEdge] = {}
    by_form: dict[str, FlowEdge] = {}
    for edge in exits:
        label = (edge.label or "").strip()
        if not label:
            yield _report_unlabelled(graph, node, edge, exits)
            continue
        first = by_label.setdefault(label, edge)
        alike = by_form.setdefault("".join(label.split()).casefold(), edge)
        if first is not edge:
            yield _report_repeated(node, edge, first, label)
        elif alike is not edge:
            yield finding(
                codes.BRANCHES_ALIKE,
                f'the exits "{alike.label}" and "{edge.label}" of "{node.id}" differ only in '
                "case or space",
                edge.label_span or place(edge),
                "use words that differ",
                [Related(alike.label_span or place(alike), "the other exit")],
            )
        yield from _check_wording(node, edge, label)


def _check_single(edge: FlowEdge) -> Iterator[Diagnostic]:
    if edge.label:
        yield finding(
            codes.EXIT_LABEL_IGNORED,
            f'"{edge.src}" has a single exit, so its label "{_shorten(edge.label)}" is not used',
            edge.label_span or place(edge),
            "drop the label, or add the exit that is missing",
        )


def _report_unlabelled(
    graph: Graph, node: FlowNode, edge: FlowEdge, exits: Sequence[FlowEdge]
) -> Diagnostic:
    few = exits[: _MOST_RELATED + 1]
    others = [other for other in few if other is not edge][:_MOST_RELATED]
    related = [Related(place(other), _describe(other)) for other in others]
    twin = next((other for other in few if other is not edge and other.dst == edge.dst), None)
    hint = f"write for example:  {graph.write_edge(edge.src, edge.dst, 'another answer')}"
    if twin is not None and not twin.label:
        hint = "the same edge is written twice: drop one of the two"
    return finding(
        codes.BRANCH_UNLABELLED,
        f'"{node.id}" has {len(exits)} exits, and the one to "{edge.dst}" has no label',
        place(edge),
        hint,
        related,
    )


def _describe(edge: FlowEdge) -> str:
    if edge.label:
        return f'another exit, to "{edge.dst}": {_shorten(edge.label)}'
    return f'another exit, to "{edge.dst}"'


def _report_repeated(node: FlowNode, edge: FlowEdge, first: FlowEdge, label: str) -> Diagnostic:
    ways = f'to "{first.dst}" and to "{edge.dst}"'
    if first.dst == edge.dst:
        ways = f'both to "{edge.dst}"'
    return finding(
        codes.BRANCH_REPEATED,
        f'two exits of "{node.id}" are labelled "{_shorten(label)}", {ways}',
        edge.label_span or place(edge),
        "give each exit a label of its own" if first.dst != edge.dst else "drop one of the two",
        [Related(first.label_span or place(first), "the first exit with this label")],
    )


def _check_wording(node: FlowNode, edge: FlowEdge, label: str) -> Iterator[Diagnostic]:
    fault = None
    if "\n" in label:
        fault = "has several lines"
    elif "<" in label:
        fault = 'holds "<", which a <choice> cannot hold'
    elif len(label) > LONGEST_BRANCH:
        fault = f"is {len(label)} characters long"
    if fault:
        yield finding(
            codes.BRANCH_AWKWARD,
            f'the label of the exit from "{node.id}" to "{edge.dst}" {fault}; '
            "a model can hardly repeat it",
            edge.label_span or place(edge),
            f'keep it to a few words and move the rest into the label of "{node.id}"',
        )


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_BRANCH else line[: LONGEST_BRANCH - 1] + "…"
