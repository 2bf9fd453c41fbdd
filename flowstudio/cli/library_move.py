"""`flowstudio library add|import|export`: skills come in, and go out."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from flowstudio.cli.output import fail, print_json, say
from flowstudio.mindflow.archive import (
    ArchiveError,
    Incoming,
    Unpacked,
    bring,
    find_incoming,
    open_source,
    pack,
)
from flowstudio.paths import home
from flowstudio.skill import Root, Skill, configured_dirs, discover, find_project, read_roots
from flowstudio.skill.roots import PROJECT_ROOTS, USER_ROOTS

_SAID = {
    "add": "added",
    "replace": "replaced",
    "same": "is there already, the same",
    "taken": "left out: its name is taken",
    "broken": "left out: it is not in order",
}
_WOULD = {**_SAID, "add": "would be added", "replace": "would be replaced"}


def bring_in(args: argparse.Namespace) -> int:
    """`flowstudio library add` and `flowstudio library import`"""
    target = _find_target(args)
    try:
        source = open_source(args.path)
    except ArchiveError as error:
        return fail(str(error), "")
    with source:
        present = read_roots([Root(target, "user", target)])
        found = find_incoming(source, target, present.skills, replace=args.replace)
        if not found:
            return fail(f"{args.path} holds no skill", "a skill is a folder with a SKILL.md")
        done: list[Incoming] = []
        for one in found:
            if one.verdict in ("add", "replace") and not args.dry_run:
                try:
                    bring(one)
                except OSError as error:
                    return fail(f"{one.skill.name} cannot be written: {error}", "")
            done.append(one)
        _report(args, target, source, done)
    return 1 if any(one.verdict in ("taken", "broken") for one in found) else 0


def export(args: argparse.Namespace) -> int:
    """`flowstudio library export`"""
    catalogue = discover(Path.cwd(), extra_dirs=configured_dirs(args.skills_dir))
    chosen: list[Skill] = []
    for name in args.names:
        match = catalogue.find(name)
        if match.skill is None:
            near = " or ".join(match.suggestions)
            return fail(f"there is no skill {name!r} here", f"did you mean {near}?" if near else "")
        chosen.append(match.skill)
    if not args.names:
        chosen = [skill for skill in catalogue.skills if skill.scope != "builtin"]
    if not chosen:
        return fail("there is nothing to pack", "name the bundled skills that you want")
    if args.file.exists() and not args.force:
        return fail(f"{args.file} is there already", "--force replaces it")
    left_out: list[str] = []
    if not args.dry_run:
        try:
            left_out = pack(chosen, args.file)
        except (OSError, ArchiveError) as error:
            return fail(f"{args.file} cannot be written: {error}", "")
    names = [skill.name for skill in chosen]
    if args.json:
        record = {"file": str(args.file), "skills": names, "left_out": left_out}
        print_json({**record, "written": not args.dry_run}, indent=2)
        return 0
    for sentence in left_out:
        say(f"flowstudio: {sentence}", file=sys.stderr)
    would = "would be packed" if args.dry_run else f"packed into {args.file}"
    say(f"{len(names)} {would}: {', '.join(names)}")
    return 0


def _find_target(args: argparse.Namespace) -> Path:
    """The folder of skills that they go to: the first of its kind that is there."""
    if args.to is not None:
        return args.to.resolve()
    base = find_project(Path.cwd()) if args.project else home()
    roots = PROJECT_ROOTS if args.project else USER_ROOTS
    return next((base / root for root in roots if (base / root).is_dir()), base / roots[0])


def _report(args: argparse.Namespace, target: Path, source: Unpacked, done: list[Incoming]) -> None:
    said = _WOULD if args.dry_run else _SAID
    if args.json:
        skills: list[dict[str, Any]] = [
            {
                "name": one.skill.name,
                "verdict": one.verdict,
                "target": str(one.target),
                "note": one.note,
                "warnings": [d.message for d in one.skill.diagnostics if d.severity == "warning"],
            }
            for one in done
        ]
        record = {"target": str(target), "skills": skills, "left_out": source.left_out}
        print_json({**record, "dry_run": args.dry_run}, indent=2)
        return
    for one in done:
        say(f"{one.skill.name}: {said[one.verdict]}" + (f" ({one.note})" if one.note else ""))
    for sentence in source.left_out:
        say(f"flowstudio: {sentence}", file=sys.stderr)
    say(f"in {target}")
    if any(one.verdict == "taken" for one in done):
        say("--replace takes the new ones", file=sys.stderr)
