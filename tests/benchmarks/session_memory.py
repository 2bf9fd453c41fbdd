"""What an hour of use leaves behind: memory and objects per 1,000 keys."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections import Counter

from paint_meter import count_objects, resident, say, studio, tap, wait_for

KEYS = ("n", "n", "2", "n", "z", "z", "z", "tab", "tab", "tab", "left_square_bracket", "escape")
"""Of one turn: steps with a branch by hand, zooms, panes, a look back."""
_BETWEEN = 0.03
"""Seconds between keys."""
_PARTS = 4
"""Measurements after the first turns, which fill caches."""


async def keep_using(turns: int, *, show_lines: bool) -> None:
    """Do in one go what is done in an hour at a key every few seconds, and print what is kept.

    The first quarter of the turns fills caches and is not counted. With `show_lines` also the
    lines of code whose objects take most of what is kept; that makes it several times slower.
    """
    async with studio() as (pilot, screen):
        objects: list[Counter[str]] = []
        sizes: list[float] = []
        before = None
        used, part = 0, max(turns // _PARTS, 1)
        counted = 0
        for turn in range(1, turns + 1):
            for key in ("n", *KEYS):
                tap(pilot, key)
                await asyncio.sleep(_BETWEEN)
                await wait_for(lambda: screen.waits_for_user, f"a pause after {key}")
            tap(pilot, "s")
            await wait_for(lambda: not screen.driver.is_running, "the end")
            used += len(KEYS) + 2
            counted += (len(KEYS) + 2) * bool(sizes)
            if turn % part:
                continue
            objects.append(count_objects())
            sizes.append(resident())
            say(f"memory: {sizes[-1]:.1f} MB, {objects[-1].total()} objects after {used} keys")
            if show_lines and before is None:
                tracemalloc.start(4)
                before = tracemalloc.take_snapshot()
        growth = (sizes[-1] - sizes[0]) / counted * 1000
        more = (objects[-1].total() - objects[0].total()) / counted * 1000
        say(f"memory: a thousand keys leave {growth:+.1f} MB and {more:+.0f} objects")
        for name, count in (objects[-1] - objects[0]).most_common(25 if show_lines else 12):
            say(f"    {count:+7} {name}  (of {objects[-1][name]})")
        if before is None:
            return
        after = tracemalloc.take_snapshot()
        for line in after.compare_to(before, "lineno")[:20]:
            say(f"    {line}")
