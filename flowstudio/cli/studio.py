"""`flowstudio [PATH]`: opens the studio."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from flowstudio.studio.options import StudioOptions

_PACE = 0.02
"""Seconds between two pieces of a rehearsed answer."""

_WEB_DRIVER = "TEXTUAL_DRIVER"
"""Set by textual-serve for the studio's process: its terminal is a browser."""


def open_plainly(path: Path | None) -> int:
    """Open the studio on a path, or on this folder, as a call without options does."""
    return _open(plain_options(path))


def open_studio(args: argparse.Namespace) -> int:
    """Open the studio as the command line asks."""
    if args.script is not None and not Path(args.script).is_file():
        from flowstudio.cli.output import fail

        return fail(f"{args.script}: no such file", "--script takes a YAML file of answers")
    if args.max_ralph_iterations is not None and args.max_ralph_iterations < -1:
        from flowstudio.cli.output import fail

        return fail("--max-ralph-iterations must be at least 0, or -1 for no bound", "")
    return _open(options_of(args))


def plain_options(path: Path | None) -> StudioOptions:
    """What a call without options asks for."""
    from flowstudio.studio.options import StudioOptions

    return StudioOptions(path=path, welcome=True, pace=_PACE)


def options_of(args: argparse.Namespace) -> StudioOptions:
    """What a call with options asks for."""
    return replace(
        plain_options(args.prompt_flow or args.path),
        model=args.model,
        script=args.script,
        seed=args.seed,
        yolo=args.yolo,
        sandbox=args.sandbox,
        no_network=args.no_network,
        agent=args.agent,
        skills_dirs=tuple(args.skills_dir),
        theme=args.theme,
        glyphs=args.glyphs,
        max_ralph_iterations=args.max_ralph_iterations,
    )


def _open(options: StudioOptions) -> int:
    """Open the full-screen studio. What its path means is found out after the first paint."""
    is_in_browser = os.environ.get(_WEB_DRIVER, "").endswith(":WebDriver")
    if not (sys.stdin.isatty() and sys.stdout.isatty()) and not is_in_browser:
        return _show_without_terminal(options.path, list(options.skills_dirs))
    from flowstudio.studio.app import StudioApp
    from flowstudio.studio.hangup import heed_hangup

    heed_hangup()
    app = StudioApp(options)
    app.run()
    return app.return_code or 0


def _show_without_terminal(wanted: Path | None, extra_dirs: list[Path]) -> int:
    """No terminal: print the picture that the studio would open with, and say what to use."""
    from flowstudio.cli.find import find_skill
    from flowstudio.cli.output import say

    status = 2
    if wanted is not None:
        skill = find_skill(str(wanted), extra_dirs)
        if skill is None:
            return 2
        status = 1 if skill.errors else 0
        if skill.chart is not None and skill.chart.nodes:
            from flowstudio.drawing import draw

            say(draw(skill.chart, zoom="title").text(), end="")
    say(
        "flowstudio: the studio needs a terminal, and there is none here; without one use\n"
        "  flowstudio list, show, check, draw or run (each has --help)",
        file=sys.stderr,
    )
    return status
