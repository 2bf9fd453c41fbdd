"""The library as a graph to walk in: read once, asked often. Everything here takes its time: call
it in a thread.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio.drawing.marks import Marks
from flowstudio.flow.chart import Chart
from flowstudio.mindflow.graph import Node, NodeKind, Surroundings, snapshot
from flowstudio.mindflow.graph_chart import chart_of

if TYPE_CHECKING:
    from flowstudio.drawing.marks import Look
    from flowstudio.mindflow.graph import GraphStore
    from flowstudio.mindflow.model import History, Library, LibrarySkill
    from flowstudio.mindflow.plan import Score
    from flowstudio.skill import Catalogue

_TAGS: dict[NodeKind, str] = {
    "skill": "",
    "state": "state",
    "methodology": "method",
    "artifact": "artifact",
}


class LibraryGraph:
    """The library of a catalogue, and the store that holds its graph."""

    def __init__(self, catalogue: Catalogue, work_dir: Path) -> None:
        """Read the library and open the store.

        Raises:
            GraphDown: the store cannot be used, and no other can take its place.
        """
        from flowstudio.config import load_config
        from flowstudio.mindflow.library import read_library
        from flowstudio.mindflow.opening import open_graph
        from flowstudio.mindflow.plan import scores_of

        self.library: Library = read_library(catalogue)
        self.histories, problem = read_histories()
        self.score: Score = scores_of(self.library, self.histories)
        self.whole = snapshot(self.library)
        self._guard = threading.Lock()
        self._store: GraphStore
        self._store, notes = open_graph(load_config().config.search, work_dir)
        self.notes = (*notes, *([f"{problem}."] if problem else []))
        """Sentences on what could not be had."""
        self._store.load(self.whole)

    def around(
        self, centre: Node | None, hops: int, kinds: Iterable[NodeKind] = ()
    ) -> Surroundings:
        """What lies within so many hops of a node; without one, the whole library.

        Args:
            kinds: what is left out, but for the centre itself.

        Raises:
            GraphDown: the store cannot be reached.
        """
        if centre is None:
            found = Surroundings(dict.fromkeys(self.whole.nodes, 0), self.whole.edges)
        else:
            with self._guard:
                found = self._store.within(centre, hops)
        hidden = frozenset(kinds)
        kept = {
            node: distance
            for node, distance in found.distances.items()
            if node.kind not in hidden or node == centre
        }
        edges = tuple(edge for edge in found.edges if edge.src in kept and edge.dst in kept)
        return Surroundings(kept, edges)

    def skill_of(self, node: Node) -> LibrarySkill | None:
        """The skill that a node stands for."""
        return self.library.skills.get(node.id) if node.kind == "skill" else None

    def close(self) -> None:
        """Let go of the store."""
        with self._guard:
            self._store.close()


def name_of(node: Node) -> str:
    """The name that a node has in every drawing of the library."""
    return f"{node.kind}:{node.id}"


def draw_up(around: Surroundings) -> tuple[Chart, Mapping[str, Node]]:
    """The chart of some surroundings, and what each of its nodes stands for.

    Nodes keep their names from one chart to the next; their kind is said by `mark_kinds`.
    """
    drawn = chart_of(around)
    names = {name: name_of(node) for name, node in zip(drawn.nodes, around.distances, strict=True)}
    labels = {"requires": "required by", "scores": "scores"}
    nodes = {
        name_of(node): replace(drawn.nodes[name], id=name_of(node), label=_title(node))
        for name, node in zip(drawn.nodes, around.distances, strict=True)
    }
    edges = tuple(
        replace(
            line,
            src=names[line.src],
            dst=names[line.dst],
            label=labels.get(edge.kind, edge.kind)
            + (f" {edge.weight:g}" if edge.kind == "scores" else ""),
        )
        for line, edge in zip(drawn.edges, around.edges, strict=True)
    )
    known = {name_of(node): node for node in around.distances}
    return Chart(drawn.language, nodes, edges, ()), known


def mark_kinds(chart: Chart, known: Mapping[str, Node], centre: Node | None) -> Marks:
    """The node in the middle and its lines stand out, skills come before what is between them."""
    looks: dict[str, Look] = {name: "muted" for name, node in known.items() if node.kind == "skill"}
    if centre is not None:
        looks[name_of(centre)] = "now"
    tags = {name: _TAGS[node.kind] for name, node in known.items() if _TAGS[node.kind]}
    middle = name_of(centre) if centre is not None else ""
    edges: dict[int, Look] = {
        at: "muted" for at, line in enumerate(chart.edges) if middle not in (line.src, line.dst)
    }
    return Marks(nodes=looks, tags=tags, edges=edges)


def _title(node: Node) -> str:
    """An artifact without the skill's name that its id begins with."""
    return node.id.partition("/")[2] or node.id if node.kind == "artifact" else node.id


def read_histories() -> tuple[Mapping[str, History], str]:
    """What the user's use says of the skills, and why it cannot be read where it cannot."""
    from flowstudio.mindflow.database import Database, DatabaseError, database_file
    from flowstudio.mindflow.usage import UsageLog

    if not database_file().exists():
        return {}, ""
    try:
        with Database() as database:
            return UsageLog(database).histories(), database.repaired or ""
    except DatabaseError as error:
        return {}, str(error)
