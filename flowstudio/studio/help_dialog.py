"""The help: the keys of the pane in use, then all others; each line can be clicked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.keys import format_key
from textual.screen import ModalScreen
from textual.widgets import Static

from flowstudio.studio.commands import (
    FOOTERS,
    HELP_GROUPS,
    PANE_KEYS,
    SIGNS,
    Command,
    commands_of,
)
from flowstudio.studio.keymap import Keymap
from flowstudio.studio.marks import style_of

_BRANCHES = "Take that branch, whatever the model says: before or after it answers"


def help_rows(pane: str, keymap: Keymap) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """Headings, each with its lines: keys, what they do, and the command's id (empty for none)."""
    here = [(keys, text, "") for keys, text in PANE_KEYS.get(pane, ())]
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


def shown_keys(command: Command, keymap: Keymap) -> str:
    """The keys of a command as people read them: `?`, `+`, `ctrl+k`; empty for none."""
    if command.id not in keymap.changes and command.key_display:
        return command.key_display
    keys = keymap.keys_of(command)
    return " ".join(_shown(key) for key in keys.split(",")) if keys else ""


def _shown(key: str) -> str:
    *modifiers, name = key.split("+")
    return "+".join([*modifiers, name if len(name) == 1 else format_key(name)])


class HelpDialog(ModalScreen[str | None]):
    """All keys, those of the pane in use first; gives the command of the line that is clicked."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q", "dismiss(None)", "Close")
    ]

    DEFAULT_CSS = """
    HelpDialog {
        align: center middle;
        & > VerticalScroll {
            width: 84; max-width: 96%; height: auto; max-height: 92%; padding: 1 2;
            border: round $role-accent; background: $surface; scrollbar-size: 1 1;
        }
        & Static { width: 1fr; height: auto; }
    }
    """

    def __init__(self, pane: str = "flow", keymap: Keymap | None = None) -> None:
        super().__init__()
        self._pane = pane
        self._keymap = keymap or Keymap()

    def compose(self) -> ComposeResult:
        """One table."""
        with VerticalScroll() as box:
            box.border_title = "Keys"
            box.border_subtitle = "a click does it · esc closes"
            yield Static(id="keys")

    def on_mount(self) -> None:
        """Fill the table, in the theme's colours."""
        self.query_one("#keys", Static).update(self._table())

    def _table(self) -> Table:
        table = Table.grid(padding=(0, 2))
        table.add_column(justify="right", no_wrap=True)
        table.add_column()
        key_style = style_of(self, "accent") + style_of(self, "bold")
        for title, rows in help_rows(self._pane, self._keymap):
            table.add_row("", Text(title, style_of(self, "muted")))
            for keys, text, command in rows:
                line = Text(text)
                if command:
                    line = line.on(click=f"screen.give({command!r})")
                table.add_row(Text(keys, key_style), line)
            table.add_row("", "")
        table.add_row("", Text("Signs in the flow", style_of(self, "muted")))
        for sign, role, text in SIGNS:
            table.add_row(Text(sign, style_of(self, role)), text)
        return table

    def action_give(self, command: str) -> None:
        """A line was clicked: carry out its command."""
        self.dismiss(command)
