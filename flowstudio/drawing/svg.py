"""A drawing as SVG: boxes and lines as shapes, text as text that can be selected.

Each stretch of text stands at its own cell, and each wide character in the middle of its two, so
that columns line up whatever font the reader has. Only what every renderer knows is used: no
variables, no lists of places, no filters. Where a browser shows it, a box tells its whole prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from flowstudio.drawing.drawing import Box, Drawing, EdgeRef, NodeRef, Owner, Path, Run
from flowstudio.drawing.marks import PAUSED, Look, Marks
from flowstudio.drawing.palette import Ink, Palette, ink_of, ink_of_run
from flowstudio.drawing.svg_text import escape, quote, spans
from flowstudio.drawing.text import width_of
from flowstudio.flow.model import FlowNodeKind

CELL = 8.4
"""Width of a cell."""
ROW = 18.0
"""Height of a row."""
_MARGIN = 16.0
_BEND = 7.0
"""Radius of a line's bends."""
_HEAD, _HALF = 8.5, 4.3
"""Length of an arrowhead, and half of its breadth."""
_DOT = 4.5
"""Half of a dot."""
_WEIGHTS: Mapping[Look, float] = {"done": 2.4, "forced": 2.4, "now": 2.2, "fault": 2.2}
_DASHED = ("forced", "chosen")
_FONTS = (
    "'DejaVu Sans Mono','Cascadia Mono','JetBrains Mono',Menlo,Consolas,"
    "'Sarasa Mono SC','Noto Sans Mono CJK SC','Noto Sans Mono CJK JP','Noto Sans CJK SC',"
    "'PingFang SC','Microsoft YaHei','WenQuanYi Micro Hei','Noto Color Emoji',monospace"
)

type _Point = tuple[float, float]


def to_svg(
    drawing: Drawing,
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
    """The drawing as the text of an SVG file. See `Drawing.svg`."""
    writer = _Writer(drawing, marks or Marks(), colour or {}, weight or {})
    cells = max([drawing.width, *(width_of(note) for note in notes)])
    width = cells * CELL + 2 * _MARGIN
    height = (drawing.height + (len(notes) + 1 if notes else 0)) * ROW + 2 * _MARGIN
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" xml:space="preserve">',
        f"<title>{escape(title)}</title>" if title else "",
        f"<desc>{escape(describe)}</desc>" if describe else "",
        f"<style>{_css(palette or Palette(), other)}</style>",
        '<rect class="f-background" width="100%" height="100%" rx="10"/>',
    ]
    below = [
        _text(number, note) for number, note in enumerate(notes, start=drawing.height + 1) if note
    ]
    lines = [line for line in (*head, *writer.edges(), *writer.nodes(), *below) if line]
    return "\n".join([*lines, "</svg>\n"])


def _css(palette: Palette, other: Palette | None) -> str:
    rules = [
        f"text{{font-family:{_FONTS};font-size:14px;white-space:pre}}",
        ".line{fill:none;stroke-linejoin:round}",
        ".bold{font-weight:bold}",
        *_colours(palette),
    ]
    if other is not None:
        bright = _is_bright(other.background)
        scheme = "light" if bright else "dark"
        rules.append(f"@media (prefers-color-scheme:{scheme}){{{''.join(_colours(other))}}}")
    return "\n".join(rules)


def _colours(palette: Palette) -> list[str]:
    return [f".f-{name}{{fill:{c}}}.s-{name}{{stroke:{c}}}" for name, c in palette.items()]


def _is_bright(colour: str) -> bool:
    digits = colour.removeprefix("#")
    return len(digits) == 6 and sum(int(digits[at : at + 2], 16) for at in (0, 2, 4)) > 384


def _text(row: int, note: str) -> str:
    line = "".join(spans(_draw_signs(note), _MARGIN, _base(row), CELL))
    return f'<text class="f-muted">{line}</text>'


def _draw_signs(text: str) -> str:
    """Our own signs as fonts hold them: few have the one of a pause, and some show it in colour."""
    return text.replace(PAUSED, "‖")


def _base(row: float) -> float:
    """The base line of a row's text."""
    return _MARGIN + row * ROW + 13.4


def _middle(x: float, y: float) -> _Point:
    """The middle of a cell."""
    return _MARGIN + (x + 0.5) * CELL, _MARGIN + (y + 0.5) * ROW


