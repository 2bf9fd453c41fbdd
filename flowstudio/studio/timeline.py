"""The timeline: every visit of the run in order, with its choice and who made it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from flowstudio.studio.marks import GLYPHS, style_of
from flowstudio.text import duration, harmless, shorten

if TYPE_CHECKING:
    from flowstudio.run.state import RunState, Visit


_JOINT = " ─ "


class Timeline(Widget):
    """The last visits that fit, on two rows: what happened, and its number."""

    DEFAULT_CSS = """
    Timeline { height: 2; padding: 0 1; }
    """

    run_state: reactive[RunState | None] = reactive["RunState | None"](None, always_update=True)
    """The run whose visits are shown."""

    class VisitPicked(Message):
        """A visit was clicked."""

        def __init__(self, visit: Visit) -> None:
            super().__init__()
            self.visit = visit

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._places: list[tuple[int, int, Visit]] = []

    def render(self) -> Text:
        """Built from the end backwards, so that the newest visit always shows."""
        run = self.run_state
        self._places = []
        if run is None or not run.visits:
            return Text("no run yet: r runs the flow, n steps through it", style_of(self, "dim"))
        width = max(self.size.width - 2, 10)
        items: list[tuple[Visit, Text]] = []
        used = 0
        for visit in reversed(run.visits):
            item = self._item(visit, run)
            used += item.cell_len + len(_JOINT)
            if used > width and items:
                break
            items.append((visit, item))
        items.reverse()
        upper, lower = Text(no_wrap=True), Text(no_wrap=True, style=style_of(self, "dim"))
        for index, (visit, item) in enumerate(items):
            if index:
                upper.append(_JOINT, style_of(self, "dim"))
                lower.append(" " * len(_JOINT))
            start = upper.cell_len
            upper.append_text(item)
            self._places.append((start, upper.cell_len, visit))
            number = str(visit.move)
            lower.append(number + " " * max(item.cell_len - cell_len(number), 0))
        return Text("\n").join([upper, lower])

    def _item(self, visit: Visit, run: RunState) -> Text:
        name = shorten(harmless(visit.node), 16)
        if not visit.is_done:
            if run.phase == "ended":
                ended_well = run.reason == "reached_end"
                role = "done" if ended_well else "fault"
                return Text(
                    f"{name}{GLYPHS['done' if ended_well else 'failed']}", style_of(self, role)
                )
            glyph = GLYPHS["paused" if run.phase == "paused" else "running"]
            return Text(f"{glyph} {name}", style_of(self, "now"))
        if visit.branch is not None:
            forced = visit.forced
            role = "forced" if forced else "text"
            glyph = GLYPHS["forced" if forced else "chosen"]
            text = Text(name, style_of(self, "done"))
            text.append(f"{glyph}{shorten(harmless(visit.branch), 14)}", style_of(self, role))
            return text
        text = Text(f"{name}{GLYPHS['done']}", style_of(self, "done"))
        if visit.seconds and visit.seconds >= 1:
            text.append(duration(visit.seconds), style_of(self, "muted"))
        return text

    def on_click(self, event: events.Click) -> None:
        """Pick the visit under the mouse."""
        for start, end, visit in self._places:
            if start <= event.x - 1 < end:
                self.post_message(self.VisitPicked(visit))
