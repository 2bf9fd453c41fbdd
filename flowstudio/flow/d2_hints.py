"""Words for findings about a D2 text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flowstudio.flow.d2_syntax import Import, Scalar

if TYPE_CHECKING:
    from flowstudio.flow.d2_syntax import Statement


def name_end(statement: Statement) -> str:
    """What a statement ended with, for "unexpected text behind ..."."""
    value = statement.value or statement.primary
    match value:
        case Scalar(style="bare"):
            return "the label"
        case Scalar(style="block"):
            return "the block"
        case Scalar():
            return "the closing quote"
        case Import():
            return "the import"
        case _:
            return "the key"


def advise(junk: str, what: str) -> str:
    """What to write instead of `junk` behind `what`."""
    if re.match(r"=*>", junk):
        return "D2 writes an arrow as ->"
    if junk.startswith("&"):
        return "D2 has no &: write one line for each edge"
    if junk.startswith(("[", "(", "{")) and what == "the key":
        return "D2 writes a label as  id: label"
    if junk.startswith("|"):
        return "D2 writes the label of an edge as  a -> b: label"
    if junk.startswith("."):
        return "remove the dot, or put the whole name in quotes"
    return "put the whole text in quotes, or begin a new line"


def shorten(text: str) -> str:
    """The beginning of `text`, as much as fits into a message."""
    return text if len(text) <= 40 else text[:37] + "..."
