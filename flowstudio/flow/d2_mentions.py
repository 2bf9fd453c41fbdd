"""Where a D2 text names one node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowstudio.flow.d2_findings import Findings
from flowstudio.flow.d2_parser import parse
from flowstudio.flow.d2_syntax import Map, Part, Scalar, Statement
from flowstudio.flow.d2_words import fold
from flowstudio.flow.source import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

type _Place = tuple[str, ...]


def find_mentions_d2(text: str, names: Sequence[str]) -> list[tuple[int, int]]:
    """The offsets of the last of `names`, wherever the text speaks of the node at this path.

    `names` are the parts of its id as they are written. `_` leads out of a container, as in D2;
    globs name no node, and stay as they are. What `near` points at is a mention, too.
    """
    wanted = tuple(fold(_plain(name)) for name in names)
    found: set[tuple[int, int]] = set()
    waiting: list[tuple[Map, _Place]] = [(parse(text, Findings(Source(text))), ())]
    while waiting:
        body, around = waiting.pop()
        for item in body.items:
            if not isinstance(item, Statement):
                continue
            here = _follow(item.path, around, wanted, found)
            for arrow in item.arrows:
                _follow(arrow.src, here, wanted, found)
                _follow(arrow.dst, here, wanted, found)
            inner = item.value
            if isinstance(inner, Map) and not item.arrows:
                waiting.append((inner, here))
            if item.path and fold(item.path[-1].text) == "near":
                _take_near(item, wanted, found)
    return sorted(found)


def _follow(
    path: Sequence[Part], around: _Place, wanted: _Place, found: set[tuple[int, int]]
) -> _Place:
    """Where `path` leads from the container `around`; mentions on the way are found."""
    here = around
    for part in path:
        if part.text == "_" and not part.is_quoted:
            here = here[:-1]
            continue
        here = (*here, "*" if part.is_glob else fold(part.text))
        if here == wanted:
            found.add((part.start, part.end))
    return here


def _take_near(item: Statement, wanted: _Place, found: set[tuple[int, int]]) -> None:
    value = item.value
    if isinstance(value, Scalar) and value.word and (fold(value.word),) == wanted:
        found.add((value.start, value.end))


def _plain(name: str) -> str:
    """A name without the quotes in which an id has it."""
    if name[:1] == '"' and name.endswith('"') and len(name) > 1:
        return name[1:-1].replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")
    if name[:1] == "'" and name.endswith("'") and len(name) > 1:
        return name[1:-1].replace("''", "'")
    return name
