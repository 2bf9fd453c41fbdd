"""`flowstudio run`: a run without a screen, for scripts and CI."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio.cli.attach import attachable
from flowstudio.cli.find import find_skill
from flowstudio.cli.leash import LeashError, leashed_session
from flowstudio.cli.output import fail, print_diagnostics, say
from flowstudio.cli.run_output import (
    STATUS,
    RunJson,
    RunOutput,
    RunPrinter,
)
from flowstudio.cli.trust import TRUST_HINT, require_trust
from flowstudio.cli.values import (
    WrongValue,
    explain_missing,
    explain_unused,
    read_input,
    read_variables,
)
from flowstudio.config import Config, load_config
from flowstudio.wire import (
    ChoiceRejected,
    EndReason,
    Event,
    NodeEntered,
    RunEnded,
    StepBegan,
    Wire,
)

if TYPE_CHECKING:
    from flowstudio.models.script import Script
    from flowstudio.run.breakpoints import Breakpoint
    from flowstudio.run.session import RunRequest
    from flowstudio.skill import Skill


def run_flow(args: argparse.Namespace) -> int:
    """Run a flow or a plain prompt and give the exit status of its end."""
    if wrong := _wrong_call(args):
        return fail(wrong, "flowstudio run --help shows examples")
    loaded = load_config()
    for problem in loaded.problems:
        say(f"flowstudio: {problem}", file=sys.stderr)
    config = loaded.config
    if args.max_idle_visits is not None:
        config.loop.max_idle_visits = args.max_idle_visits
    if args.prompt is not None:
        return _run_prompt(args, config)
    skill = find_skill(args.path, args.skills_dir)
    if skill is None:
        return 2
    if skill.flow is None:
        print_diagnostics(skill.diagnostics, {skill.path: skill.source}, file=sys.stderr)
        return fail(f"{skill.name} holds no flow that can be run", "")
    return _run_skill(args, skill, config)


def _wrong_call(args: argparse.Namespace) -> str:
    """What is wrong with the call, if anything."""
    if (args.path is None) == (args.prompt is None):
        return "give a flow to run, or --prompt TEXT"
    if args.max_moves is not None and args.max_moves < 1:
        return "--max-moves must be at least 1"
    if args.max_idle_visits is not None and args.max_idle_visits < 0:
        return "--max-idle-visits must be at least 0"
    if args.max_ralph_iterations is not None:
        if args.max_ralph_iterations < -1:
            return "--max-ralph-iterations must be at least 0, or -1 for no bound"
        if args.prompt is None:
            return "--max-ralph-iterations repeats a plain prompt: give it with --prompt TEXT"
    if args.prompt is not None and (args.input is not None or args.var):
        return "--prompt is sent as it is: --input and --var go with a flow"
    if args.prompt is not None and args.max_moves is not None:
        return "--prompt is bounded by --max-ralph-iterations, not by --max-moves"
    return ""


def _run_prompt(args: argparse.Namespace, config: Config) -> int:
    from flowstudio.run.plain_prompt import prompt_request

    try:
        prompt = read_input(args.prompt, "--prompt")
    except WrongValue as error:
        return fail(str(error), "")
    if not prompt.strip():
        return fail("the prompt is empty", "")
    rounds: int = (
        config.loop.max_ralph_iterations
        if args.max_ralph_iterations is None
        else args.max_ralph_iterations
    )
    return _start(args, config, prompt_request(prompt, rounds))


def _run_skill(args: argparse.Namespace, skill: Skill, config: Config) -> int:
    from flowstudio.run.prompts import missing_values
    from flowstudio.run.runner import DEFAULT_MAX_MOVES
    from flowstudio.run.session import RunRequest

    assert skill.flow is not None
    is_rehearsal = args.script is not None or args.seed is not None
    try:
        variables = read_variables(args.var)
        # In a rehearsal nobody reads the prompts, so the input may be left out.
        missing = missing_values(
            skill.flow,
            variables,
            has_input=args.input is not None or is_rehearsal,
            source=skill.source,
        )
        if missing:
            return fail(explain_missing(missing, str(skill.path)), "")
        text = None if args.input is None else read_input(args.input)
    except WrongValue as error:
        return fail(str(error), "")
    for warning in explain_unused(skill.flow, list(variables)):
        say(f"flowstudio: {warning}", file=sys.stderr)
    request = RunRequest(
        skill.flow,
        skill.name,
        skill.path,
        skill.source,
        text or "",
        max_moves=args.max_moves or DEFAULT_MAX_MOVES,
        variables=variables,
    )
    return _start(args, config, request, skill=skill, takes_script_input=text is None)


def _start(
    args: argparse.Namespace,
    config: Config,
    request: RunRequest,
    *,
    skill: Skill | None = None,
    takes_script_input: bool = False,
) -> int:
    from flowstudio.run.breakpoints import parse_break_option
    from flowstudio.run.conditions import ConditionError

    points: list[Breakpoint] = []
    for option in args.breakpoints:
        try:
            points.append(parse_break_option(option, request.flow.nodes))
        except ConditionError as error:
            return fail(f"--break {option!r}: {error}", "")
    if args.script is not None:
        request = replace(request, script=str(Path(args.script).absolute()))
    request = replace(request, seed=args.seed)
    return asyncio.run(
        _run(args, config, request, points, skill=skill, takes_script_input=takes_script_input)
    )


@dataclass(slots=True)
class _Tally:
    """What a script's expectations are held against."""

    path: list[str] = field(default_factory=list[str])
    calls: int = 0
    retries: int = 0
    reason: EndReason | None = None

    def take(self, event: Event) -> None:
        match event.body:
            case NodeEntered():
                self.path.append(event.node or "")
            case StepBegan():
                self.calls += 1
            case ChoiceRejected():
                self.retries += 1
            case RunEnded(reason=reason):
                self.reason = reason
            case _:
                pass

    def misses(self, script: Script) -> list[str]:
        """Where the run is not what the script expects, a sentence each."""
        found: list[str] = []
        pairs = (
            ("path", script.expected_path, tuple(self.path)),
            ("end", script.expected_end, self.reason),
            ("model calls", script.expected_model_calls, self.calls),
            ("retries", script.expected_retries, self.retries),
        )
        for what, expected, got in pairs:
            if expected is None or expected == got:
                continue
            if isinstance(expected, tuple) and isinstance(got, tuple):
                at = next(
                    (i for i, (a, b) in enumerate(zip(expected, got, strict=False)) if a != b),
                    min(len(expected), len(got)),
                )
                want = expected[at] if at < len(expected) else "the end"
                have = got[at] if at < len(got) else "the end"
                found.append(f"the path differs at move {at}: expected {want}, got {have}")
            else:
                found.append(f"{what}: expected {expected}, got {got}")
        return found


