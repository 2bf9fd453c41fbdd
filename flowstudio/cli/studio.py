"""`flowstudio [PATH]`: opens the studio."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from flowstudio.cli.output import fail, say
from flowstudio.skill import SkillError, Target, discover, load_skill, resolve


def open_studio(args: argparse.Namespace) -> int:
    """Open the full-screen studio."""
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
        return _show_without_terminal(target)
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


def _show_without_terminal(target: Target) -> int:
    """No terminal: print the picture that the studio would open with, and say what to use."""
    skill = load_skill(target.skill) if target.skill else None
    if skill is not None and skill.chart is not None and skill.chart.nodes:
        from flowstudio.drawing import draw

        say(draw(skill.chart, zoom="title").text(), end="")
    say(
        "flowstudio: the studio needs a terminal, and there is none here; without one use\n"
        "  flowstudio list, show, check, draw or run (each has --help)",
        file=sys.stderr,
    )
    return 0 if skill is not None and not skill.errors else 2
