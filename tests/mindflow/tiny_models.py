"""Tiny models of the sentence-transformers library, made by the library itself, for tests."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

WORD_LIST = "draw chart trend read write file day query passage : . a the 画 图 表"
WORDS = WORD_LIST.split()
LETTERS = [chr(97 + at) for at in range(26)]
WIDTH = 16


def make_bert(folder: Path, prompts: Mapping[str, str] | None = None, *, left_out: int = 0) -> Path:
    """Two small layers with chance weights, always the same.

    The last `left_out` words of its tokenizer have none.
    """
    importlib.import_module("torch").manual_seed(1)
    transformers: Any = importlib.import_module("transformers")
    raw = folder.with_name(f"{folder.name}-raw")
    tokenizer = make_tokenizer(raw)
    tokenizer.save_pretrained(raw)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer) - left_out,
        hidden_size=WIDTH,
        intermediate_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
    )
    transformers.BertModel(config).save_pretrained(raw)
    parts = modules()
    return save(folder, [parts.Transformer(str(raw)), parts.Pooling(WIDTH)], prompts)


def make_static(folder: Path, weight: float | None = None) -> Path:
    """A vector for each word and no layers; all its numbers are `weight`, where one is given."""
    np: Any = importlib.import_module("numpy")
    tokenizer = make_tokenizer(folder.with_name(f"{folder.name}-raw"))
    given = np.random.default_rng(1).normal(size=(len(tokenizer), WIDTH)).astype("float32")
    if weight is not None:
        given[:] = weight
    part = modules().StaticEmbedding(tokenizer.backend_tokenizer, embedding_weights=given)
    return save(folder, [part], None)


def make_tokenizer(raw: Path) -> Any:
    """Cuts words into those that it knows, and the rest into letters."""
    raw.mkdir(parents=True)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *LETTERS]
    vocabulary += [f"##{one}" for one in LETTERS]
    path = raw / "vocab.txt"
    path.write_text("\n".join(dict.fromkeys(vocabulary)), encoding="utf-8")
    transformers: Any = importlib.import_module("transformers")
    return transformers.BertTokenizerFast(str(path))


def modules() -> Any:
    """The library's building blocks, which version 6 keeps in another place."""
    try:
        return importlib.import_module("sentence_transformers.sentence_transformer.modules")
    except ModuleNotFoundError:
        return importlib.import_module("sentence_transformers.models")


def save(folder: Path, parts: list[Any], prompts: Mapping[str, str] | None) -> Path:
    library: Any = importlib.import_module("sentence_transformers")
    given = dict(prompts) if prompts else None
    library.SentenceTransformer(modules=parts, device="cpu", prompts=given).save(str(folder))
    return folder
