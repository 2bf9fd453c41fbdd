"""How a front end drives a run: the only thing that goes down to the runner.

A `RunControl` holds what the user asked for (pause, break here, take that branch) and wakes the
runner where it waits. It knows node ids and branch labels, no flow and no soul. All methods return
at once and may be called at any moment of a run, before it starts too and from a consumer of the
wire; the runner looks at them at its gates.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Literal

from flowstudio.wire import PauseReason

type RunState = Literal["idle", "running", "paused", "ended"]
type Mode = Literal["run", "step"]


class RunStopped(Exception):
    """The user stopped the run; raised inside the runner at whatever it was waiting for."""


_AT_A_NODE: frozenset[PauseReason] = frozenset(
    {"step", "breakpoint", "pause", "run_to", "answered"}
)
"""Pauses of somebody who looks at single nodes: after a branch taken by hand they want the next
one.
"""


@dataclass(slots=True)
class RunControl:
    """The commands of one run.

    `interactive` tells whether somebody is there to be asked: if not, what would be a pause
    (`choice_failed`, `model_failed`, …) ends the run instead.
    """

    interactive: bool = False
    mode: Mode = "run"
    """`step` pauses before the next node; `run` goes on to a breakpoint or the end."""
    state: RunState = "idle"
    breakpoints: set[str] = field(default_factory=set[str])
    """Ids of the nodes to pause before."""
    paused_because: PauseReason | None = None
    paused_at: str | None = None
    """The node at which the run waits for a command; None where it waits at none."""
    command: str = ""
    """The command that ended the last pause: `step`, `continue`, `run_to`, `choose`, `go_to`."""
    _forced: dict[str, str] = field(default_factory=dict[str, str])
    _goto: str | None = None
    _run_to: str | None = None
    _prompt: tuple[str | None, str] | None = None
    """A prompt for one visit, and the node it is for; None: whichever comes next."""
    _pause_asked: bool = False
    _stop_asked: bool = False
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _turn: asyncio.Task[object] | None = None

    # Commands, for front ends

    def step(self) -> None:
        """Run one node, then pause before the next."""
        self.mode = "step"
        self._resume("step")

    def go_on(self) -> None:
        """Continue to the next breakpoint or END; leaves the breakpoint that the run stands on."""
        self._continue("continue")

    def pause(self) -> None:
        """Pause once the node that runs now is done; a run that is paused stays so."""
        self._pause_asked = not self.is_waiting

    def stop(self) -> None:
        """End the run now: a stream that is coming is cut."""
        self._stop_asked = True
        if self._turn is not None and not self._turn.done():
            self._turn.cancel()
        self._wake.set()

    def choose(self, node: str, branch: str) -> None:
        """Take `branch` at `node`, now if the run waits there, else as soon as it is decided there.

        Where the run is paused before the node, the model is not asked at all, and the run pauses
        again before the next node. It counts for one visit: the one that is on, if it is the
        node's, else the next one.
        """
        self._forced[node] = branch
        if self.is_waiting and self.paused_at == node:
            if self.paused_because in _AT_A_NODE:
                self.mode = "step"
            self._resume("choose")

    def forced_at(self, node: str) -> str | None:
        """The branch that waits to be taken at `node`, if any."""
        return self._forced.get(node)

    def unforce(self, node: str) -> None:
        """Let the model choose at `node` again."""
        self._forced.pop(node, None)

    def go_to(self, node: str) -> None:
        """Go on from `node` instead of where the run stands; cuts a stream that is coming."""
        self._goto = node
        if self._turn is not None and not self._turn.done():
            self._turn.cancel()
        self._resume("go_to")

    def run_to(self, node: str) -> None:
        """Continue, and pause before `node` once."""
        self._run_to = node
        self._continue("run_to")

    def replace_prompt(self, prompt: str) -> None:
        """Send `prompt` instead of the node's label, for one visit.

        Where the run is paused at a node, this visit's, which is asked again if it was answered;
        else the one that begins next.
        """
        self._prompt = (self.paused_at, prompt)

    def toggle_breakpoint(self, node: str) -> bool:
        """Set or clear the breakpoint before `node`; True if it is set now."""
        if node in self.breakpoints:
            self.breakpoints.discard(node)
            return False
        self.breakpoints.add(node)
        return True

    # For the runner

    def why_pause(self, node: str, *, first: bool) -> PauseReason | None:
        """Whether to pause before this visit, and why; `first` is the run's first node (BEGIN)."""
        if self._run_to == node:
            self._run_to = None
            return "run_to"
        if node in self.breakpoints:
            return "breakpoint"
        if self._pause_asked:
            return "pause"
        return "step" if self.mode == "step" and not first else None

    def begin_pause(self, why: PauseReason, node: str | None) -> None:
        """The run is about to wait, at `node` if at any. Commands count from now on."""
        self._pause_asked = False
        self._wake.clear()
        self.command = "" if self._goto is None else "go_to"
        self.state, self.paused_because, self.paused_at = "paused", why, node

    async def wait(self) -> None:
        """Hold the run until a command comes; one that came since `begin_pause` counts.

        Raises:
            RunStopped: the command was to stop.
        """
        try:
            if not self._stop_asked and self._goto is None:
                await self._wake.wait()
        finally:
            self.state, self.paused_because, self.paused_at = "running", None, None
        self.check_stop()

    def check_stop(self) -> None:
        """Raise `RunStopped` if the user asked for it."""
        if self._stop_asked:
            raise RunStopped

    def watch_turn(self, turn: asyncio.Task[object] | None) -> None:
        """Name the task that `stop` and `go_to` have to cut."""
        self._turn = turn

    @property
    def stop_asked(self) -> bool:
        """True once the user asked to stop."""
        return self._stop_asked

    @property
    def goto_asked(self) -> bool:
        """True while a jump waits to be taken."""
        return self._goto is not None

    @property
    def wants_to_look(self) -> bool:
        """True where somebody steps, or asked for a pause: answers are then shown before they
        count.
        """
        return self.mode == "step" or self._pause_asked

    def take_goto(self) -> str | None:
        """The node to go on from, once."""
        node, self._goto = self._goto, None
        return node

    def take_forced(self, node: str) -> str | None:
        """The branch forced at `node`, once."""
        return self._forced.pop(node, None)

    def has_prompt(self, node: str) -> bool:
        """True where a prompt was written for this visit of `node`."""
        return self._prompt is not None and self._prompt[0] == node

    def take_prompt(self, node: str) -> str | None:
        """The prompt that replaces the label at `node`, once."""
        if self._prompt is None or self._prompt[0] not in (None, node):
            return None
        prompt, self._prompt = self._prompt[1], None
        return prompt

    def forget(self, node: str) -> None:
        """A visit of `node` is over: what was meant for it must not reach a later one."""
        self._forced.pop(node, None)
        if self.has_prompt(node):
            self._prompt = None

    def finish(self) -> None:
        """The run is over: commands that it did not get to must not reach another run."""
        self.state = "ended"
        self._forced.clear()
        self._goto = self._run_to = self._prompt = self._turn = None
        self._pause_asked = self._stop_asked = False

    @property
    def is_waiting(self) -> bool:
        """True while the run is paused."""
        return self.state == "paused"

    def _continue(self, command: str) -> None:
        self.mode = "run"
        self._pause_asked = False
        self._resume(command)

    def _resume(self, command: str) -> None:
        if self.is_waiting:
            self.command = command
        self._wake.set()
