"""What the runner and the soul cost per node, with a provider that answers at once.

    .venv-dev/bin/python tests/benchmarks/bench_runner.py [ROUNDS]

A loop of one task and one decision is walked 200 times; the floor is bare `kosong.step` with the
same provider on the same messages. Target: below 5 ms a node, without the journal's fsync.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

import kosong
from kosong.message import Message, TextPart
from kosong.tooling.empty import EmptyToolset

from flowstudio.config import Config
from flowstudio.flow import parse_mermaid_flowchart
from flowstudio.models import LLM, Question, RehearsalProvider
from flowstudio.run import RunRequest, Session
from flowstudio.soul import Runtime, default_agent
from flowstudio.wire import Wire

FLOW = parse_mermaid_flowchart(
    "flowchart TD\n BEGIN --> a[do it] --> b{again?}\n b -->|yes| a\n b -->|no| END"
)
LAPS = 200


class Laps:
    """Says yes a fixed number of times."""

    answers_as = "script"

    def __init__(self) -> None:
        self.left = LAPS

    async def answer(self, question: Question) -> str:
        if not question.branches:
            return "Done."
        self.left -= 1
        return f"<choice>{'yes' if self.left else 'no'}</choice>"


async def run_once(folder: Path | None) -> float:
    provider = RehearsalProvider(Laps())
    runtime = Runtime.create(
        Config(), Wire(), work_dir=Path.cwd(), llm=LLM(provider, "x", "x", None), policy="reject"
    )
    session = Session(runtime, default_agent(runtime), runs_dir=folder)
    start = time.perf_counter()
    await session.run_flow(RunRequest(FLOW, "laps"))
    return (time.perf_counter() - start) / (2 * LAPS)


async def floor_once() -> float:
    provider = RehearsalProvider(Laps())
    history: list[Message] = []
    start = time.perf_counter()
    for _ in range(2 * LAPS):
        history.append(Message(role="user", content=[TextPart(text="do it")]))
        result = await kosong.step(provider, "", EmptyToolset(), history)
        history.append(result.message)
    return (time.perf_counter() - start) / (2 * LAPS)


async def main(rounds: int) -> None:
    bare: list[float] = []
    ours: list[float] = []
    kept: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(rounds + 1):
            figures = await floor_once(), await run_once(None), await run_once(Path(folder))
            if turn:
                bare.append(figures[0])
                ours.append(figures[1])
                kept.append(figures[2])
    overhead = statistics.median(a - b for a, b in zip(ours, bare, strict=True)) * 1000
    print(f"bare kosong.step         median {statistics.median(bare) * 1000:6.3f} ms a node")
    print(f"runner and soul          median {statistics.median(ours) * 1000:6.3f} ms a node")
    print(f"  with context and journal on disk   {statistics.median(kept) * 1000:6.3f} ms a node")
    print(f"overhead without journal median {overhead:6.3f} ms a node (target below 5)")
    print(f"ratio to bare kosong.step {statistics.median(ours) / statistics.median(bare):6.2f}")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5))
