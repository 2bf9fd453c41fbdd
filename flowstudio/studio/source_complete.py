"""What the word before the cursor may become: node ids and words of the chart's language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowstudio.flow.model import Language

_WORD = re.compile(r"[\w.-]*\Z")
_MERMAID = ("BEGIN", "END", "subgraph", "end", "direction", "style", "classDef", "class", "click")
_MERMAID_HEAD = ("flowchart TD", "flowchart LR")
_D2 = ("BEGIN", "END", "direction", "label", "shape", "style", "class", "classes", "near")
_FIELDS = ("name: ", "description: ", "type: flow", "type: standard", "allowed-tools: ", "nodes: ")
MOST = 50
"""Completions that are offered at most."""


@dataclass(frozen=True, slots=True)
class Completions:
    """What is offered, and how many characters before the cursor it takes the place of."""

    words: tuple[str, ...]
    replaces: int


def complete(
    before: str, nodes: Iterable[str], language: Language | None, *, in_front: bool, first: bool
) -> Completions:
    """The completions at the end of `before`, the line up to the cursor.

    `language` is the chart's where the cursor stands in one; `in_front` says that it stands in the
    front matter, and `first` that it stands in the chart's first line. Names that begin with the
    word come before those that only hold it.
    """
    found = _WORD.search(before)
    word = found[0] if found else ""
    alone = before.strip() == word
    choices: Sequence[str]
    if in_front:
        choices = _FIELDS if alone else ()
    elif language is None:
        choices = ()
    elif language == "mermaid":
        extra = _MERMAID_HEAD if first and alone else ()
        choices = [*extra, *nodes, *(_MERMAID if alone else ("BEGIN", "END"))]
    else:
        choices = [*nodes, *_D2]
    folded = word.casefold()
    starting: dict[str, None] = {}
    holding: dict[str, None] = {}
    for one in choices:
        name = one.casefold()
        if one == word:
            continue
        if name.startswith(folded):
            starting[one] = None
        elif folded and folded in name:
            holding[one] = None
    return Completions(tuple([*starting, *holding][:MOST]), len(word))
