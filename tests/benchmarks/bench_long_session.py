"""What a key costs in a long session: from the press until the screen is painted anew.

    python tests/benchmarks/bench_long_session.py [SCENE ...] [--keys N] [--turns N] [--profile]

Scenes: fresh, chat (1,000 messages), visits (10,000), skills (500), nodes (a flow of 5,000), draft
(typing in the source beside a flow of 40 nodes), hold (a key held down), stream (500 parts a
second), idle (CPU with a run paused), memory (scripted use: what is kept per 1,000 keys). The app
runs without a terminal (see `paint_meter`), driven by keys; figures are milliseconds of the whole
process' CPU until the last frame that a key causes, then the same by the clock. Target: 50 ms a
key, the worst one too, and less than 1 % of a core when idle.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Coroutine, Sequence

from paint_meter import Meter, PaintMeter, say, settle, show_head, studio, tap, wait_for
from textual.widgets import OptionList

from flowstudio.run.state import RunState
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

ANSWER = """Here is **what I found** in `module.py`:

- the first thing, which is rather long and wraps around in a narrow pane like the chat's
- the second thing
- the third thing, with `code` in it

```python
def f(x: int) -> int:
    return x + 1
```
"""
type Scene = Callable[[Meter, argparse.Namespace], Coroutine[object, object, None]]


def event(body: Body, number: int, node: str | None = None, visit: int | None = None) -> Event:
    """An event of the run that the scenes play."""
    return Event(body, "bench", 1_700_000_000.0 + number, node, visit)


def feed(screen: StudioScreen, bodies: Sequence[Body]) -> None:
    """Let the screen hear of these."""
    for number, body in enumerate(bodies):
        screen._take_event(event(body, number))


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


async def fresh(meter: Meter, _: argparse.Namespace) -> None:
    async with studio() as (pilot, _screen):
        await meter.press(pilot, "fresh: a node", ["down", "up"])
        await meter.press(pilot, "fresh: another pane", ["tab"])
        await meter.press(pilot, "fresh: another pane, back", ["shift+tab"])
        await meter.press(pilot, "fresh: zoom", ["z"])
        await meter.press(pilot, "fresh: help", ["question_mark", "escape"])


async def chat(meter: Meter, _: argparse.Namespace) -> None:
    async with studio() as (pilot, screen):
        bodies: list[Body] = []
        for number in range(250):
            call = f"call-{number}"
            bodies += [
                PromptSent(f"Question {number}?"),
                Text(ANSWER),
                ToolCalled(call, "Shell", '{"command": "git diff"}'),
                ToolReturned(call, "Shell", True, "x\n" * 100, "fine", 0.1),
                Text(ANSWER),
            ]
        begin = time.process_time()
        for at in range(0, len(bodies), 50):
            feed(screen, bodies[at : at + 50])
            await pilot.pause()
        say(f"chat: 1,000 messages in {time.process_time() - begin:.1f} s of CPU")
        await meter.press(pilot, "chat: a node", ["down", "up"])
        await meter.press(pilot, "chat: another pane", ["tab"])
        screen.query_one("ChatLog").focus()
        await meter.press(pilot, "chat: scroll", ["pageup", "pageup", "up", "pagedown"])
        screen.query_one("ChatInput").focus()
        await meter.press(pilot, "chat: a letter in the input", ["a", "b", "backspace"])


async def many_visits(meter: Meter, _: argparse.Namespace) -> None:
    async with studio() as (pilot, screen):
        state = RunState()
        for one in visits(10_000):
            state.apply(one)
        screen.driver.state, screen.driver.skill = state, screen.skill
        screen.bench.view.selected = "good"
        screen.show_news()
        await pilot.pause()
        await meter.press(pilot, "visits: a node", ["down", "up"])
        await meter.press(pilot, "visits: another pane", ["tab"])
        screen.query_one("#timeline").focus()
        await meter.press(pilot, "visits: along the timeline", ["left", "left", "right", "right"])
        took: list[float] = []
        for _ in range(20):
            begin = time.process_time()
            for one in visits(2)[1:]:
                state.apply(one)
                screen._take_event(one)
            await settle()
            took.append((PaintMeter.cpu - begin) * 1000)
        say(f"visits: one more visit: median {statistics.median(took):.1f} ms of CPU")


async def skills(meter: Meter, _: argparse.Namespace) -> None:
    async with studio(500) as (pilot, screen):
        screen.query_one("#skills", OptionList).focus()
        await meter.press(pilot, "skills: the next one", ["down", "down", "up"])
        await meter.press(pilot, "skills: a page", ["pagedown", "pageup"])
        screen.browser.focus_filter()
        letters = ["d", "e", "backspace", "backspace"]
        await meter.press(pilot, "skills: a letter in the filter", letters)
        screen.query_one("#skills", OptionList).focus()
        begin = time.process_time()
        screen.browser.running = ("demo-001", "▶")
        await settle()
        say(f"skills: a run begins: {(PaintMeter.cpu - begin) * 1000:.1f} ms of CPU")


def long_chart(count: int) -> str:
    """A flow of so many nodes, with a way back here and there."""
    lines = ["flowchart TD", "    BEGIN --> n0"]
    for number in range(count):
        lines.append(f"    n{number}[Step {number}] --> n{number + 1}")
        if number % 7 == 3:
            lines[-1] = f"    n{number}{{Is {number} good?}} -->|yes| n{number + 1}"
            lines.append(f"    n{number} -->|no| n{max(number - 3, 0)}")
    lines.append(f"    n{count}[The last] --> END")
    return "\n".join(lines) + "\n"


async def nodes(meter: Meter, _: argparse.Namespace) -> None:
    begin = time.process_time()
    async with studio(1, long_chart(5_000)) as (pilot, screen):
        say(f"nodes: opened in {time.process_time() - begin:.1f} s of CPU")
        screen.bench.view.focus()
        await meter.press(pilot, "nodes: a node", ["down", "down", "up"])
        await meter.press(pilot, "nodes: pan", ["j", "j", "k"])
        await meter.press(pilot, "nodes: another pane", ["tab"])
        screen.bench.view.focus()
        await pilot.press("slash")
        letters = ["4", "9", "backspace", "backspace"]
        await meter.press(pilot, "nodes: a letter in find", letters)


async def draft(meter: Meter, _: argparse.Namespace) -> None:
    """Type in the source; the drawing follows once the fingers rest."""
    async with studio(1, long_chart(38)) as (pilot, screen):
        await screen.action_command("edit.source")
        await wait_for(lambda: screen.source.is_attached and bool(screen.source.children), "it")
        await settle()
        area = screen.source.area
        area.focus()
        lines = area.text.splitlines()
        row = next(at for at, line in enumerate(lines) if "[Step 9]" in line)
        area.move_cursor((row, lines[row].index("[Step 9]") + 6))
        await settle()
        await meter.press(pilot, "draft: a letter, with the drawing", ["x", "y", "backspace"])
        area.move_cursor((1, 8))
        await settle()
        await meter.press(pilot, "draft: a letter in the head", ["x", "backspace"])
        await meter.press(pilot, "draft: a line down", ["down", "up"])


async def hold(meter: Meter, _: argparse.Namespace) -> None:
    """Keys held down, and the wheel turned: the screen keeps up."""
    async with studio(1, long_chart(5_000)) as (pilot, screen):
        screen.bench.view.focus()
        await meter.hold(pilot, "hold: pan", ["j"], 30)
        await meter.hold(pilot, "hold: a node", ["down"], 30)
    async with studio(500) as (pilot, screen):
        screen.query_one("#skills", OptionList).focus()
        await meter.hold(pilot, "hold: the next skill", ["down"], 30)


async def stream(meter: Meter, _: argparse.Namespace) -> None:
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
        say(
            f"stream: {sent} parts, {share:.0%} of a core, a key meanwhile by the clock "
            f"{statistics.median(lag):.0f} ms (worst {max(lag):.0f})"
        )


async def idle(meter: Meter, _: argparse.Namespace) -> None:
    async with studio() as (pilot, screen):
        await pilot.press("n")
        await wait_for(lambda: screen.waits_for_user, "a pause")
        await asyncio.sleep(1)
        used, frames = time.process_time(), PaintMeter.frames
        await asyncio.sleep(10)
        share = (time.process_time() - used) / 10
        say(
            f"idle with a run paused: {share:.2%} of a core (target < 1 %), "
            f"{PaintMeter.frames - frames} frames in 10 s"
        )


async def memory(meter: Meter, args: argparse.Namespace) -> None:
    from session_memory import keep_using

    await keep_using(args.turns, show_lines=args.profile)


SCENES: dict[str, Scene] = {
    "fresh": fresh,
    "chat": chat,
    "visits": many_visits,
    "skills": skills,
    "nodes": nodes,
    "draft": draft,
    "hold": hold,
    "stream": stream,
    "idle": idle,
    "memory": memory,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("scenes", nargs="*", default=list(SCENES))
    parser.add_argument("--keys", type=int, default=16, help="how often each key is pressed")
    parser.add_argument("--turns", type=int, default=60, help="rounds of the memory scene")
    parser.add_argument("--profile", action="store_true")
    args = parser.parse_args()
    show_head()
    for name in args.scenes:
        with tempfile.TemporaryDirectory() as home:
            os.environ["FLOWSTUDIO_HOME"] = home
            asyncio.run(SCENES[name](Meter(args.keys, args.profile), args))
        gc.collect()


if __name__ == "__main__":
    main()