class _Writer:
    """Writes the parts of one drawing."""

    def __init__(
        self,
        drawing: Drawing,
        marks: Marks,
        colour: Mapping[Owner, str],
        weight: Mapping[Owner, float],
    ) -> None:
        self._drawing = drawing
        self._marks = marks
        self._colour = colour
        self._weight = weight
        self._words: dict[Owner, list[tuple[int, Run]]] = {}
        shown = ("label", "mark", "edge-label")
        for y, row in enumerate(drawing.rows):
            for run in row:
                if run.role in shown:
                    self._words.setdefault(run.owner, []).append((y, run))

    def edges(self) -> Iterator[str]:
        """The edges; those with a state above the others."""
        paths = self._drawing.paths
        plain = [path for path in paths if self._marks.look_of(EdgeRef(path.index)) == "plain"]
        marked = [path for path in paths if self._marks.look_of(EdgeRef(path.index)) != "plain"]
        for path in (*plain, *marked):
            owner = EdgeRef(path.index)
            look = self._marks.look_of(owner)
            points = self._points(path)
            line, head = _line(points)
            stroke = self._stroke(owner, look)
            dash = ' stroke-dasharray="7 5"' if look in _DASHED else ""
            fill = f'class="f-{ink_of(look)}"'
            if own := self._colour.get(owner):
                fill = f'style="fill:{quote(own)}"'
            yield f'<g class="edge {look}" data-edge="{path.index}">'
            yield f"<title>{self._say(path)}</title>"
            yield f'<path {stroke}{dash} d="{line}"/>'
            yield f'<path {fill} d="{head}"/>'
            for y, run in self._words.get(owner, ()):
                yield self._word(y, run)
            yield "</g>"

    def nodes(self) -> Iterator[str]:
        """The nodes, each with its shape, its words and its whole prompt."""
        for box in self._drawing.boxes.values():
            owner = NodeRef(box.id)
            look = self._marks.look_of(owner)
            node = self._drawing.nodes.get(box.id)
            kind: FlowNodeKind = node.kind if node else "task"
            yield f'<g class="node {kind} {look}" data-node="{quote(box.id)}">'
            yield f"<title>{escape(node.text if node else box.id)}</title>"
            if self._drawing.zoom == "dot":
                yield self._dot(box, kind, owner, look)
            else:
                yield from self._shape(box, kind, owner, look)
            for y, run in self._words.get(owner, ()):
                if run.role == "mark" and y in (box.y, box.y + box.height - 1):
                    yield from self._tag(y, run, look)
                else:
                    yield self._word(y, run, bold=look == "now" and run.role == "label")
            yield "</g>"

    def _stroke(self, owner: Owner, look: Look, fill: str = "line") -> str:
        """The class and the weight of a line or an outline."""
        weight = self._weight.get(owner, 1.0) * _WEIGHTS.get(look, 1.3)
        own = self._colour.get(owner)
        style = f' style="stroke:{quote(own)}"' if own else ""
        return f'class="{fill} s-{ink_of(look)}"{style} stroke-width="{weight:g}"'

    def _shape(self, box: Box, kind: FlowNodeKind, owner: Owner, look: Look) -> Iterator[str]:
        x, y = _middle(box.x, box.y)
        width, height = (box.width - 1) * CELL, (box.height - 1) * ROW
        stroke = self._stroke(owner, look, "f-surface")
        if kind == "decision":
            yield f'<path {stroke} d="{_octagon(x, y, width, height, 9)}"/>'
            inner = _octagon(x + 3.5, y + 3.5, width - 7, height - 7, 7)
            yield f'<path class="line s-{ink_of(look)}" stroke-width="0.8" d="{inner}"/>'
            return
        radius = min(height / 2, 18) if kind in ("begin", "end") else 5
        yield (
            f'<rect {stroke} x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}" rx="{radius:g}"/>'
        )

    def _dot(self, box: Box, kind: FlowNodeKind, owner: Owner, look: Look) -> str:
        """A node at the smallest zoom: as large as its cells, so that its lines meet it."""
        x, y = _middle(box.x, box.y)
        width = (box.width - 1) * CELL + 2 * _DOT
        height = (box.height - 1) * ROW + 2 * _DOT
        x, y = x - _DOT, y - _DOT
        stroke = self._stroke(owner, look, f"f-{ink_of(look)}")
        if kind == "decision":
            return f'<path {stroke} d="{_octagon(x, y, width, height, _DOT)}"/>'
        radius = _DOT if kind in ("begin", "end") else 1.5
        return (
            f'<rect {stroke} x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}" rx="{radius:g}"/>'
        )

    def _tag(self, y: int, run: Run, look: Look) -> Iterator[str]:
        """A sign in the upper border, on a ground of its own, as near to the corner as can be."""
        trimmed = run.text.lstrip()
        blank = len(run.text) - len(trimmed)
        run = replace(run, x=run.x + blank + 1, text=_draw_signs(trimmed), width=run.width - blank)
        x, middle = _middle(run.x - 0.5, y)
        ink = ink_of_run(run, self._marks)
        strong = (look in ("now", "fault") and ink != "fault") or look == "fault"
        ground: Ink = ink if strong else "background"
        x, width = x - 3, run.width * CELL + 6
        yield (
            f'<rect class="f-{ground} s-{ink}" x="{x:.1f}" y="{middle - 8:.1f}" '
            f'width="{width:.1f}" height="16" rx="8"/>'
        )
        yield self._word(y, run, ink="background" if strong else ink)

    def _word(self, y: int, run: Run, *, ink: Ink | None = None, bold: bool = False) -> str:
        name = f"f-{ink or ink_of_run(run, self._marks)}" + (" bold" if bold else "")
        start = _MARGIN + run.x * CELL
        return f'<text class="{name}">{"".join(spans(run.text, start, _base(y), CELL))}</text>'

    def _say(self, path: Path) -> str:
        """What a pointer on an edge is told."""
        nodes = self._drawing.nodes
        ends = [nodes[end].text.split("\n")[0] if end in nodes else end for end in path.ends]
        count = self._marks.counts.get(path.index, 0)
        times = "" if not count else " (taken once)" if count == 1 else f" (taken {count} times)"
        return escape(f"{ends[0]} → {ends[1]}{times}")

    def _points(self, path: Path) -> list[_Point]:
        """The middles of the path's bends, its ends drawn out to the outlines of its boxes."""
        boxes = self._drawing.boxes
        points = [_middle(*point) for point in path.points]
        first = self._edge_of(boxes[path.src], path.points[0])
        last = self._edge_of(boxes[path.dst], path.points[-1])
        return [first, *points, last]

    def _edge_of(self, box: Box, cell: tuple[int, int]) -> _Point:
        """Where a line that comes through a cell beside the box meets its outline."""
        x, y = cell
        if x < box.x:
            x = box.x
        elif x >= box.x + box.width:
            x = box.x + box.width - 1
        elif y < box.y:
            y = box.y
        else:
            y = box.y + box.height - 1
        place = _middle(x, y)
        if self._drawing.zoom != "dot":
            return place
        outside = _middle(*cell)
        dx, dy = outside[0] - place[0], outside[1] - place[1]
        length = abs(dx) + abs(dy) or 1.0
        return place[0] + dx / length * _DOT, place[1] + dy / length * _DOT


