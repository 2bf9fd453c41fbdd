"""Asks for what a flow's prompts need before it runs: its input, and a line for each variable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from flowstudio.text import harmless

if TYPE_CHECKING:
    from flowstudio.run.prompts import Missing


class ValuesDialog(ModalScreen[dict[str, str] | None]):
    """The values by name (`$ARGUMENTS` for the input); None where the user does not want to run."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel")]

    DEFAULT_CSS = """
    ValuesDialog {
        align: center middle;
        & > Vertical {
            width: 70; max-width: 90%; height: auto; max-height: 90%; padding: 1 2;
            border: round $role-accent; background: $surface;
        }
        & VerticalScroll { height: auto; max-height: 16; }
        & Static { width: 1fr; height: auto; margin-bottom: 1; }
        & .name { color: $role-muted; margin-bottom: 0; }
        & Input { height: 1; border: none; padding: 0 1; margin-bottom: 1; background: $panel; }
    }
    """

    def __init__(self, flow: str, missing: Sequence[Missing]) -> None:
        super().__init__()
        self._flow = flow
        self._missing = tuple(missing)

    def compose(self) -> ComposeResult:
        """A sentence, and a line for each value."""
        with Vertical() as box:
            box.border_title = "Values"
            box.border_subtitle = "enter: next, the last one runs it · esc cancels"
            yield Static(f"The prompts of “{harmless(self._flow)}” need:", markup=False)
            with VerticalScroll(can_focus=False):
                for one in self._missing:
                    what = "the input" if one.is_input else harmless(one.name)
                    place = f"{what}, first in “{harmless(one.node)}”"
                    yield Static(place, classes="name", markup=False)
                    yield Input(compact=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the next line; from the last one, run."""
        lines = list(self.query(Input))
        at = lines.index(event.input)
        if at + 1 < len(lines):
            lines[at + 1].focus()
            return
        names = (one.name for one in self._missing)
        self.dismiss(dict(zip(names, (line.value for line in lines), strict=True)))
