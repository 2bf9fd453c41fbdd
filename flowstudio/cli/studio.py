"""`flowstudio [PATH]`: opens the studio."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def open_studio(args: argparse.Namespace) -> int:
    """Open the full-screen studio. What PATH means is found out after the first paint."""
    if args.script is not None and not Path(args.script).is_file():
        from flowstudio.cli.output import fail

        return fail(f"{args.script}: no such file", "--script takes a YAML file of answers")
    if args.max_ralph_iterations is not None and args.max_ralph_iterations < -1:
        from flowstudio.cli.output import fail

        return fail("--max-ralph-iterations must be at least 0, or -1 for no bound", "")
    wanted: Path | None = args.prompt_flow or args.path
    from flowstudio.cli.serve import is_in_browser

    if not (sys.stdin.isatty() and sys.stdout.isatty()) and not is_in_browser():
        return _show_without_terminal(wanted, args.skills_dir)
    from flowstudio.studio.app import StudioApp
    from flowstudio.studio.driver import StudioOptions
    from flowstudio.studio.hangup import heed_hangup

    options = StudioOptions(
        path=wanted,
        welcome=True,
        model=args.model,
        script=args.script,
        seed=args.seed,
        yolo=args.yolo,
        sandbox=args.sandbox,
        no_network=args.no_network,
        agent=args.agent,
        skills_dirs=tuple(args.skills_dir),
        theme=args.theme,
        max_ralph_iterations=args.max_ralph_iterations,
        pace=0.02,
    )
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
