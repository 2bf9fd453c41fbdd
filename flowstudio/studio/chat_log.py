"""The log of the chat: a column of entries that stays at its end while things come in.

Only the newest entries are widgets, as each of them makes every key a little slower. Older ones are
kept as what makes them again, and come back when the user scrolls up to them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import events
from textual.containers import VerticalScroll
from textual.message import Message
from textual.widget import Widget

if TYPE_CHECKING:
    from flowstudio.studio.chat_entries import Entry

KEPT = 90
"""Entries that are widgets while the user reads at the end."""
_CUT = 30
"""Entries that go at once when there are too many, or come back at once."""
_REMEMBERED = 5_000
"""Entries that can come back; the run's journal has what is older."""
_FRAME = 1 / 12
"""Seconds between two looks at what is new."""
_NEAR = 4
"""Rows from the top at which earlier entries are fetched."""
_SETTLING = 3
"""Frames for which the log is kept at its end after something was added."""


class ChatLog(VerticalScroll, can_focus=True):
    """Holds the entries; `ChatFeed` makes them."""

    DEFAULT_CSS = """
    ChatLog {
        height: 1fr; scrollbar-size: 1 1; background: $background;
        & .visit { margin-top: 1; border-left: outer $role-accent; padding: 0 1; }
        & .visit.-forced { border-left: outer $role-forced; }
        & .visit.-now { border-left: outer $role-now; }
        & .said { margin-top: 1; border-left: outer $role-muted; padding: 0 1; }
        & .answer { padding: 0 2; &.-after { margin-top: 1; } }
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
        self._older: deque[Callable[[], Entry]] = deque(maxlen=_REMEMBERED)
        self._forgotten = 0
        self._is_fetching = False
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
        self._older.clear()
        self._forgotten = 0

    def add[W: Widget](self, entry: W) -> W:
        """Add an entry at the end."""
        self.keep_up()
        self.mount(entry)
        return entry

    @property
    def earlier(self) -> int:
        """How many earlier entries come back when the user scrolls up."""
        return len(self._older)

    def _trim(self) -> None:
        """Put the oldest entries away; nobody reads them while the end is in view."""
        if len(self.children) <= KEPT or self._is_fetching:
            return
        from flowstudio.studio.chat_entries import Entry

        surplus = max(len(self.children) - KEPT, 0) + _CUT
        gone = [
            child
            for child in self.children[:surplus]
            if isinstance(child, Entry) and child is not self.live
        ]
        for entry in gone:
            if "journal" not in entry.classes:
                self._forgotten += len(self._older) == _REMEMBERED
                self._older.append(entry.keep())
        self._is_fetching = True
        self.call_later(self._remove, gone)

    async def _remove(self, gone: list[Entry]) -> None:
        await self.remove_children(gone)
        self._is_fetching = False

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Near the top, what was before comes back."""
        super().watch_scroll_y(old_value, new_value)
        if new_value < old_value and new_value <= _NEAR and self._older and not self._is_fetching:
            self._is_fetching = True
            self._frames_to_end = 0
            self.call_later(self._fetch)

    async def _fetch(self) -> None:
        from flowstudio.studio.chat_entries import Entry

        makers = [self._older.pop() for _ in range(min(_CUT, len(self._older)))]
        entries: list[Entry] = [make() for make in reversed(makers)]
        if not self._older and self._forgotten:
            note = f"… {self._forgotten} earlier entries are in the run's journal"
            entries.insert(0, Entry(note, classes="note journal"))
        below = self.virtual_size.height
        await self.mount(*entries, before=0)
        self.call_after_refresh(self._stay, below)

    def _stay(self, below: int) -> None:
        """What the user reads stays in its place, though there is more above it now."""
        grown = self.virtual_size.height - below
        self.scroll_to(y=self.scroll_y + grown, animate=False, force=True, immediate=True)
        self._is_fetching = False

    def keep_up(self) -> None:
        """Stay at the end while things come in, unless the user has scrolled up to read."""
        if self.max_scroll_y - self.scroll_y <= 2:
            self._frames_to_end = _SETTLING

    def _tick(self) -> None:
        for show in self.on_frame:
            show()
        if not self._frames_to_end:
            return
        if self.max_scroll_y - self.scroll_y <= 2:
            # A new entry has its height only after a layout or two.
            self._frames_to_end -= 1
            self._trim()
        self.scroll_end(animate=False)

    def on_mouse_scroll_up(self) -> None:
        """Who scrolls up wants to read there, whatever comes in."""
        self._frames_to_end = 0

    def on_key(self, event: events.Key) -> None:
        """As with the wheel."""
        if event.key in ("up", "pageup", "home"):
            self._frames_to_end = 0
