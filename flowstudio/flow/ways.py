"""Where the ways from BEGIN lead: to END, to a stop, round in a loop; and what they never reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowstudio.flow import codes
from flowstudio.flow.diagnostics import Diagnostic, Related, finding
from flowstudio.flow.graph import Graph, find_stops, place, reach

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flowstudio.flow.model import FlowNode

_MOST_RELATED = 5


def check_ways(graph: Graph) -> Iterator[Diagnostic]:
    """The findings about ways; none where it is not clear where they start.

    Where END is missing, its own finding names the stops; where END cannot be reached, the error
    names them, and no warning says it again.
    """
    begins, ends = graph.of_kind("begin"), graph.of_kind("end")
    if len(begins) != 1:
        return
    begin = begins[0]
    if not graph.successors[begin.id]:
        return
    reached = reach(graph.successors, [begin.id])
    known = reached
    stops = _find_stops_before_end(graph, reached, [end.id for end in ends])
    if len(ends) == 1 and ends[0].id not in reached:
        to_end = reach(graph.predecessors, [ends[0].id])
        yield _report_end(graph, ends[0], stops, find_stops(graph.predecessors, to_end))
        known = reached | reach(graph.successors, to_end)
    elif ends:
        yield from (_report_stop(graph, stop) for stop in stops)
    yield from _report_unreached(graph, known)


def _find_stops_before_end(
    graph: Graph, reached: set[str], ends: Sequence[str]
) -> Sequence[Sequence[str]]:
    """Where ways through `reached` stop without having come to an END."""
    if reached <= reach(graph.predecessors, ends):
        return []  # an END can be reached from everywhere: the usual case, and quickly known
    stops = find_stops(graph.successors, reached)
    return [stop for stop in stops if all(graph.nodes[n].kind != "end" for n in stop)]


def _report_end(
    graph: Graph, end: FlowNode, stops: Sequence[Sequence[str]], heads: Sequence[Sequence[str]]
) -> Diagnostic:
    related = [
        Related(place(graph.nodes[stop[0]]), _describe_stop(graph, stop))
        for stop in stops[:_MOST_RELATED]
    ]
    related += [
        Related(place(graph.nodes[head[0]]), _describe_head(head[0], end))
        for head in heads[:_MOST_RELATED]
    ]
    if len(stops) == 1 and heads:
        hint = f"perhaps missing:  {graph.write_edge(stops[0][0], heads[0][0])}"
    else:
        hint = "lead one of the ways from BEGIN on to END"
    message = "END cannot be reached from BEGIN"
    return finding(codes.END_UNREACHABLE, message, place(end), hint, related)


def _describe_stop(graph: Graph, stop: Sequence[str]) -> str:
    if _is_loop(graph, stop):
        return f"a way from BEGIN goes round and round in the loop of {_name(stop)}"
    return f'a way from BEGIN stops at "{stop[0]}", which has no exit'


def _describe_head(head: str, end: FlowNode) -> str:
    if head == end.id:
        return f'nothing leads to "{head}"'
    return f'nothing leads to "{head}", from where END could be reached'


def _is_loop(graph: Graph, stop: Sequence[str]) -> bool:
    return bool(graph.successors[stop[0]])


def _name(ids: Sequence[str]) -> str:
    shown = ", ".join(f'"{node}"' for node in ids[:_MOST_RELATED])
    return shown if len(ids) <= _MOST_RELATED else f"{shown} and {len(ids) - _MOST_RELATED} more"


def _report_stop(graph: Graph, stop: Sequence[str]) -> Diagnostic:
    node = graph.nodes[stop[0]]
    if not _is_loop(graph, stop):
        return finding(
            codes.DEAD_END,
            f'"{node.id}" has no exit, so a run that comes here cannot go on',
            place(node),
            f"lead it on, for example:  {graph.write_edge(node.id, 'END')}",
        )
    return finding(
        codes.LOOP_ENDLESS,
        f"the loop of {_name(stop)} has no way out, so END cannot be reached from it",
        place(node),
        "give one of these nodes an exit that leads towards END",
        [Related(place(graph.nodes[other]), "part of the loop") for other in stop[1:_MOST_RELATED]],
    )


def _report_unreached(graph: Graph, known: set[str]) -> Iterator[Diagnostic]:
    """One finding for each place where a part that BEGIN never reaches begins."""
    rest = {node for node in graph.nodes if node not in known}
    if not rest:
        return
    heads = find_stops(graph.predecessors, rest)
    behind = len(rest) - 1 if len(heads) == 1 else 0
    for head in heads:
        message = f'"{head[0]}" is never reached from BEGIN'
        if behind:
            message += f", nor {'is' if behind == 1 else 'are'} the {behind} behind it"
        yield finding(
            codes.NODE_UNREACHABLE,
            message,
            place(graph.nodes[head[0]]),
            "lead an edge to it, or take it out",
        )
