"""D2's reserved words, and when two names are the same to it."""

from __future__ import annotations

_STYLE = """
    3d animated bold border-radius double-border fill fill-pattern filled font font-color font-size
    italic multiple opacity shadow stroke stroke-dash stroke-width text-transform underline
"""
_COMPOSITE = "classes constraint icon label source-arrowhead style target-arrowhead tooltip vars"
_SIMPLE = """
    class direction grid-columns grid-gap grid-rows height horizontal-gap left link near shape top
    vertical-gap width
"""

STYLE = frozenset(_STYLE.split())
"""Words that may stand only behind `style.`"""

BOARDS = frozenset({"layers", "scenarios", "steps"})
"""Words that hold further boards."""

_MAY_GO_ON = BOARDS | frozenset(_COMPOSITE.split())

RESERVED = STYLE | _MAY_GO_ON | frozenset(_SIMPLE.split())
"""Words that cannot be ids unless they are quoted."""

TABLE_SHAPES = frozenset({"sql_table", "class"})
"""Shapes whose children are lines of a table, not nodes."""

GRAPH_SHAPES = TABLE_SHAPES | {"sequence_diagram"}
"""Shapes that are more than looks."""


def may_go_on(word: str) -> bool:
    """True where a key may go on behind this word; a reserved word otherwise ends it."""
    return word in _MAY_GO_ON or word not in RESERVED


def fold(name: str) -> str:
    """`name` such that names which D2 takes for the same are equal.

    D2 compares by simple case folding, so `straße` is not `STRASSE`, but also in lower case, so `İ`
    is `i`.
    """
    if name.isascii():
        return name.lower()
    return "".join(_fold_char(char) for char in name)


def _fold_char(char: str) -> str:
    folded = char.casefold()
    if len(folded) == 1:
        return folded
    return char.lower()[0]


_NEEDS_QUOTES = frozenset("#;\n\\{}[]'\"|:.<>*&()@")


def write_name(name: str) -> str:
    """`name` as one part of a key, in quotes where D2's own ids have them."""
    if name and not _needs_quotes(name):
        return name
    if name.lower() == "null":
        return "'null'"
    if '"' in name and "\n" not in name:
        return "'" + name.replace("'", "''") + "'"
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _needs_quotes(name: str) -> bool:
    if not _NEEDS_QUOTES.isdisjoint(name) or "--" in name or name.endswith("-"):
        return True
    return name[0].isspace() or name[-1].isspace() or name.lower() == "null"
