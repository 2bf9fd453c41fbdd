"""The terminal that goes away takes the studio along.

Usually the system says so by SIGHUP. It does not where the program was started with that signal
ignored (`nohup`), or where the terminal is not the session's controlling one; the studio would
then read from nothing, as fast as it can. What was acknowledged is on disk, so ending at once
loses nothing.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys

INTERVAL = 2.0
"""Seconds between two looks at the terminal."""


def heed_hangup() -> None:
    """Let SIGHUP end this process, even if it was started with the signal ignored."""
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def end_if_gone() -> None:
    """End this process if the terminal that it reads from is gone."""
    if not hasattr(select, "poll") or sys.__stdin__ is None:
        return
    look = select.poll()
    with contextlib.suppress(OSError, ValueError):
        look.register(sys.__stdin__.fileno(), select.POLLHUP)
        if any(event & (select.POLLHUP | select.POLLERR) for _, event in look.poll(0)):
            os.kill(os.getpid(), signal.SIGHUP)
