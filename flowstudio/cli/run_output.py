"""What a run without a screen prints, and how it ends for the shell."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

from flowstudio.cli.output import print_json, say
from flowstudio.run.called_lines import describe_called
from flowstudio.run.state import RunState
from flowstudio.run.usage import usage_by_node
from flowstudio.text import duration, first_line, shorten
from flowstudio.wire import (
    ApprovalAsked,
    ApprovalGiven,
    CalledFlowSaid,
    ChoiceMade,
    ChoiceRejected,
    EndReason,
    Event,
    NodeEntered,
    Notice,
    Retried,
    RunEnded,
    RunPaused,
    RunReopened,
    RunStarted,
    StepBegan,
    Text,
    ToolCalled,
    ToolReturned,
)

if TYPE_CHECKING:
    from flowstudio.run.control import RunControl

STATUS: dict[EndReason, int] = {
    "reached_end": 0,
    "choice_failed": 3,
    "model_failed": 4,
    "max_moves": 5,
    "tool_rejected": 6,
    "dead_end": 7,
    "max_iterations": 8,
    "no_progress": 9,
    "breakpoint": 10,
    "disk": 11,
    "needs_user": 12,
    "failed": 2,
    "stopped": 130,
}
"""The exit status for each end of a run."""

_ENDING = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def stop_on_interrupt(control: RunControl) -> Generator[None]:
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


class RunOutput:
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


class RunJson:
    """Prints a run for programs: an event a line, and at the end what the model used, if it did."""

    def __init__(self) -> None:
        self._state = RunState()

    def show(self, event: Event) -> None:
        """Print one event."""
        self._state.apply(event)
        print_json(event.to_json())
        state = self._state
        if isinstance(event.body, RunEnded) and state.usage.calls:
            nodes = usage_by_node(state.visits)
            print_json(
                {
                    "type": "run_usage",
                    "run": event.run,
                    **state.usage.to_json(),
                    "wall_seconds": round(event.time - state.started, 3),
                    "nodes": {
                        node: usage.to_json() for node, usage in nodes.items() if usage.calls
                    },
                }
            )


class RunPrinter:
    """Prints a run for people, line by line."""

    def __init__(self, currency: str = "$") -> None:
        """`currency` stands before a cost."""
        self._in_text = False
        self._currency = currency
        self._state = RunState()

    def show(self, event: Event) -> None:
        """Print one event, at once: an answer streams."""
        self._state.apply(event)
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
            case RunReopened(to=to, moves=moves, model=model):
                say(f"▶ run {event.run} goes on at {to}, after {moves} moves  ({model})")
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
            case RunPaused(message=message):
                say(f"  ⏸ {message}: flowstudio attach {event.run}")
            case Retried(reason=reason, wait=wait):
                say(f"  ↻ {reason} Trying again in {duration(wait)}.")
            case CalledFlowSaid() as said if line := describe_called(said):
                say(f"    {line}")
            case Notice(text=text):
                say(f"  ! {text}")
            case RunEnded(reason=reason, message=message, moves=moves):
                sign = "✓" if reason == "reached_end" else "✗"
                say(f"\n{sign} {message}, after {moves} moves")
                if self._state.usage.calls:
                    took = duration(event.time - self._state.started)
                    say(f"  {self._state.usage.describe(self._currency)}; {took} in all")
            case _:
                pass
