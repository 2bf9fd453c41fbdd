"""What a key costs in a long session: from the press until the screen is painted anew.

    python tests/benchmarks/bench_long_session.py [SCENE ...] [--profile]

Scenes: fresh, chat (1,000 messages), visits (10,000), skills (500), nodes (a flow of 5,000), stream
(500 parts a second), idle (CPU with a run paused), memory (scripted use). The app runs without a
terminal, driven by keys; figures are CPU milliseconds of the whole process, so that a busy machine
disturbs them little. Target: 50 ms a key, and less than 1 % when idle.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import cProfile
import gc
import os
import pstats
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from textual.pilot import Pilot
from textual.widgets import OptionList

from flowstudio.run.state import RunState
from flowstudio.studio.app import StudioApp
from flowstudio.studio.driver import StudioOptions
from flowstudio.studio.picture import until
from flowstudio.studio.screen import StudioScreen
from flowstudio.wire import (
    Body,
    ChoiceMade,
    Event,
    NodeEntered,
    NodeLeft,
    PromptSent,
    RunPaused,
    RunStarted,
    Text,
    ToolCalled,
    ToolReturned,
)

SIZE = (160, 46)
TARGET = 50.0
WINDOW = 0.25
"""Seconds in which everything that a key causes is done."""
CHART = """flowchart TD
    BEGIN --> write[Write a first draft] --> good{Is it good?}
    good -->|yes| END
    good -->|no| mend[Mend what is bad] --> good
"""
ANSWER = """Here is **what I found** in `module.py`:

- the first thing, which is rather long and wraps around in a narrow pane like the chat's
- the second thing
- the third thing, with `code` in it

