"""A run of another process on this screen: watched and steered as if it were made here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowstudio.run.attach_client import AttachedRun
    from flowstudio.studio.driver import Driver
    from flowstudio.studio.earlier import Earlier
    from flowstudio.wire import Event

DETACHED = "detached"
"""The reason of a state that is followed no longer: the run itself goes on."""


async def open_attached(path: Path) -> tuple[AttachedRun, Earlier]:
    """Attach to the run in a folder; gives it, and what it has done so far.

    Raises:
        Unreadable: its folder or flow cannot be read.
        AttachRefused: nobody serves it, or whoever does will not have us.
    """
    from flowstudio.run.attach_client import AttachedRun, AttachRefused
    from flowstudio.run.state import RunState
    from flowstudio.studio.earlier import Earlier, read_earlier

    # The flow is drawn as the run has it; what it did is what the run says that it did.
    shown = await asyncio.to_thread(read_earlier, path)
    try:
        remote = await AttachedRun.open(path)
    except (OSError, ValueError) as error:
        raise AttachRefused(str(error)) from error
    state = RunState()
    for event in remote.past:
        state.apply(event)
    return remote, Earlier(remote.folder, remote.past, state, shown.skill, is_on=True)


async def follow(
    driver: Driver, remote: AttachedRun, earlier: Earlier, take: Callable[[Event], object]
) -> None:
    """Let the driver's session be in the other process's run until it ends or is left."""
    session = driver.session
    assert session is not None
    driver.remote, driver.state = remote, earlier.state
    session.runner, session.control, session.folder = remote.runner, remote.control, remote.folder
    driver.points.lend(earlier.skill, remote.control.breakpoints)
    if driver.on_earlier is not None:
        driver.on_earlier(earlier)
    try:
        async for event in remote.events():
            take(event)
    finally:
        remote.detach()
        session.runner = driver.remote = None
        driver.points.take_back(earlier.skill)
        if not remote.is_over:
            # What goes on, if anything, is not known here.
            earlier.state.phase, earlier.state.reason = "ended", DETACHED
            earlier.state.why = "detached: this studio looks away"
