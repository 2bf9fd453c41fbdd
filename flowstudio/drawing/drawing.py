"""The finished picture of a chart: cells, and what each of them belongs to.

A `Drawing` knows nothing of colours or screens. Its rows are runs of characters, each with a role (what
kind of stroke it is) and an owner (which node or edge it belongs to); whoever shows it chooses the
style from the two. All coordinates are character cells: x to the right, y down, both from 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

type Zoom = Literal["full", "title", "dot"]
type Glyphs = Literal["unicode", "ascii"]
type Role = Literal["border", "label", "mark", "edge", "arrow", "edge-label", "crossing"]


@dataclass(frozen=True, slots=True)
class NodeRef:
    """A node, by its id."""

    id: str


@dataclass(frozen=True, slots=True)
class EdgeRef:
    """An edge, by its place in the chart's edge order (0 is the first)."""

    index: int


type Owner = NodeRef | EdgeRef


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of one row with one role and one owner. `width` counts cells, not characters."""

    x: int
    text: str
    width: int
    role: Role
    owner: Owner


@dataclass(frozen=True, slots=True)
class Box:
    """A node's outline: left upper corner and size, borders included."""

    id: str
    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Path:
    """An edge's cells from just outside its source to just outside its target, arrowhead last.

    `cells` are neighbours in sequence (no gaps). `label` is the left upper cell and the lines of the
    label as drawn, or None. `back` is true for an edge that leads against the reading direction.
    """

    index: int
    src: str
    dst: str
    cells: tuple[tuple[int, int], ...]
    label: tuple[int, int, tuple[str, ...]] | None
    back: bool
