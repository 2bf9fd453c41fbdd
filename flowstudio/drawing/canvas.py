"""Stage 10: the cells. Turns boxes and paths into rows of runs, each row when it is asked for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import overload

from flowstudio.drawing.drawing import Box, EdgeRef, NodeRef, Owner, Path, Role, Run
from flowstudio.drawing.glyphs import DOWN, LEFT, RIGHT, UP, GlyphSet, Outline
from flowstudio.drawing.measure import Face
from flowstudio.drawing.text import clusters, width_of

type _Piece = tuple[int, str, int, Role, Owner]
"""As the fields of a run."""

_BAND = 32
"""Rows that share one list of what may touch them."""
_FAR = 1 << 40


class Canvas(Sequence[tuple[Run, ...]]):
    """The rows of a drawing. A row costs what it shows, whatever the size of the drawing."""

    __slots__ = (
        "_bands_of_boxes",
        "_bands_of_lines",
        "_corners",
        "_faces",
        "_glyphs",
        "_height",
        "_labels",
        "_levels",
        "_made",
        "_marks_below",
        "_tees",
        "_widths",
    )

    def __init__(
        self,
        height: int,
        boxes: Mapping[str, Box],
        faces: Mapping[str, Face],
        paths: Sequence[Path],
        glyphs: GlyphSet,
        *,
        marks_below: bool = False,
    ) -> None:
        """`marks_below` puts marks into the lower borders, where lines leave by the upper ones."""
        self._height = height
        self._marks_below = marks_below
        self._faces = faces
        self._glyphs = glyphs
        self._made: dict[int, tuple[Run, ...]] = {}
        self._widths: dict[str, int] = {}
        self._tees: dict[tuple[int, int], int] = {}
        self._bands_of_boxes: dict[int, list[Box]] = {}
        self._bands_of_lines: dict[int, list[tuple[int, int, int, int]]] = {}
        self._levels: dict[int, list[tuple[int, int, int]]] = {}
        self._corners: dict[int, list[tuple[int, str, Role, int]]] = {}
        self._labels: dict[int, list[tuple[int, str, int]]] = {}
        for box in boxes.values():
            for band in range(box.y // _BAND, (box.y + box.height - 1) // _BAND + 1):
                self._bands_of_boxes.setdefault(band, []).append(box)
        for path in paths:
            self._add_path(path, boxes[path.src])
        for band in self._bands_of_lines.values():
            band.sort()

    def _add_path(self, path: Path, source: Box) -> None:
        points = path.points
        index = path.index
        self._add_tee(points[0], source)
        # A line that goes straight out of its box may be crossed already in its first cell.
        begin = 0
        if len(points) > 1 and _way_to_box(points[0], source) == _way(points[1], points[0]):
            begin = 1
        for number, ((x0, y0), (x1, y1)) in enumerate(pairwise(points)):
            low, high = (y0, y1) if x0 == x1 else (x0, x1)
            whole = begin and not number
            if low < high:
                low += 0 if whole else 1
            else:
                low, high = high + 1, low + (1 if whole else 0)
            if high <= low:
                continue
            if y0 == y1:
                self._levels.setdefault(y0, []).append((low, high, index))
            else:
                for band in range(low // _BAND, (high - 1) // _BAND + 1):
                    lines = self._bands_of_lines.setdefault(band, [])
                    lines.append((x0, low, high, index))
        strokes = self._glyphs.strokes
        last = len(points) - 1
        for number in range(begin, last + 1):
            x, y = points[number]
            if number == last:
                cell = (x, self._glyphs.arrows[self._arrow_way(path)], "arrow", index)
            else:
                ahead = _way(points[number], points[number + 1])
                behind = _way((x, y), points[number - 1]) if number else _way_to_box((x, y), source)
                cell = (x, strokes[ahead | behind], "edge", index)
            self._corners.setdefault(y, []).append(cell)
        if path.label:
            x, y, rows = path.label
            for number, row in enumerate(rows):
                self._labels.setdefault(y + number, []).append((x, row, index))

    def _arrow_way(self, path: Path) -> int:
        """Where the arrowhead points: along the last stretch; a path of one cell along its exit."""
        points = path.points
        x, y = points[-1]
        if len(points) > 1:
            return _turned(_way((x, y), points[-2]))
        for way, cell in ((DOWN, (x, y - 1)), (UP, (x, y + 1)), (RIGHT, (x - 1, y))):
            if self._tees.get(cell) == way:
                return way
        return LEFT

    def _add_tee(self, first: tuple[int, int], box: Box) -> None:
        x, y = first
        match _way_to_box(first, box):
            case 1:
                self._tees[x, y - 1] = DOWN
            case 4:
                self._tees[x, y + 1] = UP
            case 8:
                self._tees[x - 1, y] = RIGHT
            case _:
                self._tees[x + 1, y] = LEFT

    def __len__(self) -> int:
        return self._height

    @overload
    def __getitem__(self, index: int) -> tuple[Run, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[tuple[Run, ...], ...]: ...
    def __getitem__(self, index: int | slice) -> tuple[Run, ...] | tuple[tuple[Run, ...], ...]:
        if isinstance(index, slice):
            return tuple(self._row(y) for y in range(*index.indices(self._height)))
        y = index + self._height if index < 0 else index
        if not 0 <= y < self._height:
            raise IndexError(index)
        return self._row(y)

    def __iter__(self) -> Iterator[tuple[Run, ...]]:
        return (self._row(y) for y in range(self._height))

    def _row(self, y: int) -> tuple[Run, ...]:
        made = self._made.get(y)
        if made is None:
            made = self._made[y] = self._make(y, 0, _FAR)
        return made

    def window(self, x: int, y: int, width: int, height: int) -> tuple[tuple[Run, ...], ...]:
        """The runs of these cells, each row cut to them; costs what the window shows."""
        rows: list[tuple[Run, ...]] = []
        for at in range(y, y + height):
            if not 0 <= at < self._height:
                rows.append(())
                continue
            runs = self._made.get(at)
            if runs is None:
                runs = self._make(at, x, x + width)
            rows.append(tuple(c for run in runs if (c := _cut(run, x, x + width)) is not None))
        return tuple(rows)

    def _make(self, y: int, left: int, right: int) -> tuple[Run, ...]:
        """The runs of a row that touch the columns from `left` up to `right`."""
        pieces = [*self._line_pieces(y, left, right), *self._box_pieces(y, left, right)]
        for x, text, index in self._labels.get(y, ()):
            if left - len(text) * 2 <= x < right:
                pieces.append((x, text, width_of(text), "edge-label", EdgeRef(index)))
        pieces.sort(key=_column)
        return _merge(pieces)

    def _line_pieces(self, y: int, left: int, right: int) -> list[_Piece]:
        pieces: list[_Piece] = []
        strokes = self._glyphs.strokes
        line, level = strokes[UP | DOWN], strokes[LEFT | RIGHT]
        cross = strokes[UP | DOWN | LEFT | RIGHT]
        band = self._bands_of_lines.get(y // _BAND, [])
        first, last = bisect_left(band, (left,)), bisect_left(band, (right,))
        standing = [(x, index) for x, low, high, index in band[first:last] if low <= y < high]
        crossed: set[int] = set()
        for low, high, index in self._levels.get(y, ()):
            low, high = max(low, left), min(high, right)
            if high <= low:
                continue
            owner = EdgeRef(index)
            at = low
            for x, _ in standing[bisect_left(standing, (low,)) : bisect_left(standing, (high,))]:
                if x > at:
                    pieces.append((at, level * (x - at), x - at, "edge", owner))
                pieces.append((x, cross, 1, "crossing", owner))
                crossed.add(x)
                at = x + 1
            if high > at:
                pieces.append((at, level * (high - at), high - at, "edge", owner))
        for x, index in standing:
            if x not in crossed:
                pieces.append((x, line, 1, "edge", EdgeRef(index)))
        for x, glyph, role, index in self._corners.get(y, ()):
            if left <= x < right:
                pieces.append((x, glyph, 1, role, EdgeRef(index)))
        return pieces

    def _box_pieces(self, y: int, left: int, right: int) -> list[_Piece]:
        pieces: list[_Piece] = []
        for box in self._bands_of_boxes.get(y // _BAND, ()):
            if not box.y <= y < box.y + box.height:
                continue
            if box.x >= right or box.x + box.width <= left:
                continue
            face = self._faces[box.id]
            outline = self._glyphs.outlines[face.kind]
            owner = NodeRef(box.id)
            row = y - box.y
            if not face.rows:
                pieces.append((box.x, outline.dot * box.width, box.width, "border", owner))
            elif row in (0, box.height - 1):
                pieces.extend(self._border(box, y, face, outline, owner))
            else:
                pieces.extend(self._inside(box, y, face, outline, owner))
        return pieces

    def _border(
        self, box: Box, y: int, face: Face, outline: Outline, owner: Owner
    ) -> Iterator[_Piece]:
        top = y == box.y
        left, right = outline.corners[0 if top else 3], outline.corners[1 if top else 2]
        cells = [left, *outline.across * (box.width - 2), right]
        for x in range(1, box.width - 1):
            way = self._tees.get((box.x + x, y))
            if way in (UP, DOWN):
                cells[x] = outline.tees[0 if way == UP else 2]
        mark = width_of(face.mark) if top != self._marks_below and face.mark else 0
        if not mark:
            yield box.x, "".join(cells), box.width, "border", owner
            return
        at = box.width - 2 - mark
        yield box.x, "".join(cells[:at]), at, "border", owner
        yield box.x + at, face.mark, mark, "mark", owner
        yield box.x + at + mark, "".join(cells[at + mark :]), 2, "border", owner

    def _width_of(self, face: Face) -> int:
        """The face's width, measured once for all of its rows."""
        width = self._widths.get(face.id)
        if width is None:
            width = self._widths[face.id] = face.width
        return width

    def _inside(
        self, box: Box, y: int, face: Face, outline: Outline, owner: Owner
    ) -> Iterator[_Piece]:
        left = right = outline.down
        if self._tees.get((box.x, y)) == LEFT:
            left = outline.tees[3]
        if self._tees.get((box.x + box.width - 1, y)) == RIGHT:
            right = outline.tees[1]
        yield box.x, left, 1, "border", owner
        first = (box.height - 2 - len(face.rows)) // 2
        number = y - box.y - 1 - first
        if 0 <= number < len(face.rows):
            x = box.x + 2 + (box.width - 4 - self._width_of(face)) // 2
            if face.indent and number == 0:
                yield x, self._glyphs.decision, 1, "mark", owner
            x += face.indent
            text = face.rows[number]
            if text:
                yield x, text, width_of(text), "label", owner
            if face.hidden:
                x += width_of(text) + 1
                yield x, face.hidden, width_of(face.hidden), "mark", owner
        yield box.x + box.width - 1, right, 1, "border", owner


