"""What the runner and the soul cost per node, with a provider that answers at once.

    PYTHONPATH=. .venv-dev/bin/python tests/benchmarks/bench_runner.py [ROUNDS] [--other PYTHON]

A loop of one task and one decision is walked 200 times; the floor is bare `kosong.step` with the
same provider on the same messages. Target: below 5 ms a node, without the journal's fsync. With
`--other`, the Python of an environment that has kimi-cli, its FlowRunner walks the same flow with
the same provider, round by round in turn with ours: not slower is the target, journal off. Both by
the processor's time, which other programs disturb less; minima, since noise only adds.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import kosong
from kosong.message import Message, TextPart
from kosong.tooling.empty import EmptyToolset

from flowstudio.config import Config
from flowstudio.flow import parse_mermaid_flowchart
from flowstudio.models import LLM
from flowstudio.run import RunRequest, Session
from flowstudio.soul import Agent, Runtime
from flowstudio.soul.tools import make_tools
from flowstudio.wire import Wire
from tests.benchmarks.laps import CHART, LapsProvider

FLOW = parse_mermaid_flowchart(CHART)
LAPS = 200


async def run_once(folder: Path | None) -> tuple[float, float]:
    """Seconds a node, by the processor's time and by the clock."""
    provider = LapsProvider(LAPS)
    llm = LLM(provider, "x", "x", 10_000_000)
    runtime = Runtime.create(Config(), Wire(), work_dir=Path.cwd(), llm=llm, policy="reject")
    agent = Agent("bench", "", make_tools(runtime, ()))
    session = Session(runtime, agent, runs_dir=folder)
    cpu, clock = time.process_time(), time.perf_counter()
    # The watchdog would notice that these laps get nowhere.
    runtime.config.loop.max_idle_visits = 0
    await session.run_flow(RunRequest(FLOW, "laps"))
    cpu, clock = time.process_time() - cpu, time.perf_counter() - clock
    assert provider.calls == 2 * LAPS
    return cpu / (2 * LAPS), clock / (2 * LAPS)


async def floor_once() -> tuple[float, float]:
    provider = LapsProvider(LAPS)
    history: list[Message] = []
    cpu, clock = time.process_time(), time.perf_counter()
    for _ in range(2 * LAPS):
        history.append(Message(role="user", content=[TextPart(text="do it")]))
        result = await kosong.step(provider, "", EmptyToolset(), history)
        history.append(result.message)
    cpu, clock = time.process_time() - cpu, time.perf_counter() - clock
    return cpu / (2 * LAPS), clock / (2 * LAPS)


def other_once(python: str) -> tuple[float, float]:
    """A round of the peer in a process of its own, the second one that it makes."""
    script = str(Path(__file__).with_name("peer_kimi_cli.py"))
    argv = [python, script, str(LAPS), "1"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    cpu, clock = done.stdout.split()
    return float(cpu) / 1000, float(clock) / 1000


async def main(rounds: int, other: str | None) -> None:
    measured: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(rounds + 1):
            figures = {
                "bare kosong.step": await floor_once(),
                "runner and soul, journal off": await run_once(None),
                "runner and soul, kept on disk": await run_once(Path(folder)),
            }
            if other is not None:
                figures["kimi-cli's FlowRunner"] = await asyncio.to_thread(other_once, other)
            if turn:
                for name, figure in figures.items():
                    measured.setdefault(name, []).append(figure)
    best: dict[str, float] = {}
    for name, found in measured.items():
        cpu = [1000 * one for one, _ in found]
        clock = statistics.median(1000 * one for _, one in found)
        best[name] = min(cpu)
        print(
            f"{name:30} {min(cpu):7.3f} ms a node (median {statistics.median(cpu):.3f}, "
            f"by the clock {clock:.3f})"
        )
    floor, ours = best["bare kosong.step"], best["runner and soul, journal off"]
    print(f"overhead without journal {ours - floor:.3f} ms a node (target below 5)")
    print(f"ratio to bare kosong.step {ours / floor:.2f}")
    if other is not None:
        peer = best["kimi-cli's FlowRunner"]
        print(f"ratio to kimi-cli {ours / peer:.2f} (target at most 1)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("rounds", nargs="?", type=int, default=5)
    parser.add_argument("--other", metavar="PYTHON")
    call = parser.parse_args()
    asyncio.run(main(call.rounds, call.other))
