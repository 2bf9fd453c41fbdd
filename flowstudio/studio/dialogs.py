"""The studio's small questions before a run: the flow's input, trust, a prompt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from flowstudio.studio.dialog import Dialog
from flowstudio.text import harmless


class InputDialog(Dialog[str | None]):
    """Asks for a flow's input; None where the user does not want to run it after all."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "accept", "runs it")]

    DEFAULT_CSS = "InputDialog Static { margin-bottom: 1; }"

    def __init__(self, name: str) -> None:
        super().__init__("Input")
        self._name_of_flow = name

    def body(self) -> Iterable[Widget]:
        """A sentence and a line."""
        text = f"“{harmless(self._name_of_flow)}” takes an input: what should it work on?"
        yield Static(text, markup=False)
        yield Input(compact=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Run with what was typed."""
        self.dismiss(event.value)


class TrustDialog(Dialog[bool]):
    """Asks whether the skills that came with a folder may be run."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "trusts it from now on"),
        Binding("escape,n", "dismiss(False)", "does not run it"),
    ]

    def __init__(self, skill: str, folder: str) -> None:
        super().__init__("Do you trust this folder?", is_urgent=True)
        self._skill = skill
        self._folder = folder

    def body(self) -> Iterable[Widget]:
        """What it means."""
        text = (
            f"“{harmless(self._skill)}” comes with {harmless(self._folder)}. Its prompts tell "
            "an agent with tools what to do on this machine. The agent asks before it writes "
            "or runs anything; still, read the flow first if others wrote it."
        )
        yield Static(text, markup=False)


class PromptDialog(Dialog[str | None]):
    """Edits the prompt that is about to be sent, for this visit alone."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "keep", "uses it, this visit only", priority=True),
    ]

    DEFAULT_CSS = """
    PromptDialog {
        & > #dialog { width: 88; height: 22; }
        & TextArea { height: 1fr; border: none; padding: 0; background: $surface; }
        & TextArea:focus { border: none; }
    }
    """

    def __init__(self, node: str, prompt: str) -> None:
        super().__init__(f"Prompt of “{node}”")
        self._prompt = prompt

    def body(self) -> Iterable[Widget]:
        """A text to edit."""
        yield TextArea(self._prompt, soft_wrap=True)

    def on_mount(self) -> None:
        """Go to the end of the text, once it is known how its lines are folded."""
        area = self.query_one(TextArea)
        area.move_cursor(area.document.end)
        self.call_after_refresh(area.scroll_cursor_visible)

    def action_keep(self) -> None:
        """Send this text instead of the label."""
        self.dismiss(self.query_one(TextArea).text)
