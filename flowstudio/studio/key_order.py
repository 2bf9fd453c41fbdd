"""Keys in the order in which they were pressed.

Textual hands a key on to whatever has the focus; what that does not take wanders up from widget to
widget, each with a queue of its own, and is looked up as a command at the top. The next key sets
out at once, so that keys that come in one piece, as over a slow connection or from a script,
overtake each other: of a backspace and a letter, the letter counted first. Here the next key waits
until the one before it has arrived.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from textual.app import App
    from textual.events import Key, Paste
    from textual.widget import Widget

_PATIENCE = 0.3
"""Seconds after which a key counts as arrived: whatever had it may have closed with it."""


class Arrived(Message, namespace="keys"):
    """Takes a key's way behind it, and arrives even where a widget took the key for itself."""

    def __init__(self, key: Key | Paste) -> None:
        super().__init__()
        self.key = key


class KeyOrder:
    """Lets one key through at a time; `take` is what the app does with it."""

    def __init__(self, app: App[None], take: Callable[[Key | Paste], Awaitable[None]]) -> None:
        self._app = app
        self._take = take
        self._waiting: deque[Key | Paste] = deque()
        self._away: Key | Paste | None = None
        """The key that is on its way."""
        self._holder: Widget | None = None
        """Where it set out for."""

    async def press(self, key: Key | Paste) -> None:
        """Take a key, now or once those before it have arrived."""
        self._waiting.append(key)
        if self._away is None or self._holder is None or not self._holder.is_attached:
            await self._go_on()
        elif len(self._waiting) == 1:
            self._be_patient()

    async def arrived(self, key: Key | Paste) -> None:
        """Go on with the next keys, where it is this one that was on its way."""
        if key is self._away:
            await self._go_on()

    async def _go_on(self) -> None:
        self._away = None
        while self._waiting and self._away is None:
            await self._send(self._waiting.popleft())
        if self._waiting:
            self._be_patient()

    def _be_patient(self) -> None:
        assert self._away is not None
        self._app.set_timer(_PATIENCE, partial(self.arrived, self._away))

    async def _send(self, key: Key | Paste) -> None:
        # Whatever has the focus now gets the key, unless it is a command before all others.
        self._away, self._holder = key, self._app.focused or self._app.screen
        await self._take(key)
        if not self._holder.post_message(Arrived(key)):
            self._away = None
