"""How fast the library's graph answers: `python -m tests.benchmarks.bench_graph [SKILLS …]`.

For each size (500 and 5,000 made-up skills where none is given) and each store: how long a graph
takes to be loaded, one that is held there already to be found, and the median, in milliseconds, of
each question about twenty skills, asked in three rounds. Asked for are 50 ms for one hop and 200 ms
for several, at 500 skills.

The server of the Bolt rows is the Bolt/Cypher server of `arcadedb-embedded`, in this process; where
it is not installed the rows are left out. The first line names the machine's load: on a busy
machine the server's rows say more about the others than about it.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

from flowstudio.mindflow.graph import GraphStore, Node, Snapshot, snapshot
from flowstudio.mindflow.graph_bolt import BoltGraph
from flowstudio.mindflow.graph_memory import MemoryGraph
from tests.mindflow import bolt
from tests.mindflow.libraries import big_library

ROUNDS = 3
ASKED = 20
"""Skills that are asked about."""
WARM = 3
"""Skills that are asked about before the clock runs: a server compiles its first statements."""


def main(sizes: Sequence[int]) -> None:
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with bolt.serve() as address:
        for size in sizes:
            library = big_library(size)
            graph = snapshot(library)
            print(f"\n{size} skills: {len(graph.nodes)} nodes, {len(graph.edges)} lines")
            skills = list(library.skills)
            asked = skills[:: max(size // ASKED, 1)][:ASKED]
            measure("networkx", MemoryGraph, graph, asked)
            if address:
                server = partial(
                    BoltGraph, address, bolt.USER, bolt.PASSWORD, library=f"bench-{size}"
                )
                measure("Bolt", server, graph, asked)


def measure(
    name: str, make: Callable[[], GraphStore], graph: Snapshot, asked: Sequence[str]
) -> None:
    """Load, load again, and ask; a line for each."""
    store = make()
    loads = [lap(lambda: store.load(graph))]
    store.close()
    store = make()
    loads.append(lap(lambda: store.load(graph)))
    print(f"  {name:<9} load {loads[0]:.0f} ms, again {loads[1]:.0f} ms")
    for label, ask in QUESTIONS:
        for skill in asked[:WARM]:
            ask(store, skill)
        laps = [lap(partial(ask, store, skill)) for _ in range(ROUNDS) for skill in asked]
        slow = sorted(laps)[int(len(laps) * 0.9)]
        print(f"  {name:<9} {label:<11} {statistics.median(laps):>8.2f}   p90 {slow:>8.2f}")
    store.close()


type Question = Callable[[GraphStore, str], object]

QUESTIONS: tuple[tuple[str, Question], ...] = (
    ("one hop", lambda store, skill: store.neighbours(Node("skill", skill))),
    ("three hops", lambda store, skill: store.within(Node("skill", skill), 3)),
    ("siblings", lambda store, skill: store.siblings(skill)),
    ("callers", lambda store, skill: store.callers(skill)),
    ("upstream", lambda store, skill: store.upstream(skill)),
    ("downstream", lambda store, skill: store.downstream(skill)),
)


def lap(call: Callable[[], object]) -> float:
    """Milliseconds that it takes."""
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    main([int(one) for one in sys.argv[1:]] or [500, 5000])
