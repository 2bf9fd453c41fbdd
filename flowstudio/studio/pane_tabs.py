"""The line of tabs on a narrow terminal, where one pane shows at a time."""

from __future__ import annotations

from collections.abc import Mapping

from textual.reactive import reactive
from textual.widgets import Static

TITLES: Mapping[str, str] = {"skills": "Skills", "flow": "Flow", "source": "Source", "chat": "Chat"}
"""The panes by name, in their order."""


class PaneTabs(Static):
    """Names the panes; a click goes to one."""

    chosen: reactive[str] = reactive("flow")
    """The pane that shows."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)

    def watch_chosen(self) -> None:
        """Mark the pane that shows."""
        tabs = [
            f"[@click=screen.show_pane('{pane}')]"
            + (f"[reverse] {title} [/]" if pane == self.chosen else f" {title} ")
            + "[/]"
            for pane, title in TITLES.items()
        ]
        self.update("  ".join(tabs) + "  [dim]tab[/]", layout=False)
