"""Finding in the background: holds the index of a library, keeps it fresh, answers queries.

The first paint of a screen never waits for it: `update` returns at once and a thread does the work.
Until the vectors are there, words alone are compared, and the answer says so. Where an index or a
store fails, what is left of the search goes on.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from flowstudio.mindflow import foreign
from flowstudio.mindflow.context import Context
from flowstudio.mindflow.embed import Embedder, EmbedderMissing
from flowstudio.mindflow.graph import GraphDown, GraphStore, snapshot
from flowstudio.mindflow.graph_memory import MemoryGraph
from flowstudio.mindflow.lexical import LexicalIndex
from flowstudio.mindflow.model import History, Library
from flowstudio.mindflow.nearness import (
    WORDS_WORTH,
    about_texts,
    handicap,
    nearness,
    shared_words,
    texts_of,
    words_of,
)
from flowstudio.mindflow.search import (
    CANDIDATES,
    CHOICES,
    Answer,
    Candidate,
    Found,
    Judge,
    Relation,
    Scale,
    decide,
    is_weak,
)
from flowstudio.mindflow.vectors import VectorIndex, VectorsDown, fetch_groups, key_of

if TYPE_CHECKING:
    from flowstudio.mindflow.embed import Vectors

LEXICAL_SCALE = Scale(spread=0.12, floor=0.08)
"""For the share of a query's words (by their weight) that a skill has."""
_AT_ONCE = 32
"""Texts that are embedded before a query may go in between."""
_NEAREST = 256
"""Texts that the index is asked for: enough for some ten skills of many sentences."""
_COMPARED = 24
"""Skills of which all texts are compared."""
_RELATED = 8
"""Skills that one relation brings in at most."""

type Histories = Callable[[], Mapping[str, History]]


@dataclass(frozen=True, slots=True)
class Indexed:
    """A library with the keys of its texts; replaced as a whole when the library changes."""

    library: Library
    texts: Mapping[str, tuple[str, ...]]
    """The texts of each skill, by its name."""
    keys: Mapping[str, tuple[str, ...]]
    """Their keys, by the skill's name."""
    owners: Mapping[str, tuple[str, ...]]
    """The names of the skills that have the text of a key."""
    about: Mapping[str, int]
    """How many of these, from the first, are about the skill itself."""
    words: LexicalIndex = field(default_factory=LexicalIndex)


