"""What a D2 text says: a tree of named fields, and the edges between them.

Everything in D2 is a field: nodes and containers, but also `label` or `style`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flowstudio.flow.d2_words import RESERVED, fold, may_go_on

if TYPE_CHECKING:
    from flowstudio.flow.d2_syntax import Array, Part, Path, Scalar


@dataclass(slots=True, eq=False)
class Field:
    """A named thing. Nodes and containers are those fields for which `is_looks` is False."""

    name: str
    parent: Field | None
    start: int
    end: int
    is_quoted: bool = False
    is_looks: bool = False
    """True for reserved words, and for everything below one."""
    is_edge: bool = False
    """True where this holds what is said about an edge."""
    size: int = 0
    children: dict[str, Field] = field(default_factory=dict[str, "Field"])
    links: list[Link] = field(default_factory=list["Link"])
    """The edges that begin or end here; some may be gone."""
    primary: Scalar | None = None
    replaced: Scalar | None = None
    """The text that `primary` took the place of."""
    declared_at: int = 0
    """Where the statement begins that gave `primary`."""
    array: Array | None = None

    def child(self, word: str) -> Field | None:
        """What is said about this field under a reserved word."""
        return self.children.get(word)


@dataclass(slots=True, eq=False)
class Link:
    """An edge as it is written, `src` being what stands on the left."""

    src: Field
    dst: Field
    at_src: bool
    at_dst: bool
    scope: Field
    start: int
    end: int
    statement_end: int
    about: Field
    """What is said about it: its text is `about.primary`."""
    is_gone: bool = False


@dataclass(slots=True)
class Tree:
    """All fields below `root`, and all edges in source order."""

    root: Field
    links: list[Link]


def find_field(scope: Field, path: Path) -> Field | None:
    """The field at `path` if there is one."""
    here: Field | None = scope
    for part in path:
        if here is None:
            return None
        here = here.parent if is_parent_sign(part) else here.children.get(key_of(part))
    return here


def key_of(part: Part) -> str:
    """The key in `Field.children`; a quoted reserved word is another name than the bare one."""
    name = fold(part.text)
    return f'"{name}' if part.is_quoted and name in RESERVED else name


def ends_key(scope: Field) -> bool:
    """True for a reserved word behind which nothing can be said, such as `shape`."""
    if not scope.is_looks or scope.parent is None or scope.parent.is_looks:
        return False
    return not may_go_on(fold(scope.name))


def is_parent_sign(part: Part) -> bool:
    """True for a bare `_`, which means the container around this one."""
    return part.text == "_" and not part.is_quoted


def is_variable(target: Field) -> bool:
    """True for everything that stands below `vars`."""
    here: Field | None = target
    while here is not None:
        if here.is_looks and here.name.lower() == "vars":
            return True
        here = here.parent
    return False
