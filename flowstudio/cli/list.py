"""`flowstudio list`: the skills that are found, by scope."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from flowstudio.cli.output import fail, print_diagnostics, print_json, say
from flowstudio.cli.records import diagnostic_record
from flowstudio.skill import Skill, configured_dirs, discover
from flowstudio.text import first_line


def list_skills(args: argparse.Namespace) -> int:
    """`flowstudio list`"""
    work_dir: Path = args.path or Path.cwd()
    if not work_dir.is_dir():
        return fail(f"{work_dir} is not a folder", "give a work folder, or leave PATH out")
    catalogue = discover(work_dir, extra_dirs=configured_dirs(args.skills_dir))
    if args.json:
        print_json([_skill_record(skill) for skill in catalogue.skills], indent=2)
        return 0
    width = max((len(skill.name) for skill in catalogue.skills), default=0)
    scope = None
    for skill in catalogue.skills:
        if skill.scope != scope:
            scope = skill.scope
            say(f"\n{scope}" if scope != catalogue.skills[0].scope else scope)
        mark = "◆" if skill.declared_type == "flow" else "◇"
        errors = f"  ▲{len(skill.errors)}" if skill.errors else ""
        say(f"  {mark} {skill.name:<{width}}  {first_line(skill.description)}{errors}")
    print_diagnostics(catalogue.findings, {}, file=sys.stderr)
    return 0


def _skill_record(skill: Skill) -> dict[str, Any]:
    return {
        "name": skill.name,
        "description": skill.description,
        "type": skill.declared_type,
        "scope": skill.scope,
        "path": str(skill.path),
        "valid": not skill.errors,
        "diagnostics": [diagnostic_record(d) for d in skill.diagnostics],
    }
