"""A chart's graph as the rules look at it. Linear and iterative: depth costs no stack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from flowstudio.flow.model import FlowEdge, FlowNode, FlowNodeKind, Language, Span

type Neighbours = Mapping[str, Sequence[str]]

NOWHERE = Span(1, 1, 1, 1)
"""The place of things that were never written down, such as the nodes of a built-in flow."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes in source order with what they lead to and what leads to them."""

    nodes: Mapping[str, FlowNode]
    outgoing: Mapping[str, Sequence[FlowEdge]]
    successors: Neighbours
    predecessors: Neighbours
    language: Language

    @staticmethod
    def of(
        nodes: Mapping[str, FlowNode],
        outgoing: Mapping[str, Sequence[FlowEdge]],
        language: Language,
    ) -> Graph:
        """The graph of these nodes; `outgoing` may leave out nodes without exits."""
        successors = {node: [edge.dst for edge in outgoing.get(node, ())] for node in nodes}
        predecessors: dict[str, list[str]] = {node: [] for node in nodes}
        for node, targets in successors.items():
            for target in targets:
                predecessors[target].append(node)
        exits = {node: outgoing.get(node, ()) for node in nodes}
        return Graph(nodes, exits, successors, predecessors, language)

    def of_kind(self, kind: FlowNodeKind) -> list[FlowNode]:
        """The nodes of one kind, in source order."""
        return [node for node in self.nodes.values() if node.kind == kind]

    def write_edge(self, src: str, dst: str, label: str | None = None) -> str:
        """An edge as its author would write it, for a hint."""
        if self.language == "d2":
            return f"{src} -> {dst}" + (f": {label}" if label else "")
        return f"{src} -->|{label}| {dst}" if label else f"{src} --> {dst}"


def place(item: FlowNode | FlowEdge) -> Span:
    """Where a node or an edge stands."""
    return item.span or NOWHERE


def reach(neighbours: Neighbours, starts: Iterable[str]) -> set[str]:
    """Every node that can be reached from `starts`, these included."""
    seen = set(starts)
    waiting = list(seen)
    while waiting:
        for target in neighbours[waiting.pop()]:
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen


def find_stops(neighbours: Neighbours, within: set[str]) -> list[list[str]]:
    """Where ways through `within` stop: single nodes without exits, loops without a way out.

    Given the predecessors instead, where ways come from. In source order, as are the members of
    each loop. `within` must hold every neighbour of each of its nodes.
    """
    order = {node: at for at, node in enumerate(neighbours)}
    stops: list[list[str]] = []
    for part in _components(neighbours):
        members = set(part)
        if part[0] in within and all(n in members for node in part for n in neighbours[node]):
            stops.append(sorted(part, key=order.__getitem__))
    return sorted(stops, key=lambda part: order[part[0]])


def _components(neighbours: Neighbours) -> Iterable[list[str]]:
    """The strongly connected components (Tarjan's algorithm, with its stack as a list)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    pending: list[str] = []
    is_pending: set[str] = set()
    for root in neighbours:
        if root in number:
            continue
        path = [(root, iter(neighbours[root]))]
        number[root] = low[root] = len(number)
        pending.append(root)
        is_pending.add(root)
        while path:
            node, targets = path[-1]
            for target in targets:
                if target not in number:
                    number[target] = low[target] = len(number)
                    pending.append(target)
                    is_pending.add(target)
                    path.append((target, iter(neighbours[target])))
                    break
                if target in is_pending:
                    low[node] = min(low[node], number[target])
            else:
                path.pop()
                if path:
                    parent = path[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == number[node]:
                    part = _pop_through(pending, node)
                    is_pending.difference_update(part)
                    yield part


def _pop_through(stack: list[str], node: str) -> list[str]:
    members: list[str] = []
    while not members or members[-1] != node:
        members.append(stack.pop())
    return members