def _octagon(x: float, y: float, width: float, height: float, cut: float) -> str:
    right, bottom = x + width, y + height
    cut = min(cut, width / 2, height / 2)
    return (
        f"M{x + cut:.1f} {y:.1f}H{right - cut:.1f}L{right:.1f} {y + cut:.1f}V{bottom - cut:.1f}"
        f"L{right - cut:.1f} {bottom:.1f}H{x + cut:.1f}L{x:.1f} {bottom - cut:.1f}V{y + cut:.1f}Z"
    )


def _line(points: Sequence[_Point]) -> tuple[str, str]:
    """A line with round bends, and the arrowhead at its end."""
    bends = _bends(points)
    (x0, y0), (x1, y1) = bends[-2], bends[-1]
    length = abs(x1 - x0) + abs(y1 - y0) or 1.0
    dx, dy = (x1 - x0) / length, (y1 - y0) / length
    back = min(_HEAD, length)
    foot = (x1 - dx * back, y1 - dy * back)
    head = (
        f"M{x1:.1f} {y1:.1f}L{foot[0] - dy * _HALF:.1f} {foot[1] + dx * _HALF:.1f}"
        f"L{foot[0] + dy * _HALF:.1f} {foot[1] - dx * _HALF:.1f}Z"
    )
    bends[-1] = (x1 - dx * back * 0.8, y1 - dy * back * 0.8)
    parts = [f"M{bends[0][0]:.1f} {bends[0][1]:.1f}"]
    for before, here, after in zip(bends, bends[1:], bends[2:], strict=False):
        near, far = _towards(here, before), _towards(here, after)
        parts.append(f"L{near[0]:.1f} {near[1]:.1f}Q{here[0]:.1f} {here[1]:.1f} ")
        parts.append(f"{far[0]:.1f} {far[1]:.1f}")
    parts.append(f"L{bends[-1][0]:.1f} {bends[-1][1]:.1f}")
    return "".join(parts), head


def _bends(points: Sequence[_Point]) -> list[_Point]:
    """The points without those that lie on a straight line between their neighbours."""
    kept = [points[0]]
    for here, after in zip(points[1:], [*points[2:], None], strict=True):
        before = kept[-1]
        if after is not None and (
            abs(before[0] - here[0]) + abs(here[0] - after[0]) < 0.01
            or abs(before[1] - here[1]) + abs(here[1] - after[1]) < 0.01
        ):
            continue
        if here != before or after is None:
            kept.append(here)
    return kept


def _towards(here: _Point, other: _Point) -> _Point:
    """The point on the way from `here` where a bend begins."""
    dx, dy = other[0] - here[0], other[1] - here[1]
    length = abs(dx) + abs(dy) or 1.0
    step = min(_BEND, length / 2)
    return here[0] + dx / length * step, here[1] + dy / length * step
