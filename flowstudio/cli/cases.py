"""`flowstudio test`: flows against the cases that their authors wrote."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio.cli import case_formats
from flowstudio.cli.find import find_skill
from flowstudio.cli.output import fail, print_diagnostics, say
from flowstudio.skill import Root, Skill, read_roots

if TYPE_CHECKING:
    from flowstudio.run.case_run import FlowResult


def test_flows(args: argparse.Namespace) -> int:
    """Run the cases and give the exit status: 0 passed, 1 failed, 2 where some cannot be run."""
    skills: dict[Path, Skill] = {}
    for wanted in args.paths:
        found = _find_skills(wanted, args.skills_dir)
        if found is None:
            return 2
        for skill in found:
            skills.setdefault(skill.path.resolve(), skill)
    results, are_whole = _run(skills.values())
    if not results and are_whole:
        hint = "write some under tests: in the front matter, or in flow-tests.yaml beside it"
        return fail("there are no cases", hint)
    if results:
        text = _FORMATS[args.format](results)
        if args.output is None:
            say(text, end="")
        else:
            try:
                args.output.write_text(text, encoding="utf-8")
            except OSError as error:
                return fail(f"{args.output}: {error.strerror}", "give another FILE to -o")
    if not are_whole:
        return 2
    return 0 if all(one.passed for result in results for one in result.results) else 1


_FORMATS = {
    "text": case_formats.as_text,
    "junit": case_formats.as_junit,
    "tap": case_formats.as_tap,
}


def _find_skills(wanted: str, extra_dirs: Sequence[Path]) -> Sequence[Skill] | None:
    """The skills of a name, a path or a folder of skills; None where there is nothing."""
    from flowstudio.skill.manifest import manifest_in

    path = Path(wanted)
    if path.is_dir() and manifest_in(path) is None:
        found = read_roots([Root(path, "extra", path)])
        skills = [*found.skills, *found.shadowed]
        if not skills:
            fail(f"{path} holds no skill", "give a skill's name or folder, or a folder of skills")
            return None
        return skills
    skill = find_skill(wanted, extra_dirs)
    return None if skill is None else [skill]


def _run(skills: Iterable[Skill]) -> tuple[list[FlowResult], bool]:
    """What came of all cases, and whether all of them could be run."""
    from flowstudio.run.case_file import load_cases
    from flowstudio.run.case_run import run_case, sum_up

    results: list[FlowResult] = []
    are_whole = True
    for skill in skills:
        loaded = load_cases(skill)
        if loaded.findings:
            print_diagnostics(loaded.findings, loaded.sources, file=sys.stderr)
            are_whole = False
            continue
        if not loaded.cases:
            continue
        if skill.flow is None:
            print_diagnostics(skill.diagnostics, {skill.path: skill.source}, file=sys.stderr)
            fail(f"{skill.name} has cases, but holds no flow that can be run", "")
            are_whole = False
            continue
        done = [asyncio.run(run_case(skill, one)) for one in loaded.cases]
        results.append(sum_up(skill, done))
    return results, are_whole
