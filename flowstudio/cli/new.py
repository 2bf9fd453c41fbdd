"""`flowstudio new`: a new flow skill from a template."""

from __future__ import annotations

import argparse
from pathlib import Path

from flowstudio.cli.output import fail, say
from flowstudio.paths import show_path
from flowstudio.skill import SkillError
from flowstudio.skill.starting import DEFAULT, TEMPLATES, start_skill, usual_folder


def new(args: argparse.Namespace) -> int:
    """`flowstudio new`"""
    if args.list:
        width = max(map(len, TEMPLATES))
        for template in TEMPLATES.values():
            say(f"{template.name:<{width}}  {template.about}")
        return 0
    if args.name is None:
        return fail("a new skill needs a name", "flowstudio new NAME; --list shows the templates")
    folder = args.dir or usual_folder(Path.cwd())
    try:
        path = start_skill(
            folder, args.name, args.template or DEFAULT, args.language, args.description
        )
    except SkillError as error:
        return fail(str(error), "")
    shown = show_path(path, Path.cwd())
    say(f"wrote {shown}")
    say(f"  flowstudio {shown}   opens it; v shows its source")
    return 0
