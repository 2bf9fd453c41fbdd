"""`flowstudio rename`: another id for a node, everywhere."""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

from flowstudio.cli.find import find_skill
from flowstudio.cli.output import fail, say
from flowstudio.skill import SkillError, save
from flowstudio.skill.rewrite import with_name


def rename(args: argparse.Namespace) -> int:
    """`flowstudio rename`"""
    skill = find_skill(args.path, args.skills_dir)
    if skill is None:
        return 2
    try:
        text, now = with_name(skill, args.old, args.new)
    except SkillError as error:
        return fail(str(error), "")
    if args.diff:
        old, new = skill.source.splitlines(), text.splitlines()
        for line in difflib.unified_diff(old, new, str(skill.path), "renamed", lineterm="", n=1):
            say(line)
        return 0
    if text == skill.source:
        say(f"{skill.path}: “{args.old}” is called so already")
        return 0
    try:
        save(skill, text)
    except SkillError as error:
        return fail(str(error), "")
    lines = sum(a != b for a, b in zip(skill.source.splitlines(), text.splitlines(), strict=False))
    say(f"{skill.path}: “{args.old}” is “{now}” now, in {lines} lines")
    return _move_breakpoints(args, skill.path, now)


def _move_breakpoints(args: argparse.Namespace, path: Path, now: str) -> int:
    from flowstudio.run.kept_breakpoints import rename_in_kept

    try:
        moved = rename_in_kept(path, args.old, now)
    except OSError as error:
        reason = error.strerror or error
        say(f"flowstudio: its breakpoints were not moved: {reason}", file=sys.stderr)
        return 0
    if moved:
        say(f"  {moved} breakpoint{'s' if moved > 1 else ''} moved along")
    return 0
