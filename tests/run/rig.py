"""A run on a rig: the real runner and the real soul, with answers in hand and every event kept.

Only the model is replaced, at its edge: an `Answers` stands behind the rehearsal provider.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kosong.chat_provider import ChatProviderError

from flowstudio.config import Config, LoopControl
from flowstudio.flow import Flow, parse_mermaid_flowchart
from flowstudio.models import LLM, Question, RehearsalProvider
from flowstudio.run.control import RunControl
from flowstudio.run.runner import FlowRunner, RunOutcome
from flowstudio.soul import Agent, Context, KimiSoul, Runtime
from flowstudio.soul.tools import make_tools
from flowstudio.wire import Body, ChoiceMade, Event, NodeEntered, PromptSent, RunPaused, Wire

PATIENCE = 20.0
"""Seconds until a test that waits for what never comes fails instead of hanging."""

LINE = "flowchart TD\n B([BEGIN]) --> a[first] --> b[second] --> E([END])"
FORK = """flowchart TD
B([BEGIN]) --> a[work] --> q{good?}
q -->|yes| E([END])
q -->|no| a
"""
SELF_LOOP = """flowchart TD
B([BEGIN]) --> w{normal?}
w -->|not yet| w
w -->|yes| E([END])
"""


def choose(branch: str) -> str:
    """An answer that takes a branch."""
    return f"Thought about it.\n\n<choice>{branch}</choice>"


type Said = str | Exception


class Answers:
    """Answers each node's prompts in order, visit after visit; the last one repeats.

    A node in `held` is not answered until `release` or a cancellation: what a model that streams
    for minutes looks like to the run.
    """

    answers_as = "script"

    def __init__(self, replies: Mapping[str, Sequence[Said] | Said] | None = None) -> None:
        self.replies: dict[str, list[Said]] = {}
        for node, said in (replies or {}).items():
            alone = isinstance(said, str | Exception)
            self.replies[node] = [said] if alone else list(said)
        self.questions: list[Question] = []
        self.held: set[str] = set()
        self.cancelled: list[str | None] = []
        self._release = asyncio.Event()
        self._asked = asyncio.Event()

    async def answer(self, question: Question) -> str:
        self.questions.append(question)
        self._asked.set()
        if question.node in self.held:
            try:
                await self._release.wait()
            except asyncio.CancelledError:
                self.cancelled.append(question.node)
                raise
        left = self.replies.get(question.node or "", ["Done."])
        said = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(said, Exception):
            raise said
        return said

    async def asked(self, node: str, times: int = 1) -> Question:
        """Wait until the node was asked this often."""
        async with asyncio.timeout(PATIENCE):
            while True:
                found = [one for one in self.questions if one.node == node]
                if len(found) >= times:
                    return found[times - 1]
                self._asked.clear()
                await self._asked.wait()

    def release(self) -> None:
        """Answer what is held, and hold no more."""
        self.held.clear()
        self._release.set()


def broken(message: str = "the line is dead") -> ChatProviderError:
    """What a provider raises when the model fails for good."""
    return ChatProviderError(message)


class Rig:
    """A runner on a flow, its soul and its control."""

    def __init__(
        self,
        chart: str | Flow,
        replies: Mapping[str, Sequence[Said] | Said] | None = None,
        *,
        interactive: bool = False,
        work_dir: Path | None = None,
        llm: LLM | None = None,
        tools: Sequence[str] = (),
        policy: Any = "reject",
        runner: FlowRunner | None = None,
        max_steps: int = 100,
        **options: Any,
    ) -> None:
        self.answers = Answers(replies)
        self.wire = Wire("run-1")
        self.events: list[Event] = []
        self._seen = asyncio.Event()
        self._pauses = 0
        self.wire.subscribe(self._take)
        self.runtime = Runtime.create(
            Config(loop=LoopControl(max_retries_per_step=0, max_steps_per_run=max_steps)),
            self.wire,
            work_dir=work_dir or Path.cwd(),
            llm=llm or LLM(RehearsalProvider(self.answers), "rehearsal", "rehearsal", None),
            policy=policy,
        )
        agent = Agent("tester", "You are under test.", make_tools(self.runtime, tools))
        self.soul = KimiSoul(agent, self.runtime, context=Context())
        self.control = RunControl(interactive=interactive)
        flow = parse_mermaid_flowchart(chart) if isinstance(chart, str) else chart
        self.runner = runner or FlowRunner(
            flow, name="flow", control=self.control, author="script", **options
        )
        if runner is not None:
            self.control = runner.control

    # What was said

    def _take(self, event: Event) -> None:
        self.events.append(event)
        self._seen.set()

    def said_of[T: Body](self, kind: type[T]) -> list[T]:
        """The bodies of one kind, in order."""
        return [event.body for event in self.events if isinstance(event.body, kind)]

    @property
    def types(self) -> list[str]:
        return [event.type for event in self.events]

    @property
    def path(self) -> list[str | None]:
        """The nodes entered."""
        return [event.node for event in self.events if isinstance(event.body, NodeEntered)]

    @property
    def prompts(self) -> list[tuple[str | None, int | None, str]]:
        """What was sent: node, visit, prompt."""
        return [
            (event.node, event.visit, event.body.prompt)
            for event in self.events
            if isinstance(event.body, PromptSent)
        ]

    @property
    def choices(self) -> list[tuple[str | None, str, str]]:
        """Node, branch, and who took it."""
        return [
            (event.node, event.body.branch, event.body.by)
            for event in self.events
            if isinstance(event.body, ChoiceMade)
        ]

    @property
    def conversation(self) -> list[tuple[str, str]]:
        """The context as pairs of role and text."""
        return [(one.role, one.extract_text()) for one in self.soul.context.history]

    def on[T: Body](self, kind: type[T], act: Callable[[Event], object]) -> None:
        """Call `act` each time such an event is said, as a front end would."""

        def consume(event: Event) -> None:
            if isinstance(event.body, kind):
                act(event)

        self.wire.subscribe(consume)

    # The run

    async def run(self, args: str = "") -> RunOutcome:
        """Run to the end."""
        async with asyncio.timeout(PATIENCE):
            return await self.runner.run(self.soul, args)

    @contextlib.asynccontextmanager
    async def running(self, args: str = "") -> AsyncIterator[asyncio.Task[RunOutcome]]:
        """Run in a task; the run must be over when the block is."""
        task = asyncio.create_task(self.runner.run(self.soul, args))
        try:
            yield task
            async with asyncio.timeout(PATIENCE):
                await task
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def until(self, found: Callable[[], bool]) -> None:
        """Wait until `found()` holds; it is asked again after each event."""
        async with asyncio.timeout(PATIENCE):
            while not found():
                self._seen.clear()
                await self._seen.wait()

    async def paused(self) -> tuple[str, str | None]:
        """Wait for the next pause: why, and at which node the run stands."""
        self._pauses += 1
        await self.until(lambda: len(self.said_of(RunPaused)) >= self._pauses)
        event = [one for one in self.events if isinstance(one.body, RunPaused)][self._pauses - 1]
        assert isinstance(event.body, RunPaused)
        return event.body.why, event.node
