"""A soul on a bench: a real provider against a scripted server, with all events kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from kosong.message import Message

from flowstudio.config import Config, LoopControl
from flowstudio.models.build import build_model
from flowstudio.models.llm import LLM
from flowstudio.models.registry import ModelOption
from flowstudio.soul import Agent, Context, KimiSoul, Runtime, StudioToolset
from flowstudio.soul.tools import make_tools
from flowstudio.wire import Body, Wire

KEY = "sk-scripted-0123456789abcdef"


class Bench:
    """A soul and what it said; waits of retries are noted instead of made."""

    def __init__(
        self,
        llm: LLM | None,
        work_dir: Path,
        *,
        tools: Iterable[str] = (),
        policy: Any = "ask",
        yolo: bool = False,
        context: Context | None = None,
        loop: LoopControl | None = None,
        skills: Any = (),
        toolset: StudioToolset | None = None,
        config: Config | None = None,
    ) -> None:
        self.wire = Wire("run-1")
        self.said: list[Body] = []
        self.wire.subscribe(lambda event: self.said.append(event.body))
        self.waits: list[float] = []
        self.runtime = Runtime.create(
            config or Config(loop=loop or LoopControl()),
            self.wire,
            work_dir=work_dir,
            llm=llm,
            policy=policy,
            yolo=yolo,
            skills=skills,
            sleep=self._wait,
        )
        agent = Agent("tester", "You are under test.", toolset or make_tools(self.runtime, tools))
        self.soul = KimiSoul(agent, self.runtime, context=context or Context())

    async def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)

    def said_of[T: Body](self, kind: type[T]) -> list[T]:
        """The events of one kind."""
        return [body for body in self.said if isinstance(body, kind)]

    def on[T: Body](self, kind: type[T], act: Callable[[T], object]) -> None:
        """Call `act` when such an event is said."""

        def consume(event: Any) -> None:
            if isinstance(event.body, kind):
                act(event.body)

        self.wire.subscribe(consume)

    @property
    def history(self) -> list[tuple[str, str]]:
        """The context as pairs of role and text."""
        return [(message.role, message.extract_text()) for message in self.soul.context.history]


async def connect(base_url: str, **more: Any) -> LLM:
    """A model behind an OpenAI-compatible server."""
    fields: dict[str, Any] = {"context_size": 200_000, **more}
    timeout = fields.pop("request_timeout", 10.0)
    option = ModelOption("scripted", "openai", "scripted-1", base_url, key_env="TEST_KEY", **fields)
    config = Config(loop=LoopControl(request_timeout=timeout))
    return await build_model(option, config, environ={"TEST_KEY": KEY})


def check_accepted(history: Iterable[Message]) -> None:
    """Fail where a server would refuse the history: each call has its result, in its place."""
    waiting: list[str] = []
    for message in history:
        if message.role == "tool":
            assert message.tool_call_id in waiting, f"a result without a call: {message}"
            waiting.remove(message.tool_call_id or "")
            continue
        assert not waiting, f"calls without a result: {waiting}"
        assert message.content or message.tool_calls, "an empty message"
        waiting = [call.id for call in message.tool_calls or ()]
    assert not waiting, f"calls without a result: {waiting}"
