"""`flowstudio [PATH]`: opens the studio."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from flowstudio.cli.output import fail


def open_studio(args: argparse.Namespace) -> int:
    """Open the full-screen studio."""
    from flowstudio.skill import SkillError, Target, discover, resolve

    wanted: Path | None = args.prompt_flow or args.path
    try:
        target = resolve(wanted, extra_dirs=args.skills_dir)
    except SkillError as error:
        # Not a path: perhaps a skill's name, as `flowstudio run` takes it.
        named = discover(Path.cwd(), extra_dirs=args.skills_dir, charts=False).get(str(wanted))
        if named is None:
            return fail(str(error), "flowstudio list shows the skills that can be opened by name")
        target = Target(Path.cwd(), named.path)
    if args.script is not None and not Path(args.script).is_file():
        return fail(f"{args.script}: no such file", "--script takes a YAML file of answers")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return fail(
            "the studio needs a terminal",
            "without one, use: flowstudio list, show, check, draw, run (each has --help)",
        )
    from flowstudio.studio.app import StudioApp
    from flowstudio.studio.driver import StudioOptions

    options = StudioOptions(
        work_dir=target.work_dir,
        model=args.model,
        script=args.script,
        seed=args.seed,
        yolo=args.yolo,
        skills_dirs=tuple(args.skills_dir),
        theme=args.theme,
        pace=0.02,
    )
    app = StudioApp(options, select=target.skill, files=target.files)
    app.run()
    return app.return_code or 0
