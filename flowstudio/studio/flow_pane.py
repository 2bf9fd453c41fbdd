"""The flow pane: the drawing of the shown skill, its faults over it, and the marks of the run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from flowstudio.studio.flow_marks import make_marks
from flowstudio.studio.flow_view import FlowView
from flowstudio.studio.marks import GLYPHS
from flowstudio.text import harmless

if TYPE_CHECKING:
    from flowstudio.drawing.drawing import Drawing, Zoom
    from flowstudio.flow.chart import Chart
    from flowstudio.flow.model import FlowEdge
    from flowstudio.run.state import RunState
    from flowstudio.skill import Skill


_ZOOMS: tuple[Zoom, ...] = ("title", "full", "dot")
_HUGE = 1000
"""Nodes above which no drawing is fitted into the pane's width."""
_FAULTS = 3
"""Errors that are shown over the picture; `check` lists them all."""


class FlowPane(Vertical):
    """Draws a skill's chart off the main thread and keeps the last good picture of a broken one."""

    DEFAULT_CSS = """
    FlowPane {
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

    class Drawn(Message):
        """A picture was laid out and is shown, or there is none to show."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.border_title = "Flow"
        self.skill: Skill | None = None
        """The skill that is shown."""
        self._edges: tuple[FlowEdge, ...] = ()

    def compose(self) -> ComposeResult:
        """The picture, and the faults over it."""
        yield FlowView(id="flow")
        yield Static("", id="faults", markup=False)

    @property
    def view(self) -> FlowView:
        """The picture."""
        return self.query_one(FlowView)

    @property
    def is_drawn(self) -> bool:
        """True once there is a picture, or it is known that there is none."""
        return self.view.drawing is not None or (
            self.skill is not None and not _has_chart(self.skill)
        )

    def show_skill(self, skill: Skill) -> None:
        """Draw a skill; a new state of the same one keeps selection and place."""
        is_new = self.skill is None or self.skill.path != skill.path
        self.skill = skill
        if is_new:
            self.view.selected = None
            self.view.show_drawing(None, "…")
        self._show_faults(skill)
        if skill.errors and not is_new and self.view.drawing is not None:
            # The last good picture stays, dimmed, until the file is good again.
            self.view.stale = True
            return
        self._draw(skill, is_new=is_new)

    @work(group="draw", exclusive=True, exit_on_error=False)
    async def _draw(self, skill: Skill, *, is_new: bool) -> None:
        chart = skill.chart
        if chart is None or not chart.nodes:
            self.view.stale = False
            self.view.show_drawing(None, _no_chart(skill))
        else:
            previous = None if is_new else self.view.drawing
            room = max(self.view.size.width - 4, 20)
            drawing = await asyncio.to_thread(_lay_out, chart, self.zoom, room, previous)
            self._edges = tuple(chart.edges)
            self.view.stale = False
            self.view.show_drawing(drawing)
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
        marks = make_marks(self._edges, state, breakpoints=breakpoints, forced=forced)
        self.view.show_marks(marks)
        drawing = self.view.drawing
        follow = f" · following {GLYPHS['running']}" if self.following else ""
        self.border_subtitle = f"{drawing.direction} · {self.zoom}{follow}" if drawing else ""

    def stand_on(self, node: str) -> None:
        """The run entered a node: select it, and bring it into view."""
        self.view.selected = node
        if self.following:
            self.view.reveal(node)

    def next_zoom(self) -> None:
        """Titles, whole prompts, dots, and round again."""
        self.zoom = _ZOOMS[(_ZOOMS.index(self.zoom) + 1) % len(_ZOOMS)]
        if self.skill is not None and not self.view.stale:
            self._draw(self.skill, is_new=False)

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
        panel.update(harmless("\n".join(lines)))


def _has_chart(skill: Skill) -> bool:
    return skill.chart is not None and bool(skill.chart.nodes)


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


def _no_chart(skill: Skill) -> str:
    if skill.declared_type == "flow":
        return f"{GLYPHS['fault']} no chart could be read\n\nE opens the file in your editor"
    return f"a standard skill: it has no flow\n\n{skill.command} in the chat uses it"
