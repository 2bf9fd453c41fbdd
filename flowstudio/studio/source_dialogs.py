"""What the author is asked: whose text stands, what to do with what is not saved, a node's name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Input, Static

from flowstudio.studio.dialog import Dialog
from flowstudio.studio.marks import style_of
from flowstudio.text import harmless

type Winner = Literal["mine", "theirs"]
type Leaving = Literal["save", "discard"]


class ConflictDialog(Dialog[Winner | None]):
    """Both the author and somebody else changed the same lines; None leaves it open."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "dismiss('mine')", "keeps mine"),
        Binding("t", "dismiss('theirs')", "takes theirs"),
        Binding("escape", "leave", "decides later"),
    ]

    DEFAULT_CSS = """
    ConflictDialog {
        & > #dialog { width: 100; }
        & VerticalScroll { height: auto; max-height: 24; margin-top: 1; }
    }
    """

    def __init__(self, name: str, mine: str, theirs: str) -> None:
        super().__init__("Changed here and on the disk", is_urgent=True)
        self._file = name
        self._mine = mine
        self._theirs = theirs

    def body(self) -> Iterable[Widget]:
        """What happened, and the difference."""
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


class LeaveDialog(Dialog[Leaving | None]):
    """There is something that is not saved; None stays."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "dismiss('save')", "saves and quits"),
        Binding("d", "dismiss('discard')", "quits without; a copy is kept"),
        Binding("escape", "leave", "stays"),
    ]

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__("Not saved", is_urgent=True)
        self._names = names

    def body(self) -> Iterable[Widget]:
        """Which files."""
        for name in self._names:
            yield Static(f"● {harmless(name)}", markup=False)


class NameDialog(Dialog[str | None]):
    """Asks for a node's new id."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "accept", "renames it everywhere"),
    ]

    def __init__(self, node: str) -> None:
        super().__init__("Rename the node")
        self._node = node

    def body(self) -> Iterable[Widget]:
        """A line with the old id in it."""
        yield Input(self._node, compact=True, select_on_focus=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Rename it so."""
        self.dismiss(event.value.strip() or None)
