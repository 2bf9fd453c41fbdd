"""The graph in memory, held by networkx: the default."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from flowstudio.mindflow.graph import (
    KEPT,
    MOST_HOPS,
    Edge,
    EdgeKind,
    Node,
    Sibling,
    Snapshot,
    Surroundings,
    leads_on,
    rank_siblings,
    sort_surroundings,
)

if TYPE_CHECKING:
    import networkx as nx


class MemoryGraph:
    """A `GraphStore` in this process; networkx is imported when the first graph is loaded."""

    def __init__(self) -> None:
        self._graph: nx.MultiDiGraph[Node] | None = None
        self._held: Snapshot | None = None
        self._weights: dict[str, float] = {}

    def load(self, graph: Snapshot) -> None:
        """Hold exactly this graph."""
        if graph == self._held:
            return
        import networkx as nx

        made: nx.MultiDiGraph[Node] = nx.MultiDiGraph()
        made.add_nodes_from(graph.nodes)
        for edge in graph.edges:
            made.add_edge(edge.src, edge.dst, key=edge.kind, edge=edge)
        self._graph, self._held, self._weights = made, graph, dict(graph.weights)

    def neighbours(self, node: Node) -> tuple[Edge, ...]:
        """The lines from and to the node."""
        return tuple(sorted((*self._out(node), *self._into(node))))

    def siblings(self, skill: str) -> tuple[Sibling, ...]:
        """Skills that keep to a methodology that this one keeps to, the likest first."""
        found: list[tuple[str, float]] = []
        for mine in self._out(Node("skill", skill), "scores"):
            if mine.weight < KEPT:
                continue
            weight = self._weights.get(mine.dst.id, 1.0)
            for other in self._into(mine.dst, "scores"):
                if other.weight >= KEPT and other.src != mine.src:
                    found.append((other.src.id, weight * min(mine.weight, other.weight)))
        return rank_siblings(found)

    def callees(self, skill: str) -> tuple[str, ...]:
        """The skills that it calls."""
        return _names(edge.dst for edge in self._out(Node("skill", skill), "calls"))

    def callers(self, skill: str) -> tuple[str, ...]:
        """The skills that call it."""
        return _names(edge.src for edge in self._into(Node("skill", skill), "calls"))

    def upstream(self, skill: str) -> tuple[str, ...]:
        """The skills that produce a state that it requires."""
        return self._over_states(skill, "requires", "produces")

    def downstream(self, skill: str) -> tuple[str, ...]:
        """The skills that require a state that it produces."""
        return self._over_states(skill, "produces", "requires")

    def within(self, node: Node, hops: int) -> Surroundings:
        """Everything within `hops` lines of the node, up to methodologies and not through them."""
        graph = self._graph
        if graph is None or node not in graph:
            return Surroundings({}, ())
        distances = {node: 0}
        rim = [node]
        for distance in range(1, min(hops, MOST_HOPS) + 1):
            reached: list[Node] = []
            for one in rim:
                for other in (*graph.successors(one), *graph.predecessors(one)):
                    if other not in distances:
                        distances[other] = distance
                        if leads_on(other):
                            reached.append(other)
            rim = reached
        edges = [edge for one in distances for edge in self._out(one) if edge.dst in distances]
        return sort_surroundings(distances, edges)

    def close(self) -> None:
        """Forget the graph."""
        self._graph = self._held = None

    def _over_states(self, skill: str, here: EdgeKind, there: EdgeKind) -> tuple[str, ...]:
        me = Node("skill", skill)
        states = [edge.dst for edge in self._out(me, here)]
        found = (edge.src for state in states for edge in self._into(state, there))
        return _names(one for one in found if one != me)

    def _out(self, node: Node, kind: EdgeKind | None = None) -> list[Edge]:
        if self._graph is None or node not in self._graph:
            return []
        return _of_kind(self._graph.out_edges(node, data="edge"), kind)

    def _into(self, node: Node, kind: EdgeKind | None = None) -> list[Edge]:
        if self._graph is None or node not in self._graph:
            return []
        return _of_kind(self._graph.in_edges(node, data="edge"), kind)


def _of_kind(found: Any, kind: EdgeKind | None) -> list[Edge]:
    edges: list[Edge] = [edge for _, _, edge in found]
    return edges if kind is None else [edge for edge in edges if edge.kind == kind]


def _names(nodes: Iterable[Node]) -> tuple[str, ...]:
    return tuple(sorted({node.id for node in nodes}))
