"""Text in SVG: made of what XML allows, and placed so that columns line up in any font."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.sax import saxutils

from flowstudio.drawing.text import clusters, width_of
from flowstudio.text import harmless

_NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escape(text: str) -> str:
    """Any text as the content of an element; what XML cannot hold is shown as a sign."""
    return saxutils.escape(_NOT_XML.sub("�", harmless(text)))


def quote(text: str) -> str:
    """Any text as what stands between the quotes of an attribute."""
    return escape(text).replace('"', "&quot;").replace("\n", "&#10;")


def place(x: float, y: float) -> str:
    """Where a piece of text begins."""
    return f'x="{x:.1f}" y="{y:.1f}"'


def spans(text: str, start: float, base: float, cell: float) -> Iterator[str]:
    """The pieces of a cleaned line: letters of one cell in stretches, all else one by one.

    A stretch is given the width of its cells, which browsers heed and others nearly meet with a
    monospaced font. A wide character, an emoji or a sign, which may come from a font of another
    width, stands in the middle of its own cells.
    """
    x = start
    stretch = ""
    for cluster, width in clusters(text):
        if width == 1 and (cluster.isascii() or cluster.isalpha()):
            stretch += cluster
            continue
        if stretch:
            yield _stretch(stretch, x, base, cell)
            x += width_of(stretch) * cell
            stretch = ""
        middle = x + width * cell / 2
        yield f'<tspan {place(middle, base)} text-anchor="middle">{escape(cluster)}</tspan>'
        x += width * cell
    if stretch:
        yield _stretch(stretch, x, base, cell)


def _stretch(text: str, x: float, base: float, cell: float) -> str:
    length = width_of(text) * cell
    return f'<tspan {place(x, base)} textLength="{length:.1f}">{escape(text)}</tspan>'
