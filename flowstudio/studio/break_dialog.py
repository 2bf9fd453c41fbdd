"""A breakpoint with a condition, typed in one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input, Static

from flowstudio.studio.dialog import Dialog
from flowstudio.text import harmless

if TYPE_CHECKING:
    from flowstudio.run.breakpoints import Breakpoint

_EXAMPLES = """\
before  after  visit >= 3  tokens > 20k
choice = No  answer ~ (?i)error  after visit > 1 and choice = No"""


class BreakDialog(Dialog["Breakpoint | str | None"]):
    """The breakpoint; an empty text to clear those of the node; None where nothing is to change."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "accept", "sets it; an empty line clears"),
    ]

    DEFAULT_CSS = """
    BreakDialog {
        & .about { color: $role-muted; margin-bottom: 1; }
        & Input { margin-bottom: 1; }
        & #wrong { color: $role-muted; }
        & #wrong.-bad { color: $role-fault; }
    }
    """

    def __init__(self, node: str, points: Sequence[Breakpoint]) -> None:
        super().__init__(f"Breakpoint at “{node}”")
        self._node = node
        self._points = tuple(points)

    def body(self) -> Iterable[Widget]:
        """What there is, a line to type in, and examples."""
        if len(self._points) > 1:
            there = "\n".join(point.text for point in self._points)
            yield Static(harmless(there), classes="about", markup=False)
        text = self._points[0].text if len(self._points) == 1 else ""
        yield Input(text, compact=True, select_on_focus=False)
        yield Static(_EXAMPLES, classes="about", markup=False)
        yield Static("", id="wrong", markup=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Say while it is typed what the line means, or what is wrong with it."""
        self._read(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Set the breakpoint, or go to what is wrong with the line."""
        if not event.value.strip():
            self.dismiss("")
            return
        found = self._read(event.value)
        if isinstance(found, int):
            event.input.cursor_position = found - 1
        else:
            self.dismiss(found)

    def _read(self, line: str) -> Breakpoint | int:
        """The breakpoint that the line describes, or the column of what is wrong with it."""
        from flowstudio.run.breakpoints import parse_breakpoint
        from flowstudio.run.conditions import ConditionError

        shown = self.query_one("#wrong", Static)
        try:
            point = parse_breakpoint(self._node, line)
        except ConditionError as error:
            shown.set_class(True, "-bad")
            shown.update(harmless(str(error)))
            return error.column
        shown.set_class(False, "-bad")
        moment, _, condition = point.text.partition(" ")
        when = f"each time that {condition}" if condition else "each time"
        means = f"pauses {moment} “{self._node}”, {when}" if line.strip() else "clears it"
        shown.update(harmless(means))
        return point
