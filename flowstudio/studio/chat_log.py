"""The log of the chat: a column of entries that stays at its end while things come in.

Only the newest entries stay on the screen; the journal has them all.
"""

from __future__ import annotations

from collections.abc import Callable

from textual.containers import VerticalScroll
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

KEPT = 240
"""Entries that stay on the screen."""
_CUT = 60
"""Entries that go at once when there are too many."""
_FRAME = 1 / 12
"""Seconds between two looks at what is new."""
_SETTLING = 3
"""Frames for which the log is kept at its end after something was added."""


class ChatLog(VerticalScroll, can_focus=True):
    """Holds the entries; `ChatFeed` makes them."""

    DEFAULT_CSS = """
    ChatLog {
        height: 1fr; scrollbar-size: 1 1; background: $background;
        & .visit { margin-top: 1; border-left: thick $role-accent; padding: 0 1; }
        & .visit.-forced { border-left: thick $role-forced; }
        & .visit.-now { border-left: thick $role-now; }
        & .said { margin-top: 1; border-left: thick $role-muted; padding: 0 1; }
        & .answer { padding: 0 2; }
        & .thinking { padding: 0 2; }
        & .tool { padding: 0 2; }
        & .note { padding: 0 2; }
        & .pause { padding: 0 2; margin-top: 1; }
    }
    """

    class Settled(Message):
        """What had the focus in the log is gone: a tool's request was answered."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._frames_to_end = 0
        self._dropped = 0
        self.live: Widget | None = None
        """The entry that is still growing: it is never dropped."""
        self.on_frame: list[Callable[[], None]] = []
        """Called a few times a second, to show what is new of a growing entry."""

    def on_mount(self) -> None:
        """Look for news a few times a second."""
        self.set_interval(_FRAME, self._tick)

    def forget(self) -> None:
        """Empty the log."""
        self.remove_children()
        self.live = None
        self._dropped = 0

    def add[W: Widget](self, entry: W) -> W:
        self.keep_up()
        self.mount(entry)
        if len(self.children) > KEPT:
            gone = [child for child in self.children[:_CUT] if child is not self.live]
            self._dropped += len(gone)
            self.remove_children(gone)
            note = f"… {self._dropped} earlier entries are in the run's journal"
            self.mount(Static(note, classes="note", markup=False), before=0)
        return entry

    def keep_up(self) -> None:
        """Stay at the end while things come in, unless the user has scrolled up to read."""
        if self.max_scroll_y - self.scroll_y <= 2:
            self._frames_to_end = _SETTLING

    def _tick(self) -> None:
        for show in self.on_frame:
            show()
        if self._frames_to_end:
            # A new entry has its height only after a layout or two.
            self._frames_to_end -= 1
            self.scroll_end(animate=False)
