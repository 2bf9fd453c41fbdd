"""Whether a chart is a flow that can be run: what is wrong with the graph, and where.

The rules are KLIP-10's. Findings are errors where the flow cannot run and warnings where it can but
probably does not do what its author wants. Everything here is linear in nodes and edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowstudio.flow import codes
from flowstudio.flow.branches import check_branches
from flowstudio.flow.diagnostics import (
    CODES,
    Diagnostic,
    FlowValidationError,
    Related,
    finding,
)
from flowstudio.flow.graph import NOWHERE, Graph, place
from flowstudio.flow.model import FlowEdge, FlowNode, group_edges
from flowstudio.flow.ways import check_ways

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flowstudio.flow.chart import Chart

_MOST_RELATED = 5


def validate_chart(chart: Chart) -> list[Diagnostic]:
    """The findings about the chart's graph; those that `chart` already holds are not repeated.

    Where the chart holds a parse error, a statement may be missing, so findings that a missing
    statement alone can bring about ("END cannot be reached") are left out.
    """
    is_broken = any(CODES[d.code].parse for d in chart.errors)
    if not chart.nodes:
        if is_broken:
            return []
        hint = (
            "write for example: BEGIN -> task -> END"
            if chart.language == "d2"
            else "begin with a line `flowchart TD`, then write `BEGIN --> task --> END`"
        )
        return [finding(codes.CHART_MISSING, "there is no flowchart in this text", NOWHERE, hint)]
    outgoing = group_edges(chart.nodes, chart.edges)
    found = _check(Graph.of(chart.nodes, outgoing, chart.language))
    if is_broken:
        found = [d for d in found if d.code not in codes.GRAPH_GAPS]
    return found


def validate_flow(
    nodes: Mapping[str, FlowNode], outgoing: Mapping[str, Sequence[FlowEdge]]
) -> tuple[str, str]:
    """The ids of BEGIN and END of a graph that can be run.

    For flows that a program builds; nodes and edges need no spans. Raises `FlowValidationError`
    with every finding, warnings too, where the graph breaks a rule.
    """
    graph = Graph.of(nodes, outgoing, "mermaid")
    found = _check(graph)
    if any(d.severity == "error" for d in found):
        raise FlowValidationError(found)
    return graph.of_kind("begin")[0].id, graph.of_kind("end")[0].id


def _check(graph: Graph) -> list[Diagnostic]:
    found = [*_check_begin(graph), *_check_end(graph)]
    for node in graph.nodes.values():
        if node.kind == "begin" or node.kind == "end":
            continue
        if not node.text.strip():
            message = f'the label of "{node.id}" is empty, so there is no prompt to send'
            hint = "write as its label what is to be done there"
            found.append(finding(codes.LABEL_EMPTY, message, place(node), hint))
        exits = graph.outgoing[node.id]
        if len(exits) > 1 or (exits and exits[0].label):
            found.extend(check_branches(graph, node))
    found.extend(check_ways(graph))
    return found


def _check_begin(graph: Graph) -> Iterator[Diagnostic]:
    begins = graph.of_kind("begin")
    if not begins:
        heads = [node for node in graph.nodes.values() if not graph.predecessors[node.id]]
        first = heads[0] if heads else next(iter(graph.nodes.values()))
        note = "nothing leads to {}: perhaps the flow starts here"
        yield finding(
            codes.BEGIN_MISSING,
            "no node is labelled BEGIN",
            place(first),
            f"write for example:  {graph.write_edge('BEGIN', first.id)}",
            _notes(heads, note),
        )
        return
    yield from _check_repeated(begins, codes.BEGIN_REPEATED, "BEGIN")
    for begin in begins:
        match graph.outgoing[begin.id]:
            case []:
                hint = f"lead it to the first task:  {graph.write_edge(begin.id, 'task')}"
                yield finding(codes.BEGIN_STUCK, "BEGIN has no exit", place(begin), hint)
            case [first, second, *_] as exits:
                yield finding(
                    codes.BEGIN_EXITS,
                    f"BEGIN has {len(exits)} exits, but must have exactly one",
                    place(second),
                    "lead BEGIN to one node that asks the question, and branch there",
                    [Related(place(first), f'the first exit, to "{first.dst}"')],
                )
            case _:
                pass


def _check_end(graph: Graph) -> Iterator[Diagnostic]:
    ends = graph.of_kind("end")
    if not ends:
        stops = [node for node in graph.nodes.values() if not graph.successors[node.id]]
        last = stops[0] if stops else list(graph.nodes.values())[-1]
        note = "{} has no exit: perhaps the flow ends here"
        yield finding(
            codes.END_MISSING,
            "no node is labelled END",
            place(last),
            f"write for example:  {graph.write_edge(last.id, 'END')}",
            _notes(stops, note),
        )
        return
    yield from _check_repeated(ends, codes.END_REPEATED, "END")
    for end in ends:
        for edge in graph.outgoing[end.id]:
            yield finding(
                codes.END_EXITS,
                f'END has an exit, to "{edge.dst}", but at END the run is over',
                place(edge),
                "turn the edge round, or let it leave from the node before END",
                [Related(place(end), "END stands here")],
            )


def _check_repeated(nodes: Sequence[FlowNode], code: str, role: str) -> Iterator[Diagnostic]:
    first = nodes[0]
    for other in nodes[1:]:
        yield finding(
            code,
            f'"{other.id}" is labelled {role}, but "{first.id}" already is',
            place(other),
            f'use the id "{first.id}" here too, or give this node another label',
            [Related(place(first), f"the first {role}")],
        )


def _notes(nodes: Sequence[FlowNode], note: str) -> list[Related]:
    return [Related(place(n), note.format(f'"{n.id}"')) for n in nodes[:_MOST_RELATED]]
