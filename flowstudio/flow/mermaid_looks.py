"""Mermaid statements that say how a chart looks: passed over, but never together with an edge."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flowstudio.flow import codes
from flowstudio.flow.mermaid_scan import ID, Piece

if TYPE_CHECKING:
    from flowstudio.flow.mermaid_scan import Scanner

LOOKS_WORDS = frozenset({"style", "linkStyle", "classDef", "class", "click"})
"""The words that begin such a statement."""

_DIRECTION = re.compile(r"direction[^\S\n]+(?:TB|TD|BT|LR|RL)\b[^\n;]*")
_ACCESSIBILITY = re.compile(r"acc(?:Title\s*:[^\n]*|Descr\s*:[^\n]*|Descr\s*\{)")
_BRACE_END = re.compile(r"[^}]*\}")
_REST = re.compile(r'(?:[^\n;"]+|"[^"\n]*"|")*')
_MORE = re.compile(r";[^\S\n]*[a-z-]+[^\S\n]*:(?!:)[^\n;]*")
_TWO_WORDS = re.compile(r"\s+\S+\s+\S")
_STRING = re.compile(r'"[^"\n]*"')
_EDGE = re.compile(r"-->|==>|\.->")


def skip_direction_or_accessibility(scan: Scanner) -> bool:
    """Go over `direction LR`, `accTitle: ...` or `accDescr ...`; False where none stands here."""
    if not scan.peek("direction") and not scan.peek("acc"):
        return False
    start = scan.at
    if scan.take(_DIRECTION):
        _report_edge(scan, start)
        return True
    found = scan.take(_ACCESSIBILITY)
    if not found:
        return False
    if found[0].endswith("{") and not scan.take(_BRACE_END):
        message = "the '{' of this accDescr is not closed"
        scan.fault(codes.SYNTAX, message, start, scan.at, "add '}' behind the description")
        scan.skip_line()
    return True


def skip_looks(scan: Scanner, start: int) -> Piece | None:
    """Go over a statement whose first word, begun at `start`, stands just before this place.

    Gives the id behind that word. Whether the looks make sense is not checked.
    """
    behind = scan.at
    scan.skip_blank()
    name = scan.match(ID)
    scan.at = behind
    scan.take(_REST)
    while scan.take(_MORE):
        pass
    if not _TWO_WORDS.match(scan.shadow, behind, scan.at):
        message = "this line about looks is not complete"
        scan.loose(start, scan.at, message, "say what shall look how, or delete the line")
    _report_edge(scan, start)
    return Piece(name[0], name.start(), name.end()) if name else None


def _report_edge(scan: Scanner, start: int) -> None:
    """Report an edge on the same line: it is not read, and must not be lost in silence."""
    words = _STRING.sub(lambda string: " " * len(string[0]), scan.shadow[start : scan.at])
    if edge := _EDGE.search(words):
        scan.fault(
            codes.SYNTAX,
            "an arrow stands in a line about looks, where it is not read",
            start + edge.start(),
            start + edge.end(),
            "write the edge on a line of its own",
        )
