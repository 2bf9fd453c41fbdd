"""The guide of the tour: one line above the keys, with how far the user is."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Static

from flowstudio.studio.keymap import with_keys
from flowstudio.studio.tour import STEPS, Tour


class TourBar(Horizontal):
    """Shows a tour's step; a click on its right end leaves the tour."""

    DEFAULT_CSS = """
    TourBar {
        dock: bottom; height: auto; max-height: 4; margin-bottom: 1; padding: 0 1;
        background: $surface; border-top: solid $role-accent;
        & #tour-progress { width: auto; color: $role-accent; margin-right: 2; }
        & #tour-text { width: 1fr; height: auto; }
        & #tour-leave { width: auto; color: $role-muted; margin-left: 2; }
        & #tour-leave:hover { color: $role-accent; }
    }
    """

    class Left(Message):
        """The user wants no more of it."""

    def __init__(self, tour: Tour) -> None:
        super().__init__(id="tour")
        self.tour = tour

    def compose(self) -> ComposeResult:
        """Progress, the step, the way out."""
        yield Static(id="tour-progress", markup=False)
        yield Static(id="tour-text", markup=False)
        yield Static(with_keys("{view.welcome} leaves the tour"), id="tour-leave", markup=False)

    def on_mount(self) -> None:
        """Show the first step."""
        self.show()

    def show(self) -> None:
        """Show how far the tour is."""
        at = self.tour.at
        dots = "●" * at + "○" * (len(STEPS) - at)
        self.query_one("#tour-progress", Static).update(f"{dots} {at}/{len(STEPS)}")
        self.query_one("#tour-text", Static).update(self.tour.text)

    def on_click(self) -> None:
        """A click on the way out; elsewhere it does nothing."""
        if self.query_one("#tour-leave").has_pseudo_class("hover"):
            self.post_message(self.Left())
