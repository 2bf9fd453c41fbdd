"""The line that opens a Mermaid subgraph: its id and its title."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flowstudio.flow.mermaid_scan import Piece
from flowstudio.flow.mermaid_shape import read_quoted, read_shape

if TYPE_CHECKING:
    from flowstudio.flow.mermaid_scan import Scanner


@dataclass(frozen=True, slots=True)
class Subgraph:
    """A subgraph that edges can use by its id. `text[start:end]` is its opening line."""

    id: str
    title: Piece
    start: int
    end: int


_BARE = re.compile(r"(?:[^\n;\[({%]|%(?!%))*")
_BRACKET = re.compile(r"[\[({]")
_END_WORD = re.compile(r"(?:^|\s)end(?=\s|$)")
_SIGNS = re.compile(r'[\])}"|<>]')
_SPACE = re.compile(r"\s")
_COMMENT = re.compile(r"[^\S\n]*%%[^\n]*")


def read_subgraph(scan: Scanner, start: int) -> Subgraph | None:
    """The subgraph whose word, begun at `start`, stands before this place; None without an id.

    A title in several words without brackets gives no id, so no edge can use it.
    """
    if not scan.skip_blank():
        scan.loose(start, scan.at, "a subgraph without a name", "write: subgraph name")
    title = read_quoted(scan) if scan.peek('"') else None
    if title:
        name = title.text
    else:
        title = _read_bare(scan)
        name = title.text
        if scan.match(_BRACKET):
            title = _read_title(scan, name) or title
        elif _SPACE.search(name):
            name = ""
    end = scan.at
    scan.take(_COMMENT)
    return Subgraph(name, title, start, end) if name else None


def _read_title(scan: Scanner, name: str) -> Piece | None:
    if not scan.peek("["):
        message = "the title of a subgraph stands in square brackets"
        scan.loose(scan.at, scan.at + 1, message, f"write: subgraph {name} [title]")
    return read_shape(scan, name)


def _read_bare(scan: Scanner) -> Piece:
    start = scan.at
    scan.take(_BARE)
    raw = scan.text[start : scan.at]
    title = Piece(raw.strip(), start, start + len(raw.rstrip()))
    fault = None
    if _END_WORD.search(title.text):
        fault = 'the title holds the word "end"'
    elif _SIGNS.search(raw):
        fault = "the title holds brackets or quotes"
    if fault:
        scan.loose(start, title.end, fault, "put the title in double quotes")
    return title
