"""How the panes share the screen: sizes by key and mouse, folded, alone; remembered for the user.

What shows on which width is said in `screen.tcss`. Here is only what the user has changed about it,
and it is laid over that where there is room for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, cast

from textual import events, work
from textual.containers import Horizontal
from textual.widget import Widget

from flowstudio.studio.keymap import key_of
from flowstudio.text import harmless

if TYPE_CHECKING:
    from flowstudio.studio.screen import StudioScreen

type Side = Literal["skills", "source", "chat"]
"""A pane that has a width of its own; the flow has the rest."""

_SELECTORS = {
    "skills": "#skills-pane",
    "flow": "#middle",
    "source": "#source-pane",
    "chat": "#chat-pane",
    "detail": "#detail-pane",
    "timeline": "#timeline-pane",
}
_LEAST = {"skills": 16, "source": 24, "chat": 24, "detail": 4}
_LEAST_FLOW = 24
"""Columns that the flow keeps."""
_LEAST_ROWS = 8
"""Rows that the flow keeps above the node."""
_NARROW, _WIDE, _FLAT = 80, 120, 14
"""One pane shows up to so many columns; three from so many on; no borders below so many rows."""
_STEP = 2


@dataclass(frozen=True, slots=True)
class _Grip:
    """A border that is dragged: which pane it resizes."""

    pane: str


class PaneArea(Horizontal):
    """Holds the panes, and lets the user change their sizes."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._sizes: dict[str, int] = {}
        self._folded: list[str] = []
        self._alone = False
        self._grip: _Grip | None = None
        self._changed = False

    def commands(self) -> dict[str, Callable[[], None]]:
        """The commands that change the layout, by the id in the table of commands."""
        return {
            "view.fold": self.fold,
            "view.alone": self.toggle_alone,
            "view.wider": partial(self.widen, _STEP),
            "view.narrower": partial(self.widen, -_STEP),
            "view.taller": partial(self.heighten, 1),
            "view.flatter": partial(self.heighten, -1),
        }

    # What is remembered

    @work(group="memory", exit_on_error=False)
    async def remember(self) -> None:
        """Read what the user had set when the studio was last used."""
        from flowstudio.studio.memory import load_memory

        memory = await asyncio.to_thread(load_memory)
        self._sizes = {**memory.sizes, **self._sizes}
        self._folded = [one for one in memory.folded if one in _SELECTORS and one != "flow"]
        if self._sizes or self._folded:
            self.fit_panes()

    @work(group="memory", exclusive=True, exit_on_error=False)
    async def keep(self) -> None:
        """Write down sizes and folded panes; nothing else in the file is touched."""
        from flowstudio.studio.memory import load_memory, save_memory

        sizes, folded = dict(self._sizes), list(self._folded)

        def write() -> str:
            memory = load_memory()
            memory.sizes, memory.folded = sizes, folded
            return save_memory(memory)

        if problem := await asyncio.to_thread(write):
            self.notify(harmless(problem), severity="warning", markup=False)

    # What shows

    @property
    def in_use(self) -> str:
        """The pane in use."""
        return cast("str", getattr(self.screen, "pane", "flow"))

    def on_resize(self) -> None:
        """Another size of terminal: as much of the user's sizes as it has room for."""
        self.fit_panes()

    def fit_panes(self) -> None:
        """Lay the user's sizes over the layout of this size of terminal."""
        width, height = self.app.size
        is_narrow, is_flat = width <= _NARROW, height < _FLAT
        for pane, selector in _SELECTORS.items():
            for widget in self.query(selector):
                self._fit_one(pane, widget, is_narrow=is_narrow, is_flat=is_flat)
        self.refresh(layout=True)

    def _fit_one(self, pane: str, widget: Widget, *, is_narrow: bool, is_flat: bool) -> None:
        styles = widget.styles
        for rule in ("width", "min_width", "height", "max_height"):
            styles.inline.clear_rule(rule)
        is_inner = pane in ("detail", "timeline")
        has_choice = is_inner or not (is_narrow or is_flat)
        is_alone = has_choice and self._alone and not is_inner
        is_here = pane == self.in_use
        widget.set_class(is_alone and is_here, "-alone")
        is_folded = pane in self._folded and not is_here and not is_alone
        widget.set_class(has_choice and (is_folded or (is_alone and not is_here)), "-folded")
        if is_alone or is_flat or pane not in self._sizes:
            return
        if pane == "detail":
            styles.max_height = "100%"
            styles.height = self._limit(pane, self._sizes[pane])
        elif has_choice:
            styles.min_width = _LEAST[pane]
            styles.width = self._limit(pane, self._sizes[pane])

    def _limit(self, pane: str, size: int) -> int:
        """As much of a size as leaves the flow its room."""
        width, height = self.app.size
        if pane == "detail":
            return max(min(size, height - _LEAST_ROWS - 6), _LEAST[pane])
        others = sum(
            self.query_one(_SELECTORS[other]).outer_size.width
            for other in ("skills", "source", "chat")
            if other != pane and self.query_one(_SELECTORS[other]).display
        )
        return max(min(size, width - others - _LEAST_FLOW), _LEAST[pane])

    # What the user does

    def fold(self) -> None:
        """Fold the pane in use; in the flow: the node and the timeline. Or unfold them."""
        pane = self.in_use
        if pane != "flow":
            self._folded = [*{*self._folded, pane}]
            cast("StudioScreen", self.screen).action_show_pane("flow")
            self.notify("folded; going there by tab or its key unfolds it", timeout=3)
        elif "detail" in self._folded:
            self._folded = [one for one in self._folded if one not in ("detail", "timeline")]
        else:
            self._folded += ["detail", "timeline"]
        self.fit_panes()
        self.keep()

    def unfold(self, pane: str) -> None:
        """The user went to a pane: it shows."""
        if pane in self._folded:
            self._folded.remove(pane)
            self.keep()
            self.fit_panes()
        elif self._alone:
            self.fit_panes()

    def toggle_alone(self) -> None:
        """The pane in use alone, or all again."""
        self._alone = not self._alone
        self.fit_panes()

    def widen(self, step: int) -> None:
        """Make the pane in use wider or narrower; the flow at the cost of its neighbour."""
        pane = self.in_use
        if pane == "flow":
            beside = ("source", "chat", "skills")
            shown = [one for one in beside if self.query_one(_SELECTORS[one]).display]
            if not shown:
                self._say("no pane stands beside this one")
                return
            pane, step = shown[0], -step
        self._resize(pane, self.query_one(_SELECTORS[pane]).outer_size.width + step)
        self.keep()

    def heighten(self, step: int) -> None:
        """Make the pane of the node taller or flatter."""
        self._resize("detail", self.query_one("#detail-pane").outer_size.height + step)
        self.keep()

    def _resize(self, pane: str, size: int) -> None:
        if self._alone:
            self._say(f"this pane is alone: {key_of('view.alone')} brings the others back")
            return
        if self.app.size.width <= _NARROW and pane != "detail":
            self._say("there is room for one pane only")
            return
        if not self.query_one(_SELECTORS[pane]).display:
            self._say(f"that pane is folded: {key_of('view.fold')} unfolds it")
            return
        if self._limit(pane, size) == self._sizes.get(pane):
            self._say("that is as far as it goes")
            return
        self._sizes[pane] = self._limit(pane, size)
        self.fit_panes()

    def _say(self, text: str) -> None:
        """Why nothing happens."""
        self.notify(text, markup=False, timeout=2)

    # The mouse

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of a border between two panes."""
        self._grip = self._grip_at(int(event.screen_x), int(event.screen_y))
        if self._grip is not None:
            event.stop()
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the border along."""
        if self._grip is None:
            return
        pane = self._grip.pane
        region = self.query_one(_SELECTORS[pane]).region
        if pane == "detail":
            self._resize(pane, region.bottom - int(event.screen_y))
        elif pane == "skills":
            self._resize(pane, int(event.screen_x) - region.x + 1)
        else:
            self._resize(pane, region.right - int(event.screen_x))
        self._changed = True

    def on_mouse_up(self) -> None:
        """Let go."""
        if self._grip is None:
            return
        self._grip = None
        self.release_mouse()
        if self._changed:
            self._changed = False
            self.keep()

    def _grip_at(self, x: int, y: int) -> _Grip | None:
        """The border at a cell of the screen; None where panes have none, or lie alone."""
        width, height = self.app.size
        if height < _FLAT or self._alone:
            return None
        detail, middle = self.query_one("#detail-pane"), self.query_one("#middle").region
        if (
            detail.display
            and y in (detail.region.y - 1, detail.region.y)
            and middle.x < x < middle.right - 1
        ):
            return _Grip("detail")
        if width <= _NARROW:
            return None
        skills = self.query_one("#skills-pane")
        if skills.display and x in (skills.region.right - 1, skills.region.right):
            return _Grip("skills")
        for pane in ("source", "chat"):
            widget = self.query_one(_SELECTORS[pane])
            if widget.display and x in (widget.region.x - 1, widget.region.x):
                return _Grip(pane)
        return None
