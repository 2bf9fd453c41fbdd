"""Chooses a theme, with the whole screen as its preview."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from flowstudio.studio.dialog import Dialog
from flowstudio.studio.theme import SHOWN_ROLES
from flowstudio.text import harmless


class ThemeDialog(Dialog[str | None]):
    """Each arrow key shows a theme at once; None where the user goes back to what was."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "accept", "takes it"),
        Binding("escape,q", "leave", "back to what was"),
    ]

    DEFAULT_CSS = """
    ThemeDialog {
        align: right middle; background: transparent;
        & > #dialog { width: 42; margin: 0 3; padding: 1 1; }
    }
    ThemeDialog.-narrow > #dialog { margin: 0; }
    """

    def __init__(self, names: list[str]) -> None:
        super().__init__("Theme")
        self._names = names
        self._before = ""

    def body(self) -> Iterable[Widget]:
        """The themes, each with its colours."""
        yield OptionList(
            *(Option(self._row(name), id=name) for name in self._names),
            compact=True,
            markup=False,
        )

    def _row(self, name: str) -> Text:
        theme = self.app.get_theme(name)
        row = Text(f"{harmless(name):<22} ", no_wrap=True)
        for role in SHOWN_ROLES:
            colour = theme.variables.get(f"role-{role}") if theme else None
            row.append("● ", colour or "")
        return row

    def on_mount(self) -> None:
        """The theme in force is the first that is looked at."""
        self._before = self.app.theme
        listing = self.query_one(OptionList)
        if self._before in self._names:
            listing.highlighted = self._names.index(self._before)
        listing.focus()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show it."""
        event.stop()
        if event.option_id is not None:
            self.app.theme = event.option_id

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take it."""
        event.stop()
        self.dismiss(event.option_id)

    def action_leave(self) -> None:
        """Back to the theme that was."""
        self.app.theme = self._before
        self.dismiss(None)
