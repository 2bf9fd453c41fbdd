"""The studio's small screens: the flow's input, trust, a prompt."""

from __future__ import annotations

from typing import ClassVar

from rich.markup import escape
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static, TextArea

from flowstudio.text import harmless


class InputDialog(ModalScreen[str | None]):
    """Asks for a flow's input; None where the user does not want to run it after all."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel")]

    DEFAULT_CSS = """
    InputDialog {
        align: center middle;
        & > Vertical {
            width: 70; max-width: 90%; height: auto; padding: 1 2;
            border: round $role-accent; background: $surface;
        }
        & Static { width: 1fr; height: auto; margin-bottom: 1; }
        & Input { height: 1; border: none; padding: 0 1; background: $panel; }
    }
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name_of_flow = name

    def compose(self) -> ComposeResult:
        """A sentence and a line."""
        with Vertical() as box:
            box.border_title = "Input"
            text = f"“{harmless(self._name_of_flow)}” takes an input: what should it work on?"
            yield Static(text, markup=False)
            yield Input(placeholder="Enter runs it, Esc cancels", compact=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Run with what was typed."""
        self.dismiss(event.value)


class TrustDialog(ModalScreen[bool]):
    """Asks whether the skills that came with a folder may be run."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n", "dismiss(False)", "No"),
        Binding("y", "dismiss(True)", "Trust it"),
    ]

    DEFAULT_CSS = """
    TrustDialog {
        align: center middle;
        & > Vertical {
            width: 70; max-width: 90%; height: auto; padding: 1 2;
            border: round $role-now; background: $surface;
        }
        & Static { width: 1fr; height: auto; }
    }
    """

    def __init__(self, skill: str, folder: str) -> None:
        super().__init__()
        self._skill = skill
        self._folder = folder

    def compose(self) -> ComposeResult:
        """What it means, and the two answers."""
        with Vertical() as box:
            box.border_title = "Do you trust this folder?"
            box.border_subtitle = "y trusts it from now on, esc does not run it"
            text = (
                f"“{harmless(self._skill)}” comes with {harmless(self._folder)}. Its prompts tell "
                "an agent with tools what to do on this machine. The agent asks before it writes "
                "or runs anything; still, read the flow first if others wrote it."
            )
            yield Static(text, markup=False)


class PromptDialog(ModalScreen[str | None]):
    """Edits the prompt that is about to be sent, for this visit alone."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel"),
        Binding("ctrl+s", "keep", "Use it", priority=True),
    ]

    DEFAULT_CSS = """
    PromptDialog {
        align: center middle;
        & > Vertical {
            width: 84; max-width: 94%; height: 20; max-height: 90%; padding: 0 1;
            border: round $role-accent; background: $surface;
        }
        & TextArea { height: 1fr; border: none; padding: 0; background: $surface; }
    }
    """

    def __init__(self, node: str, prompt: str) -> None:
        super().__init__()
        self._node = node
        self._prompt = prompt

    def compose(self) -> ComposeResult:
        """A text to edit."""
        with Vertical() as box:
            box.border_title = escape(f"Prompt of “{self._node}”, this visit only")
            box.border_subtitle = "ctrl+s uses it, esc cancels"
            yield TextArea(self._prompt, soft_wrap=True)

    def action_keep(self) -> None:
        """Send this text instead of the label."""
        self.dismiss(self.query_one(TextArea).text)
