"""`flowstudio stability`: how a decision splits when it is asked many times."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio.cli.batch_report import print_split
from flowstudio.cli.find import find_skill
from flowstudio.cli.output import can_show, fail, print_diagnostics, print_json, say
from flowstudio.cli.trust import TRUST_FIRST, require_trust
from flowstudio.cli.values import WrongValue, explain_missing, read_input, read_variables
from flowstudio.config import Config, load_config
from flowstudio.text import count, shorten

if TYPE_CHECKING:
    from kosong.message import Message

    from flowstudio.run.answerers import Who
    from flowstudio.run.folder import RunFolder
    from flowstudio.run.stability import Asked, Question, Split
    from flowstudio.skill import Skill

_SAMPLES = 5
"""Answers without a branch that are shown."""


def ask_decision(args: argparse.Namespace) -> int:
    """Ask, print the split, and give the exit status: 0 where each answer named a branch."""
    for name in ("times", "parallel"):
        if getattr(args, name) < 1:
            return fail(f"--{name} must be at least 1", "")
    skill = find_skill(args.path, args.skills_dir)
    if skill is None:
        return 2
    if skill.flow is None:
        print_diagnostics(skill.diagnostics, {skill.path: skill.source}, file=sys.stderr)
        return fail(f"{skill.name} holds no flow that can be run", "")
    loaded = load_config()
    for complaint in loaded.problems:
        say(f"flowstudio: {complaint}", file=sys.stderr)
    question = _make_question(args, skill)
    if question is None:
        return 2
    if args.script is None and args.seed is None:
        from flowstudio.skill import configured_dirs

        dirs = configured_dirs(args.skills_dir)
        if why := require_trust(skill, Path.cwd(), dirs, trust_now=False):
            return fail(why, TRUST_FIRST)
    return _run(args, question, loaded.config)


def _make_question(args: argparse.Namespace, skill: Skill) -> Question | None:
    """What to ask; where it cannot be asked, says why and gives None."""
    from flowstudio.run.history import NoSuchRun
    from flowstudio.run.prompts import missing_values
    from flowstudio.run.resume import ResumeRefused
    from flowstudio.run.stability import find_history, make_question
    from flowstudio.soul.context import ContextError

    flow = skill.flow
    assert flow is not None
    history: tuple[Message, ...] = ()
    try:
        variables = read_variables(args.var)
        text = None if args.input is None else read_input(args.input)
        make_question(flow, args.node, "", {})  # says first whether it is a decision at all
        if args.run is not None:
            folder, move = _find_run(args.run)
            history = find_history(folder, args.node, move)
            text = folder.header.input if text is None else text
            variables = {**folder.header.variables, **variables}
    except (WrongValue, NoSuchRun, ResumeRefused, ValueError, ContextError, OSError) as error:
        fail(str(error), "")
        return None
    has_input = text is not None or args.script is not None or args.seed is not None
    places = missing_values(flow, variables, has_input=has_input, source=skill.source)
    if missing := [one for one in places if one.written in flow.nodes[args.node].text]:
        fail(explain_missing(missing, str(skill.path)), "")
        return None
    return make_question(flow, args.node, text or "", variables, history)


def _find_run(wanted: str) -> tuple[RunFolder, int | None]:
    """The run, and the move of the visit, that `ID@VISIT` names.

    Raises:
        NoSuchRun: there is no such run.
        ResumeRefused: the run has no such visit.
        ValueError, OSError: it cannot be read.
    """
    from flowstudio import paths
    from flowstudio.run.folder import open_run
    from flowstudio.run.fork import find_move
    from flowstudio.run.history import find_run

    name, at, visit = wanted.partition("@")
    path = find_run(paths.runs_dir(), name)
    return open_run(path), find_move(path, visit) if at else None


def _run(args: argparse.Namespace, question: Question, config: Config) -> int:
    from flowstudio.models.errors import ModelError
    from flowstudio.models.script import load_script
    from flowstudio.run.answerers import Who
    from flowstudio.soul.tools.sandbox import SandboxError

    try:
        script = load_script(args.script) if args.script is not None else None
        who = Who(args.model, script, args.seed)
        split = asyncio.run(_ask(args, question, config, who))
    except (ModelError, SandboxError) as error:
        return fail(str(error), "")
    if args.json:
        print_json(split.to_json(), indent=2)
    else:
        _print(split)
    return 1 if split.invalid or split.failed else 0


async def _ask(args: argparse.Namespace, question: Question, config: Config, who: Who) -> Split:
    from flowstudio.run.answerers import build_llm
    from flowstudio.run.stability import ask_often
    from flowstudio.skill import configured_dirs, discover
    from flowstudio.soul.tools.sandbox import open_sandbox

    llm = await build_llm(who, config)
    sandbox, missing = await open_sandbox(config) if not who.is_rehearsal else (None, "")
    if missing:
        say(f"flowstudio: {missing}", file=sys.stderr)
    catalogue = discover(Path.cwd(), extra_dirs=configured_dirs(args.skills_dir))
    done = 0

    def show(_: Asked) -> None:
        nonlocal done
        done += 1
        if sys.stderr.isatty():
            end = "\n" if done == args.times else "\r"
            say(f"{done} of {args.times} asked", end=end, file=sys.stderr)

    return await ask_often(
        question,
        args.times,
        llm=llm,
        config=config,
        work_dir=Path.cwd(),
        skills=catalogue.skills,
        parallel=args.parallel,
        yolo=args.yolo,
        sandbox=sandbox,
        show=show,
    )


def _print(split: Split) -> None:
    plain = not can_show("█×")
    counts = dict(split.counts)
    if split.invalid:
        counts["(no branch)"] = len(split.invalid)
    if split.failed:
        counts["(no answer)"] = len(split.failed)
    print_split(f"{split.node}, asked {len(split.answers)} times", counts, plain=plain)
    tokens = sum(one.tokens for one in split.answers)
    say(f"\n  agreement {split.agreement:.0%}, {count(tokens)} tokens")
    for one in split.invalid[:_SAMPLES]:
        got = "no <choice> tag" if one.got is None else f"“{one.got}”"
        say(f"  no branch: {got}; {shorten(one.text, 120)}")
    for one in split.failed[:_SAMPLES]:
        say(f"  no answer: {shorten(one.failed or '', 160)}")
