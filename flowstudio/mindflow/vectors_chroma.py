"""Vectors in Chroma: embedded in a folder, or on a server that `chroma run` started.

One process owns an embedded folder: a second open client reads stale results. Several processes
share a server. Telemetry is off, and Chroma's own embedding is never used.
"""

from __future__ import annotations

import importlib
import importlib.util
import urllib.request
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from flowstudio.mindflow.vectors import VectorsDown, slug_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from flowstudio.mindflow.embed import Vectors

_ADVICE = "; start it again, or leave search.vectors out of the configuration"
_AT_ONCE = 2000
"""Vectors in one call: Chroma refuses batches above some 5,000."""
_ANSWERS_IN = 5.0
"""Seconds for a server to show that it is there."""
_WORKS_FOR = 60.0
"""Seconds for one call. Chroma's own client would wait for ever."""
_HNSW = {"space": "ip", "ef_search": 2000, "ef_construction": 200, "max_neighbors": 32}
"""With Chroma's own numbers two of the five nearest of 6,000 were missing at times, and 4 % of 900;
with these none was, for as much time."""


class ChromaIndex:
    """One collection for a model and a library."""

    def __init__(self, place: str | Path, model: str, library: str = "") -> None:
        """`place`: a folder, or a server's address such as http://localhost:8000.

        `library` tells apart the libraries that share a place, such as work folders. Raises
        VectorsDown where the package is missing or the place cannot be used.
        """
        if importlib.util.find_spec("chromadb") is None:
            raise VectorsDown("chromadb is not installed: pip install 'flowstudio[chroma]'")
        self._place = str(place)
        self._client: Any = None
        try:
            self._client = _open(place)
            self._name = slug_of(f"{model}/{library}")
            self._collection = self._made()
            self._there = set(self._collection.get(include=[])["ids"])
        except Exception as error:  # Chroma passes on errors of HTTP, Rust and SQLite alike
            self.close()
            raise VectorsDown(f"the vector store at {place} cannot be used{_ADVICE}") from error

    def select(self, keys: Iterable[str]) -> list[str]:
        """From now on, search among these keys alone; gives those whose vector is missing."""
        chosen = dict.fromkeys(keys)
        stale = [key for key in self._there if key not in chosen]
        for at in range(0, len(stale), _AT_ONCE):
            self._call("delete", ids=stale[at : at + _AT_ONCE])
        self._there.difference_update(stale)
        return [key for key in chosen if key not in self._there]

    def put(self, keys: Sequence[str], vectors: Vectors) -> None:
        """Keep the vectors (a row for each key, of length 1) and search among them too.

        Those with another number of columns than the earlier ones take their place.
        """
        for at in range(0, len(keys), _AT_ONCE):
            part = list(keys[at : at + _AT_ONCE])
            given = vectors[at : at + _AT_ONCE]
            try:
                self._call("upsert", ids=part, embeddings=given)
            except VectorsDown as error:
                if "dimension" not in str(error.__cause__):
                    raise
                self._begin_anew()
                self._call("upsert", ids=part, embeddings=given)
            self._there.update(part)

    def nearest(self, query: NDArray[np.float32], most: int) -> list[tuple[str, float]]:
        """The `most` nearest keys with their inner product, nearest first."""
        most = min(most, len(self._there))
        if most < 1:
            return []
        found = self._call("query", query_embeddings=[query], n_results=most, include=["distances"])
        ids: list[str] = found["ids"][0]
        distances: list[float] = found["distances"][0]
        return [(key, 1.0 - far) for key, far in zip(ids, distances, strict=True)]

    def fetch(self, keys: Sequence[str]) -> Vectors:
        """The vectors of keys that are there. Raises KeyError for one that is not."""
        import numpy as np

        if not keys:
            return np.zeros((0, 0), dtype=np.float32)
        found = self._call("get", ids=list(dict.fromkeys(keys)), include=["embeddings"])
        rows = dict(zip(found["ids"], found["embeddings"], strict=True))
        return np.asarray([rows[key] for key in keys], dtype=np.float32)

    def flush(self) -> None:
        """Nothing to do: Chroma writes at once."""

    def close(self) -> None:
        """Let go of the folder or the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _made(self) -> Any:
        return self._client.get_or_create_collection(
            self._name, embedding_function=None, configuration={"hnsw": _HNSW}
        )

    def _begin_anew(self) -> None:
        try:
            self._client.delete_collection(self._name)
            self._collection = self._made()
        except Exception as error:  # see __init__
            raise VectorsDown(f"the vector store at {self._place} gave up{_ADVICE}") from error
        self._there.clear()

    def _call(self, method: str, **given: Any) -> Any:
        try:
            return getattr(self._collection, method)(**given)
        except Exception as error:  # see __init__
            raise VectorsDown(f"the vector store at {self._place} gave up{_ADVICE}") from error


def _open(place: str | Path) -> Any:
    chromadb: Any = importlib.import_module("chromadb")
    settings = importlib.import_module("chromadb.config").Settings(anonymized_telemetry=False)
    if isinstance(place, str) and place.startswith(("http://", "https://")):
        parts = urlsplit(place)
        is_safe = parts.scheme == "https"
        host, port = parts.hostname or "localhost", parts.port or (443 if is_safe else 80)
        # The client asks its server while it is made, without an end: so this asks first.
        there = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/api/v2/heartbeat"
        urllib.request.urlopen(there, timeout=_ANSWERS_IN).close()
        client = chromadb.HttpClient(host=host, port=port, ssl=is_safe, settings=settings)
        with suppress(AttributeError):  # it has no setting of its own for this
            client._server._session.timeout = _WORKS_FOR
        return client
    folder = Path(place)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return chromadb.PersistentClient(path=str(folder), settings=settings)
