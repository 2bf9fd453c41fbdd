"""A run without a screen, as `flowstudio run --wait` makes it, for a studio to be attached to.

It is made in the same process, where the clocks of the stage stand still for it too; but all that
passes between it and the studio passes through the socket in the run's folder.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from flowstudio import paths
from flowstudio.config import Config
from flowstudio.models.llm import LLM
from flowstudio.run import attach_socket
from flowstudio.run.attach_server import serve_attachers
from flowstudio.run.control import RunControl
from flowstudio.run.session import RunRequest, Session
from flowstudio.skill import load_skill
from flowstudio.soul import Agent, Runtime, StudioToolset
from flowstudio.wire import Wire
from tests.studio.kit import FakeModel


@asynccontextmanager
async def run_elsewhere(file: Path, model: FakeModel) -> AsyncIterator[Path]:
    """Run a skill's flow until it ends, or until the block does; gives the run's folder."""
    skill = load_skill(file)
    assert skill.flow is not None
    llm = LLM(model, "fake", "fake", 100_000)  # type: ignore[arg-type]
    runtime = Runtime.create(Config(), Wire(), work_dir=file.parent, llm=llm, policy="reject")
    agent = Agent("agent", "You work elsewhere.", StudioToolset([]))
    session = Session(runtime, agent, runs_dir=paths.runs_dir())
    request = RunRequest(skill.flow, skill.name, skill.path, skill.source)
    control = RunControl()
    async with serve_attachers(session, control, wait=True):
        run = asyncio.create_task(session.run_flow(request, control))
        try:
            while session.folder is None or not (session.folder.path / attach_socket.NAME).exists():
                assert not run.done(), "it ended before anybody could come"
                await asyncio.sleep(0.005)
            yield session.folder.path
        finally:
            control.stop()
            await run
