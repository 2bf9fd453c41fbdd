"""A tool asks for leave: a card below the log of the chat, with what it wants and three answers."""

from __future__ import annotations

from typing import ClassVar

from rich.markup import escape
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import Button, Static

from flowstudio.studio.chat_entries import cap
from flowstudio.studio.marks import GLYPHS, style_of
from flowstudio.text import first_line, harmless
from flowstudio.wire import Verdict

_ROLES = {"+": "done", "-": "fault", "@": "dim"}


class ApprovalCard(Vertical, can_focus=True):
    """What a tool wants to do, and the three answers; up and down scroll what is long."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer('allow')", "Allow once", id="approval.allow"),
        Binding("a", "answer('session')", "Allow for the session", id="approval.session"),
        Binding("x", "answer('reject')", "Reject", id="approval.reject"),
        Binding("up,k", "look(-1)", "Scroll up", show=False),
        Binding("down,j", "look(1)", "Scroll down", show=False),
    ]

    DEFAULT_CSS = """
    ApprovalCard {
        height: auto; max-height: 50%; padding: 0 1; border: round $role-now;
        border-title-color: $role-now;
        & VerticalScroll { height: auto; max-height: 100%; scrollbar-size: 1 1; margin-bottom: 1; }
        & Static { height: auto; }
        & Horizontal { dock: bottom; height: 1; }
        & Button { margin-right: 1; min-width: 8; }
        &:focus { border: heavy $role-now; }
    }
    """

    class Answered(Message):
        """The user's word."""

        def __init__(self, request: str, verdict: Verdict) -> None:
            super().__init__()
            self.request = request
            self.verdict: Verdict = verdict

    def __init__(
        self, request: str, tool: str, action: str, description: str, diff: str = ""
    ) -> None:
        super().__init__()
        self.request = request
        self._title = f"{GLYPHS['waiting']} {harmless(tool)} wants to {harmless(action)}"
        self.border_title = escape(self._title)
        self._description = harmless(cap(description))
        self._diff = harmless(cap(diff))

    @property
    def text(self) -> str:
        """What is asked, in words."""
        return f"{self._title}\n{self._description}\n{self._diff}".rstrip()

    def compose(self) -> ComposeResult:
        """The act in full, a change with its lines in colour, and the answers."""
        with VerticalScroll(can_focus=False):
            yield Static(self._styled_diff() if self._diff else self._description, markup=False)
        with Horizontal():
            yield Button("y allow", compact=True, id="allow")
            yield Button("a always", compact=True, id="session")
            yield Button("x reject", compact=True, id="reject")

    def _styled_diff(self) -> Text:
        text = Text(first_line(self._description), style_of(self, "bold"))
        # The first two lines name the file, which the title line has said.
        for line in self._diff.split("\n")[2:]:
            text.append("\n" + line, style_of(self, _ROLES.get(line[:1], "text")))
        return text

    def action_look(self, step: int) -> None:
        """Scroll what is longer than the card."""
        self.query_one(VerticalScroll).scroll_relative(y=2 * step, animate=False)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """A click on an answer."""
        event.stop()
        match event.button.id:
            case "allow" | "session" | "reject" as verdict:
                self.action_answer(verdict)
            case _:
                pass

    def action_answer(self, verdict: Verdict) -> None:
        """Give the answer."""
        self.post_message(self.Answered(self.request, verdict))
