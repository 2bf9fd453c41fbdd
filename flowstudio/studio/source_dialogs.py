"""What the author is asked: whose text stands, what to do with what is not saved, a node's name."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import ClassVar, Literal

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from flowstudio.studio.marks import style_of
from flowstudio.text import harmless

type Winner = Literal["mine", "theirs"]
type Leaving = Literal["save", "discard"]

_BOX = """
        align: center middle;
        & > Vertical {
            width: 92; max-width: 96%; height: auto; max-height: 90%; padding: 0 1;
            border: round $role-now; background: $surface;
        }
        & Static { width: 1fr; height: auto; }
"""


class ConflictDialog(ModalScreen[Winner | None]):
    """Both the author and somebody else changed the same lines; None leaves it open."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "dismiss('mine')", "Mine"),
        Binding("t", "dismiss('theirs')", "Theirs"),
        Binding("escape", "dismiss(None)", "Later"),
    ]

    DEFAULT_CSS = f"""
    ConflictDialog {{
        {_BOX}
        & VerticalScroll {{ height: auto; max-height: 24; margin: 1 0; }}
    }}
    """

    def __init__(self, name: str, mine: str, theirs: str) -> None:
        super().__init__()
        self._file = name
        self._mine = mine
        self._theirs = theirs

    def compose(self) -> ComposeResult:
        """What happened, the difference, and the keys."""
        with Vertical() as box:
            box.border_title = "Changed here and on the disk"
            box.border_subtitle = "m keeps mine, t takes theirs, esc decides later"
            yield Static(
                f"{harmless(self._file)} was changed on the disk in lines that you changed, too. "
                "What gives way is kept as a copy.",
                markup=False,
            )
            with VerticalScroll(can_focus=True):
                yield Static(id="difference")

    def on_mount(self) -> None:
        """Show the difference: theirs is taken away, mine is put in."""
        text = Text()
        lines = difflib.unified_diff(
            self._theirs.splitlines(), self._mine.splitlines(), "theirs", "mine", "", "", 1, ""
        )
        for line in lines:
            role = {"+": "done", "-": "fault", "@": "dim"}.get(line[:1], "muted")
            text.append(harmless(line) + "\n", style_of(self, role))
        self.query_one("#difference", Static).update(text)


class LeaveDialog(ModalScreen[Leaving | None]):
    """There is something that is not saved; None stays."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "dismiss('save')", "Save"),
        Binding("d", "dismiss('discard')", "Discard"),
        Binding("escape", "dismiss(None)", "Stay"),
    ]

    DEFAULT_CSS = f"LeaveDialog {{ {_BOX} }}"

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self._names = names

    def compose(self) -> ComposeResult:
        """Which files, and the keys."""
        with Vertical() as box:
            box.border_title = "Not saved"
            box.border_subtitle = "s saves and quits, d quits without (a copy is kept), esc stays"
            for name in self._names:
                yield Static(f"● {harmless(name)}", markup=False)


class NameDialog(ModalScreen[str | None]):
    """Asks for a node's new id."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel")]

    DEFAULT_CSS = f"""
    NameDialog {{
        {_BOX}
        & > Vertical {{ width: 60; border: round $role-accent; padding: 1 2; }}
        & Input {{ height: 1; border: none; padding: 0 1; background: $panel; }}
    }}
    """

    def __init__(self, node: str) -> None:
        super().__init__()
        self._node = node

    def compose(self) -> ComposeResult:
        """A line with the old id in it."""
        with Vertical() as box:
            box.border_title = "Rename the node"
            box.border_subtitle = "enter renames it everywhere, esc cancels"
            yield Input(self._node, compact=True, select_on_focus=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Rename it so."""
        self.dismiss(event.value.strip() or None)
