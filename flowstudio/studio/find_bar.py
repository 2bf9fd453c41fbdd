"""The line in which a node of the flow is looked for."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static


class FindBar(Horizontal):
    """Takes a text as it is typed; says which of how many nodes is shown."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,f3", "go(1)", "Next", show=False),
        Binding("up,shift+f3", "go(-1)", "Previous", show=False),
        Binding("escape", "leave", "Close", show=False),
    ]

    DEFAULT_CSS = """
    FindBar {
        display: none; dock: bottom; height: 1; background: $surface;
        & #find-sign { width: 3; padding: 0 1; color: $role-accent; }
        & #find-text { width: 1fr; height: 1; border: none; padding: 0; background: $surface; }
        & #find-count { width: auto; padding: 0 1; color: $role-muted; }
    }
    """

    class Asked(Message):
        """Look for this; `step` 0 where it was just typed, else the next (1) or last (-1) one."""

        def __init__(self, text: str, step: int) -> None:
            super().__init__()
            self.text = text
            self.step = step

    class Left(Message):
        """The user is done."""

    def compose(self) -> ComposeResult:
        """A sign, the text and the count."""
        yield Static("/", id="find-sign")
        yield Input(placeholder="find a node: its text or id", id="find-text", compact=True)
        yield Static("", id="find-count", markup=False)

    def open(self) -> None:
        """Show the line, the last text chosen so that typing replaces it."""
        self.display = True
        line = self.query_one(Input)
        # At once: a letter that comes right behind is text already.
        self.screen.set_focus(line)
        line.action_select_all()

    def say(self, text: str) -> None:
        """What was found."""
        self.query_one("#find-count", Static).update(text)

    @property
    def text(self) -> str:
        """What is looked for."""
        return self.query_one(Input).value

    def on_input_changed(self, event: Input.Changed) -> None:
        """Look while it is typed."""
        event.stop()
        if self.display:
            self.post_message(self.Asked(event.value, 0))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """The next one."""
        event.stop()
        self.post_message(self.Asked(event.value, 1))

    def action_go(self, step: int) -> None:
        """The next one, or the one before."""
        self.post_message(self.Asked(self.text, step))

    def action_leave(self) -> None:
        """Close the line; what was found stays selected."""
        self.display = False
        self.post_message(self.Left())
