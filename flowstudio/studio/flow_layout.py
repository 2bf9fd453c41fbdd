"""Laying out a chart for a pane: at which zoom, in which width. Runs off the main thread."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from textual.geometry import Size

if TYPE_CHECKING:
    from flowstudio.drawing.drawing import Drawing, Zoom
    from flowstudio.flow.chart import Chart
    from flowstudio.studio.places import Places

LEVELS: tuple[Zoom, ...] = ("dot", "title", "full")
"""The zoom levels, from the overview to the detail."""
_HUGE = 1000
"""Nodes above which no drawing is fitted into the pane's width."""
_LEAST_CELLS = {"title": 3 * 5, "full": 3 * 5, "dot": 1}
"""Cells that a node takes at least, its borders included."""
MARGIN = Size(4, 2)
"""Cells that stay empty around a drawing that is shown whole."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing, and where its things are."""

    drawing: Drawing
    places: Places


@dataclass(slots=True)
class Pictures:
    """The pictures of one chart, each laid out once for a zoom level and a width."""

    chart: Chart
    before: Drawing | None = None
    """The drawing that was shown before: the next one keeps its order of nodes."""
    _made: dict[tuple[Zoom, int], Picture] = field(
        default_factory=dict["tuple[Zoom, int]", Picture]
    )

    def at(self, zoom: Zoom, view: Size) -> Picture:
        """The picture at this zoom level, for a view of this size."""
        room = max(view.width - MARGIN.width, 20)
        made = self._made.get((zoom, room))
        if made is None:
            from flowstudio.studio.places import Places

            with _no_pauses(len(self.chart.nodes)):
                drawing = _lay_out(self.chart, zoom, room, self.before)
            made = self._made[zoom, room] = Picture(drawing, Places(drawing))
            self.before = drawing
        return made

    def fitting(self, view: Size) -> Zoom:
        """The most detailed zoom level at which the whole drawing is in view; else dots."""
        for zoom in reversed(LEVELS):
            if len(self.chart.nodes) * _LEAST_CELLS[zoom] > view.width * view.height:
                continue  # no need to lay it out to know
            drawing = self.at(zoom, view).drawing
            if (
                drawing.width + MARGIN.width <= view.width
                and drawing.height + MARGIN.height <= view.height
            ):
                return zoom
        return "dot"


@contextmanager
def _no_pauses(nodes: int) -> Generator[None]:
    """Collect no garbage while a large chart is laid out: each full collection stops every thread,
    the one that answers keys too, for up to a tenth of a second."""
    if nodes <= _HUGE or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _lay_out(chart: Chart, zoom: Zoom, room: int, previous: Drawing | None) -> Drawing:
    """The drawing in `room` columns if shorter titles let it fit, else with titles of full length:
    what must be panned anyway should at least be readable."""
    from flowstudio.drawing import choose_direction, draw

    direction = choose_direction(chart, zoom=zoom, width=room)
    if len(chart.nodes) > _HUGE:
        # It must be panned anyway, and fitting it into a width would take the longest.
        return draw(chart, zoom=zoom, direction=direction, previous=previous)
    drawing = draw(chart, zoom=zoom, width=room, direction=direction, previous=previous)
    if drawing.width > room:
        drawing = draw(chart, zoom=zoom, direction=direction, previous=previous)
    return drawing
