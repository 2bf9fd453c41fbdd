"""kimi-cli's FlowRunner on the flow of `bench_runner.py`, with the same provider.

Runs in a Python that has kimi-cli installed and prints the milliseconds a node, by the processor's
time and by the clock, one round a line. `bench_runner.py --other PYTHON` calls it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import tempfile
import time
import typing
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))


def mend_python() -> None:
    """Python 3.12.1 cannot make instances of a generic dataclass with slots, which kimi-cli has."""

    def call(self: Any, *args: Any, **options: Any) -> Any:
        result = self.__origin__(*args, **options)
        with contextlib.suppress(Exception):
            result.__orig_class__ = self
        return result

    typing._BaseGenericAlias.__call__ = call  # type: ignore[attr-defined]


async def run_once(laps: int) -> tuple[float, float]:
    from kaos.path import KaosPath
    from kimi_cli.auth.oauth import OAuthManager
    from kimi_cli.config import Config
    from kimi_cli.llm import LLM
    from kimi_cli.session import Session
    from kimi_cli.skill.flow.mermaid import parse_mermaid_flowchart
    from kimi_cli.soul import run_soul
    from kimi_cli.soul.agent import Agent, Runtime
    from kimi_cli.soul.context import Context
    from kimi_cli.soul.kimisoul import FlowRunner, KimiSoul
    from kimi_cli.soul.toolset import KimiToolset
    from laps import CHART, LapsProvider

    config = Config()
    session = await Session.create(KaosPath.cwd())
    provider = LapsProvider(laps)
    llm = LLM(chat_provider=provider, max_context_size=10_000_000, capabilities=set())
    runtime = await Runtime.create(config, OAuthManager(config), llm, session, yolo=False)
    agent = Agent(name="peer", system_prompt="", toolset=KimiToolset(), runtime=runtime)
    soul = KimiSoul(agent, context=Context(session.context_file))
    runner = FlowRunner(parse_mermaid_flowchart(CHART))
    spent: list[tuple[float, float]] = []

    class Started:
        """What `run_soul` is given in place of the soul: it runs the flow at once."""

        async def run(self, *_: object, **__: object) -> None:
            begun = time.process_time(), time.perf_counter()
            await runner.run(soul, "")
            spent.append((time.process_time() - begun[0], time.perf_counter() - begun[1]))

    async def drain(wire: object) -> None:
        side = wire.ui_side(merge=False)  # type: ignore[attr-defined]
        while True:
            await side.receive()

    await run_soul(Started(), "go", drain, asyncio.Event())  # type: ignore[arg-type]
    assert provider.calls == 2 * laps, provider.calls
    return spent[0][0] / (2 * laps), spent[0][1] / (2 * laps)


async def main(laps: int, rounds: int) -> None:
    for turn in range(rounds + 1):
        cpu, clock = await run_once(laps)
        if turn:
            print(f"{cpu * 1000:.4f} {clock * 1000:.4f}", flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        os.environ["HOME"] = os.environ["KIMI_SHARE_DIR"] = home
        os.chdir(home)
        mend_python()
        asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
