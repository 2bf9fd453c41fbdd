"""The library, or what lies around a skill, as a chart: drawn with the same drawing as a flow."""

from __future__ import annotations

from flowstudio.flow.chart import Chart
from flowstudio.flow.model import FlowEdge, FlowNode
from flowstudio.mindflow.graph import Edge, EdgeKind, Node, NodeKind, Surroundings

_SIGNS: dict[NodeKind, str] = {
    "skill": "",
    "methodology": "methodology: ",
    "artifact": "artifact: ",
    "state": "state: ",
}
_FORWARD: frozenset[EdgeKind] = frozenset({"calls", "produces", "yields"})


def chart_of(surroundings: Surroundings) -> Chart:
    """A chart that reads from what is needed to what comes out.

    A line `requires` is drawn from the state to the skill, as `needed by`, so that a state lies
    above the skill that needs it and below the one that produces it. Lines to methodologies run
    from the methodology, for the same reason.
    """
    names = {node: f"n{at}" for at, node in enumerate(surroundings.distances)}
    nodes = {
        name: FlowNode(name, f"{_SIGNS[node.kind]}{_short(node)}", "task")
        for node, name in names.items()
    }
    edges = tuple(_line(edge, names) for edge in surroundings.edges)
    return Chart("mermaid", nodes, edges, ())


def _line(edge: Edge, names: dict[Node, str]) -> FlowEdge:
    src, dst = names[edge.src], names[edge.dst]
    if edge.kind in _FORWARD:
        return FlowEdge(src, dst, edge.kind)
    label = "needed by" if edge.kind == "requires" else f"{edge.weight:g}"
    return FlowEdge(dst, src, label)


def _short(node: Node) -> str:
    """An artifact without the skill's name that its id begins with."""
    return node.id.partition("/")[2] or node.id if node.kind == "artifact" else node.id
