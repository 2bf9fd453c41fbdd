"""The finished picture of a chart: cells, and what each of them belongs to.

A `Drawing` knows nothing of colours or screens. Its rows are runs of characters, each with a role
(what kind of stroke it is) and an owner (which node or edge it belongs to); whoever shows it
chooses the style from the two. All coordinates are character cells: x to the right, y down, both
from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, overload

from flowstudio.drawing.memory import Memory
from flowstudio.flow.model import Direction, FlowNode

if TYPE_CHECKING:
    from flowstudio.drawing.marks import Marks
    from flowstudio.drawing.palette import Palette

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
    """An edge's line from just outside its source to just outside its target, arrowhead last.

    `points` are the ends and the bends. `label` is the left upper cell and the lines of the label
    as drawn, or None. `back` is true for an edge that leads against the reading direction.
    """

    index: int
    src: str
    dst: str
    points: tuple[tuple[int, int], ...]
    label: tuple[int, int, tuple[str, ...]] | None
    back: bool

    @property
    def ends(self) -> tuple[str, str]:
        """The ids of source and target."""
        return self.src, self.dst

    @property
    def cells(self) -> tuple[tuple[int, int], ...]:
        """Every cell of the line in sequence, each a neighbour of the one before."""
        found = [self.points[0]]
        for (x0, y0), (x1, y1) in zip(self.points, self.points[1:], strict=False):
            dx = (x1 > x0) - (x1 < x0)
            dy = (y1 > y0) - (y1 < y0)
            x, y = x0, y0
            while (x, y) != (x1, y1):
                x, y = x + dx, y + dy
                found.append((x, y))
        return tuple(found)


class Rows(Protocol):
    """Rows of runs that can be counted, indexed, sliced, iterated, and seen through a window."""

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int) -> tuple[Run, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[Run, ...]]: ...
    def __iter__(self) -> Iterator[tuple[Run, ...]]: ...
    def window(self, x: int, y: int, width: int, height: int) -> tuple[tuple[Run, ...], ...]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """A chart as characters. Made by `flowstudio.drawing.draw`."""

    width: int
    height: int
    boxes: Mapping[str, Box] = field(repr=False)
    paths: tuple[Path, ...] = field(repr=False)
    """One for each edge, in the chart's edge order."""
    rows: Rows = field(repr=False)
    """The picture, a row each: runs sorted by x that do not overlap; blank cells have no run.

    Rows are made when they are first asked for, so a window of a very large drawing is cheap.
    """
    direction: Direction
    zoom: Zoom
    order: Memory = field(default_factory=Memory, repr=False)
    """What the next drawing of the chart, given this one as `previous`, will remember of it."""
    nodes: Mapping[str, FlowNode] = field(default_factory=dict[str, FlowNode], repr=False)
    """The nodes that are drawn, with their kinds and whole prompts."""

    def at(self, x: int, y: int) -> Owner | None:
        """What the cell belongs to: a node (its inside too), an edge or its label, or None."""
        if not 0 <= y < self.height:
            return None
        for run in self.rows[y]:
            if run.x <= x < run.x + run.width:
                return run.owner
        for box in self.boxes.values():
            if box.x <= x < box.x + box.width and box.y <= y < box.y + box.height:
                return NodeRef(box.id)
        return None

    def window(self, x: int, y: int, width: int, height: int) -> tuple[tuple[Run, ...], ...]:
        """The runs of `height` rows from `y` on, cut to the `width` columns from `x` on.

        Columns are still those of the drawing. Costs what the window shows, however large the
        drawing is; rows outside it are empty.
        """
        return self.rows.window(x, y, width, height)

    def text(self) -> str:
        """The picture as plain text: no trailing spaces, each row ends with a newline."""
        from flowstudio.drawing.lines import text_lines

        return "".join(line + "\n" for line in text_lines(self))

    def svg(
        self,
        *,
        palette: Palette | None = None,
        other: Palette | None = None,
        marks: Marks | None = None,
        colour: Mapping[Owner, str] | None = None,
        weight: Mapping[Owner, float] | None = None,
        title: str = "",
        describe: str = "",
        notes: Sequence[str] = (),
    ) -> str:
        """The picture as an SVG file that stands alone, its text selectable.

        `other` is the palette for readers whose screen is bright where `palette` is dark, or dark
        where it is bright. `marks` are those that it was drawn with (`draw_marked`). `colour` and
        `weight` (1 is usual) are for the lines and outlines of single nodes and edges, such as
        heat. `title` and `describe` are what a screen reader says; `notes` are lines of text below
        the picture.
        """
        from flowstudio.drawing.svg import to_svg

        return to_svg(
            self,
            palette=palette,
            other=other,
            marks=marks,
            colour=colour,
            weight=weight,
            title=title,
            describe=describe,
            notes=notes,
        )
