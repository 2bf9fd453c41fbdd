"""`flowstudio attach`: the studio on a run of another process; and what lets it be attached to."""

from __future__ import annotations

import argparse
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio.cli.output import fail

if TYPE_CHECKING:
    from flowstudio.run.control import RunControl
    from flowstudio.run.session import Session


def attach(args: argparse.Namespace) -> int:
    """Open the studio on a run that goes on elsewhere on this machine."""
    from flowstudio.cli.resume import find

    path = find(args.run)
    if path is None:
        return 2
    if why := _why_not(path):
        return fail(*why)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return fail("the studio needs a terminal, and there is none here", "")
    from flowstudio.studio.app import StudioApp
    from flowstudio.studio.driver import StudioOptions
    from flowstudio.studio.hangup import heed_hangup

    options = StudioOptions(attach=path, theme=args.theme, model="rehearsal")
    heed_hangup()
    app = StudioApp(options)
    app.run()
    return app.return_code or 0


def _why_not(path: Path) -> tuple[str, str] | None:
    """Why nobody can be attached to a run, and what to do; None where somebody can.

    A look into the folder: the other process is not spoken to.
    """
    from flowstudio.run import attach_socket
    from flowstudio.run.lock import find_holder

    holder = find_holder(path)
    if holder is None:
        hint = f"`flowstudio resume {path.name}` goes on with a run that was broken off"
        return f"the run {path.name} is not on", hint
    if not (path / attach_socket.NAME).exists():
        hint = "only what `run`, `resume` and `fork` make can be attached to, without --no-attach"
        return f"the run {path.name} lets nobody be attached: {holder} makes it", hint
    return None


@asynccontextmanager
async def attachable(
    args: argparse.Namespace, session: Session, control: RunControl
) -> AsyncGenerator[None]:
    """What surrounds a run without a screen: a signal ends it well, a studio may be attached."""
    from flowstudio.cli.run_output import stop_on_interrupt
    from flowstudio.run.attach_server import serve_attachers

    with stop_on_interrupt(control):
        if args.no_attach:
            yield
            return
        async with serve_attachers(session, control, wait=args.wait):
            yield
