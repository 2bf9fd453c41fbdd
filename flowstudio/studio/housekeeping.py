"""Collects garbage while nobody waits for a key.

A full collection stops everything for a tenth of a second and longer, and Python starts one in the
middle of a key as readily as at any other time. Here what stands since the start is taken out of
the collector's sight, and full collections wait until the user's hands rest. They come by what was
allocated, not by a clock: where nothing happens, nothing is done.
"""

from __future__ import annotations

import asyncio
import gc
from contextvars import Context
from time import monotonic
from typing import Literal

_THRESHOLDS = (700, 10, 1_000_000)
"""Python's own small collections stay (a few milliseconds each); its full ones never come."""
_DUE = 40
"""Collections of the middle generation after which a full one is due: some 300,000 objects more
were made than have gone."""
_OVERDUE = 400
"""After which it is made, whatever the user does."""
REST = 1.5
"""Seconds without a key after which nobody waits for one."""


class Housekeeping:
    """The collector, from `begin` to `end`; both may be called more than once."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._before: tuple[int, int, int] = gc.get_threshold()
        self._since = 0
        """Collections of the middle generation since the last full one."""
        self._touched = 0.0
        self._waiting: asyncio.TimerHandle | None = None
        self._is_awaited = False
        """Whether a full collection is to come: a second one would find nothing."""
        self._nowhere = Context()
        """Where it is awaited: that of whoever made it due would keep a widget that is gone."""
        self.has_frozen = False
        """Whether what stood at the start is out of the collector's sight."""

    def begin(self) -> None:
        """The studio stands: what is there stays, and is looked through once more at most."""
        if self._loop is not None:
            return
        self._loop = asyncio.get_running_loop()
        self._before, self._since = gc.get_threshold(), 0
        gc.set_threshold(*_THRESHOLDS)
        gc.callbacks.append(self._collected)
        self._is_awaited = True
        self._waiting = self._loop.call_later(REST, self._wait, context=self._nowhere)

    def end(self) -> None:
        """Leave the collector as it was."""
        if self._loop is None:
            return
        self._loop = None
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        gc.callbacks.remove(self._collected)
        gc.set_threshold(*self._before)
        if self.has_frozen:
            self.has_frozen = False
            gc.unfreeze()

    def touch(self) -> None:
        """A key or a click came: its answer is waited for."""
        self._touched = monotonic()

    def _collected(self, phase: Literal["start", "stop"], info: dict[str, int]) -> None:
        """Python collected something, in whichever thread."""
        if phase != "stop":
            return
        if info["generation"] == 2:
            self._since = 0
            return
        self._since += info["generation"] == 1
        if self._since < _DUE or self._is_awaited:
            return
        if self._loop is not None and not self._loop.is_closed():
            self._is_awaited = True
            self._loop.call_soon_threadsafe(self._wait, context=self._nowhere)

    def _wait(self) -> None:
        """Collect once the hands rest."""
        if self._loop is None:
            return
        left = self._touched + REST - monotonic()
        if left > 0 and self._since < _OVERDUE:
            self._waiting = self._loop.call_later(left, self._wait, context=self._nowhere)
            return
        self._waiting = None
        gc.collect()
        self._is_awaited = False
        if not self.has_frozen:
            self.has_frozen = True
            gc.freeze()
