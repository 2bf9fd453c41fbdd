"""The graph on a server that speaks Bolt and Cypher, through the official neo4j driver.

Every node carries the label `Item` and the name of its library, so that several libraries, and
other data, can share a database. Questions are one query each, but for the walk over several hops,
which is one a hop: servers differ in what they make of paths of variable length.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from flowstudio.mindflow.graph import (
    EDGE_KINDS,
    KEPT,
    MOST_HOPS,
    MOST_SIBLINGS,
    Edge,
    GraphDown,
    Node,
    Sibling,
    Snapshot,
    Surroundings,
    leads_on,
    rank_siblings,
    sort_surroundings,
)

_ADVICE = "; start it again, or leave search.graph out of the configuration"
_AT_ONCE = 500
"""Rows in one statement."""
_PATIENCE = 5.0
"""Seconds until a server that does not answer counts as down."""


class BoltGraph:
    """A `GraphStore` behind `bolt://HOST:PORT/DATABASE`."""

    def __init__(self, address: str, user: str = "", password: str = "", library: str = "") -> None:
        """`library` tells apart the libraries in one database, such as work folders.

        Raises GraphDown where the driver is missing or nothing answers at `address`.
        """
        if importlib.util.find_spec("neo4j") is None:
            raise GraphDown("neo4j is not installed: pip install 'flowstudio[graph]'")
        neo4j: Any = importlib.import_module("neo4j")
        parts = urlsplit(address)
        self._address = f"{parts.scheme}://{parts.hostname}:{parts.port or 7687}"
        self._database = parts.path.strip("/") or None
        self._library = library
        self._held = ""
        self._errors: tuple[type[Exception], ...] = (
            neo4j.exceptions.Neo4jError,
            neo4j.exceptions.DriverError,
            OSError,
            ValueError,
        )
        self._driver: Any = None
        try:
            self._driver = neo4j.GraphDatabase.driver(
                self._address,
                auth=(user, password) if user else None,
                connection_timeout=_PATIENCE,
                max_transaction_retry_time=_PATIENCE,
                telemetry_disabled=True,
                notifications_min_severity="OFF",
            )
            self._run("MATCH (n:Library {name: $library}) RETURN n.digest AS digest")
        except self._errors as error:
            self.close()
            raise GraphDown(f"{self._address} cannot be used{_ADVICE}") from error
        except GraphDown:
            self.close()
            raise

    def load(self, graph: Snapshot) -> None:
        """Hold exactly this graph, written anew where the server holds another one."""
        digest = graph.digest
        if digest == self._held:
            return
        held = self._run("MATCH (n:Library {name: $library}) RETURN n.digest AS digest")
        if [row["digest"] for row in held] != [digest]:
            self._write(graph, digest)
        self._held = digest

    def neighbours(self, node: Node) -> tuple[Edge, ...]:
        """The lines from and to the node."""
        return tuple(sorted(set(self._around([node]))))

    def siblings(self, skill: str) -> tuple[Sibling, ...]:
        """Skills that keep to a methodology that this one keeps to, the likest first."""
        # Summed up over there: of a large library these are thousands of lines.
        found = self._run(
            "MATCH (s:Item {key: $key})-[a:scores]->(m:Item)<-[b:scores]-(o:Item) "
            "WHERE a.weight >= $kept AND b.weight >= $kept AND o.key <> $key "
            "WITH o.id AS name, sum(m.weight * "
            "CASE WHEN a.weight < b.weight THEN a.weight ELSE b.weight END) AS likeness "
            "RETURN name, likeness ORDER BY likeness DESC, name LIMIT $most",
            key=self._key(Node("skill", skill)),
            kept=KEPT,
            most=MOST_SIBLINGS,
        )
        return rank_siblings([(row["name"], row["likeness"]) for row in found])

    def callees(self, skill: str) -> tuple[str, ...]:
        """The skills that it calls."""
        return self._names("MATCH (s:Item {key: $key})-[:calls]->(o:Item)", skill)

    def callers(self, skill: str) -> tuple[str, ...]:
        """The skills that call it."""
        return self._names("MATCH (o:Item)-[:calls]->(s:Item {key: $key})", skill)

    def upstream(self, skill: str) -> tuple[str, ...]:
        """The skills that produce a state that it requires."""
        way = "MATCH (s:Item {key: $key})-[:requires]->(t:Item)<-[:produces]-(o:Item)"
        return self._names(way, skill)

    def downstream(self, skill: str) -> tuple[str, ...]:
        """The skills that require a state that it produces."""
        way = "MATCH (s:Item {key: $key})-[:produces]->(t:Item)<-[:requires]-(o:Item)"
        return self._names(way, skill)

    def within(self, node: Node, hops: int) -> Surroundings:
        """Everything within `hops` lines of the node, up to methodologies and not through them."""
        if not self._run("MATCH (n:Item {key: $key}) RETURN n.id AS id", key=self._key(node)):
            return Surroundings({}, ())
        distances = {node: 0}
        edges: dict[Edge, None] = {}
        rim = [node]
        for distance in range(1, min(hops, MOST_HOPS) + 1):
            reached: dict[Node, None] = {}
            for edge in self._around(rim):
                edges[edge] = None
                for end in (edge.src, edge.dst):
                    if end not in distances:
                        reached[end] = None
            distances |= dict.fromkeys(reached, distance)
            # Every line begins at a skill, so none is missed between those that are not asked.
            rim = [one for one in reached if leads_on(one)]
        if hops > 0:
            inner = self._around([one for one in rim if one.kind == "skill"], only_out=True)
            edges |= {edge: None for edge in inner if edge.dst in distances}
        return sort_surroundings(distances, list(edges))

    def close(self) -> None:
        """Let go of the connection."""
        if self._driver is not None:
            self._driver.close()
            self._driver = None

    # ---- statements -------------------------------------------------------------------------

    def _key(self, node: Node) -> str:
        return f"{self._library}\n{node.kind}\n{node.id}"

    def _names(self, match: str, skill: str) -> tuple[str, ...]:
        key = self._key(Node("skill", skill))
        found = self._run(f"{match} WHERE o.key <> $key RETURN DISTINCT o.id AS name", key=key)
        return tuple(sorted(row["name"] for row in found))

    def _around(self, nodes: Sequence[Node], *, only_out: bool = False) -> Iterator[Edge]:
        """The lines from and to the nodes; those between two of them may come twice.

        One statement for up to `_AT_ONCE` nodes. Asked without a direction, since a server that
        looks for lines into a node may begin at their unknown ends.
        """
        line = "-[e]->" if only_out else "-[e]-"
        for at in range(0, len(nodes), _AT_ONCE):
            keys = {self._key(node): node for node in nodes[at : at + _AT_ONCE]}
            rows = self._run(
                f"UNWIND $keys AS key MATCH (a:Item {{key: key}}){line}(b:Item) "
                "RETURN key, startNode(e).key = key AS out, type(e) AS kind, e.weight AS weight, "
                "b.kind AS other_kind, b.id AS other",
                keys=list(keys),
            )
            for row in rows:
                here, there = keys[row["key"]], Node(row["other_kind"], row["other"])
                src, dst = (here, there) if row["out"] else (there, here)
                yield Edge(src, dst, row["kind"], row["weight"])

    def _write(self, graph: Snapshot, digest: str) -> None:
        """Without its digest an unfinished graph is written again by the next one who loads it."""
        for label, prop in (("Item", "key"), ("Library", "name")):
            self._run(
                f"CREATE INDEX flowstudio_{label.lower()} IF NOT EXISTS "
                f"FOR (n:{label}) ON (n.{prop})"
            )
        self._run("MATCH (n:Library {name: $library}) DETACH DELETE n")
        self._run("MATCH (n:Item {library: $library}) DETACH DELETE n")
        weights = dict(graph.weights)
        rows = [
            {
                "key": self._key(node),
                "kind": node.kind,
                "id": node.id,
                "weight": weights.get(node.id, 1.0) if node.kind == "methodology" else 1.0,
            }
            for node in graph.nodes
        ]
        for at in range(0, len(rows), _AT_ONCE):
            self._run(
                "UNWIND $rows AS row CREATE (:Item {key: row.key, library: $library, "
                "kind: row.kind, id: row.id, weight: row.weight})",
                rows=rows[at : at + _AT_ONCE],
            )
        for kind in EDGE_KINDS:
            pairs = [
                {"src": self._key(edge.src), "dst": self._key(edge.dst), "weight": edge.weight}
                for edge in graph.edges
                if edge.kind == kind
            ]
            for at in range(0, len(pairs), _AT_ONCE):
                self._run(
                    "UNWIND $rows AS row MATCH (a:Item {key: row.src}), (b:Item {key: row.dst}) "
                    f"CREATE (a)-[:{kind} {{weight: row.weight}}]->(b)",
                    rows=pairs[at : at + _AT_ONCE],
                )
        self._run("CREATE (:Library {name: $library, digest: $digest})", digest=digest)

    def _run(self, statement: str, **given: object) -> Sequence[Mapping[str, Any]]:
        if self._driver is None:
            raise GraphDown(f"{self._address}: the connection is closed")
        given["library"] = self._library
        try:
            with self._driver.session(database=self._database) as session:
                return session.run(statement, given).data()
        except self._errors as error:
            raise GraphDown(f"{self._address} does not answer{_ADVICE}") from error
