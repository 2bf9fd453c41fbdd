"""A session with answers in hand, whose runs are kept in a folder of the test's own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from flowstudio.config import Config, LoopControl
from flowstudio.flow import Flow, parse_mermaid_flowchart
from flowstudio.models import LLM, RehearsalProvider
from flowstudio.run.folder import RunFolder
from flowstudio.run.session import RunRequest, Session
from flowstudio.soul import Agent, Context, Runtime, StudioToolset
from flowstudio.wire import Event, Wire
from tests.run.rig import LINE, PATIENCE, Answers


class Bench:
    """A session with answers in hand."""

    def __init__(self, runs_dir: Path | None, replies: Any = None, **loop: Any) -> None:
        self.answers = Answers(replies)
        self.wire = Wire()
        self.events: list[Event] = []
        self._seen = asyncio.Event()
        self.wire.subscribe(self._take)
        self.runtime = Runtime.create(
            Config(loop=LoopControl(max_retries_per_step=0, **loop)),
            self.wire,
            work_dir=Path("project"),
            llm=self.llm("rehearsal"),
            policy="reject",
        )
        agent = Agent("tester", "You are under test.", StudioToolset([]))
        self.session = Session(self.runtime, agent, runs_dir=runs_dir)

    def llm(self, name: str, **more: Any) -> LLM:
        return LLM(RehearsalProvider(self.answers), name, name, None, **more)

    def _take(self, event: Event) -> None:
        self.events.append(event)
        self._seen.set()

    async def until(self, kind: type[Any], times: int = 1) -> None:
        """Wait until such an event was said so often."""
        async with asyncio.timeout(PATIENCE):
            while sum(isinstance(event.body, kind) for event in self.events) < times:
                self._seen.clear()
                await self._seen.wait()

    @property
    def folder(self) -> RunFolder:
        assert self.session.folder is not None
        return self.session.folder

    @property
    def conversation(self) -> list[str]:
        """What user and agent said in the run's folder, as it is on disk."""
        history = Context(self.folder.context).history
        return [one.extract_text() for one in history if "<system>" not in one.extract_text()]


def request(chart: str = LINE, **more: Any) -> RunRequest:
    flow: Flow = parse_mermaid_flowchart(chart)
    return RunRequest(flow, "审查", Path("skills/审查/SKILL.md"), chart, **more)
