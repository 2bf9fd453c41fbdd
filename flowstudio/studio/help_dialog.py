"""The help: the keys of the pane in use, then all others; each line can be clicked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import ClassVar, cast

from rich.table import Table
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widget import Widget

from flowstudio.studio.commands import (
    COMMANDS,
    FOOTERS,
    HELP_GROUPS,
    PANE_KEYS,
    SIGNS,
    Command,
    commands_of,
)
from flowstudio.studio.dialog import Dialog
from flowstudio.studio.keymap import Keymap, shown_keys as shown_keys
from flowstudio.studio.marks import style_of
from flowstudio.text import harmless

_KEYS_WIDTH = 18
_BRANCHES = "Take that branch, whatever the model says: before or after it answers"


def help_rows(pane: str, keymap: Keymap) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """Headings, each with its lines: keys, what they do, and the command's id (empty for none)."""
    here = [(keys, text, "") for keys, text in PANE_KEYS.get(pane, ())]
    # A screen of its own has its keys and no others.
    if screen := [one for one in COMMANDS if one.scope == pane]:
        yield f"Here: {pane}", here + [row_of(command, keymap) for command in screen]
        yield "Everywhere", [(keys, text, "") for keys, text in PANE_KEYS["everywhere"]]
        return
    known = {command.id: command for command in commands_of("studio")}
    own = [known[one] for one in FOOTERS.get(pane, ()) if one in known]
    here += [row_of(command, keymap) for command in own if command.id != "help"]
    yield f"Here: {pane}", here
    for prefix, title in HELP_GROUPS:
        rows = [
            row_of(command, keymap)
            for command in known.values()
            if command.id.startswith(prefix)
            and (not command.id.startswith("run.branch") or command.id == "run.branch1")
        ]
        yield title, rows
    yield "Everywhere", [(keys, text, "") for keys, text in PANE_KEYS["everywhere"]]


def row_of(command: Command, keymap: Keymap) -> tuple[str, str, str]:
    """A command as a line of the help."""
    if command.id == "run.branch1":
        return "1-9", _BRANCHES, ""
    return shown_keys(command, keymap) or "—", command.help, command.id


class HelpDialog(Dialog[str | None]):
    """All keys, those of the pane in use first; gives the command of the line that is clicked."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q", "leave", "closes"),
        Binding("down,j", "scroll(1)", "scrolls"),
        Binding("up,k", "scroll(-1)", show=False),
    ]

    DEFAULT_CSS = """
    HelpDialog {
        & > #dialog { width: 92; }
        & #dialog-body { height: auto; }
    }
    """

    def __init__(self, pane: str = "flow", keymap: Keymap | None = None) -> None:
        super().__init__("Keys; a click on a line does what it says")
        self._groups = [*help_rows(pane, keymap or Keymap())]
        self._has_signs = True

    @classmethod
    def of(cls, heading: str, rows: Sequence[tuple[str, str, str]]) -> HelpDialog:
        """The keys of something else, a dialog perhaps: key, what it does, what a click gives."""
        made = cls()
        everywhere = [(keys, text, "") for keys, text in PANE_KEYS["everywhere"] if keys != "?"]
        made._groups = [(f"Here: {harmless(heading)}", [*rows]), ("Everywhere", everywhere)]
        made._has_signs = False
        return made

    def body(self) -> Iterable[Widget]:
        """One table."""
        with VerticalScroll(id="dialog-body"):
            yield HelpTable(self.table, id="keys")

    def action_scroll(self, step: int) -> None:
        """The arrows, while nothing has the focus."""
        self.query_one("#dialog-body").scroll_relative(y=step, animate=False)

    def table(self) -> Table:
        """All groups, in the theme's colours."""
        table = Table.grid(padding=(0, 2, 0, 0), expand=True)
        # The keys' column is as wide as in all groups, and no wider than a third.
        table.add_column(justify="right", max_width=_KEYS_WIDTH)
        table.add_column(ratio=1)
        key_style = style_of(self, "accent") + style_of(self, "bold")
        heading = style_of(self, "muted") + style_of(self, "bold")
        for at, (title, rows) in enumerate(self._groups):
            if at:
                table.add_row("", "")
            table.add_row("", Text(title, heading))
            for keys, text, command in rows:
                line = Text(text)
                if command:
                    line.apply_meta({"command": command})
                table.add_row(Text(keys, key_style), line)
        if self._has_signs:
            table.add_row("", "")
            table.add_row("", Text("Signs in the flow", heading))
            for sign, role, text in SIGNS:
                table.add_row(Text(sign, style_of(self, role)), text)
        return table


class HelpTable(Widget):
    """The keys, painted anew in each theme."""

    DEFAULT_CSS = "HelpTable { height: auto; }"

    def __init__(self, make: Callable[[], Table], *, id: str) -> None:
        super().__init__(id=id)
        self._make = make

    def render(self) -> Table:
        """The table."""
        return self._make()

    def on_click(self, event: events.Click) -> None:
        """A line was clicked: its command is carried out."""
        if (command := event.style.meta.get("command")) is not None:
            cast("HelpDialog", self.screen).dismiss(command)