```python
def f(x: int) -> int:
    return x + 1
```
"""
profiling = False


def skill_text(name: str, chart: str = CHART) -> str:
    head = f"---\nname: {name}\ndescription: Improve {name} until it is good.\ntype: flow\n---\n"
    return f"{head}\n```mermaid\n{chart}```\n"


def write_skills(work: Path, count: int = 1, chart: str = CHART) -> Path:
    (work / ".git").mkdir()
    for number in range(count):
        folder = work / ".agents" / "skills" / f"demo-{number:03}"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(skill_text(folder.name, chart), encoding="utf-8")
    return work


@contextlib.asynccontextmanager
async def studio(
    count: int = 1, chart: str = CHART
) -> AsyncIterator[tuple[Pilot[None], StudioScreen]]:
    with tempfile.TemporaryDirectory() as folder:
        work = write_skills(Path(folder), count, chart)
        app = StudioApp(StudioOptions(path=work))
        async with app.run_test(size=SIZE) as pilot:
            screen = app.screen
            assert isinstance(screen, StudioScreen)
            await until(pilot, lambda: screen.is_settled, "the flow on the screen")
            await pilot.pause()
            yield pilot, screen
            if screen.driver.control is not None:
                screen.driver.control.stop()


def tap(pilot: Pilot[None], key: str) -> None:
    """Press a key as a terminal would: the pilot's own press asks every widget, which costs more
    than the key."""
    pilot.app.simulate_key(key)


async def press(pilot: Pilot[None], what: str, keys: Sequence[str], rounds: int = 8) -> None:
    """Press each key in turn and say what it cost."""
    for key in keys:  # once for the caches
        tap(pilot, key)
        await asyncio.sleep(WINDOW)
    gc.collect()
    took: list[float] = []
    profile = cProfile.Profile() if profiling else None
    for _ in range(rounds):
        for key in keys:
            begin = time.process_time()
            if profile:
                profile.enable()
            tap(pilot, key)
            await asyncio.sleep(WINDOW)
            if profile:
                profile.disable()
            took.append((time.process_time() - begin) * 1000)
    median, worst = statistics.median(took), max(took)
    sign = "" if median <= TARGET else "   OVER"
    print(f"{what:<44} median {median:7.1f} ms   worst {worst:7.1f} ms{sign}", flush=True)
    if profile:
        pstats.Stats(profile).sort_stats("cumulative").print_stats(35)


def event(body: Body, number: int, node: str | None = None, visit: int | None = None) -> Event:
    return Event(body, "bench", 1_700_000_000.0 + number, node, visit)


def feed(screen: StudioScreen, bodies: Sequence[tuple[Body, str | None, int | None]]) -> None:
    for number, (body, node, visit) in enumerate(bodies):
        screen._take_event(event(body, number, node, visit))


def visits(count: int) -> list[Event]:
    """A run that goes around the loop, paused in its last visit."""
    events = [event(RunStarted("demo-000", None, 1, "demo", "", 99_999), 0)]
    for number in range(1, count + 1):
        node, visit = ("good", "mend")[number % 2], (number + 1) // 2
        kind = "decision" if node == "good" else "task"
        events.append(event(NodeEntered(number, kind, node, 1), number, node, visit))
        events.append(event(PromptSent("Do it."), number, node, visit))
        if number == count:
            events.append(event(RunPaused("step", "as asked"), number, node, visit))
            break
        if node == "good":
            events.append(event(ChoiceMade("no", "model"), number, node, visit))
        to, branch = ("mend", "no") if node == "good" else ("good", None)
        events.append(event(NodeLeft(to, branch, "model", ANSWER, 10, 1.0), number, node, visit))
    return events


async def fresh() -> None:
    async with studio() as (pilot, _):
        await press(pilot, "fresh: a node", ["down", "up"])
        await press(pilot, "fresh: another pane", ["tab"], 12)


async def chat() -> None:
    async with studio() as (pilot, screen):
        bodies: list[tuple[Body, str | None, int | None]] = []
        for number in range(250):
            call = f"call-{number}"
            bodies += [
                (PromptSent(f"Question {number}?"), None, None),
                (Text(ANSWER), None, None),
                (ToolCalled(call, "Shell", '{"command": "git diff"}'), None, None),
                (ToolReturned(call, "Shell", True, "x\n" * 100, "fine", 0.1), None, None),
                (Text(ANSWER), None, None),
            ]
        begin = time.process_time()
        for at in range(0, len(bodies), 50):
            feed(screen, bodies[at : at + 50])
            await pilot.pause()
        print(f"chat: 1,000 messages in {time.process_time() - begin:.1f} s of CPU")
        await press(pilot, "chat: a node", ["down", "up"])
        await press(pilot, "chat: another pane", ["tab"], 12)
        screen.query_one("ChatLog").focus()
        await press(pilot, "chat: scroll", ["pageup", "pageup", "up", "pagedown"])
        await pilot.press("i")
        await press(pilot, "chat: a letter in the input", ["a", "b", "backspace"])


async def many_visits() -> None:
    async with studio() as (pilot, screen):
        state = RunState()
        for one in visits(10_000):
            state.apply(one)
        screen.driver.state, screen.driver.skill = state, screen.skill
        screen.bench.view.selected = "good"
        screen.show_news()
        await pilot.pause()
        await press(pilot, "visits: a node", ["down", "up"])
        await press(pilot, "visits: another pane", ["tab"], 12)
        number, took = 10_001, []
        for _ in range(20):
            begin = time.process_time()
            for one in visits(2)[1:]:
                state.apply(one)
                screen._take_event(one)
            await pilot.pause()
            took.append((time.process_time() - begin) * 1000)
        print(
            f"visits: one more visit                       median {statistics.median(took):7.1f} ms"
        )
        assert number


async def skills() -> None:
    async with studio(500) as (pilot, screen):
        screen.query_one("#skills", OptionList).focus()
        await press(pilot, "skills: the next one", ["down", "down", "up"])
        await press(pilot, "skills: a page", ["pagedown", "pageup"])
        screen._skills.focus_filter()
        await press(pilot, "skills: a letter in the filter", ["d", "e", "backspace", "backspace"])
        screen.query_one("#skills", OptionList).focus()
        begin = time.process_time()
        screen._skills.running = ("demo-001", "▶")
        await pilot.pause()
        print(f"skills: a run begins              {(time.process_time() - begin) * 1000:7.1f} ms")


async def nodes() -> None:
    lines = ["flowchart TD", "    BEGIN --> n0"]
    for number in range(5_000):
        lines.append(f"    n{number}[Step {number}] --> n{number + 1}")
        if number % 7 == 3:
            lines[-1] = f"    n{number}{{Is {number} good?}} -->|yes| n{number + 1}"
            lines.append(f"    n{number} -->|no| n{max(number - 3, 0)}")
    lines.append("    n5000[The last] --> END")
    begin = time.process_time()
    async with studio(1, "\n".join(lines) + "\n") as (pilot, screen):
        print(f"nodes: opened in {time.process_time() - begin:.1f} s of CPU")
        screen.bench.view.focus()
        await press(pilot, "nodes: a node", ["down", "down", "up"])
        await press(pilot, "nodes: pan", ["j", "j", "k"])
        await press(pilot, "nodes: another pane", ["tab"], 12)
        await pilot.press("slash")
        await press(pilot, "nodes: a letter in find", ["4", "9", "backspace", "backspace"])


async def stream() -> None:
    async with studio() as (pilot, screen):
        begin, used = time.perf_counter(), time.process_time()
        sent = 0
        lag: list[float] = []
        paints: list[float] = []
        show = screen.bench.show_node

        def show_node() -> None:
            show()
            paints.append(time.perf_counter())

        screen.bench.show_node = show_node  # type: ignore[method-assign]
        while (now := time.perf_counter() - begin) < 6.0:
            while sent < now * 500:
                piece = ("word ", "**bold** ", "`code` ", "\n- item ", "\n\n")[sent % 5]
                screen._take_event(event(Text(piece), sent))
                sent += 1
            await asyncio.sleep(0.01)
            if sent > 1500:
                before, painted = time.perf_counter(), len(paints)
                tap(pilot, "down" if len(lag) % 2 else "up")
                while len(paints) == painted:  # noqa: ASYNC110
                    await asyncio.sleep(0.001)
                lag.append((paints[painted] - before) * 1000)
        share = (time.process_time() - used) / (time.perf_counter() - begin)
        print(
            f"stream: {sent} parts, {share:.0%} of a core, a key meanwhile "
            f"{statistics.median(lag):.0f} ms (worst {max(lag):.0f})"
        )


async def idle() -> None:
    async with studio() as (pilot, screen):
        await pilot.press("n")
        await until(pilot, lambda: screen.waits_for_user, "a pause")
        await asyncio.sleep(1)
        used = time.process_time()
        await asyncio.sleep(10)
        share = (time.process_time() - used) / 10
        print(f"idle with a run paused: {share:.2%} of a core   (target < 1 %)")


def rss() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


async def memory() -> None:
    """What is done in an hour at a key every few seconds, done at once."""
    async with studio() as (pilot, screen):
        found = [rss()]
        for turn in range(120):
            await pilot.press("n")
            await until(pilot, lambda: screen.waits_for_user, "a pause")
            for key in (
                "n",
                "n",
                "2",
                "n",
                "z",
                "z",
                "z",
                "tab",
                "tab",
                "tab",
                "left_square_bracket",
                "escape",
            ):
                await pilot.press(key)
                await until(pilot, lambda: screen.waits_for_user, f"a pause after {key}")
            await pilot.press("s")
            await until(pilot, lambda: not screen.driver.is_running, "the end")
            if turn % 40 == 39:
                gc.collect()
                found.append(rss())
        keys = 120 * 14
        print(f"memory: {' → '.join(f'{mb:.0f}' for mb in found)} MB after {keys} keys")


SCENES: dict[str, Callable[[], object]] = {
    "fresh": fresh,
    "chat": chat,
    "visits": many_visits,
    "skills": skills,
    "nodes": nodes,
    "stream": stream,
    "idle": idle,
    "memory": memory,
}


def main() -> None:
    global profiling
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("scenes", nargs="*", default=list(SCENES))
    parser.add_argument("--profile", action="store_true")
    args = parser.parse_args()
    profiling = args.profile
    for name in args.scenes:
        with tempfile.TemporaryDirectory() as home:
            os.environ["FLOWSTUDIO_HOME"] = home
            asyncio.run(SCENES[name]())  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
