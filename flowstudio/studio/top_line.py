"""The top line: what runs, in which state, why, with which model, at what cost."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal

from rich.text import Text
from textual.reactive import reactive
from textual.widget import Widget

from flowstudio.studio.attached import DETACHED
from flowstudio.studio.keymap import with_keys
from flowstudio.studio.marks import GLYPHS, style_of
from flowstudio.text import count, duration, harmless, shorten

if TYPE_CHECKING:
    from flowstudio.run.state import RunState


_BAR = 10
_GAP = 2
"""Blanks between the two halves of the line, at least."""


class TopLine(Widget):
    """One line that sums up the session."""

    DEFAULT_CSS = """
    TopLine { height: 1; background: $surface; color: $role-muted; }
    """

    subject: reactive[str] = reactive("")
    """The name of the skill that is shown."""
    about: reactive[str] = reactive("")
    """Its type and scope."""
    model: reactive[str] = reactive("")
    """Who answers."""
    run_state: reactive[RunState | None] = reactive["RunState | None"](None, always_update=True)
    """The run, if there is or was one."""
    currency: reactive[str] = reactive("$")
    """What the run's cost is in."""
    ahead: reactive[str] = reactive("")
    """What was asked of the run and waits for it."""
    problem: reactive[str] = reactive("")
    """What is wrong with the file that is shown: takes the place of the run's state."""

    def render(self) -> Text:
        """Left what and in which state, right with what and at what cost."""
        width, line = self.size.width, self._left()
        # How the run stands counts for more than how full the context is. On a narrow terminal
        # the cost gives way too, rather than that the line's end is cut off.
        right = Text()
        for much in ("bar", "share", "cost", "least"):
            right = self._right(much)
            room = width // 2 if much == "cost" else width - line.cell_len - _GAP
            if right.cell_len <= room:
                break
        left = max(width - right.cell_len, width // 2) - _GAP
        line.truncate(left, overflow="ellipsis", pad=True)
        line.append(" " * _GAP).append_text(right)
        line.truncate(width, overflow="ellipsis")
        return line

    def _left(self) -> Text:
        text = Text(no_wrap=True, overflow="ellipsis")
        wide = self.size.width >= 100
        if wide:
            colours = self.app.theme_variables
            on = f"{colours.get('role-background', '')} on {colours.get('role-accent', '')}"
            text.append(" Flow Studio ", f"bold {on}" if colours else "bold reverse")
            text.append("  ")
        else:
            text.append(" ")
        # The state counts for more than the end of a long name.
        name = shorten(harmless(self.subject), max(self.size.width // 3, 8)) or "no skill"
        text.append(name, style_of(self, "text") + style_of(self, "bold"))
        if wide and self.about:
            text.append(f"  {self.about}")
        text.append("   ")
        run = self.run_state
        if not self.ahead:
            text.append_text(self._state())
        elif run is None or run.phase in ("idle", "ended"):
            text.append(f"{GLYPHS['running']} {self.ahead}", style_of(self, "now"))
        else:
            text.append_text(self._state())
            text.append(f"  {self.ahead}", style_of(self, "now"))
        return text

    def _state(self) -> Text:
        run = self.run_state
        if self.problem:
            return Text(f"{GLYPHS['fault']} {harmless(self.problem)}", style_of(self, "fault"))
        if run is None or run.phase == "idle":
            return Text(with_keys("{run.start} run  {run.step} step"), style_of(self, "dim"))
        from flowstudio.run.moment import LOOKING_BACK

        now = run.now
        match run.phase:
            case "paused" if run.reason == LOOKING_BACK:
                text = Text(f"{GLYPHS['past']} past ", style_of(self, "now"))
                text.stylize("bold")
                text.append(shorten(harmless(run.why), 80), style_of(self, "now"))
                return text
            case "paused":
                text = Text(f"{GLYPHS['paused']} paused ", style_of(self, "now"))
                text.stylize("bold")
                text.append(shorten(harmless(run.why), 80), style_of(self, "now"))
            case "running" if run.waits_for:
                text = Text(f"{GLYPHS['waiting']} your turn: ", style_of(self, "now"))
                text.stylize("bold")
                text.append(shorten(harmless(run.waits_for), 60), style_of(self, "now"))
            case "running":
                text = Text(f"{GLYPHS['running']} running ", style_of(self, "now"))
            case _ if run.reason == "reached_end":
                text = Text(f"{GLYPHS['done']} done ", style_of(self, "done"))
                text.append(f"in {len(run.visits)} visits")
                return text
            case _ if run.reason == DETACHED:
                return Text(harmless(run.why), style_of(self, "muted"))
            case _:
                text = Text(f"{GLYPHS['failed']} {shorten(harmless(run.why), 80)}")
                text.stylize(style_of(self, "fault"))
                return text
        if now is not None:
            text.append(f"  visit {now.visit} of {harmless(now.node)}")
        return text

    def _right(self, much: Literal["bar", "share", "cost", "least"]) -> Text:
        """Who answers, for how long, at what cost, and how full the context is: so much of it."""
        run = self.run_state
        parts = [self.model] if self.model else []
        if run is not None and much != "least" and (used := run.usage.tokens or run.tokens):
            parts.append(f"{count(used)} tokens")
            if run.usage.cost is not None:
                from flowstudio.run.usage import show_cost

                parts.append(harmless(show_cost(run.usage.cost, self.currency)))
            if run.context_usage and much in ("bar", "share"):
                filled = round(run.context_usage * _BAR)
                bar = " " + "▰" * filled + "▱" * (_BAR - filled) if much == "bar" else ""
                parts.append(f"{run.context_usage:.0%} context{bar}")
        if run is not None and run.started:
            parts.append(duration((run.ended or time.time()) - run.started))
        return Text("  ·  ".join(parts) + " ", no_wrap=True)
