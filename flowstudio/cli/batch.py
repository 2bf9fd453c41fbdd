"""`flowstudio batch`: a flow run many times, and what the runs add up to."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio.cli.batch_report import print_summary
from flowstudio.cli.find import find_skill
from flowstudio.cli.output import fail, print_diagnostics, print_json, say
from flowstudio.cli.trust import TRUST_FIRST, require_trust
from flowstudio.config import Config, load_config
from flowstudio.run.batch_inputs import BadLine, BatchInput, find_missing, read_inputs
from flowstudio.text import to_json

if TYPE_CHECKING:
    from flowstudio.run.answerers import Who
    from flowstudio.run.batch_summary import BatchSummary
    from flowstudio.run.jobs import Job, JobResult, Recipe
    from flowstudio.run.workers import Engine
    from flowstudio.skill import Skill

_MOST_BAD_LINES = 20
"""Bad lines that are shown."""
_ENDING = (signal.SIGINT, signal.SIGTERM)


def run_batch(args: argparse.Namespace) -> int:
    """Run the batch and give the exit status: 0 where all runs reached END."""
    if problem := _find_problem(args):
        return fail(*problem)
    skill = find_skill(args.path, args.skills_dir)
    if skill is None:
        return 2
    if skill.flow is None:
        print_diagnostics(skill.diagnostics, {skill.path: skill.source}, file=sys.stderr)
        return fail(f"{skill.name} holds no flow that can be run", "")
    inputs = _take_inputs(args.inputs)
    if inputs is None:
        return 2
    is_rehearsal = args.script is not None or args.seed is not None
    if missing := [*find_missing(inputs, skill.flow, needs_input=not is_rehearsal)]:
        return _refuse(args.inputs or Path("--inputs"), missing)
    loaded = load_config()
    for complaint in loaded.problems:
        say(f"flowstudio: {complaint}", file=sys.stderr)
    return _run(args, skill, inputs, loaded.config)


def _find_problem(args: argparse.Namespace) -> tuple[str, str] | None:
    """What is wrong with the call, and what to do; None where nothing is."""
    for name in ("runs", "parallel", "max_moves"):
        if getattr(args, name) < 1:
            return f"--{name.replace('_', '-')} must be at least 1", ""
    if args.scheduler is not None and args.engine != "dask":
        return "--scheduler goes with --engine dask", ""
    return None


def _take_inputs(path: Path | None) -> list[BatchInput] | None:
    """The inputs; where they cannot be had, says why and gives None."""
    if path is None:
        return [BatchInput(1)]
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        fail(f"{path}: {error.strerror}", "give a file with one JSON value a line, or -")
        return None
    inputs, bad = read_inputs(data)
    if bad:
        _refuse(path, bad)
        return None
    if not inputs:
        fail(f"{path} holds no inputs", 'write one a line: {"input": "...", "vars": {}} or a text')
        return None
    return inputs


def _refuse(path: Path, bad: Sequence[BadLine]) -> int:
    for one in bad[:_MOST_BAD_LINES]:
        say(f"{path}:{one.line}:{one.column}: error: {one.message}", file=sys.stderr)
    if len(bad) > _MOST_BAD_LINES:
        say(f"… and {len(bad) - _MOST_BAD_LINES} more", file=sys.stderr)
    return fail("no run was started", "")


def _run(
    args: argparse.Namespace, skill: Skill, inputs: Sequence[BatchInput], config: Config
) -> int:
    from flowstudio import paths
    from flowstudio.models.errors import ModelError
    from flowstudio.models.script import load_script
    from flowstudio.run.answerers import Who, find_option
    from flowstudio.run.jobs import Recipe
    from flowstudio.skill import configured_dirs
    from flowstudio.soul.tools.sandbox import SandboxError, open_sandbox

    assert skill.flow is not None
    try:
        script = load_script(args.script) if args.script is not None else None
        file = None if args.script is None else str(args.script.absolute())
        who = Who(args.model, script, args.seed, file)
        asyncio.run(find_option(who, config))
        if not who.is_rehearsal and (missing := asyncio.run(open_sandbox(config))[1]):
            say(f"flowstudio: {missing}", file=sys.stderr)
    except (ModelError, SandboxError) as error:
        return fail(str(error), "")
    dirs = configured_dirs(args.skills_dir)
    if not who.is_rehearsal and (why := require_trust(skill, Path.cwd(), dirs, trust_now=False)):
        return fail(why, TRUST_FIRST)
    recipe = Recipe(
        skill.flow,
        skill.name,
        skill.path,
        skill.source,
        who,
        config,
        Path.cwd(),
        paths.runs_dir(),
        max_moves=args.max_moves,
        yolo=args.yolo,
        skills_dirs=tuple(dirs),
    )
    jobs = _plan(inputs, args.runs, who)
    return asyncio.run(_carry_out(args, recipe, jobs))


def _plan(inputs: Sequence[BatchInput], runs: int, who: Who) -> list[Job]:
    from flowstudio.run.jobs import Job

    # A script brings its input along, as with `run`.
    usual = who.script.args if who.script is not None else ""
    pairs = [(one, lap) for one in inputs for lap in range(1, runs + 1)]
    return [
        Job(number, one.line, lap, usual if one.input is None else one.input, one.variables)
        for number, (one, lap) in enumerate(pairs, 1)
    ]


async def _carry_out(args: argparse.Namespace, recipe: Recipe, jobs: Sequence[Job]) -> int:
    from flowstudio.run.batch_summary import BatchSummary
    from flowstudio.run.workers import EngineError

    summary = BatchSummary(len(jobs))
    engine = _make_engine(args)
    began = time.monotonic()
    with _progress(summary) as show, _stop_on_interrupt(engine.stop) as interrupted:

        def take(result: JobResult) -> None:
            summary.add(result)
            show(result)

        try:
            await engine.run(recipe, jobs, take)
        except EngineError as error:
            status = fail(str(error), "")
            if not summary.done:
                return status
    summary.elapsed = time.monotonic() - began
    status = _show(args, recipe, summary)
    return 130 if interrupted else status


def _make_engine(args: argparse.Namespace) -> Engine:
    if args.engine == "dask":
        from flowstudio.run.dask_engine import DaskEngine

        return DaskEngine(args.scheduler, parallel=args.parallel)
    from flowstudio.run.workers import ProcessEngine

    return ProcessEngine(args.parallel)


def _show(args: argparse.Namespace, recipe: Recipe, summary: BatchSummary) -> int:
    """Print and write what was asked for; 0 where all runs reached END, else 1."""
    from flowstudio.run.heat import HeatMap

    heat = HeatMap(recipe.flow, summary.taken, summary.visits)
    record = summary.to_json(recipe.name)
    if args.json:
        print_json(record, indent=2)
    else:
        print_summary(recipe.name, summary, heat)
    try:
        if args.output is not None:
            args.output.write_text(to_json(record, indent=2) + "\n", encoding="utf-8")
        if args.draw is not None:
            args.draw.write_text(heat.svg(), encoding="utf-8")
    except OSError as error:
        return fail(f"{error.filename}: {error.strerror}", "the runs themselves are kept")
    return 0 if summary.is_good else 1


@contextlib.contextmanager
def _stop_on_interrupt(stop: Callable[[], None]) -> Generator[list[int]]:
    """Ctrl-C ends the batch in good order, a second one at once. Gives the signals that came."""
    loop = asyncio.get_running_loop()
    came: list[int] = []

    def take(number: int) -> None:
        came.append(number)
        stop()

    try:
        for number in _ENDING:
            loop.add_signal_handler(number, take, number)
    except NotImplementedError:  # this system has no such handlers: the batch just breaks off
        yield came
        return
    try:
        yield came
    finally:
        for number in _ENDING:
            loop.remove_signal_handler(number)


@contextlib.contextmanager
def _progress(summary: BatchSummary) -> Generator[Callable[[JobResult], None]]:
    """A bar on a terminal; elsewhere a line for each failure and each tenth of the batch."""
    if sys.stderr.isatty():
        from flowstudio.cli.progress import bar

        with bar(summary) as show:
            yield show
        return
    step = max(summary.planned // 10, 1)

    def show_line(result: JobResult) -> None:
        if not result.is_good:
            name = result.run or f"line {result.job.line}"
            say(f"✗ {name}  {result.reason}: {result.message}", file=sys.stderr)
        if summary.done % step == 0 and summary.done < summary.planned:
            say(f"{summary.done} of {summary.planned} runs done", file=sys.stderr)

    yield show_line