async def _run(
    args: argparse.Namespace,
    config: Config,
    request: RunRequest,
    points: Sequence[Breakpoint],
    *,
    skill: Skill | None,
    takes_script_input: bool,
) -> int:
    from flowstudio import paths
    from flowstudio.models import ModelError, load_script
    from flowstudio.run.answerers import Who, build_llm
    from flowstudio.run.breakpoints import Breakpoints
    from flowstudio.run.control import RunControl
    from flowstudio.skill import configured_dirs, discover
    from flowstudio.soul import MaxStepsReached

    try:
        script = load_script(args.script) if args.script is not None else None
        llm = await build_llm(Who(args.model, script, args.seed), config)
    except ModelError as error:
        return fail(str(error), "")
    if skill is not None and llm.answers_as == "model":
        extra_dirs = configured_dirs(args.skills_dir)
        if why := require_trust(skill, Path.cwd(), extra_dirs, trust_now=args.trust):
            return fail(why, TRUST_HINT)
    if script is not None and takes_script_input:
        request = replace(request, input=script.args)
    wire = Wire()
    control = RunControl(breakpoints=Breakpoints(points))
    tally = _Tally()
    wire.subscribe(tally.take)
    output = RunOutput(RunJson().show if args.json else RunPrinter(config.currency).show, control)
    wire.subscribe(output.take)
    catalogue = discover(Path.cwd(), extra_dirs=configured_dirs(args.skills_dir))
    try:
        async with leashed_session(
            args,
            config,
            wire,
            work_dir=Path.cwd(),
            llm=llm,
            skills=catalogue.skills,
            runs_dir=paths.runs_dir(),
        ) as session:
            async with attachable(args, session, control):
                try:
                    reason = (await session.run_flow(request, control)).reason
                except MaxStepsReached:
                    reason = tally.reason or "max_moves"
    except (LeashError, ModelError) as error:
        return fail(str(error), "")
    except OSError as error:
        return fail(f"the run cannot be kept on disk: {error}", "see FLOWSTUDIO_HOME")
    if output.is_closed:
        raise BrokenPipeError
    if script is not None and (misses := tally.misses(script)):
        for miss in misses:
            say(f"flowstudio: the script's expectation failed: {miss}", file=sys.stderr)
        return 1
    return STATUS[reason]
