"""Measures keys in the studio itself: what a key costs until the screen is painted anew, and what
the process keeps.

The app runs in this process on a terminal that swallows everything (`PaintMeter`), so that each
frame is also made into characters, as for a real terminal. CPU is that of the whole process: on a
busy machine it says more than the clock.
"""

from __future__ import annotations

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
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from textual.drivers.headless_driver import HeadlessDriver
from textual.pilot import Pilot

from flowstudio.studio.app import StudioApp
from flowstudio.studio.driver import StudioOptions
from flowstudio.studio.screen import StudioScreen

SIZE = (160, 46)
TARGET = 50.0
"""Milliseconds in which a key answers."""
_QUIET = 0.08
"""Seconds without a frame after which a key is taken to be answered wholly."""
_FIRST = 0.2
"""Seconds in which the first frame must have begun."""
_PATIENCE = 1.0
CHART = """flowchart TD
    BEGIN --> write[Write a first draft] --> good{Is it good?}
    good -->|yes| END
    good -->|no| mend[Mend what is bad] --> good
"""


class PaintMeter(HeadlessDriver):
    """A terminal that only notes when a frame came, and how large it was."""

    frames: int = 0
    written: int = 0
    wall: float = 0.0
    cpu: float = 0.0
    """When the last frame came, in seconds of each clock."""

    @property
    def is_headless(self) -> bool:
        """The app is to paint as for a real terminal."""
        return False

    def write(self, data: str) -> None:
        """A piece of a frame."""
        meter = PaintMeter
        if len(data) < 32:  # the signs around a frame, the bell
            return
        meter.frames += 1
        meter.written += len(data)
        meter.wall, meter.cpu = time.perf_counter(), time.process_time()


@dataclass(slots=True)
class Costs:
    """What the presses of one kind took, in milliseconds; `rounds` presses of each key."""

    what: str
    keys: list[str] = field(default_factory=list[str])
    cpu: list[float] = field(default_factory=list[float])
    """Until the last frame that the key caused."""
    wall: list[float] = field(default_factory=list[float])
    frames: list[int] = field(default_factory=list[int])

    def show(self) -> None:
        """One line."""
        worst = max(range(len(self.cpu)), key=self.cpu.__getitem__)
        sign = "" if self.cpu[worst] <= TARGET else "  OVER"
        say(
            f"{self.what:<32} {spread(self.cpu)}   {spread(self.wall)}   "
            f"{statistics.mean(self.frames):4.1f}  {self.keys[worst]}{sign}"
        )


def say(line: str) -> None:
    """Print, also while the app has taken the standard output for its own."""
    print(line, file=sys.__stdout__, flush=True)


def pace() -> float:
    """Milliseconds of CPU that a fixed piece of work takes now: on a busy machine the same work
    takes up to three times as long, and figures are to be read with it."""
    times: list[float] = []
    for _ in range(5):
        begin = time.process_time()
        table: dict[int, str] = {}
        for number in range(60_000):
            table[number & 1023] = str(number)
        times.append((time.process_time() - begin) * 1000)
    return statistics.median(times)


def show_head() -> None:
    """The names of the columns."""
    say(f"this machine's pace now: {pace():.1f} ms for a fixed piece of work")
    columns = "median    p95  worst"
    say(f"{'milliseconds a key':<32} {'CPU ' + columns}   {'    ' + columns} wall  frames  key")


def spread(times: Sequence[float]) -> str:
    """Median, 95th percentile and worst."""
    ranked = sorted(times)
    p95 = ranked[min(round(len(ranked) * 0.95), len(ranked) - 1)]
    return f"{statistics.median(ranked):10.1f} {p95:6.1f} {ranked[-1]:6.1f}"


def skill_text(name: str, chart: str = CHART) -> str:
    """A SKILL.md with a flow."""
    head = f"---\nname: {name}\ndescription: Improve {name} until it is good.\ntype: flow\n---\n"
    return f"{head}\n```mermaid\n{chart}```\n"


def write_skills(work: Path, count: int = 1, chart: str = CHART) -> Path:
    """A project with so many skills."""
    (work / ".git").mkdir()
    for number in range(count):
        folder = work / ".agents" / "skills" / f"demo-{number:03}"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(skill_text(folder.name, chart), encoding="utf-8")
    return work


