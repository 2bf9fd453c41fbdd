"""Asks for what a flow's prompts need before it runs: its input, and a line for each variable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Input, Static

from flowstudio.studio.dialog import Dialog
from flowstudio.text import harmless

if TYPE_CHECKING:
    from flowstudio.run.prompts import Missing


class ValuesDialog(Dialog[dict[str, str] | None]):
    """The values by name (`$ARGUMENTS` for the input); None where the user does not want to run."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "accept", "next; from the last one, runs it"),
    ]

    DEFAULT_CSS = """
    ValuesDialog {
        & VerticalScroll { height: auto; }
        & .name { color: $role-muted; margin-top: 1; }
    }
    """

    def __init__(self, flow: str, missing: Sequence[Missing]) -> None:
        super().__init__("Values")
        self._flow = flow
        self._missing = tuple(missing)

    def body(self) -> Iterable[Widget]:
        """A sentence, and a line for each value."""
        with VerticalScroll(can_focus=False):
            yield Static(f"The prompts of “{harmless(self._flow)}” need:", markup=False)
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
