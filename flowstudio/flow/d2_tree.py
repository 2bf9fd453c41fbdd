"""What a D2 text says: a tree of named fields, and the edges between them.

Everything in D2 is a field: nodes and containers, but also `label` or `style`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowstudio.flow.d2_syntax import Array, Scalar


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
