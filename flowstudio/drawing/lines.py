"""A drawing as lines of text: plain, in colour, and for terminals that cannot show all signs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from flowstudio.drawing.drawing import Drawing, Run
from flowstudio.drawing.marks import Marks
from flowstudio.drawing.palette import Ink, ink_of_run
from flowstudio.drawing.text import clusters

type Paint = Callable[[str, Ink], str]
"""Gives a stretch of text its colour."""


def text_lines(
    drawing: Drawing,
    marks: Marks | None = None,
    *,
    paint: Paint | None = None,
    encoding: str = "utf-8",
) -> Iterator[str]:
    """The rows of a drawing without their newlines and without trailing spaces.

    `paint` colours each stretch by its state. What `encoding` has no sign for becomes as many `?`
    as it has cells, so that the columns stay in place.
    """
    known = marks or Marks()
    every = encoding.replace("-", "").lower() in ("utf8", "utf16", "utf32")
    for row in drawing.rows:
        parts: list[str] = []
        column = 0
        for run in row:
            if run.x > column:
                parts.append(" " * (run.x - column))
            text = run.text if every else _replace(run, encoding)
            parts.append(paint(text, ink_of_run(run, known)) if paint else text)
            column = run.x + run.width
        yield "".join(parts).rstrip()


def _replace(run: Run, encoding: str) -> str:
    try:
        run.text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(
            cluster if _can_say(cluster, encoding) else "?" * width
            for cluster, width in clusters(run.text)
        )
    return run.text


def _can_say(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
