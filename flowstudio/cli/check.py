"""`flowstudio check`: what is wrong with flows, and the repair of what is safe."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from flowstudio.cli.formats import github_line, sarif_log
from flowstudio.cli.output import fail, print_diagnostics, print_json, say
from flowstudio.cli.records import diagnostic_record
from flowstudio.skill import Root, Skill, SkillError, find_roots, load_skill, read_roots


def check(args: argparse.Namespace) -> int:
    """`flowstudio check`"""
    form = "json" if args.json else args.format
    skills: dict[Path, Skill] = {}
    for path in args.paths:
        found = _skills_at(path)
        if found is None:
            return 2
        for skill in found:
            skills.setdefault(skill.path.resolve(), skill)
    checked = list(skills.values())
    if args.fix:
        # Where a program reads the findings, the diffs must not stand between them.
        out = sys.stdout if form == "text" else sys.stderr
        checked = [_fix(skill, ask=not args.yes, file=out) for skill in checked]
    findings = [d for skill in checked for d in skill.diagnostics]
    errors = sum(d.severity == "error" for d in findings)
    match form:
        case "json":
            print_json([diagnostic_record(d) for d in findings], indent=2)
        case "sarif":
            print_json(sarif_log(findings), indent=2)
        case "github":
            for d in findings:
                say(github_line(d))
        case _:
            sources = {skill.path: skill.source for skill in checked}
            print_diagnostics(findings, sources, file=sys.stdout)
            warnings = len(findings) - errors
            counts = f"{errors} errors, {warnings} warnings" if findings else "all good"
            say(f"{len(checked)} checked: {counts}")
    return 1 if errors else 0


def _fix(skill: Skill, *, ask: bool, file: TextIO) -> Skill:
    """The skill after its safe repairs were shown and, if the user agrees, written."""
    from flowstudio.cli.fix import fixed_text, show_diff
    from flowstudio.skill import save

    text = fixed_text(skill)
    if text == skill.source:
        return skill
    show_diff(skill.path, skill.source, text, file)
    if ask:
        if not sys.stdin.isatty():
            say("  not written: nobody is here to agree; --yes writes it", file=sys.stderr)
            return skill
        say(f"write {skill.path}? [y/N] ", end="", file=file)
        file.flush()
        if sys.stdin.readline().strip().casefold() not in ("y", "yes"):
            return skill
    try:
        return save(skill, text)
    except SkillError as error:
        say(f"flowstudio: {error}", file=sys.stderr)
        return skill


def _skills_at(path: Path) -> Sequence[Skill] | None:
    try:
        return [load_skill(path)]
    except SkillError as error:
        if not path.is_dir():
            fail(str(error), "")
            return None
    below = _below(path)
    if not below:
        fail(f"{path} holds no skill and no chart", "give a skill folder, a SKILL.md or a chart")
        return None
    return below


def _below(folder: Path) -> list[Skill]:
    """The skills in a folder of skills, and those of a work folder's roots."""
    own = [root for root in find_roots(folder) if root.scope == "project"]
    catalogue = read_roots([Root(folder, "extra", folder), *own])
    found: dict[Path, Skill] = {}
    for skill in (*catalogue.skills, *catalogue.shadowed):
        found[skill.path.resolve()] = skill
    for file in sorted(folder.iterdir()):
        if file.suffix in (".mmd", ".mermaid", ".d2") and file.is_file():
            found.setdefault(file.resolve(), load_skill(file))
    return list(found.values())
