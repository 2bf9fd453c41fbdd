"""Work beside the event loop, in a thread that nobody has to wait for when the studio ends."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable


async def aside[T](work: Callable[[], T]) -> T:
    """What `work` gives or raises, done in a daemon thread.

    Whoever awaits this may be cancelled at any time: the thread ends by itself, and what it finds
    is dropped.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(give: Callable[[], None]) -> None:
        def once() -> None:
            if not future.done():
                give()

        with contextlib.suppress(RuntimeError):  # the loop is closed: the studio has ended
            loop.call_soon_threadsafe(once)

    def run() -> None:
        try:
            outcome = work()
        except Exception as error:  # it is raised where it is waited for
            failed = error
            settle(lambda: future.set_exception(failed))
        else:
            settle(lambda: future.set_result(outcome))

    threading.Thread(target=run, name="aside", daemon=True).start()
    return await future
