"""The library as a graph: skills, methodologies, artifacts and states, and what joins them.

The words are the design's: a skill *calls* skills, *requires* and *produces* states, *scores* under
a methodology and *yields* artifacts. Stores answer questions about the graph; all of them answer
alike (one suite of tests holds them to it).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from flowstudio.text import to_json

if TYPE_CHECKING:
    from flowstudio.mindflow.model import Library

type NodeKind = Literal["skill", "methodology", "artifact", "state"]
type EdgeKind = Literal["calls", "requires", "produces", "scores", "yields"]

NODE_KINDS: tuple[NodeKind, ...] = ("skill", "methodology", "artifact", "state")
EDGE_KINDS: tuple[EdgeKind, ...] = ("calls", "requires", "produces", "scores", "yields")
KEPT = 0.7
"""The score from which a skill counts as keeping to a methodology: those that do are siblings."""
MOST_HOPS = 12
MOST_SIBLINGS = 100
"""Siblings in one answer: who looks for another skill reads a few."""


class GraphDown(Exception):
    """The store cannot be used now; the message says why."""


class Node(NamedTuple):
    """One thing in the library."""

    kind: NodeKind
    id: str
    """A skill's name, a methodology's or a state's id, an artifact's `skill/path`."""


class Edge(NamedTuple):
    """One line, from a skill to something."""

    src: Node
    dst: Node
    kind: EdgeKind
    weight: float = 1.0
    """The score under a methodology; 1 for all other kinds."""


class Sibling(NamedTuple):
    """A skill that keeps to the same methodologies."""

    skill: str
    likeness: float
    """Over the methodologies that both keep to: their weight times the lower score, summed up."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A whole graph as a value; what a store is loaded with."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    weights: tuple[tuple[str, float], ...] = ()
    """The weight of each methodology, by its id."""

    @property
    def digest(self) -> str:
        """Equal for equal graphs."""
        text = to_json([self.nodes, self.edges, self.weights])
        return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What lies within some hops of a node."""

    distances: dict[Node, int]
    """Each node with its distance in hops, the nearest first, then by kind and name."""
    edges: tuple[Edge, ...]
    """All lines between those nodes."""


class GraphStore(Protocol):
    """A graph that can be asked. A name that is not there has no neighbours: nothing is raised.

    Raises GraphDown where the store cannot be reached. Answers are sorted, so that all stores give
    the same.
    """

    def load(self, graph: Snapshot) -> None:
        """Hold exactly this graph. Cheap where it is the one that is held already."""
        ...

    def neighbours(self, node: Node) -> tuple[Edge, ...]:
        """The lines from and to the node."""
        ...

    def siblings(self, skill: str) -> tuple[Sibling, ...]:
        """Skills that keep (see `KEPT`) to a methodology that this one keeps to: the 100 likest,
        the likest first."""
        ...

    def callees(self, skill: str) -> tuple[str, ...]:
        """The skills that it calls."""
        ...

    def callers(self, skill: str) -> tuple[str, ...]:
        """The skills that call it."""
        ...

    def upstream(self, skill: str) -> tuple[str, ...]:
        """The skills that produce a state that it requires."""
        ...

    def downstream(self, skill: str) -> tuple[str, ...]:
        """The skills that require a state that it produces."""
        ...

    def within(self, node: Node, hops: int) -> Surroundings:
        """Everything within `hops` lines of the node, in either direction; 12 hops at most.

        A walk ends at a methodology that it comes to: nearly every skill scores under each, so
        that two hops through one would lead to the whole library. `siblings` answers for those.
        """
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...


def snapshot(library: Library) -> Snapshot:
    """The graph of a library. Called skills that are not there are left out."""
    nodes: dict[Node, None] = {Node("skill", name): None for name in library.skills}
    nodes |= {Node("methodology", known): None for known in library.methodologies}
    edges = tuple(dict.fromkeys(_edges(library)))
    for edge in edges:
        nodes.setdefault(edge.dst, None)
    weights = tuple((one.id, one.weight) for one in library.methodologies.values())
    return Snapshot(tuple(nodes), edges, weights)


def _edges(library: Library) -> Iterator[Edge]:
    for skill in library.skills.values():
        me = Node("skill", skill.name)
        for name in skill.called_skills:
            if name in library.skills and name != skill.name:
                yield Edge(me, Node("skill", name), "calls")
        for state in skill.preconditions:
            yield Edge(me, Node("state", state), "requires")
        for state in skill.effects:
            yield Edge(me, Node("state", state), "produces")
        for known, score in skill.methodology_scores.items():
            if known in library.methodologies:
                yield Edge(me, Node("methodology", known), "scores", score)
        for artifact in skill.artifacts:
            yield Edge(me, Node("artifact", f"{skill.name}/{artifact}"), "yields")


def leads_on(node: Node) -> bool:
    """True where a walk that comes to the node goes on from it; it may begin at any."""
    return node.kind != "methodology"


def rank_siblings(found: Sequence[tuple[str, float]]) -> tuple[Sibling, ...]:
    """Sum up what each methodology gives; the likest first, equals by name."""
    sums: dict[str, float] = {}
    for name, likeness in found:
        sums[name] = sums.get(name, 0.0) + likeness
    ranked = sorted(sums.items(), key=lambda one: (-round(one[1], 9), one[0]))
    return tuple(Sibling(name, round(likeness, 9)) for name, likeness in ranked[:MOST_SIBLINGS])


def sort_surroundings(distances: dict[Node, int], edges: Sequence[Edge]) -> Surroundings:
    """The same answer from every store: sorted by distance, kind and name."""
    ranked = sorted(distances.items(), key=lambda one: (one[1], one[0]))
    return Surroundings(dict(ranked), tuple(sorted(edges)))
