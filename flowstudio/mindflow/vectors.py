"""Where the vectors of texts are kept, and which of them are nearest to another one.

A text goes by its key, a hash of the model's name and the text itself: a vector that is there is
right for ever, and what is edited gets a new key.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from flowstudio.mindflow.embed import Vectors

MOST_KEPT = 50_000
"""Vectors that one file keeps for libraries other than the one in use (about 50 MB)."""

_SLUG = re.compile(r"[^a-z0-9]+")


class VectorsDown(Exception):
    """The index cannot be used now; the message says why. Searching by words goes on."""


class VectorIndex(Protocol):
    """Vectors by key. All of them keep the contract in tests/mindflow/test_vector_indexes.py."""

    def select(self, keys: Iterable[str]) -> list[str]:
        """From now on, search among these keys alone; gives those whose vector is missing."""
        ...

    def put(self, keys: Sequence[str], vectors: Vectors) -> None:
        """Keep the vectors (a row for each key, of length 1) and search among them too.

        Where they have another number of columns than before, all earlier ones are dropped: the
        model of that name was replaced by another.
        """
        ...

    def nearest(self, query: NDArray[np.float32], most: int) -> list[tuple[str, float]]:
        """The `most` nearest keys with their inner product, nearest first."""
        ...

    def fetch(self, keys: Sequence[str]) -> Vectors:
        """The vectors of keys that are there. Raises KeyError for one that is not."""
        ...

    def flush(self) -> None:
        """Write what is new, so that another start finds it."""
        ...

    def close(self) -> None:
        """Write what is new, and let go of files and connections."""
        ...


def key_of(model: str, text: str) -> str:
    """The key of a text's vector: 32 hexadecimal digits."""
    return hashlib.sha256(f"{model}\0{text}".encode(errors="replace")).hexdigest()[:32]


def slug_of(model: str) -> str:
    """The model's name as files and collections can be named: ASCII, at most 60 characters."""
    slug = _SLUG.sub("-", model.lower()).strip("-")[:48].strip("-") or "model"
    return f"{slug}-{hashlib.sha256(model.encode()).hexdigest()[:8]}"


def fetch_groups(
    index: VectorIndex, groups: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, Vectors]]:
    """The vectors of each group of keys that is there as a whole; empty groups are left out.

    All are asked for at once, for a server may be far.
    """
    groups = {name: keys for name, keys in groups.items() if keys}
    try:
        fetched = index.fetch([key for keys in groups.values() for key in keys])
    except KeyError:  # some are still being made
        for name, keys in groups.items():
            with suppress(KeyError):
                yield name, index.fetch(keys)
        return
    at = 0
    for name, keys in groups.items():
        yield name, fetched[at : at + len(keys)]
        at += len(keys)


class ArrayIndex:
    """All vectors in one array, in one file of the user's cache; searched from end to end.

    Half-precision numbers on disk: they are exact to three digits, which is more than a
    similarity means. A file that is damaged or of another make counts as empty.
    """

    def __init__(self, path: Path | None) -> None:
        """`path` ends in .npz; None keeps nothing beyond this object."""
        self._path = path
        self._rows: dict[str, int] = {}
        self._parts: list[Any] = []
        """The rows in the order in which they came; made one array where they are read."""
        self._count = 0
        self._chosen: dict[str, None] = {}
        self._there: list[str] = []
        self._matrix: Any = None
        self._is_changed = False
        self._is_read = path is None

    @classmethod
    def of_user(cls, model: str) -> ArrayIndex:
        """The user's own for this model."""
        from flowstudio import paths

        return cls(paths.cache_dir() / "vectors" / f"{slug_of(model)}.npz")

    def select(self, keys: Iterable[str]) -> list[str]:
        """From now on, search among these keys alone; gives those whose vector is missing."""
        self._read()
        self._matrix = None
        self._chosen = dict.fromkeys(keys)
        return [key for key in self._chosen if key not in self._rows]

    def put(self, keys: Sequence[str], vectors: Vectors) -> None:
        """Keep the vectors (a row for each key, of length 1) and search among them too."""
        import numpy as np

        self._read()
        if not keys:
            return
        given = np.asarray(vectors, dtype=np.float16)
        if self._parts and self._parts[0].shape[1] != given.shape[1]:
            self._rows, self._parts, self._count = {}, [], 0
        self._rows |= {key: self._count + at for at, key in enumerate(keys)}
        self._parts.append(given)
        self._count += len(given)
        self._chosen |= dict.fromkeys(keys)
        self._matrix = None
        self._is_changed = True

    def nearest(self, query: NDArray[np.float32], most: int) -> list[tuple[str, float]]:
        """The `most` nearest keys with their inner product, nearest first."""
        import numpy as np

        self._read()
        if self._matrix is None:
            self._there = [key for key in self._chosen if key in self._rows]
            self._matrix = self.fetch(self._there)
        most = min(most, len(self._there))
        if most < 1:
            return []
        found = self._matrix @ query
        best: list[int] = np.argpartition(-found, most - 1)[:most].tolist()
        near = [(self._there[at], float(found[at])) for at in best]
        return sorted(near, key=lambda one: (-one[1], one[0]))

    def fetch(self, keys: Sequence[str]) -> Vectors:
        """The vectors of keys that are there. Raises KeyError for one that is not."""
        import numpy as np

        self._read()
        rows = [self._rows[key] for key in keys]
        if not rows:
            return np.zeros((0, 0), dtype=np.float32)
        return self._whole()[rows].astype(np.float32)

    def flush(self) -> None:
        """Write the file, if there is anything new. A disk that refuses costs only time later."""
        if not self._is_changed or self._path is None:
            return
        try:
            self._write(self._path)
        except OSError:
            return
        self._is_changed = False

    def close(self) -> None:
        """Write what is new."""
        self.flush()

    def _read(self) -> None:
        if self._is_read or self._path is None:
            return
        self._is_read = True
        import numpy as np

        try:
            with np.load(self._path, allow_pickle=False) as file:
                keys = [str(key) for key in file["keys"]]
                array = file["vectors"]
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return  # damaged: the vectors are made again
        is_right = array.ndim == 2 and array.dtype == np.float16 and len(array) == len(keys)
        if is_right and bool(np.isfinite(array).all()):
            self._rows = {key: at for at, key in enumerate(keys)}
            self._parts, self._count = [array], len(array)

    def _whole(self) -> Any:
        import numpy as np

        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]
        return self._parts[0]

    def _write(self, path: Path) -> None:
        import numpy as np

        keep = list(self._rows)
        if len(keep) > MOST_KEPT:
            keep = [key for key in keep if key in self._chosen]
        array = self._whole()[[self._rows[key] for key in keep]]
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".vectors.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                np.savez(stream, keys=np.array(keep, dtype="U32"), vectors=array)
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
