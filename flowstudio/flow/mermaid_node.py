"""One Mermaid node where it stands: its id, its brackets, its class and its properties."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flowstudio.flow import codes
from flowstudio.flow.mermaid_data import read_data
from flowstudio.flow.mermaid_scan import ID, KEYWORD, KEYWORD_INSIDE, Piece, Scanner
from flowstudio.flow.mermaid_shape import read_shape


@dataclass(frozen=True, slots=True)
class Mention:
    """One place where a node stands, `text[start:end]`.

    `labels` are those that it is given there, in source order, each with the end of the text that
    gives it: brackets and properties can both hold one, and the last one stands.
    """

    id: str
    start: int
    id_end: int
    end: int
    labels: tuple[tuple[Piece, int], ...]


_MORE_ON_LINE = re.compile(rf"[^\S\n]+{ID.pattern}")
_HALF_ENTITY = re.compile(r"#\w+\Z", re.ASCII)
_LETTER_ARROW = re.compile(r"[xo](?=--|==|-\.)")


def read_node(scan: Scanner, edge_ids: set[str]) -> Mention | None:
    """The node at this place, where an id begins; None for the properties of an edge."""
    start = scan.at
    word = scan.take(ID)
    name = word[0] if word else ""
    if len(name) > 1 and name.endswith("&") and scan.match(_MORE_ON_LINE):
        name = name[:-1]
        scan.at -= 1
    id_end = scan.at
    if scan.peek("@{") and name in edge_ids:
        read_data(scan, name)
        return None
    _check_name(scan, name, start)
    labels: list[tuple[Piece, int]] = []
    if label := _read_bracket(scan, name):
        labels.append((label, scan.at))
    has_extras = False
    while True:
        if scan.peek(":::"):
            _read_class(scan, name, is_second=has_extras)
        elif scan.peek("@{"):
            if label := read_data(scan, name):
                labels.append((label, scan.at))
        else:
            return Mention(name, start, id_end, scan.at, tuple(labels))
        has_extras = True


def _read_class(scan: Scanner, name: str, *, is_second: bool) -> None:
    start = scan.at
    scan.at += 3
    if scan.skip_blank() or is_second:
        message = "the class stands directly behind the node, and there is only one"
        scan.loose(start, scan.at, message, f"write: {name}:::class")
    scan.take(ID)


def _read_bracket(scan: Scanner, name: str) -> Piece | None:
    behind = scan.at
    blank = scan.skip_blank()
    bracket = scan.at
    if blank and scan.peek("@{"):
        message = f'blanks stand between "{name}" and its properties'
        scan.loose(behind, bracket + 2, message, "take the blanks out")
        return None
    label = None if blank and scan.peek(">") else read_shape(scan, name)
    if not label:
        scan.at = behind
        return None
    if blank:
        message = f'blanks stand between "{name}" and its label'
        scan.loose(behind, bracket + 1, message, "take the blanks out")
    return label


def _check_name(scan: Scanner, name: str, start: int) -> None:
    """Report an id that Mermaid reads in another way, or refuses."""
    end = start + len(name)
    if keyword := KEYWORD.match(scan.shadow, start):
        word = keyword[0].rstrip(" \t\n:{")
        what = f'the id "{name}" is' if word == name else f'the id "{name}" begins with'
        scan.loose(start, end, f'{what} the word "{word}"', "choose another id")
    elif len(name) == 1 and _LETTER_ARROW.match(scan.shadow, start):
        scan.fault(
            codes.ARROW_LETTER,
            f'Mermaid takes this "{name}" for a part of the arrow behind it',
            start,
            end,
            "put a space between the name and the arrow",
        )
    elif scan.shadow.startswith(";", end) and _HALF_ENTITY.search(name):
        message = f'the id "{name}" and the semicolon behind it look like an entity'
        scan.loose(start, end + 1, message, "put a blank before the semicolon")
    elif name.isascii():
        return
    elif inside := KEYWORD_INSIDE.search(name):
        message = f'the id "{name}" holds the word "{inside[1]}"'
        scan.loose(start, end, message, "choose another id")
    elif not all(map(_is_name_sign, name)):
        message = f'the id "{name}" holds a sign that is not a letter'
        scan.loose(start, end, message, "choose an id of letters and write it in a label")


def _is_name_sign(sign: str) -> bool:
    return sign.isascii() or (sign.isalpha() and sign <= "\uffff")
