"""The flow pane: the drawing of the shown skill, its faults over it, and the marks of the run."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING, cast

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from flowstudio.studio.marks import GLYPHS
from flowstudio.text import harmless

if TYPE_CHECKING:
    from pathlib import Path

    from flowstudio.drawing.drawing import Drawing, Zoom
    from flowstudio.flow.chart import Chart
    from flowstudio.run.marks import EdgeIndex
    from flowstudio.run.state import RunState
    from flowstudio.skill import Skill
    from flowstudio.studio.find_bar import FindBar
    from flowstudio.studio.flow_layout import Pictures
    from flowstudio.studio.flow_view import Change, FlowView
    from flowstudio.studio.minimap import Minimap


_CYCLE: tuple[Zoom, ...] = ("title", "full", "dot")
_HELD = 0.1
"""Seconds: skills that follow faster come from a key that is held down."""
_FAULTS = 3
"""Errors that are shown over the picture; `check` lists them all."""


class FlowPane(Vertical):
    """Draws a skill's chart off the main thread and keeps the last good picture of a broken one."""

    DEFAULT_CSS = """
    FlowPane {
        layers: base map;
        & #faults {
            display: none; dock: bottom; height: auto; max-height: 50%; padding: 0 1;
            background: $surface; color: $role-fault;
        }
    }
    """

    zoom: reactive[Zoom] = reactive["Zoom"]("title")
    """How much of each prompt the drawing shows."""
    following: reactive[bool] = reactive(True)
    """True while the view follows the current node."""
    wants_map: reactive[bool] = reactive(True)
    """Whether a drawing that is larger than the pane has a map, where there is room for one."""

    class Drawn(Message):
        """A picture was laid out and is shown, or there is none to show."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.border_title = "Flow"
        self.skill: Skill | None = None
        """The skill that is shown."""
        self._pictures: Pictures | None = None
        self._good: dict[Path, Chart] = {}
        """The last good chart of each file that was shown."""
        self._is_behind = False
        """True while the picture is of an earlier state than the file, which is broken."""
        self._edges: EdgeIndex | None = None
        self._current: str | None = None
        self._map: Minimap | None = None
        self._map_corner: Offset | None = None
        self._faults_shown = ""
        self._shown_at = 0.0
        """When another skill was last shown."""
        self._is_held = False
        """True while one skill is shown after the other, faster than anybody looks."""
        self._says = ""

    def compose(self) -> ComposeResult:
        """The line of faults; the rest is mounted once the frame is painted."""
        yield Static("", id="faults", markup=False)

    async def furnish(self) -> None:
        """Mount the picture, the map, and the line to look for nodes."""
        from flowstudio.studio.find_bar import FindBar
        from flowstudio.studio.flow_view import FlowView
        from flowstudio.studio.minimap import Minimap

        poor = os.environ.get("TERM") in ("linux", "dumb")  # no braille there
        minimap = Minimap(id="minimap", glyphs="ascii" if poor else "unicode")
        await self.mount(FlowView(id="flow"), minimap, FindBar(id="find"), before="#faults")
        self._map = minimap
        self._show_map()

    @property
    def _bar(self) -> FindBar:
        """The line to look for nodes."""
        return cast("FindBar", self.query_one("#find"))

    @property
    def view(self) -> FlowView:
        """The picture."""
        return cast("FlowView", self.query_one("#flow"))

    @property
    def is_drawn(self) -> bool:
        """True once there is a picture, or it is known that there is none."""
        return self.view.drawing is not None or (
            self.skill is not None and not _has_chart(self.skill)
        )

    # Drawing

    def show_skill(self, skill: Skill) -> None:
        """Draw a skill; a new state of the same one keeps selection and place."""
        shown, self.skill = self.skill, skill
        is_new = shown is None or shown.path != skill.path
        if shown is not None and not is_new and _is_same(shown, skill):
            # Its picture stands, or is on its way: drawn anew it would be held as an edited one is.
            return
        if is_new:
            self._pictures = None
            self.view.selected = None
            self.view.show_drawing(None, "…")
            self._is_held, self._shown_at = monotonic() - self._shown_at < _HELD, monotonic()
        self._show_faults(skill)
        good = self._good.get(skill.path)
        self._is_behind = bool(skill.errors) and good is not None
        if self._is_behind and good is not None:
            # The last good picture stays, dimmed, until the file is good again.
            self.view.stale = True
            if is_new:
                self._pictures = _pictures_of(good)
                self._draw("new")
            return
        if skill.chart is not None and not skill.errors:
            self._good[skill.path] = skill.chart
        if skill.chart is None or not skill.chart.nodes:
            self._pictures = None
        else:
            before = self._pictures.before if self._pictures else None
            self._pictures = _pictures_of(skill.chart, before)
        self._draw("new" if is_new else "edit")

    def show_chart(self, chart: Chart | None, says: str = "", *, change: Change = "new") -> None:
        """Draw a chart that is no skill's; without one, `says` stands where it would be.

        With `change="edit"` what both charts have keeps its place as far as that can be.
        """
        self.skill, self._says = None, says
        before = self._pictures.before if self._pictures and change == "edit" else None
        self._pictures = _pictures_of(chart, before) if chart and chart.nodes else None
        if change == "new":
            self.view.selected = None
            self.view.show_drawing(None, "…" if self._pictures else says)
        self._draw(change)

    @work(group="draw", exclusive=True, exit_on_error=False)
    async def _draw(self, change: Change, *, fit: bool = False) -> None:
        pictures, skill = self._pictures, self.skill
        if pictures is None:
            self.view.stale = False
            self.view.show_drawing(None, _no_chart(skill) if skill else self._says)
            self.post_message(self.Drawn())
            return
        # The size with scroll bars and without is the same: else the picture would change with
        # them, and they with the picture.
        view = self.view.container_size
        if change == "new" and self._is_held:
            # While a key is held down in the list only the flow that it stops at is laid out.
            await asyncio.sleep(_HELD)
            self._is_held = False
        if fit:
            self.zoom = await asyncio.to_thread(pictures.fitting, view)
        picture = await asyncio.to_thread(pictures.at, self.zoom, view)
        from flowstudio.run.marks import EdgeIndex

        if change != "zoom" or self._edges is None:
            self._edges = await asyncio.to_thread(EdgeIndex, tuple(pictures.chart.edges))
        # Perhaps the file was broken while it was laid out: then this is the last good picture.
        self.view.stale = self._is_behind
        self.view.show_drawing(picture.drawing, places=picture.places, change=change)
        self.post_message(self.Drawn())

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A fault of ours in laying out: say it where the picture would be."""
        error = event.worker.error
        if event.state is WorkerState.ERROR and error is not None:
            self.view.show_drawing(None, harmless(f"not drawn: {type(error).__name__}: {error}"))
            self.post_message(self.Drawn())

    def show_marks(
        self, state: RunState | None, breakpoints: frozenset[str], forced: Mapping[str, str]
    ) -> None:
        """Lay a run's state over the picture."""
        drawing = self.view.drawing
        if self._edges is not None:
            from flowstudio.run.marks import make_marks

            marks = make_marks(self._edges, state, breakpoints=breakpoints, forced=forced)
            self.view.show_marks(marks)
        is_on = state is not None and state.phase in ("running", "paused")
        self._current = state.current if state is not None and is_on else None
        follow = f" · following {GLYPHS['running']}" if self.following else ""
        subtitle = f"{drawing.direction} · {self.zoom}{follow}" if drawing else ""
        if subtitle != self.border_subtitle:  # or the whole pane is painted anew each time
            self.border_subtitle = subtitle
        self._show_map()

    def stand_on(self, node: str) -> None:
        """The run entered a node: select it, and bring it into view."""
        self.view.selected = node
        if self.following:
            self.view.reveal(node)

    def _show_faults(self, skill: Skill) -> None:
        """The errors with line and column; they clear by themselves when the file is good."""
        panel = self.query_one("#faults", Static)
        panel.display = bool(skill.errors)
        lines: list[str] = []
        for d in skill.errors[:_FAULTS]:
            hint = f"\n    {d.hint}" if d.hint else ""
            where = f"{skill.path.name}:{d.span.line}:{d.span.column}"
            lines.append(f"{GLYPHS['fault']} {where}  {d.message}{hint}")
        if len(skill.errors) > _FAULTS:
            lines.append(f"… and {len(skill.errors) - _FAULTS} more")
        text = harmless("\n".join(lines))
        if text != self._faults_shown:
            # A new text lays out the whole screen, and while somebody types there is mostly none.
            self._faults_shown = text
            panel.update(text)

    # Zoom

    def next_zoom(self) -> None:
        """Titles, whole prompts, dots, and round again."""
        self._zoom_to(_CYCLE[(_CYCLE.index(self.zoom) + 1) % len(_CYCLE)])

    def zoom_by(self, step: int) -> None:
        """One level nearer (1) or farther away (-1), as far as it goes."""
        from flowstudio.studio.flow_layout import LEVELS

        level = min(max(LEVELS.index(self.zoom) + step, 0), len(LEVELS) - 1)
        if LEVELS[level] == self.zoom:
            end = "nearest" if step > 0 else "farthest"
            self.notify(f"this is the {end} zoom", markup=False, timeout=2)
        self._zoom_to(LEVELS[level])

    def _zoom_to(self, zoom: Zoom) -> None:
        if zoom != self.zoom:
            self.zoom = zoom
            self._draw("zoom")

    def fit(self) -> None:
        """The nearest zoom level at which the whole flow is in view, else dots."""
        self._draw("zoom", fit=True)

    def on_flow_view_zoomed(self, message: FlowView.Zoomed) -> None:
        """Ctrl and the wheel."""
        self.zoom_by(message.step)

    # The map

    def toggle_map(self) -> str:
        """Show or hide the map; a sentence where there is nothing to be seen of it."""
        self.wants_map = not self.wants_map
        self._show_map()
        if not self.wants_map:
            return "no map"
        shows = self._map is not None and self._map.display
        return "" if shows else "the map comes where the flow is larger"

    def on_flow_view_moved(self) -> None:
        """Another part of the drawing shows."""
        self._show_map()

    def on_minimap_picked(self, message: Minimap.Picked) -> None:
        """A click on the map, or a drag in it."""
        # Said by the view itself: what a parent posts to its child goes no further up.
        self.view.call_later(self.view.look_at, message.x, message.y)

    def _show_map(self) -> None:
        view, minimap = self.view, self._map
        if minimap is None:
            return
        from flowstudio.studio.minimap import is_small, map_corner, map_size, place_of_map

        drawing = view.drawing
        if drawing is None or not self.wants_map:
            minimap.display = False
            return
        size = Size(drawing.width, drawing.height)
        cells, small = map_size(size, view.size), is_small(size, view.size)
        if cells is None or (small and view.shows_all):
            minimap.display = False
            return
        node = view.selected or self._current
        box = drawing.boxes.get(node) if node else None
        shift = view.window.offset

        def hides(place: Region) -> int:
            """How many drawn cells; a node that is looked at counts more than all others."""
            there = place.translate(shift)
            runs = drawing.window(there.x, there.y, there.width, there.height)
            drawn = sum(run.width for row in runs for run in row)
            if box is None or not there.overlaps(Region(box.x, box.y, box.width, box.height)):
                return drawn
            return drawn + view.size.area

        now = self._map_corner
        self._map_corner = map_corner(view.size, cells, hides, now)
        minimap.display = not small or not hides(place_of_map(self._map_corner, cells))
        minimap.styles.offset = self._map_corner
        minimap.show(drawing, cells, view.window, now=self._current, selected=view.selected)

    # Looking for nodes

    def find(self) -> None:
        """Open the line in which a node is looked for."""
        if self.view.drawing is not None:
            self._bar.open()

    def find_next(self, step: int) -> None:
        """The next node with what was looked for, or the one before."""
        bar = self._bar
        if bar.text:
            self._find(bar.text, step)
        else:
            self.find()

    def on_find_bar_asked(self, message: FindBar.Asked) -> None:
        """A text was typed, or the next place asked for."""
        self._find(message.text, message.step)

    def on_find_bar_left(self) -> None:
        """Back to the picture."""
        self.view.focus()

    def _find(self, text: str, step: int) -> None:
        bar, drawing, pictures = self._bar, self.view.drawing, self._pictures
        wanted = text.strip().casefold()
        if drawing is None or pictures is None or not wanted:
            bar.say("")
            return
        found = [
            node.id
            for node in pictures.chart.nodes.values()
            if wanted in node.text.casefold() or wanted in node.id.casefold()
        ]
        found = [node for node in found if node in drawing.boxes]
        if not found:
            bar.say("not found")
            return
        # In the order in which the eye meets them.
        found.sort(key=lambda node: (drawing.boxes[node].y, drawing.boxes[node].x))
        at = found.index(self.view.selected) if self.view.selected in found else -1
        at = max(at, 0) if step == 0 else (at + step) % len(found)
        self.view.call_later(self.view.select, found[at])
        bar.say(f"{at + 1} of {len(found)}")


def _pictures_of(chart: Chart, before: Drawing | None = None) -> Pictures:
    from flowstudio.studio.flow_layout import Pictures

    return Pictures(chart, before)


def _is_same(shown: Skill, skill: Skill) -> bool:
    return shown.source == skill.source and shown.checked == skill.checked


def _has_chart(skill: Skill) -> bool:
    return skill.chart is not None and bool(skill.chart.nodes)


def _no_chart(skill: Skill) -> str:
    if skill.declared_type == "flow":
        return f"{GLYPHS['fault']} no chart could be read\n\nE opens the file in your editor"
    return f"a standard skill: it has no flow\n\n{skill.command} in the chat uses it"
