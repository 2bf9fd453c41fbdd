"""A sentence-transformers model by configuration: a tiny one, made here, with the real library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("sentence_transformers")
transformers: Any = pytest.importorskip("transformers")

from flowstudio.mindflow.embed import EmbedderMissing, choose_embedder  # noqa: E402
from flowstudio.mindflow.finder import Finder  # noqa: E402
from flowstudio.mindflow.vectors import ArrayIndex  # noqa: E402
from tests.mindflow.libraries import data_library  # noqa: E402

WORDS = [
    "draw",
    "chart",
    "trend",
    "read",
    "write",
    "file",
    "day",
    "query",
    "passage",
    ":",
    ".",
    "a",
    "the",
]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model of one small layer with chance weights."""
    from sentence_transformers import SentenceTransformer, models  # pyright: ignore

    raw, folder = (tmp_path_factory.mktemp(name) for name in ("raw", "tiny"))
    letters = [chr(97 + at) for at in range(26)]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *letters]
    vocabulary += [f"##{one}" for one in letters]
    (raw / "vocab.txt").write_text("\n".join(vocabulary))
    transformers.BertTokenizerFast(str(raw / "vocab.txt")).save_pretrained(raw)
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.BertConfig(vocab_size=len(vocabulary), intermediate_size=16, **shape)
    transformers.BertModel(config).save_pretrained(raw)
    parts = [models.Transformer(str(raw)), models.Pooling(16)]
    SentenceTransformer(modules=parts, device="cpu").save(str(folder))
    return folder


def test_texts_become_rows_of_length_one(tiny: Path) -> None:
    embedder = choose_embedder(str(tiny))
    assert embedder is not None
    rows = embedder.passages(["draw a chart", "read the file", ""])
    assert rows.shape == (3, 16) and rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)
    assert np.allclose(embedder.queries(["draw a chart"])[0], rows[0], atol=1e-3)


def test_skills_are_found_with_it(tiny: Path) -> None:
    with Finder(choose_embedder(str(tiny)), ArrayIndex(None)) as finder:
        finder.update(data_library())
        assert finder.wait(60)
        answer = finder.find("show me the trend")
    assert answer.by == f"sentence-transformers-{tiny}"
    assert answer.candidates[0].skill.name == "charts", "its very words are among its texts"


def test_a_model_that_is_not_there_says_so(tmp_path: Path) -> None:
    embedder = choose_embedder(str(tmp_path / "nothing"))
    assert embedder is not None
    with pytest.raises(EmbedderMissing, match="cannot be loaded"):
        embedder.queries(["a"])