class Finder:
    """Searches one library. Its methods may be called from any thread.

    Without an embedder, words are compared. `histories` gives what is known of use; it is called
    for each query. `strange` gives by topic what no skill serves, as long as none is about it.
    """

    def __init__(
        self,
        embedder: Embedder | None,
        index: VectorIndex | None,
        graph: GraphStore | None = None,
        histories: Histories = dict,
        notes: Iterable[str] = (),
        strange: Callable[[], Mapping[str, Sequence[str]]] = foreign.topics,
    ) -> None:
        self._embedder = embedder
        self._index = index
        self._graph: GraphStore = graph or MemoryGraph()
        self._histories = histories
        self._notes = tuple(notes)
        self._strange = strange
        self._foreign: Vectors | None = None
        self._indexed: Indexed | None = None
        self._wanted: Library | None = None
        self._why_words = "" if embedder else "no model for meanings is in use"
        self._why_no_graph = ""
        self._has_vectors = False
        self._is_closed = False
        self._thread: threading.Thread | None = None
        self._state = threading.Condition()
        """Guards the fields above."""
        self._tools = threading.Lock()
        """Guards embedder, index and graph: only one thread uses them at a time."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- keeping the index ------------------------------------------------------------------

    def update(self, library: Library) -> None:
        """Search `library` from now on. Returns at once; what did not change is not made again."""
        with self._state:
            if self._is_closed:
                return
            self._wanted = library
            if self._thread is None:
                # A daemon: leaving the program never waits for an index.
                self._thread = threading.Thread(target=self._work, name="finder", daemon=True)
                self._thread.start()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the index holds what the last `update` gave; False where time ran out."""
        with self._state:
            return self._state.wait_for(lambda: self._thread is None, timeout)

    @property
    def is_ready(self) -> bool:
        """True when the index holds the last library, as far as it can be indexed here."""
        with self._state:
            return self._indexed is not None and self._thread is None

    def close(self) -> None:
        """Stop indexing, and let go of files and connections."""
        with self._state:
            self._is_closed = True
            self._wanted = None
        self.wait(5.0)
        with self._tools:
            if self._index is not None:
                self._index.close()
            self._graph.close()

    def _work(self) -> None:
        while True:
            with self._state:
                library, self._wanted = self._wanted, None
                if library is None or self._is_closed:
                    self._thread = None
                    self._state.notify_all()
                    return
            try:
                self._take(library)
            except Exception as error:  # a fault of ours may cost the index, never the thread
                with self._state:
                    self._why_words = f"the index failed: {type(error).__name__}: {error}"
                    self._has_vectors = False

    def _take(self, library: Library) -> None:
        indexed = self._index_words(library)
        with self._state:
            self._indexed = indexed
            self._state.notify_all()
        try:
            with self._tools:
                self._graph.load(snapshot(library))
            self._why_no_graph = ""
        except GraphDown as error:
            self._why_no_graph = str(error)
        if self._embedder is None or self._index is None:
            return
        try:
            is_whole = self._index_vectors(indexed, self._embedder, self._index)
        except (EmbedderMissing, VectorsDown) as error:
            with self._state:
                self._why_words, self._has_vectors = str(error), False
            return
        if is_whole:
            with self._state:
                self._why_words, self._has_vectors = "", True

    def _index_words(self, library: Library) -> Indexed:
        texts = {name: texts_of(skill) for name, skill in library.skills.items()}
        model = self._embedder.model if self._embedder else "words"
        keys = {name: tuple(key_of(model, text) for text in given) for name, given in texts.items()}
        owners: dict[str, list[str]] = {}
        for name, given in keys.items():
            for key in given:
                owners.setdefault(key, []).append(name)
        words = LexicalIndex()
        for name, skill in library.skills.items():
            words.put(name, words_of(skill))
        whole = {key: tuple(names) for key, names in owners.items()}
        about = {name: len(about_texts(skill)) for name, skill in library.skills.items()}
        return Indexed(library, texts, keys, whole, about, words)

    def _index_vectors(self, indexed: Indexed, embedder: Embedder, index: VectorIndex) -> bool:
        """Embed what is missing, in small steps; False where a newer library came in between."""
        text_of = {
            key: text
            for name, keys in indexed.keys.items()
            for key, text in zip(keys, indexed.texts[name], strict=True)
        }
        model = embedder.model
        strange = {
            topic: {key_of(model, text): text for text in texts}
            for topic, texts in self._strange().items()
        }
        for texts in strange.values():
            text_of |= texts
        for _ in range(2):  # an index of another make drops all at the first new vector
            with self._tools:
                missing = index.select(text_of)
            for at in range(0, len(missing), _AT_ONCE):
                with self._state:
                    if self._is_closed or self._wanted is not None:
                        return False
                part = missing[at : at + _AT_ONCE]
                with self._tools:
                    index.put(part, embedder.passages([text_of[key] for key in part]))
            if not missing:
                break
            with self._tools:
                index.flush()
        with self._tools:
            self._foreign = self._unserved(indexed, embedder, index, strange)
            # A model is read from disk when its first text comes: here, not while somebody waits.
            embedder.queries(["ready"])
        return True

    @staticmethod
    def _unserved(
        indexed: Indexed,
        embedder: Embedder,
        index: VectorIndex,
        strange: Mapping[str, Mapping[str, str]],
    ) -> Vectors | None:
        """The vectors of what no skill of this library is about; None where all is served."""
        import numpy as np

        about = index.fetch(
            [key for name, keys in indexed.keys.items() for key in keys[: indexed.about[name]]]
        )
        kept: list[Vectors] = []
        for keys in strange.values():
            topic = index.fetch(list(keys))
            if not foreign.is_served(topic, about, embedder.spread, embedder.floor):
                kept.append(topic)
        return np.concatenate(kept) if kept else None

    # ---- answering --------------------------------------------------------------------------

    async def find_async(
        self,
        query: str,
        context: Context | None = None,
        rejected: Sequence[str] = (),
        most: int = CHOICES,
    ) -> Answer:
        """`find` in a thread of its own, for screens."""
        return await asyncio.to_thread(self.find, query, context, rejected, most)

    def find(
        self,
        query: str,
        context: Context | None = None,
        rejected: Sequence[str] = (),
        most: int = CHOICES,
    ) -> Answer:
        """The skills for a query; never raises for anything that fails in index, model or store.

        Args:
            rejected: skills of which the user said that it is none of them. Those around them in
                the graph come in as candidates.
            most: candidates to give where the user has to choose.
        """
        with self._state:
            self._state.wait_for(lambda: self._indexed is not None or self._thread is None)
            indexed = self._indexed
        notes = list(self._notes)
        if indexed is None or not query.strip():
            return Answer(query, "nothing", (), notes=tuple(notes))
        known = set(rejected)
        near, scale, by, why = self._similar(indexed, query, CANDIDATES + len(known))
        if why:
            notes.append(why)
        judge = Judge(indexed.library, scale, context or Context(), self._histories())
        first = [one for one in near if one.name not in known][:CANDIDATES]
        ranked = judge.rank(first)
        if known or is_weak(ranked):
            start = list(rejected) or [one.skill.name for one in ranked[:1]]
            more, why = self._related(start)
            if why:
                notes.append(why)
            ranked = self._widen(indexed, query, judge, first, more, known, by)
        verdict, gap = decide(ranked, scale)
        most = max(most, CANDIDATES if verdict == "best" else 1)
        return Answer(query, verdict, tuple(ranked[:most]), gap, by, tuple(notes))

    def _similar(
        self, indexed: Indexed, query: str, most: int
    ) -> tuple[list[Found], Scale, str, str]:
        """The most similar skills, how to read their similarity, who compared, and what failed."""
        with self._state:
            why = self._why_words
            has_vectors, is_working = self._has_vectors, self._thread is not None
        if has_vectors and self._embedder is not None:
            embedder = self._embedder
            try:
                found, floor = self._by_meaning(indexed, query, most)
                return found, Scale(embedder.spread, floor), embedder.model, ""
            except (EmbedderMissing, VectorsDown) as error:
                why = str(error)
        elif is_working and not why:
            why = "the index is still being made"
        note = f"Words alone were compared: {why}."
        shares = shared_words(indexed.words, query, most)
        found = [Found(name, share) for name, share in shares.items()]
        return found, LEXICAL_SCALE, "words", note

    def _by_meaning(
        self, indexed: Indexed, query: str, most: int, only: Sequence[str] | None = None
    ) -> tuple[list[Found], float]:
        """The most similar skills (of `only`, where given) by their vectors.

        With them the similarity below which nothing fits this query.
        """
        assert self._embedder is not None
        assert self._index is not None
        shares = shared_words(indexed.words, query, len(indexed.keys))
        worth = WORDS_WORTH * self._embedder.spread
        with self._tools:
            vector = self._embedder.queries([query])[0]
            floor = self._embedder.floor
            strangers = 0
            if self._foreign is not None:
                strangers = len(self._foreign)
                lead = foreign.LEAD * self._embedder.spread
                floor = max(floor, foreign.foreignness(vector, self._foreign) + lead)
            if only is None:
                near = self._index.nearest(vector, _NEAREST + strangers)
                by_words = list(shares)[:most]
                by_texts = (name for key, _ in near for name in indexed.owners.get(key, ()))
                names = dict.fromkeys((*by_words, *by_texts))
                names = dict.fromkeys(list(names)[: max(_COMPARED, 3 * most)])
            else:
                names = dict.fromkeys(only)
            found: list[Found] = []
            keys = {name: indexed.keys.get(name, ()) for name in names}
            for name, vectors in fetch_groups(self._index, keys):
                all_of_it: list[float] = (vectors @ vector).tolist()
                split = indexed.about.get(name, 0)
                said = len(indexed.library.skills[name].utterances)
                near_to = nearness(all_of_it[:split], all_of_it[split:], is_said=said > 0)
                near_to += handicap(said) * self._embedder.spread
                found.append(Found(name, near_to + worth * shares.get(name, 0.0)))
        found.sort(key=lambda one: (-one.similarity, one.name))
        return (found[:most] if only is None else found), floor

    def _related(self, names: Sequence[str]) -> tuple[list[Found], str]:
        """The skills around `names`: siblings, callers and callees, then by state."""
        found: dict[str, Found] = {}
        try:
            with self._tools:
                for name in names:
                    for relation, others in self._around(name):
                        for other in others[:_RELATED]:
                            found.setdefault(other, Found(other, 0.0, relation, name))
        except GraphDown as error:
            return [], f"The graph of the library cannot be asked: {error}."
        if not found and self._why_no_graph:
            return [], f"The graph of the library cannot be asked: {self._why_no_graph}."
        return list(found.values()), ""

    def _around(self, name: str) -> list[tuple[Relation, Sequence[str]]]:
        graph = self._graph
        return [
            ("sibling", [one.skill for one in graph.siblings(name)]),
            ("called by", graph.callers(name)),
            ("calls", graph.callees(name)),
            ("upstream", graph.upstream(name)),
            ("downstream", graph.downstream(name)),
        ]

    def _widen(
        self,
        indexed: Indexed,
        query: str,
        judge: Judge,
        first: Sequence[Found],
        more: Sequence[Found],
        known: set[str],
        by: str,
    ) -> list[Candidate]:
        """Rank the first candidates and the related ones together, all by the same measure."""
        there = known.union(one.name for one in first)
        fresh = {one.name: one for one in more if one.name not in there}
        if by == "words":
            shares = shared_words(indexed.words, query, len(indexed.keys))
            near = [Found(name, share) for name, share in shares.items() if name in fresh]
        else:
            try:
                near, _ = self._by_meaning(indexed, query, len(fresh), list(fresh))
            except (EmbedderMissing, VectorsDown):
                near = []
        similarity = {one.name: one.similarity for one in near}
        added = [
            Found(one.name, similarity.get(one.name, 0.0), one.relation, one.related_to)
            for one in fresh.values()
        ]
        return judge.rank([*first, *added])