def _column(piece: _Piece) -> int:
    return piece[0]


def _cut(run: Run, left: int, right: int) -> Run | None:
    """The part of a run between two columns; half of a wide character becomes a space."""
    if run.x >= left and run.x + run.width <= right:
        return run
    if run.x >= right or run.x + run.width <= left:
        return None
    start, end = max(run.x, left), min(run.x + run.width, right)
    if run.width == len(run.text):
        return replace(run, x=start, text=run.text[start - run.x : end - run.x], width=end - start)
    text = ""
    at = run.x
    for cluster, size in clusters(run.text):
        if at >= start and at + size <= end:
            text += cluster
        else:
            text += " " * max(0, min(at + size, end) - max(at, start))
        at += size
    return replace(run, x=start, text=text, width=end - start)


def _merge(pieces: Sequence[_Piece]) -> tuple[Run, ...]:
    """Runs from sorted pieces; touching ones of the same role and owner become one."""
    runs: list[Run] = []
    x, text, width, role, owner = 0, "", 0, "edge", None
    for piece in pieces:
        if owner is not None and piece[0] == x + width and piece[3] == role and piece[4] == owner:
            text += piece[1]
            width += piece[2]
            continue
        if owner is not None:
            runs.append(Run(x, text, width, role, owner))
        x, text, width, role, owner = piece
    if owner is not None:
        runs.append(Run(x, text, width, role, owner))
    return tuple(runs)


def _way(start: tuple[int, int], to: tuple[int, int]) -> int:
    """The direction from one point to another on the same row or column."""
    if start[1] == to[1]:
        return RIGHT if to[0] > start[0] else LEFT
    return DOWN if to[1] > start[1] else UP


def _turned(way: int) -> int:
    return {UP: DOWN, DOWN: UP, LEFT: RIGHT, RIGHT: LEFT}[way]


def _way_to_box(cell: tuple[int, int], box: Box) -> int:
    """In which direction the box lies from a cell that touches its outline."""
    x, y = cell
    if y >= box.y + box.height:
        return UP
    if y < box.y:
        return DOWN
    return LEFT if x >= box.x + box.width else RIGHT
