"""Paints the lines of a drawing's window: its runs in the styles of their state, and marks on top.

A line costs what the window shows of it. Styles are looked up once for each thing in view, and the
marks of a row are worked out when the row is first shown; both are forgotten when a state changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from flowstudio.drawing.drawing import EdgeRef, NodeRef
from flowstudio.drawing.marks import (
    BREAK,
    DASHED,
    DOT_BREAK,
    FORCED,
    HEAVY,
    HEAVY_DASHED,
    HOLLOW,
    Look,
    Marks,
)

if TYPE_CHECKING:
    from flowstudio.drawing.drawing import Box, Drawing, Owner, Role, Run
    from flowstudio.studio.places import Note, Places

type _Table = Mapping[int, int | str] | None

_LINES: dict[Look, Mapping[int, int | str]] = {
    "done": HEAVY,
    "now": HEAVY,
    "forced": HEAVY_DASHED,
    "chosen": DASHED,
}
"""How the strokes of an edge change with its look: the same as in the exports."""


@dataclass(frozen=True, slots=True)
class _Overlay:
    """Characters laid over a row: where (drawing's cells), what, in which style."""

    x: int
    text: str
    style: str


class Painter:
    """Lines of one drawing, with the marks of a run and the selection."""

    def __init__(self, style: Callable[[str], Style]) -> None:
        self._style = style
        self.drawing: Drawing | None = None
        self.places: Places | None = None
        self.marks = Marks()
        self.selected: str | None = None
        self._overlays: dict[int, list[_Overlay]] = {}
        self._looks: dict[tuple[Role, Owner], tuple[Style, _Table]] = {}

    def forget(self) -> None:
        """Something that styles or marks depend on has changed."""
        self._overlays.clear()
        self._looks.clear()

    def line(self, row: int, left: int, width: int, background: Style) -> Strip:
        """The cells from column `left` on of one row of the drawing."""
        drawing = self.drawing
        runs = drawing.window(left, row, width, 1)[0] if drawing else ()
        strip = self._join(runs, left, width, background)
        over = self._overlays.get(row)
        if over is None:
            over = self._overlays[row] = sorted(self._find_overlays(row), key=_place)
        shown = [
            item for item in over if left <= item.x and item.x + len(item.text) <= left + width
        ]
        return self._lay(strip, shown, left, width) if shown else strip

    def edges_only(self, row: int, left: int, width: int, background: Style) -> Strip:
        """As `line`, without the nodes and the marks: what boxes slide over."""
        drawing = self.drawing
        runs = drawing.window(left, row, width, 1)[0] if drawing else ()
        kept = tuple(run for run in runs if isinstance(run.owner, EdgeRef))
        return self._join(kept, left, width, background)

    def box_row(self, box: Box, number: int, background: Style) -> Strip:
        """Row `number` of a box, as wide as the box."""
        drawing = self.drawing
        runs = drawing.window(box.x, box.y + number, box.width, 1)[0] if drawing else ()
        return self._join(runs, box.x, box.width, background)

    def _join(self, runs: tuple[Run, ...], left: int, width: int, background: Style) -> Strip:
        segments: list[Segment] = []
        at = left
        for run in runs:
            if run.x > at:
                segments.append(Segment(" " * (run.x - at), background))
            style, table = self._look(run)
            segments.append(Segment(run.text.translate(table) if table else run.text, style))
            at = run.x + run.width
        if at < left + width:
            segments.append(Segment(" " * (left + width - at), background))
        return Strip(segments, width)

    def _lay(self, strip: Strip, over: list[_Overlay], left: int, width: int) -> Strip:
        """Cut the strip once at all marks of the row, and put these between."""
        cuts: list[int] = []
        kept: list[_Overlay] = []
        for item in over:
            x = item.x - left
            if not cuts or x >= cuts[-1]:
                cuts += (x, x + len(item.text))
                kept.append(item)
        parts = strip.divide([*cuts, width])
        joined: list[Strip] = []
        for number, part in enumerate(parts):
            if number % 2:
                item = kept[number // 2]
                joined.append(Strip([Segment(item.text, self._style(item.style))], len(item.text)))
            else:
                joined.append(part)
        return Strip.join(joined)

    def _look(self, run: Run) -> tuple[Style, _Table]:
        """The style of a run of cells, and how its glyphs change."""
        key = (run.role, run.owner)
        found = self._looks.get(key)
        if found is None:
            found = self._looks[key] = self._find_look(run)
        return found

    def _find_look(self, run: Run) -> tuple[Style, _Table]:
        table: _Table = None
        if isinstance(run.owner, NodeRef):
            look: Look = self.marks.nodes.get(run.owner.id, "plain")
            if run.role == "mark" and look not in ("now", "fault"):
                name = "flow--plain"
            elif run.role in ("border", "mark"):
                name = f"flow--{look}"
                if run.owner.id == self.selected and look not in ("now", "fault"):
                    name = "flow--selected"
                table = HEAVY if look in ("now", "fault") else None
            else:
                name = "flow--now" if look == "now" else "flow--label"
                if look == "plain" and self.marks.nodes:
                    name = "flow--plain"
        else:
            look = self.marks.edges.get(run.owner.index, "plain")
            name = f"flow--{look}"
            if run.role == "edge-label" and look == "plain":
                name = "flow--label"
            if run.role == "arrow" and look not in ("done", "forced") and self.marks.edges:
                table = HOLLOW  # some lines are all arrowhead
            elif run.role in ("edge", "crossing"):
                table = _LINES.get(look)
        return self._style(name), table

    def _find_overlays(self, row: int) -> Iterator[_Overlay]:
        places, marks = self.places, self.marks
        if places is None:
            return
        for box in places.tops.get(row, ()):
            look = marks.nodes.get(box.id, "plain")
            if tag := marks.tags.get(box.id):
                x = box.x + box.width - 2 - len(tag)
                if x > box.x:
                    yield _Overlay(x, tag, f"flow--{look}")
            if box.id in marks.breakpoints and box.id in marks.flags and box.height > 1:
                yield _Overlay(box.x, BREAK, "flow--fault")
        for box in places.flags.get(row, ()):
            if flag := marks.flags.get(box.id):
                yield _Overlay(box.x, flag, f"flow--{marks.nodes.get(box.id, 'plain')}")
            elif box.id in marks.breakpoints:
                # Where nodes are dots, BEGIN and END look like the usual sign.
                sign = BREAK if box.height > 1 else DOT_BREAK
                yield _Overlay(box.x, sign, "flow--fault")
        for note in places.notes.get(row, ()):
            yield from self._notes_of(note, row, places)
        for sign in places.signs.get(row, ()):
            if places.is_line(sign.x, row):
                yield _Overlay(sign.x, sign.glyph, f"flow--{marks.edges.get(sign.edge, 'plain')}")

    def _notes_of(self, note: Note, row: int, places: Places) -> Iterator[_Overlay]:
        """The digit, the sign of a forced branch and the count of an edge, where there is room."""
        marks = self.marks
        number = marks.numbers.get(note.edge)
        look = marks.edges.get(note.edge, "plain")
        if number and places.is_blank(note.before, row, 1):
            yield _Overlay(note.before, str(number), "flow--key")
        text = marks.letters.get(note.edge, FORCED if look in ("forced", "chosen") else "")
        count = marks.counts.get(note.edge, 0)
        if count > 1:  # that it was taken at all, its heavy line says
            text += f"×{count}"
        if not text:
            return
        room = len(text) + (1 if note.has_label else 0)
        if places.is_blank(note.after - (1 if note.has_label else 0), row, room + 1):
            yield _Overlay(note.after, text, f"flow--{look}")


def _place(item: _Overlay) -> int:
    return item.x


def message_line(text: str, width: int, style: Style, background: Style) -> Strip:
    """One line of a message, in the middle of a window of this width."""
    if cell_len(text) > width:
        return Strip([Segment(text, style)]).crop(0, width).apply_style(background)
    return Strip([Segment(text, style)]).text_align(width, "center").apply_style(background)


def changed_marks(before: Marks, now: Marks) -> tuple[set[str], set[int]]:
    """The nodes and the edges that look otherwise than before."""
    nodes = {
        node
        for old, new in (
            (before.nodes, now.nodes),
            (before.tags, now.tags),
            (before.flags, now.flags),
        )
        for node, _ in old.items() ^ new.items()
    }
    edges = {
        edge
        for old, new in (
            (before.edges, now.edges),
            (before.counts, now.counts),
            (before.numbers, now.numbers),
        )
        for edge, _ in old.items() ^ new.items()
    }
    return nodes | (before.breakpoints ^ now.breakpoints), edges