@contextlib.asynccontextmanager
async def studio(
    count: int = 1, chart: str = CHART
) -> AsyncGenerator[tuple[Pilot[None], StudioScreen]]:
    """The studio with its first flow on the screen."""
    with tempfile.TemporaryDirectory() as folder:
        work = write_skills(Path(folder), count, chart)
        app = StudioApp(StudioOptions(path=work))
        app.driver_class = PaintMeter
        async with app.run_test(headless=False, size=SIZE) as pilot:
            screen = app.screen
            assert isinstance(screen, StudioScreen)
            await wait_for(lambda: screen.is_settled, "the flow on the screen")
            await settle()
            yield pilot, screen
            if screen.driver.control is not None:
                screen.driver.control.stop()


def tap(pilot: Pilot[None], key: str) -> None:
    """Press a key as a terminal would: the pilot's own press asks every widget, which costs more
    than the key."""
    pilot.app.simulate_key(key)


async def wait_for(is_so: Callable[[], bool], what: str, patience: float = 120.0) -> None:
    """Wait until something is so.

    Raises:
        TimeoutError: it never was.
    """
    try:
        async with asyncio.timeout(patience):
            while not is_so():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise TimeoutError(f"never came: {what}") from None


async def settle() -> None:
    """Wait until no frame came for a while."""
    begin = time.perf_counter()
    frames = PaintMeter.frames
    quiet = begin + _FIRST
    while (now := time.perf_counter()) < quiet and now - begin < _PATIENCE:
        await asyncio.sleep(0.02)
        if PaintMeter.frames != frames:
            frames, quiet = PaintMeter.frames, time.perf_counter() + _QUIET


@dataclass(slots=True)
class Meter:
    """Presses keys and says what they cost."""

    keys: int = 16
    """Presses of each key."""
    profiling: bool = False

    async def press(self, pilot: Pilot[None], what: str, keys: Sequence[str]) -> Costs:
        """Press each key in turn, and print one line."""
        for key in keys:  # once for the caches
            tap(pilot, key)
            await settle()
        costs = Costs(what)
        profile = cProfile.Profile(time.process_time) if self.profiling else None
        for _ in range(max(self.keys, 1)):
            for key in keys:
                wall, cpu, frames = time.perf_counter(), time.process_time(), PaintMeter.frames
                if profile:
                    profile.enable()
                tap(pilot, key)
                await settle()
                if profile:
                    profile.disable()
                costs.keys.append(key)
                costs.frames.append(PaintMeter.frames - frames)
                painted = PaintMeter.frames > frames
                costs.cpu.append((PaintMeter.cpu - cpu) * 1000 if painted else 0.0)
                costs.wall.append((PaintMeter.wall - wall) * 1000 if painted else 0.0)
        costs.show()
        if profile:
            pstats.Stats(profile, stream=sys.__stdout__).sort_stats("cumulative").print_stats(45)
            pstats.Stats(profile, stream=sys.__stdout__).sort_stats("tottime").print_stats(20)
        return costs

    async def hold(
        self, pilot: Pilot[None], what: str, keys: Sequence[str], rate: int, seconds: float = 5.0
    ) -> None:
        """Press as the auto-repeat of a keyboard does, and print how far the screen stays behind:
        the time from the last press until it is still."""
        tap(pilot, keys[0])
        await settle()
        begin, used, frames = time.perf_counter(), time.process_time(), PaintMeter.frames
        sent = 0
        lag: list[float] = []
        while (now := time.perf_counter() - begin) < seconds:
            while sent < now * rate:
                tap(pilot, keys[sent % len(keys)])
                sent += 1
            asleep = time.perf_counter()
            await asyncio.sleep(0.005)
            lag.append((time.perf_counter() - asleep - 0.005) * 1000)
        last = time.perf_counter()
        share = (time.process_time() - used) / (last - begin)
        shown = PaintMeter.frames - frames
        before = -1
        while before != PaintMeter.frames:
            before = PaintMeter.frames
            await settle()
        behind = max(PaintMeter.wall - last, 0.0) * 1000
        say(
            f"{what:<32} {sent} presses at {rate}/s: {share:.0%} of a core, {shown} frames, "
            f"a press waits {statistics.median(lag):.0f} ms (worst {max(lag):.0f}), "
            f"{behind:.0f} ms behind at the end{'' if behind <= 200 else '  OVER'}"
        )


def resident() -> float:
    """Megabytes of resident memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def count_objects() -> Counter[str]:
    """How many objects of each class the collector knows, after a collection."""
    gc.unfreeze()
    gc.collect()
    return Counter(f"{kind.__module__}.{kind.__qualname__}" for kind in map(type, gc.get_objects()))
