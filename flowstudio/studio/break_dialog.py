"""A breakpoint with a condition, typed in one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.markup import escape
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from flowstudio.text import harmless

if TYPE_CHECKING:
    from flowstudio.run.breakpoints import Breakpoint

_EXAMPLES = """\
before  after  visit >= 3  tokens > 20k
choice = No  answer ~ (?i)error  after visit > 1 and choice = No"""


class BreakDialog(ModalScreen["Breakpoint | str | None"]):
    """The breakpoint; an empty text to clear those of the node; None where nothing is to change."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel")]

    DEFAULT_CSS = """
    BreakDialog {
        align: center middle;
        & > Vertical {
            width: 74; max-width: 94%; height: auto; padding: 1 2;
            border: round $role-accent; background: $surface;
        }
        & Static { width: 1fr; height: auto; margin-bottom: 1; color: $role-muted; }
        & Input { height: 1; border: none; padding: 0 1; margin-bottom: 1; background: $panel; }
        & #wrong { color: $role-fault; margin-bottom: 0; }
    }
    """

    def __init__(self, node: str, points: Sequence[Breakpoint]) -> None:
        super().__init__()
        self._node = node
        self._points = tuple(points)

    def compose(self) -> ComposeResult:
        """What there is, a line to type in, and examples."""
        with Vertical() as box:
            box.border_title = escape(harmless(f"Breakpoint at “{self._node}”"))
            box.border_subtitle = "enter sets it, an empty line clears · esc cancels"
            if len(self._points) > 1:
                there = "\n".join(point.text for point in self._points)
                yield Static(harmless(there), markup=False)
            text = self._points[0].text if len(self._points) == 1 else ""
            yield Input(text, compact=True)
            yield Static(_EXAMPLES, markup=False)
            yield Static("", id="wrong", markup=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Set the breakpoint, or say what is wrong with the line."""
        from flowstudio.run.breakpoints import parse_breakpoint
        from flowstudio.run.conditions import ConditionError

        if not event.value.strip():
            self.dismiss("")
            return
        try:
            point = parse_breakpoint(self._node, event.value)
        except ConditionError as error:
            self.query_one("#wrong", Static).update(harmless(str(error)))
            event.input.cursor_position = error.column - 1
            return
        self.dismiss(point)
