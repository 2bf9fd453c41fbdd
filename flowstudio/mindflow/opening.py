"""From the settings to a finder: chooses embedder, index and graph, and says what is missing."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio.mindflow.embed import Embedder, EmbedderMissing, choose_embedder
from flowstudio.mindflow.finder import Finder, Histories
from flowstudio.mindflow.graph import GraphDown, GraphStore
from flowstudio.mindflow.graph_memory import MemoryGraph
from flowstudio.mindflow.vectors import ArrayIndex, VectorIndex, VectorsDown

if TYPE_CHECKING:
    from flowstudio.config import SearchSettings


def open_finder(settings: SearchSettings, work_dir: Path, histories: Histories = dict) -> Finder:
    """A finder as the settings want it. What cannot be had is replaced, and its notes say so.

    May wait some seconds for servers: call it in a thread where a screen is shown.
    """
    notes: list[str] = []
    library = hashlib.sha256(os.fsencode(work_dir.resolve())).hexdigest()[:16]
    graph = _open_graph(settings, library, notes)
    embedder: Embedder | None = None
    try:
        embedder = choose_embedder(settings.embedder)
    except EmbedderMissing as error:
        notes.append(f"Words alone are compared: {error}.")
    index = _open_index(settings, embedder, library, notes) if embedder else None
    return Finder(embedder, index, graph, histories, notes)


def open_graph(settings: SearchSettings, work_dir: Path) -> tuple[GraphStore, tuple[str, ...]]:
    """The graph store alone, and what is to be said about it."""
    notes: list[str] = []
    library = hashlib.sha256(os.fsencode(work_dir.resolve())).hexdigest()[:16]
    return _open_graph(settings, library, notes), tuple(notes)


def _open_index(
    settings: SearchSettings, embedder: Embedder, library: str, notes: list[str]
) -> VectorIndex:
    if settings.vectors == "array":
        return ArrayIndex.of_user(embedder.model)
    from flowstudio.mindflow.vectors_chroma import ChromaIndex

    place: str | Path = settings.vectors
    if not settings.vectors.startswith(("http://", "https://")):
        place = Path(settings.vectors).expanduser()
    try:
        return ChromaIndex(place, embedder.model, library)
    except VectorsDown as error:
        notes.append(f"Vectors are kept in a file for now: {error}.")
        return ArrayIndex.of_user(embedder.model)


def _open_graph(settings: SearchSettings, library: str, notes: list[str]) -> GraphStore:
    if settings.graph == "memory":
        return MemoryGraph()
    from flowstudio.mindflow.graph_bolt import BoltGraph

    password = os.environ.get(settings.graph_password_env, "")
    try:
        return BoltGraph(settings.graph, settings.graph_user, password, library)
    except GraphDown as error:
        notes.append(f"The library's graph is kept in memory for now: {error}.")
        return MemoryGraph()
