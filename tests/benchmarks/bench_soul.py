"""What the soul adds to a call of the model, and what a long conversation takes of memory.

    PYTHONPATH=. .venv-dev/bin/python tests/benchmarks/bench_soul.py [ROUNDS]

A provider answers at once: with a call of `Think`, then with a word, so a turn is two steps. The
floor is bare `kosong.step` with the same provider, tool and messages, for as many steps. Both by
the processor's time, in turn, minima: noise only adds. Target: less than 1 ms above the floor.
Memory is that of the Python objects (tracemalloc) after 1,000 turns, and per turn.
"""

from __future__ import annotations

import asyncio
import sys
import time
import tracemalloc
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Self

import kosong
from kosong.chat_provider import StreamedMessagePart, TokenUsage
from kosong.message import Message, TextPart, ToolCall

from flowstudio.config import Config
from flowstudio.models import LLM
from flowstudio.soul import Agent, Context, KimiSoul, Runtime
from flowstudio.soul.tools import make_tools
from flowstudio.wire import Wire

TURNS = 100


class Instant:
    """A provider that calls a tool at each odd call, and answers at each even one."""

    name = "instant"
    model_name = "instant"
    thinking_effort = None

    def __init__(self) -> None:
        self.calls = 0

    async def generate(
        self, system_prompt: str, tools: Sequence[Any], history: Sequence[Message]
    ) -> Stream:
        self.calls += 1
        if self.calls % 2:
            body = ToolCall.FunctionBody(name="Think", arguments='{"thought": "hm"}')
            return Stream(ToolCall(id=f"call-{self.calls}", function=body))
        return Stream(TextPart(text="Done."))

    def with_thinking(self, _: Any) -> Self:
        return self


class Stream:
    """An answer of one part."""

    id = None
    usage = TokenUsage(input_other=10, output=1)

    def __init__(self, part: StreamedMessagePart) -> None:
        self._part = part

    async def __aiter__(self) -> AsyncIterator[StreamedMessagePart]:
        yield self._part


def make_soul(work_dir: Path) -> KimiSoul:
    llm = LLM(Instant(), "instant", "instant", 1_000_000_000)
    runtime = Runtime.create(Config(), Wire(), work_dir=work_dir, llm=llm, policy="reject")
    return KimiSoul(Agent("bench", "", make_tools(runtime, ["Think"])), runtime, context=Context())


async def soul_once() -> float:
    soul = make_soul(Path.cwd())
    began = time.process_time()
    for _ in range(TURNS):
        await soul.turn("Go")
    return (time.process_time() - began) / (2 * TURNS)


async def floor_once() -> float:
    soul = make_soul(Path.cwd())
    provider, toolset = Instant(), soul.agent.toolset
    history: list[Message] = []
    began = time.process_time()
    for _ in range(TURNS):
        history.append(Message(role="user", content=[TextPart(text="Go")]))
        for _ in range(2):
            result = await kosong.step(provider, "", toolset, history)
            history.append(result.message)
            for done in await result.tool_results():
                history.append(
                    Message(role="tool", tool_call_id=done.tool_call_id, content=str(done))
                )
    return (time.process_time() - began) / (2 * TURNS)


async def measure_memory(turns: int) -> int:
    soul = make_soul(Path.cwd())
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(turns):
        await soul.turn("Go")
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return taken


async def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    ours: list[float] = []
    floor: list[float] = []
    for _ in range(rounds):
        ours.append(await soul_once())
        floor.append(await floor_once())
    step, bare = min(ours) * 1000, min(floor) * 1000
    print(f"a step of the soul   {step:.3f} ms")
    print(f"bare kosong.step     {bare:.3f} ms")
    print(f"above the floor      {step - bare:.3f} ms, {step / bare:.2f} times the floor")
    taken = await measure_memory(1000)
    print(f"1,000 turns          {taken / 1e6:.1f} MB, {taken / 1000 / 1024:.1f} KiB a turn")


if __name__ == "__main__":
    asyncio.run(main())
