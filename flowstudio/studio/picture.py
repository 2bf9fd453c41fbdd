"""Makes a picture of the real studio, for the README and for looking at one's own changes.

    python -m flowstudio.studio.picture -o flowstudio/docs/studio.svg
    python -m flowstudio.studio.picture --each-theme flowstudio/docs/themes

The app runs without a terminal, on a bundled flow with scripted answers, is driven by keys to a
pause after a branch was taken by hand, and exports its screen. Nothing in the picture depends on
the clock or on the home folder.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from html import unescape
from pathlib import Path

from rich.cells import cell_len
from textual.pilot import Pilot

from flowstudio import paths
from flowstudio.studio.app import StudioApp
from flowstudio.studio.driver import StudioOptions
from flowstudio.studio.screen import StudioScreen
from flowstudio.theme import find_themes

_SMALL = (90, 26)
_TOUR = ("n", "n", "n", "n", "2", "n")
_PATIENCE = 20.0
"""Seconds that one state may take to come."""
_WEB_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
_FONTS = '"Fira Code", "JetBrains Mono", "DejaVu Sans Mono", "Noto Sans Mono CJK SC", monospace'
_CLOCK = re.compile(r"(?<=·&#160;&#160;)[0-9.]+s(?=&#160;<)")

_TEXT = re.compile(r'(<text [^>]*?)textLength="([0-9.]+)"([^>]*)>([^<]*)<')


async def until(pilot: Pilot[None], is_so: Callable[[], bool], what: str) -> None:
    """Wait until something is so, however long the machine takes.

    Raises:
        TimeoutError: it never was.
    """
    end = asyncio.get_running_loop().time() + _PATIENCE
    while not is_so():
        if asyncio.get_running_loop().time() > end:
            raise TimeoutError(f"never came: {what}")
        await pilot.pause()


async def make_picture(
    skill: str, keys: Sequence[str], size: tuple[int, int], theme: str | None
) -> str:
    """The SVG of the studio after these keys, each pressed once the run waits for one."""
    folder = paths.bundled("skills") / skill
    script = folder / "rehearsal.script.yaml"
    options = StudioOptions(
        path=folder, script=script if script.exists() else None, seed=1, theme=theme
    )
    app = StudioApp(options)
    async with app.run_test(size=size) as pilot:
        screen = app.screen
        assert isinstance(screen, StudioScreen)
        await until(pilot, lambda: screen.is_settled, "the flow on the screen")
        for key in keys:
            await pilot.press(key)
            await until(
                pilot,
                lambda: screen.waits_for_user or app.screen is not screen,
                f"a pause or a question after {key!r}",
            )
        await pilot.pause()
        svg = app.export_screenshot(title="Flow Studio")
    svg = _WEB_FONT.sub("", svg).replace("Fira Code, monospace", _FONTS)
    return _CLOCK.sub("12s", _TEXT.sub(_give_width, svg))


def _give_width(found: re.Match[str]) -> str:
    """Rich counts characters where it should count cells: wide ones would be squeezed."""
    head, length, clip, text = found.groups()
    plain = unescape(text)
    cell = float(length) / max(len(plain), 1)
    return f'{head}textLength="{cell * cell_len(plain):.1f}"{clip}>{text}<'


def main(argv: Sequence[str] | None = None) -> None:
    """Write one picture."""
    parser = argparse.ArgumentParser(prog="python -m flowstudio.studio.picture")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("-o", "--output", type=Path)
    where.add_argument(
        "--each-theme", type=Path, metavar="FOLDER", help="a small picture of each bundled theme"
    )
    parser.add_argument("--size", default="160x46", help="columns x rows")
    parser.add_argument("--theme")
    parser.add_argument("--skill", default="code-review")
    parser.add_argument("--keys", default="n n n n n n n n 2 n n", help="separated by spaces")
    args = parser.parse_args(argv)
    columns, rows = (int(part) for part in args.size.split("x"))
    with tempfile.TemporaryDirectory() as home:
        os.environ["FLOWSTUDIO_HOME"] = home
        if args.each_theme is not None:
            draw_themes(args.each_theme)
            return
        svg = asyncio.run(make_picture(args.skill, args.keys.split(), (columns, rows), args.theme))
        _write(args.output, svg)


def draw_themes(folder: Path) -> None:
    """A picture of each bundled theme, by its name: the tour, a branch of it taken by hand."""
    folder.mkdir(parents=True, exist_ok=True)
    for theme in find_themes([paths.bundled("themes")]).themes:
        svg = asyncio.run(make_picture("tour", _TOUR, _SMALL, theme.name))
        _write(folder / f"{theme.name}.svg", svg)


def _write(file: Path, svg: str) -> None:
    file.write_text(svg, encoding="utf-8")
    print(f"{file}: {len(svg) // 1024} kB", flush=True)


if __name__ == "__main__":
    main()
