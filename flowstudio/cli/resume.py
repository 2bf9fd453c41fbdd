"""`flowstudio resume` and `flowstudio fork`: going on with earlier runs, without a screen."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio.cli.attach import attachable
from flowstudio.cli.leash import LeashError, leashed_session
from flowstudio.cli.output import fail, print_json, say
from flowstudio.cli.trust import TRUST_HINT
from flowstudio.config import load_config
from flowstudio.wire import EndReason, Event, RunEnded, Wire

if TYPE_CHECKING:
    from flowstudio.config import Config
    from flowstudio.run.answerers import Who
    from flowstudio.run.folder import AnsweredBy, Header


def resume(args: argparse.Namespace) -> int:
    """Go on with a run and give the exit status of its end."""
    path = find(args.run)
    return 2 if path is None else _go_on(args, path)


def fork(args: argparse.Namespace) -> int:
    """Fork a run before a visit, and run the new one."""
    from flowstudio.run.fork import find_move, fork_run, undo_writes, writes_since
    from flowstudio.run.resume import ResumeRefused
    from flowstudio.soul.undo import UndoError

    name, at, visit = args.visit.rpartition("@")
    if not at:
        return fail(f"{args.visit}: no visit is named", "such as last@7, or last@verdict:2")
    path = find(name)
    if path is None:
        return 2
    prompt: str | None = None
    if args.prompt is not None:
        try:
            prompt = args.prompt.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            return fail(f"the prompt cannot be read: {error}", "")
    try:
        move = find_move(path, visit)
        if args.undo_files:
            for said in undo_writes(path, writes_since(path, move)):
                say(said, file=sys.stderr)
        made = fork_run(
            path, move, branch=args.choose, prompt=prompt, answered_by=_answered_by(args)
        )
    except UndoError as error:
        return fail(str(error), "nothing was undone, and no fork made; see --undo-files")
    except (ResumeRefused, OSError, ValueError) as error:
        return fail(str(error), "")
    if args.no_run:
        if args.json:
            print_json({"id": made.id, "parent": path.name, "move": move, "path": str(made.path)})
        else:
            say(made.id)
        return 0
    return _go_on(args, made.path)


def _answered_by(args: argparse.Namespace) -> AnsweredBy | None:
    """Whom the call names to answer, for the new run's header; None where it names nobody."""
    from flowstudio.models.registry import REHEARSAL
    from flowstudio.run.folder import AnsweredBy

    if args.script is not None:
        return AnsweredBy(REHEARSAL, script=str(args.script.absolute()))
    if args.seed is not None:
        return AnsweredBy(REHEARSAL, seed=args.seed)
    return AnsweredBy(args.model) if args.model is not None else None


def find(name: str) -> Path | None:
    """The folder of a run; says what is wrong, and gives None, where there is none."""
    from flowstudio import paths
    from flowstudio.run.history import NoSuchRun, find_run

    try:
        return find_run(paths.runs_dir(), name)
    except NoSuchRun as error:
        fail(str(error), "")
        return None


def _go_on(args: argparse.Namespace, path: Path) -> int:
    from flowstudio.models import ModelError
    from flowstudio.run.resume import FlowChanged, ResumeRefused, resume_plan

    try:
        plan = resume_plan(path)
        plan.start(plan.source(args.flow))
    except FlowChanged as error:
        hint = "--flow current goes on with the file as it is now, --flow recorded as it was"
        return fail(f"{path.name}: {error}", hint)
    except ResumeRefused as error:
        hint = f"a fork runs from any visit of it: flowstudio fork {path.name}@VISIT"
        return fail(f"{path.name}: {error}", hint)
    except (OSError, ValueError) as error:
        return fail(str(error), "")
    if plan.holder is not None:
        return fail(f"the run {path.name} is on: {plan.holder} writes it", "")
    header = plan.folder.header
    if not Path(header.work_dir).is_dir():
        return fail(f"{path.name}: its work folder {header.work_dir} is gone", "")
    loaded = load_config()
    for problem in loaded.problems:
        say(f"flowstudio: {problem}", file=sys.stderr)
    try:
        who = _who(args, header)
    except ModelError as error:
        return fail(str(error), "")
    return asyncio.run(_run(args, path, header, who, loaded.config))


def _who(args: argparse.Namespace, header: Header) -> Who:
    """Who answers: whom the call names, else whoever did before.

    Raises:
        ModelError: a script cannot be read, or the user did.
    """
    from flowstudio.models import ModelError
    from flowstudio.models.registry import REHEARSAL
    from flowstudio.models.script import load_script
    from flowstudio.run.answerers import Who

    if args.script is not None:
        return Who(script=load_script(args.script))
    if args.seed is not None or args.model is not None:
        return Who(args.model, seed=args.seed)
    if header.script is not None:
        return Who(script=load_script(Path(header.script)))
    if header.seed is not None:
        return Who(seed=header.seed)
    if header.model in ("", REHEARSAL):
        raise ModelError(
            "the run was a rehearsal, and nobody is here to answer: give --model M, --script FILE "
            "or --seed N, or go on with it in the studio."
        )
    return Who(header.model)


async def _run(
    args: argparse.Namespace, path: Path, header: Header, who: Who, config: Config
) -> int:
    from flowstudio.cli.run_output import (
        STATUS,
        RunJson,
        RunOutput,
        RunPrinter,
    )
    from flowstudio.models import ModelError
    from flowstudio.run.answerers import build_llm
    from flowstudio.run.control import RunControl
    from flowstudio.run.lock import RunBusy
    from flowstudio.run.resume import ResumeRefused
    from flowstudio.skill import configured_dirs, discover
    from flowstudio.soul import MaxStepsReached

    try:
        llm = await build_llm(who, config)
    except ModelError as error:
        return fail(str(error), "")
    wire, control = Wire(), RunControl()
    reasons: list[EndReason] = []

    def take_end(event: Event) -> None:
        if isinstance(event.body, RunEnded):
            reasons.append(event.body.reason)

    wire.subscribe(take_end)
    output = RunOutput(RunJson().show if args.json else RunPrinter().show, control)
    wire.subscribe(output.take)
    work_dir = Path(header.work_dir)
    if header.path is not None and llm.answers_as == "model":
        why = _why_no_trust(work_dir / header.path, work_dir, trust_now=args.trust)
        if why:
            return fail(why, TRUST_HINT)
    catalogue = discover(work_dir, extra_dirs=configured_dirs([]))
    try:
        async with leashed_session(
            args,
            config,
            wire,
            work_dir=work_dir,
            llm=llm,
            skills=catalogue.skills,
            runs_dir=path.parent,
        ) as session:
            async with attachable(args, session, control):
                with contextlib.suppress(MaxStepsReached):
                    await session.resume(path, args.flow, control)
    except (LeashError, ModelError, RunBusy, ResumeRefused, ValueError) as error:
        return fail(str(error), "")
    except OSError as error:
        return fail(f"the run cannot be kept on disk: {error}", "see FLOWSTUDIO_HOME")
    if output.is_closed:
        raise BrokenPipeError
    return STATUS[reasons[-1]]


def _why_no_trust(path: Path, work_dir: Path, *, trust_now: bool) -> str:
    """Why the run's skill may not be run with tools; empty where it may."""
    from flowstudio.cli.trust import require_trust
    from flowstudio.skill import SkillError, configured_dirs, load_skill

    try:
        skill = load_skill(path)
    except SkillError:
        # The file is gone: the run goes on with what it recorded, which was trusted when it began.
        return ""
    return require_trust(skill, work_dir, configured_dirs([]), trust_now=trust_now)
