"""`flowstudio run`: a run without a screen, for scripts and CI."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio.cli.find import find_skill
from flowstudio.cli.output import fail, print_diagnostics, print_json, say
from flowstudio.config import Config, load_config
from flowstudio.text import duration, first_line, shorten
from flowstudio.wire import (
    ApprovalAsked,
    ApprovalGiven,
    ChoiceMade,
    ChoiceRejected,
    EndReason,
    Event,
    NodeEntered,
    Notice,
    Retried,
    RunEnded,
    RunStarted,
    StepBegan,
    Text,
    ToolCalled,
    ToolReturned,
    Wire,
)

if TYPE_CHECKING:
    from flowstudio.models.llm import LLM
    from flowstudio.models.script import Script
    from flowstudio.run.control import RunControl
    from flowstudio.skill import Skill

_STATUS: dict[EndReason, int] = {
    "reached_end": 0,
    "choice_failed": 3,
    "model_failed": 4,
    "max_moves": 5,
    "tool_rejected": 6,
    "dead_end": 7,
    "failed": 2,
    "stopped": 130,
}
_ENDING = (signal.SIGINT, signal.SIGTERM)


def run_flow(args: argparse.Namespace) -> int:
    """Run a flow and give the exit status of its end."""
    skill = find_skill(args.path, args.skills_dir)
    if skill is None:
        return 2
    if skill.flow is None:
        print_diagnostics(skill.diagnostics, {skill.path: skill.source}, file=sys.stderr)
        return fail(f"{skill.name} holds no flow that can be run", "")
    if args.max_moves < 1:
        return fail("--max-moves must be at least 1", "")
    loaded = load_config()
    for problem in loaded.problems:
        say(f"flowstudio: {problem}", file=sys.stderr)
    return asyncio.run(_run(args, skill, loaded.config))


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


async def _run(args: argparse.Namespace, skill: Skill, config: Config) -> int:
    from flowstudio import paths
    from flowstudio.models import ModelError
    from flowstudio.run.control import RunControl
    from flowstudio.run.session import RunRequest, Session
    from flowstudio.skill import configured_dirs, discover
    from flowstudio.soul import MaxStepsReached, Runtime, default_agent

    assert skill.flow is not None
    try:
        llm, script = await _find_llm(args, config)
    except ModelError as error:
        return fail(str(error), "")
    wire = Wire()
    control = RunControl()
    tally = _Tally()
    wire.subscribe(tally.take)
    output = _Output(_show_json if args.json else _Printer().show, control)
    wire.subscribe(output.take)
    catalogue = discover(Path.cwd(), extra_dirs=configured_dirs(args.skills_dir))
    runtime = Runtime.create(
        config,
        wire,
        work_dir=Path.cwd(),
        llm=llm,
        skills=catalogue.skills,
        policy="allow" if args.yolo or config.yolo else "reject",
    )
    session = Session(runtime, default_agent(runtime), runs_dir=paths.runs_dir())
    text = _as_text(args.input) if args.input is not None else (script.args if script else "")
    request = RunRequest(
        skill.flow, skill.name, skill.path, skill.source, text, max_moves=args.max_moves
    )
    with _stop_on_interrupt(control):
        try:
            reason = (await session.run_flow(request, control)).reason
        except MaxStepsReached:
            reason = "max_moves"
        except OSError as error:
            return fail(f"the run cannot be kept on disk: {error}", "see FLOWSTUDIO_HOME")
    if output.is_closed:
        raise BrokenPipeError
    if script is not None and (misses := tally.misses(script)):
        for miss in misses:
            say(f"flowstudio: the script's expectation failed: {miss}", file=sys.stderr)
        return 1
    return _STATUS[reason]


async def _find_llm(args: argparse.Namespace, config: Config) -> tuple[LLM, Script | None]:
    """Who answers, and the script if it is one.

    Raises:
        ModelError: there is nobody, or the model or the script cannot be used.
    """
    from flowstudio.models import (
        LLM,
        ModelError,
        RehearsalProvider,
        ScriptAnswers,
        SeededWalk,
        load_script,
    )
    from flowstudio.models.build import build_model
    from flowstudio.models.registry import REHEARSAL, default_model, find_model, list_models

    if args.script is not None:
        script = load_script(args.script)
        provider = RehearsalProvider(ScriptAnswers(script))
        return LLM(provider, REHEARSAL, REHEARSAL, None), script
    if args.seed is not None:
        return LLM(RehearsalProvider(SeededWalk(args.seed)), REHEARSAL, REHEARSAL, None), None
    option = find_model(list_models(config), args.model) if args.model else default_model(config)
    if option.name == REHEARSAL:
        raise ModelError(
            "nobody is there to answer: give --script FILE, --seed N or --model M, or set a key "
            "such as OPENAI_API_KEY. In the studio (flowstudio) you answer yourself."
        )
    return await build_model(option, config), None


@contextlib.contextmanager
def _stop_on_interrupt(control: RunControl) -> Generator[None]:
    """Ctrl-C (and SIGTERM) ends the run in good order: the journal says so, the stream is cut."""
    loop = asyncio.get_running_loop()
    try:
        for number in _ENDING:
            loop.add_signal_handler(number, control.stop)
    except NotImplementedError:
        yield
        return
    try:
        yield
    finally:
        for number in _ENDING:
            loop.remove_signal_handler(number)


def _as_text(argument: str) -> str:
    """An argument of the command line as text: bytes that are no UTF-8 are replaced."""
    return argument.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class _Output:
    """Shows events as long as somebody reads them; when the reader goes, the run ends too."""

    def __init__(self, show: Callable[[Event], None], control: RunControl) -> None:
        self._show = show
        self._control = control
        self.is_closed = False
        """True once the reader of our output (`| head`) has gone."""

    def take(self, event: Event) -> None:
        """Show one event."""
        if self.is_closed:
            return
        try:
            self._show(event)
        except BrokenPipeError:
            self.is_closed = True
            self._control.stop()


def _show_json(event: Event) -> None:
    print_json(event.to_json())


class _Printer:
    """Prints a run for people, line by line."""

    def __init__(self) -> None:
        self._in_text = False

    def show(self, event: Event) -> None:
        """Print one event, at once: an answer streams."""
        self._print(event)
        sys.stdout.flush()

    def _print(self, event: Event) -> None:
        if isinstance(event.body, Text):
            say(event.body.text, end="")
            self._in_text = not event.body.text.endswith("\n")
            return
        if self._in_text and not isinstance(event.body, StepBegan):
            say()
            self._in_text = False
        match event.body:
            case RunStarted(flow=flow, model=model):
                say(f"▶ {flow}  ({model}, run {event.run})")
            case NodeEntered(kind="begin" | "end"):
                pass
            case NodeEntered(label=label):
                title = shorten(first_line(label), 70)
                say(f"\n● {event.node}  {title}  (visit {event.visit})")
            case ChoiceRejected(got=got, branches=branches):
                what = "no choice" if got is None else f"“{got}” is no branch"
                say(f"  ↻ {what}; asked again for one of: {', '.join(branches)}")
            case ChoiceMade(branch=branch, by=by):
                say(f"  → {branch}  ({by})")
            case ToolCalled(name=name, arguments=arguments):
                say(f"  ⚙ {name} {shorten(arguments, 100)}")
            case ToolReturned(ok=ok, brief=brief, seconds=seconds):
                say(f"    {'✓' if ok else '✗'} {brief} ({duration(seconds)})")
            case ApprovalAsked(tool=tool, description=description):
                say(f"  ? {tool}: {shorten(description, 100)}")
            case ApprovalGiven(verdict="reject"):
                say("  ✗ refused: nobody is here to allow it; --yolo allows everything")
            case Retried(reason=reason, wait=wait):
                say(f"  ↻ {reason} Trying again in {duration(wait)}.")
            case Notice(text=text):
                say(f"  ! {text}")
            case RunEnded(reason=reason, message=message, moves=moves):
                sign = "✓" if reason == "reached_end" else "✗"
                say(f"\n{sign} {message}, after {moves} moves")
            case _:
                pass
