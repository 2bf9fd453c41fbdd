"""Follows the walks: takes the six pictures of each scene.

python -m tests.studio.gallery OUT [WALK …]    writes them as SVG files, to be looked at
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.studio.cells import Picture, read_cells
from tests.studio.elsewhere import run_elsewhere
from tests.studio.kit import Studio, open_studio
from tests.studio.scenes import WALKS, Walk
from tests.studio.stage import place_for, set_stage

SIZES = ((80, 24), (120, 40), (200, 60))
THEMES = ("studio-dark", "studio-light")
HOME_SIZE, HOME_THEME = (120, 40), "studio-dark"
_LONGEST = 300.0
"""Seconds that a walk may take on a machine that does much else."""
_LASTING = ("library", "run", "talk", "history")
"""Workers of the studio that wait: for the disk, for the user."""
_ALIKE = 2
"""Looks at the screen, one after the other, that must find the same."""


async def follow(walk: Walk, work: Path) -> AsyncIterator[tuple[str, Studio]]:
    """The scenes of one walk, each while it stands."""
    model = walk.model() if walk.model else None
    target = walk.path(work)
    options = {"cwd": work, "size": HOME_SIZE, "patience": _LONGEST, **walk.options}
    async with AsyncExitStack() as stack:
        if walk.elsewhere is not None:
            run = run_elsewhere(target / "SKILL.md", walk.elsewhere())
            options["attach"] = await stack.enter_async_context(run)
        studio = await stack.enter_async_context(open_studio(target, model=model, **options))
        studio.app.animation_level = "none"
        async for name in walk.steps(studio):
            studio.app.clear_notifications()  # they go by the clock
            yield name, studio


async def still(studio: Studio) -> Picture:
    """What the screen shows once nothing works on it any more, and nothing moves."""
    last, times = read_cells(studio.app), 0
    while times < _ALIKE:
        await studio.pilot.pause(0.02)
        now = read_cells(studio.app)
        times = times + 1 if now == last and not _is_busy(studio) else 0
        last = now
    return last


def _is_busy(studio: Studio) -> bool:
    return any(
        not one.is_finished and (one.node is not studio.main or one.group not in _LASTING)
        for one in studio.app.workers
    )


async def _resize(studio: Studio, width: int, height: int) -> None:
    await studio.pilot.resize_terminal(width, height)
    # The app knows of it at once; its screens hear of it by a timer.
    await studio.until(lambda: studio.app.screen.size == (width, height), "the size")


async def each_look[T](studio: Studio, take: Callable[[Picture], T]) -> dict[tuple[str, str], T]:
    """What `take` makes of a scene in each size and theme; both are brought back at the end."""
    await still(studio)  # where things come to stand may depend on the size in which they come
    found: dict[tuple[str, str], T] = {}
    order = SIZES
    for theme in THEMES:  # to restyle everything costs the most: once for each theme
        studio.app.theme = theme
        for width, height in order:
            await _resize(studio, width, height)
            found[f"{width}x{height}", theme] = take(await still(studio))
        order = order[::-1]
    studio.app.theme = HOME_THEME
    await _resize(studio, *HOME_SIZE)
    await still(studio)
    return {(f"{w}x{h}", theme): found[f"{w}x{h}", theme] for w, h in SIZES for theme in THEMES}


async def _write(walk: Walk, folder: Path, work: Path) -> None:
    async for name, studio in follow(walk, work):

        def svg(_: Picture, studio: Any = studio) -> str:
            return studio.app.export_screenshot(title="Flow Studio")

        for (size, theme), text in (await each_look(studio, svg)).items():
            file = folder / f"{name.replace(' ', '-')}.{size}.{theme}.svg"
            file.write_text(text, encoding="utf-8")
        print(name, flush=True)


def main() -> None:
    """Write the pictures."""
    parser = argparse.ArgumentParser(prog="python -m tests.studio.gallery")
    parser.add_argument("out", type=Path)
    parser.add_argument("walks", nargs="*", choices=[*WALKS, []], help="all when left out")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name in args.walks or WALKS:
        with place_for(name) as folder, pytest.MonkeyPatch.context() as patch:
            work = set_stage(folder, patch)
            asyncio.run(_write(WALKS[name], args.out, work))


if __name__ == "__main__":
    main()
