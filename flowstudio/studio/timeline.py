"""The timeline: every visit of the run in order, with its choice and who made it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from flowstudio.studio.attached import DETACHED
from flowstudio.studio.keymap import key_of
from flowstudio.studio.marks import GLYPHS, style_of
from flowstudio.text import duration, harmless, shorten

if TYPE_CHECKING:
    from flowstudio.run.state import RunState, Visit


_JOINT = " ─ "
_MORE = "‹ "


class Timeline(Widget, can_focus=True):
    """The visits around the one that is looked at, else the last ones, as far as they fit.

    Two rows: what happened, and the number of the move.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move(-1)", "The visit before", show=False),
        Binding("right", "move(1)", "The visit after", show=False),
        Binding("home", "move(-1000000)", "The first visit", show=False),
        Binding("end", "move(1000000)", "The last visit", show=False),
    ]

    DEFAULT_CSS = """
    Timeline { height: 2; padding: 0 1; }
    """

    ALLOW_SELECT = False

    run_state: reactive[RunState | None] = reactive["RunState | None"](None, always_update=True)
    """The run whose visits are shown."""
    looked_at: reactive[int | None] = reactive[int | None](None)
    """The place of the visit that is looked at, in the run's visits; None for what is now."""

    class VisitPicked(Message):
        """A visit was picked, by its place in the run's visits; it may lie outside of them."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._places: list[tuple[int, int, int]] = []

    def render(self) -> Text:
        """Built from the end backwards, so that the newest visit always shows."""
        run = self.run_state
        self._places = []
        if run is None or not run.visits:
            run, step = key_of("run.start"), key_of("run.step")
            return Text(
                f"no run yet: {run} runs the flow, {step} steps through it", style_of(self, "dim")
            )
        width = max(self.size.width - 2 - len(_MORE), 10)
        first, items = self._window(run, width)
        upper, lower = Text(no_wrap=True), Text(no_wrap=True, style=style_of(self, "dim"))
        if first > 0:
            upper.append(_MORE, style_of(self, "dim"))
            lower.append(" " * len(_MORE))
        for place, item in enumerate(items):
            if place:
                upper.append(_JOINT, style_of(self, "dim"))
                lower.append(" " * len(_JOINT))
            start = upper.cell_len
            upper.append_text(item)
            self._places.append((start, upper.cell_len, first + place))
            number = str(run.visits[first + place].move)
            lower.append(number + " " * max(item.cell_len - cell_len(number), 0))
        return Text("\n").join([upper, lower])

    def _window(self, run: RunState, width: int) -> tuple[int, list[Text]]:
        """The first visit that shows and the items from there on: they fit, or there is one."""
        last = len(run.visits) - 1
        at = self.looked_at
        middle = last if at is None else min(max(at, 0), last)
        items = [self._item(run, middle)]
        first = end = middle
        used = items[0].cell_len
        # Backwards up to the half of the room, then forwards, then backwards with what is left.
        for limit, forwards in ((width // 2, False), (width, True), (width, False)):
            while (end < last) if forwards else (first > 0):
                item = self._item(run, end + 1 if forwards else first - 1)
                if used + item.cell_len + len(_JOINT) > limit:
                    break
                used += item.cell_len + len(_JOINT)
                if forwards:
                    items.append(item)
                    end += 1
                else:
                    items.insert(0, item)
                    first -= 1
        return first, items

    def _item(self, run: RunState, index: int) -> Text:
        item = self._describe(run.visits[index], run)
        if index == self.looked_at:
            item.stylize(style_of(self, "accent") + style_of(self, "bold"))
            item.stylize("reverse")
        return item

    def _describe(self, visit: Visit, run: RunState) -> Text:
        name = shorten(harmless(visit.node), 16)
        if not visit.is_done:
            if run.phase == "ended" and run.reason == DETACHED:
                return Text(name, style_of(self, "muted"))
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
        if visit.jumped and visit.to is not None:
            text = Text(name, style_of(self, "muted" if visit.skipped else "done"))
            to = shorten(harmless(visit.to), 16)
            text.append(f"{GLYPHS['forced']}{to}", style_of(self, "forced"))
            return text
        text = Text(f"{name}{GLYPHS['done']}", style_of(self, "done"))
        if visit.seconds and visit.seconds >= 1:
            text.append(duration(visit.seconds), style_of(self, "muted"))
        return text

    def action_move(self, step: int) -> None:
        """Look at the visit that lies so many further on."""
        run = self.run_state
        if run is None or not run.visits:
            return
        last = len(run.visits) - 1
        at = last if self.looked_at is None else self.looked_at
        self.post_message(self.VisitPicked(min(max(at + step, 0), last)))

    def on_click(self, event: events.Click) -> None:
        """Pick the visit under the mouse."""
        for start, end, index in self._places:
            if start <= event.x - 1 < end:
                self.post_message(self.VisitPicked(index))
