"""Reads a drawing back: traces characters to boxes, edges, labels and arrowheads.

It knows nothing of how drawings are made and shares no code with the drawer: it takes a text and
finds in it what a careful person would find, or says why that is impossible.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise

type Cell = tuple[int, int]

STEPS = {"u": (0, -1), "d": (0, 1), "l": (-1, 0), "r": (1, 0)}
OPPOSITE = {"u": "d", "d": "u", "l": "r", "r": "l"}
STROKES = {
    "│": "ud",
    "─": "lr",
    "╭": "dr",
    "╮": "dl",
    "╯": "ul",
    "╰": "ur",
    "┼": "udlr",
}
ARROWS = {"▲": "u", "▼": "d", "◄": "l", "►": "r"}


@dataclass(frozen=True)
class Frame:
    """The glyphs of one kind of outline."""

    kind: str
    corners: str
    top: str
    bottom: str
    left: str
    right: str
    exits: dict[str, str]


FRAMES = (
    Frame("round", "╭╮╯╰", "─┴", "─┬", "│┤", "│├", {"┴": "u", "┬": "d", "┤": "l", "├": "r"}),
    Frame("square", "┌┐┘└", "─┴", "─┬", "│┤", "│├", {"┴": "u", "┬": "d", "┤": "l", "├": "r"}),
    Frame("double", "╔╗╝╚", "═╧", "═╤", "║╢", "║╟", {"╧": "u", "╤": "d", "╢": "l", "╟": "r"}),
)


class Unreadable(AssertionError):
    """The drawing cannot be traced; says where and why."""


@dataclass(frozen=True)
class ReadBox:
    """An outline with the text inside it."""

    x: int
    y: int
    width: int
    height: int
    kind: str
    rows: tuple[str, ...]

    @property
    def text(self) -> str:
        """The label without spaces, so that wrapping does not matter."""
        return squeeze("".join(self.rows))

    def has(self, cell: Cell) -> bool:
        return self.x <= cell[0] < self.x + self.width and self.y <= cell[1] < self.y + self.height


@dataclass
class ReadEdge:
    """A line from one box to another, with the label nearest to it."""

    src: ReadBox
    dst: ReadBox
    cells: list[Cell]
    label: str = ""
    label_cells: list[Cell] = field(default_factory=list)

    @property
    def bends(self) -> int:
        ways = [(x1 - x0, y1 - y0) for (x0, y0), (x1, y1) in pairwise(self.cells)]
        return sum(a != b for a, b in pairwise(ways))


@dataclass
class Picture:
    """Everything read from a drawing."""

    boxes: list[ReadBox]
    edges: list[ReadEdge]
    crossings: int
    width: int
    height: int

    def triples(self) -> list[tuple[str, str, str]]:
        """Source, target and label of each edge, without spaces, sorted."""
        return sorted((e.src.text, e.dst.text, e.label) for e in self.edges)


def squeeze(text: str) -> str:
    """The text without any white space."""
    return "".join(text.split())


def char_width(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def to_grid(text: str) -> dict[Cell, str]:
    """Cells that are not blank; the second cell of a wide character holds an empty string."""
    assert text == "" or text.endswith("\n")
    grid: dict[Cell, str] = {}
    for y, line in enumerate(text.split("\n")[:-1]):
        assert line == line.rstrip(), f"trailing space in row {y}"
        x = 0
        for char in line:
            width = char_width(char)
            if char == "\ufe0f" and grid.get((x - 1, y), "") != "":
                grid[x, y] = ""
                grid[x - 1, y] += char
                x += 1
                continue
            if width == 0:
                at = x - 1 if grid.get((x - 1, y)) else x - 2
                grid[at, y] = grid.get((at, y), "") + char
                continue
            if char != " ":
                grid[x, y] = char
                if width == 2:
                    grid[x + 1, y] = ""
            x += width
    return grid


def read(text: str) -> Picture:
    """Boxes and edges of a drawing in Unicode glyphs without marks."""
    grid = to_grid(text)
    boxes = _find_boxes(grid)
    owner: dict[Cell, ReadBox] = {}
    for box in boxes:
        for x in range(box.x, box.x + box.width):
            for y in range(box.y, box.y + box.height):
                if (x, y) in owner:
                    raise Unreadable(f"boxes overlap at {x, y}")
                owner[x, y] = box
    _check_apart(boxes, owner)
    passes: dict[Cell, list[str]] = defaultdict(list)
    edges = [_trace(grid, owner, box, cell, way, passes) for box, cell, way in _exits(grid, boxes)]
    crossings = _check_passes(grid, passes)
    _attach_labels(grid, owner, passes, edges)
    return Picture(
        boxes,
        edges,
        crossings,
        max((x + 1 for x, _ in grid), default=0),
        max((y + 1 for _, y in grid), default=0),
    )


def _find_boxes(grid: dict[Cell, str]) -> list[ReadBox]:
    found = []
    for (x, y), char in sorted(grid.items(), key=lambda item: (item[0][1], item[0][0])):
        for frame in FRAMES:
            if char == frame.corners[0]:
                box = _close(grid, x, y, frame)
                if box:
                    found.append(box)
    return found


def _close(grid: dict[Cell, str], x: int, y: int, frame: Frame) -> ReadBox | None:
    right = x + 1
    while grid.get((right, y), " ") in frame.top:
        right += 1
    if grid.get((right, y)) != frame.corners[1] or right - x < 2:
        return None
    bottom = y + 1
    while grid.get((x, bottom)) and grid[x, bottom] in frame.left:
        if not (grid.get((right, bottom)) and grid[right, bottom] in frame.right):
            return None
        bottom += 1
    if (grid.get((x, bottom)), grid.get((right, bottom))) != (frame.corners[3], frame.corners[2]):
        return None
    if bottom - y < 2 or any(
        grid.get((i, bottom), " ") not in frame.bottom for i in range(x + 1, right)
    ):
        return None
    rows = []
    for row in range(y + 1, bottom):
        cells = [grid.get((i, row), " ") for i in range(x + 1, right)]
        rows.append("".join(cells).strip())
    if frame.kind == "double":
        first = next((n for n, row in enumerate(rows) if row), 0)
        if not rows[first].startswith("◆"):
            raise Unreadable(f"a decision without its sign at {x, y}")
        rows[first] = rows[first][1:].strip()
    return ReadBox(x, y, right - x + 1, bottom - y + 1, frame.kind, tuple(rows))


def _check_apart(boxes: list[ReadBox], owner: dict[Cell, ReadBox]) -> None:
    for box in boxes:
        around = [
            (x, y) for x in range(box.x, box.x + box.width) for y in (box.y - 1, box.y + box.height)
        ]
        around += [
            (x, y) for y in range(box.y, box.y + box.height) for x in (box.x - 1, box.x + box.width)
        ]
        for cell in around:
            if cell in owner:
                raise Unreadable(f"boxes touch at {cell}")


def _exits(grid: dict[Cell, str], boxes: list[ReadBox]):
    for box in boxes:
        frame = next(f for f in FRAMES if f.kind == box.kind)
        border = [
            (x, y) for x in range(box.x, box.x + box.width) for y in (box.y, box.y + box.height - 1)
        ]
        border += [
            (x, y)
            for y in range(box.y + 1, box.y + box.height - 1)
            for x in (box.x, box.x + box.width - 1)
        ]
        for cell in border:
            way = frame.exits.get(grid[cell])
            if way:
                yield box, cell, way


def _trace(grid, owner, box, cell, way, passes) -> ReadEdge:
    start = cell
    cells: list[Cell] = []
    while True:
        dx, dy = STEPS[way]
        cell = (cell[0] + dx, cell[1] + dy)
        char = grid.get(cell, " ")
        if cell in owner:
            raise Unreadable(f"the line from {start} runs into a box at {cell} without an arrow")
        cells.append(cell)
        if char in ARROWS:
            if ARROWS[char] != way:
                raise Unreadable(f"the arrowhead at {cell} points aside")
            passes[cell].append(way)
            target = owner.get((cell[0] + dx, cell[1] + dy))
            if target is None:
                raise Unreadable(f"the arrowhead at {cell} touches no box")
            return ReadEdge(box, target, cells)
        ends = STROKES.get(char, "")
        if OPPOSITE[way] not in ends:
            raise Unreadable(f"the line from {start} breaks at {cell} ({char!r})")
        passes[cell].append("h" if way in "lr" else "v")
        if len(ends) == 2:
            way = ends.replace(OPPOSITE[way], "")


def _check_passes(grid: dict[Cell, str], passes: dict[Cell, list[str]]) -> int:
    crossings = 0
    for cell, ways in passes.items():
        if grid[cell] == "┼":
            if sorted(ways) != ["h", "v"]:
                raise Unreadable(f"a crossing at {cell} that is none: {ways}")
            crossings += 1
        elif len(ways) != 1:
            raise Unreadable(f"two lines share {cell}")
    return crossings


def _attach_labels(grid, owner, passes, edges: list[ReadEdge]) -> None:
    texts = {cell for cell in grid if cell not in owner and cell not in passes}
    lines: list[tuple[int, int, int, str]] = []
    for x, y in sorted(texts, key=lambda c: (c[1], c[0])):
        if lines and lines[-1][1] == y and x <= lines[-1][2] + 1 + (lines[-1][2] + 1 - x == 0):
            start, _, end, text = lines[-1]
            gap = " " * (x - end - 1)
            lines[-1] = (start, y, x, text + gap + grid[x, y])
        elif lines and lines[-1][1] == y and x == lines[-1][2] + 2 and (x - 1, y) not in passes:
            start, _, end, text = lines[-1]
            lines[-1] = (start, y, x, text + " " + grid[x, y])
        else:
            lines.append((x, y, x, grid[x, y]))
    blocks: list[list[tuple[int, int, int, str]]] = []
    open_blocks: dict[tuple[int, int], list[tuple[int, int, int, str]]] = {}
    for line in lines:
        block = open_blocks.get((line[0], line[1] - 1))
        if block is None:
            block = []
            blocks.append(block)
        block.append(line)
        open_blocks[line[0], line[1]] = block
    near: dict[Cell, list[int]] = defaultdict(list)
    for number, edge in enumerate(edges):
        for cell in edge.cells:
            near[cell].append(number)
    for block in blocks:
        cells = [(x, line[1]) for line in block for x in range(line[0], line[2] + 1)]
        number = _nearest(cells, near, block)
        if edges[number].label:
            raise Unreadable(f"two labels beside one edge: {edges[number].label}, {block}")
        edges[number].label = squeeze("".join(line[3] for line in block))
        edges[number].label_cells = cells


def _nearest(cells: list[Cell], near: dict[Cell, list[int]], block) -> int:
    """The only edge nearest to the cells, by the eye: a row is as high as two columns are wide."""
    best: dict[int, int] = {}
    for x, y in cells:
        for dy in range(-3, 4):
            for dx in range(-6, 7):
                for number in near.get((x + dx, y + dy), ()):
                    distance = dx * dx + 4 * dy * dy
                    best[number] = min(best.get(number, 999), distance)
    if not best:
        raise Unreadable(f"a label beside no edge: {block}")
    least = min(best.values())
    nearest = [number for number, distance in best.items() if distance == least]
    if len(nearest) > 1 or least > 4:
        raise Unreadable(f"whose label is this? {block}")
    return nearest[0]
