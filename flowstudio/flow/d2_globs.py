"""Globs: keys with a bare `*`. Those that only change how things look can be passed over."""

from __future__ import annotations

from typing import Literal

from flowstudio.flow.d2_syntax import Map, Path, Scalar, Statement
from flowstudio.flow.d2_words import GRAPH_SHAPES, RESERVED, fold

type Reach = Literal["looks", "class", "graph"]
"""What a glob changes: looks, looks by a class (which may bring a label), or the graph."""


def find_reach(statement: Statement) -> Reach:
    """What a statement with a glob changes at most."""
    if statement.arrows and statement.index is None:
        return "graph"
    reach: Reach = "looks"
    waiting = [statement]
    while waiting:
        item = waiting.pop()
        path = item.arrow_path if item.arrows else item.path
        word = _find_word(path)
        if item.is_filter:
            continue
        if word in ("", "label") or (word == "shape" and _makes_graph(item)):
            if word or item.primary is not None or not isinstance(item.value, Map):
                return "graph"
            for inner in item.value.items:
                if not isinstance(inner, Statement):
                    return "graph"
                if not inner.has_glob and not inner.is_filter and not _find_word(inner.path):
                    return "graph"
                waiting.append(inner)
        elif word == "class":
            reach = "class"
    return reach


def _find_word(path: Path) -> str:
    """The first reserved word of a key; empty where it has none."""
    for part in path:
        word = fold(part.text)
        if word in RESERVED and not part.is_quoted:
            return word
    return ""


def _makes_graph(item: Statement) -> bool:
    return not isinstance(item.value, Scalar) or item.value.word in GRAPH_SHAPES
