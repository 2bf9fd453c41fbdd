"""A drawing as SVG: each stretch of text at its own cell, so that wide characters stay in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from flowstudio.drawing.drawing import Drawing, EdgeRef, NodeRef, Owner, Role, Run
from flowstudio.drawing.text import clusters

_CELL = 8.4
_ROW = 16.0
_SIZE = 14
_RISE = 12.2
"""From a row's upper edge to its base line."""
_MARGIN = 16.0
_STROKES = frozenset[Role](("border", "edge", "arrow", "crossing"))
_FONTS = (
    "'DejaVu Sans Mono','Cascadia Mono','JetBrains Mono',Menlo,Consolas,"
    "'Sarasa Mono SC','Noto Sans Mono CJK SC','Noto Sans Mono CJK JP','Noto Sans CJK SC',"
    "'PingFang SC','Microsoft YaHei','Noto Color Emoji',monospace"
)


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of a drawing where nothing else is said, as CSS colours."""

    background: str = "#0f1117"
    text: str = "#d7dae3"
    border: str = "#7a8094"
    line: str = "#7a8094"
    label: str = "#d7dae3"
    """Labels of edges."""
    mark: str = "#8b7cf6"

    def of(self, role: Role) -> str:
        """The colour of a role."""
        match role:
            case "label":
                return self.text
            case "edge-label":
                return self.label
            case "mark":
                return self.mark
            case "border":
                return self.border
            case _:
                return self.line


LIGHT = Palette("#ffffff", "#1b1e27", "#5a6072", "#5a6072", "#1b1e27", "#5b49d6")
"""For paper and light pages."""


def to_svg(
    drawing: Drawing,
    *,
    palette: Palette | None = None,
    colour: Callable[[Run], str | None] | Mapping[Owner, str] | None = None,
    title: str | None = None,
) -> str:
    """The drawing as the text of an SVG file. See `Drawing.svg`."""
    colours = palette or Palette()
    width = drawing.width * _CELL + 2 * _MARGIN
    height = drawing.height * _ROW + 2 * _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img">',
        f"<title>{escape(title)}</title>" if title else "",
        f"<style>text{{font-family:{_FONTS};font-size:{_SIZE}px;white-space:pre}}</style>",
        f'<rect width="100%" height="100%" fill={quoteattr(colours.background)}/>',
    ]
    for y, row in enumerate(drawing.rows):
        base = _MARGIN + y * _ROW + _RISE
        for run in row:
            fill = _colour(run, colour) or colours.of(run.role)
            for x, text, cells in _stretches(run):
                parts.append(
                    f'<text {_place(run, x, text, cells)} y="{base:.1f}" '
                    f"fill={quoteattr(fill)}{_data(run.owner)}>{escape(text)}</text>"
                )
    parts.append("</svg>\n")
    return "\n".join(part for part in parts if part)


def _place(run: Run, x: int, text: str, cells: int) -> str:
    """Where a stretch stands: strokes cell by cell, so that they meet, words by their length."""
    start = _MARGIN + x * _CELL
    if run.role in _STROKES:
        return f'x="{" ".join(f"{start + n * _CELL:.1f}" for n in range(len(text)))}"'
    return f'x="{start:.1f}" textLength="{cells * _CELL:.1f}" lengthAdjust="spacingAndGlyphs"'


def _colour(
    run: Run, colour: Callable[[Run], str | None] | Mapping[Owner, str] | None
) -> str | None:
    if colour is None:
        return None
    return colour(run) if callable(colour) else colour.get(run.owner)


def _data(owner: Owner) -> str:
    """So that a page can find a node's or edge's text."""
    match owner:
        case NodeRef(node_id):
            return f" data-node={quoteattr(node_id)}" if node_id.isprintable() else ""
        case EdgeRef(index):
            return f' data-edge="{index}"'


def _stretches(run: Run) -> Iterator[tuple[int, str, int]]:
    """The run in parts whose characters are all of one width: place, text, cells."""
    if run.text.isascii() or run.role in _STROKES:
        yield run.x, run.text, run.width
        return
    x = start = run.x
    text = ""
    last = 0
    for cluster, size in clusters(run.text):
        if size != last and text:
            yield start, text, x - start
            start, text = x, ""
        text += cluster
        last = size
        x += size
    if text:
        yield start, text, x - start
