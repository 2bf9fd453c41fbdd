"""How a front end drives a run: the only thing that goes down to the runner.

A `RunControl` holds what the user asked for (pause, break here, take that branch) and wakes the
runner where it waits. It knows node ids and branch labels, no flow and no soul. All methods return
at once and may be called at any moment of a run, before it starts too and from a consumer of the
wire; the runner looks at them at its gates, and says each command on the wire before it obeys.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from flowstudio.run.breakpoints import Breakpoint, Breakpoints, Moment
from flowstudio.run.conditions import Facts
from flowstudio.wire import Author, CommandGiven, CommandName, PauseReason

type RunState = Literal["idle", "running", "paused", "ended"]
type Mode = Literal["run", "step"]


class RunStopped(Exception):
    """The user stopped the run; raised inside the runner at whatever it was waiting for."""


class Forced(NamedTuple):
    """A branch to be taken by hand, and by whose."""

    branch: str
    by: Author


class Goto(NamedTuple):
    """The node to go on from, and who said so."""

    node: str
    by: Author


class Hold(NamedTuple):
    """Why the run is to be held at a node, as a reason and as a sentence."""

    why: PauseReason
    message: str


_AT_A_NODE: frozenset[PauseReason] = frozenset(
    {"step", "breakpoint", "pause", "run_to", "answered", "no_progress"}
)
"""Pauses of somebody who looks at single nodes: after a branch taken by hand they want the next
one.
"""


@dataclass(slots=True)
class RunControl:
    """The commands of one run.

    `interactive` tells whether somebody is there to be asked: if not, what would be a pause
    (`choice_failed`, `model_failed`, a breakpoint, …) ends the run instead.

    Each command takes `by`, its author: the user, or a script or a replay that steers.
    """

    interactive: bool = False
    mode: Mode = "run"
    """`step` pauses before the next node; `run` goes on to a breakpoint or the end."""
    state: RunState = "idle"
    breakpoints: Breakpoints = field(default_factory=Breakpoints)
    """Where to pause. They belong to the flow and outlive the run."""
    paused_because: PauseReason | None = None
    paused_at: str | None = None
    """The node at which the run waits for a command; None where it waits at none."""
    current: str | None = None
    """The node that the run stands on; None before it has begun."""
    command: str = ""
    """The command that ended the last pause: `step`, `continue`, `run_to`, `choose`, `go_to`,
    `again`, `allow_more`.
    """
    _forced: dict[str, Forced] = field(default_factory=dict[str, Forced])
    _goto: Goto | None = None
    _pass: str | None = None
    """The node whose next gate holds nobody: it is run again because the user said so."""
    _run_to: str | None = None
    _prompt: tuple[str | None, str] | None = None
    """A prompt for one visit, and the node it is for; None: whichever comes next."""
    _more: int = 0
    _pause_asked: bool = False
    _stop_asked: bool = False
    _is_answered: bool = False
    """True at a pause that shows an answer before it counts."""
    _given: list[CommandGiven] = field(default_factory=list[CommandGiven])
    """Commands that are not said yet."""
    _say: Callable[[CommandGiven], object] | None = None
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _turn: asyncio.Task[object] | None = None

    # Commands, for front ends

    def step(self, *, by: Author = "user") -> None:
        """Run one node, then pause before the next."""
        self._note("step", by=by)
        self.mode = "step"
        self._resume("step")

    def go_on(self, *, by: Author = "user") -> None:
        """Continue to the next breakpoint or END; leaves the breakpoint that the run stands on."""
        self._note("continue", by=by)
        self._continue("continue")

    def pause(self, *, by: Author = "user") -> None:
        """Pause once the node that runs now is done; a run that is paused stays so."""
        self._note("pause", by=by)
        self._pause_asked = not self.is_waiting

    def stop(self, *, by: Author = "user") -> None:
        """End the run now: a stream that is coming is cut, what came of it is kept."""
        self._note("stop", by=by)
        self._stop_asked = True
        self._cut()
        self._wake.set()

    def choose(self, node: str, branch: str, *, by: Author = "user") -> None:
        """Take `branch` at `node`, now if the run waits there, else as soon as it is decided there.

        Where the run is paused before the node, the model is not asked at all, and the run pauses
        again before the next node. It counts for one visit: the one that is on, if it is the
        node's, else the next one.
        """
        self._note("choose", node, branch, by=by)
        self._forced[node] = Forced(branch, by)
        if self.is_waiting and self.paused_at == node:
            if self.paused_because in _AT_A_NODE:
                self.mode = "step"
            self._resume("choose")

    def forced_at(self, node: str) -> str | None:
        """The branch that waits to be taken at `node`, if any."""
        forced = self._forced.get(node)
        return forced.branch if forced else None

    def unforce(self, node: str, *, by: Author = "user") -> None:
        """Let the model choose at `node` again."""
        if node in self._forced:
            self._note("unforce", node, by=by)
            del self._forced[node]

    def go_to(self, node: str, *, by: Author = "user") -> None:
        """Go on from `node` instead of where the run stands; cuts a stream that is coming."""
        self._note("go_to", node, by=by)
        self._goto, self._pass = Goto(node, by), None
        self._cut()
        self._resume("go_to")

    def again(self, *, by: Author = "user") -> None:
        """Run the node where the run stands, once more if it was answered, as a new visit then.

        Cuts a stream that is coming. Neither a breakpoint before the node nor stepping holds it. A
        run that was paused pauses again when the node is done.
        """
        node = self.current
        self._note("again", node, by=by)
        if self.is_waiting:
            self.mode = "step"
        if node is not None and (not self.is_waiting or self._is_answered):
            self._goto, self._pass = Goto(node, by), node
            self._cut()
        self._resume("again")

    def run_to(self, node: str, *, by: Author = "user") -> None:
        """Continue, and pause before `node` once."""
        self._note("run_to", node, by=by)
        self._run_to = node
        self._continue("run_to")

    def allow_more(self, moves: int, *, by: Author = "user") -> None:
        """Let the run make `moves` more moves than it may; goes on where it waits for that.

        Raises:
            ValueError: fewer than one.
        """
        if moves < 1:
            raise ValueError("at least one more move must be allowed")
        self._note("allow_more", None, str(moves), by=by)
        self._more += moves
        if self.paused_because == "max_moves":
            self._resume("allow_more")

    def replace_prompt(self, prompt: str, *, by: Author = "user") -> None:
        """Send `prompt` instead of the node's label, for one visit.

        Where the run is paused at a node, this visit's, which is asked again if it was answered;
        else the one that begins next.
        """
        self._note("replace_prompt", self.paused_at, prompt, by=by)
        self._prompt = (self.paused_at, prompt)

    def toggle_breakpoint(self, node: str, *, by: Author = "user") -> bool:
        """Set a breakpoint before `node`, or clear those that it has; True if one is set now."""
        if node in self.breakpoints:
            self.clear_breakpoint(node, by=by)
            return False
        self.set_breakpoint(Breakpoint(node), by=by)
        return True

    def set_breakpoint(self, point: Breakpoint, *, by: Author = "user") -> None:
        """Set a breakpoint, in place of the one at the same node and moment."""
        self._note("break", point.node, point.text, by=by)
        self.breakpoints.add(point)

    def clear_breakpoint(
        self, node: str, when: Moment | None = None, *, by: Author = "user"
    ) -> None:
        """Clear the breakpoints of `node`, or the one before or after it."""
        self._note("unbreak", node, when, by=by)
        self.breakpoints.discard(node, when)

    # For the runner

    def begin(self, say: Callable[[CommandGiven], object]) -> None:
        """A run begins; `say` puts commands on its wire."""
        self.state, self._say = "running", say

    def tell(self) -> None:
        """Say the commands that were given since the last time, before they are obeyed."""
        while self._given and self._say is not None:
            self._say(self._given.pop(0))

    def why_hold(self, node: str, facts: Callable[[], Facts], *, first: bool) -> Hold | None:
        """Whether to pause before this visit, and why; `first` is the run's first node (BEGIN)."""
        self.tell()
        passed, self._pass = self._pass, None
        if passed == node:
            return None
        if self._run_to == node:
            self._run_to = None
            return Hold("run_to", f"before “{node}”")
        if why := self.breakpoints.why(node, "before", facts):
            return Hold("breakpoint", why)
        if self._pause_asked:
            return Hold("pause", f"as you asked; “{node}” is next")
        if self.mode == "step" and not first:
            return Hold("step", f"before “{node}”")
        return None

    def why_hold_end(self, node: str, facts: Callable[[], Facts]) -> Hold | None:
        """Whether a breakpoint before END holds the run: there is nothing to step through."""
        self.tell()
        why = self.breakpoints.why(node, "before", facts)
        return Hold("breakpoint", why) if why else None

    def why_hold_after(self, node: str, facts: Callable[[], Facts]) -> Hold | None:
        """Whether a breakpoint after `node` holds the run now that it is answered."""
        self.tell()
        why = self.breakpoints.why(node, "after", facts)
        return Hold("breakpoint", why) if why else None

    def begin_pause(self, why: PauseReason, node: str | None, *, answered: bool = False) -> None:
        """The run is about to wait, at `node` if at any. Commands count from now on.

        `answered` tells that the node has an answer which does not count yet.
        """
        self._pause_asked = False
        self._is_answered = answered
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
            self._is_answered = False
        self.check_stop()

    def check_stop(self) -> None:
        """Raise `RunStopped` if the user asked for it."""
        self.tell()
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
    def is_pausing(self) -> bool:
        """True while the run goes on until its node is done, and then pauses as asked."""
        return self._pause_asked

    @property
    def wants_to_look(self) -> bool:
        """True where somebody steps, or asked for a pause: answers are then shown before they
        count.
        """
        return self.mode == "step" or self._pause_asked

    def take_goto(self) -> Goto | None:
        """The node to go on from, once."""
        self.tell()
        goto, self._goto = self._goto, None
        return goto

    def take_forced(self, node: str) -> Forced | None:
        """The branch forced at `node`, once."""
        self.tell()
        return self._forced.pop(node, None)

    def take_more(self) -> int:
        """The moves allowed beyond the bound, once."""
        self.tell()
        more, self._more = self._more, 0
        return more

    def has_prompt(self, node: str) -> bool:
        """True where a prompt was written for this visit of `node`."""
        return self._prompt is not None and self._prompt[0] == node

    def waiting_prompt(self, node: str) -> str | None:
        """The prompt that will be sent at `node` in place of its label, if there is one."""
        return self._prompt[1] if self._prompt and self._prompt[0] in (None, node) else None

    def take_prompt(self, node: str) -> str | None:
        """The prompt that replaces the label at `node`, once."""
        if self._prompt is None or self._prompt[0] not in (None, node):
            return None
        self.tell()
        prompt, self._prompt = self._prompt[1], None
        return prompt

    def ask_anew(self, node: str) -> None:
        """The visit of `node` is asked again with other words: a branch forced on the answer that
        it had is forced no more.
        """
        self._forced.pop(node, None)

    def forget(self, node: str) -> None:
        """A visit of `node` is over: what was meant for it must not reach a later one."""
        self._forced.pop(node, None)
        if self.has_prompt(node):
            self._prompt = None

    def rename(self, old: str, new: str) -> None:
        """A node has another id from now on: what was meant for it is meant for it still.

        Breakpoints are the flow's: who renames the node moves them.
        """
        if old in self._forced:
            self._forced[new] = self._forced.pop(old)
        if self._prompt is not None and self._prompt[0] == old:
            self._prompt = (new, self._prompt[1])
        if self._goto is not None and self._goto.node == old:
            self._goto = Goto(new, self._goto.by)
        self.current = new if self.current == old else self.current
        self.paused_at = new if self.paused_at == old else self.paused_at
        self._pass = new if self._pass == old else self._pass
        self._run_to = new if self._run_to == old else self._run_to

    def finish(self) -> None:
        """The run is over: commands that it did not get to must not reach another run."""
        self.state, self.current = "ended", None
        self._forced.clear()
        self._given.clear()
        self._goto = self._pass = self._run_to = self._prompt = self._turn = self._say = None
        self._pause_asked = self._stop_asked = False
        self._more = 0

    @property
    def is_waiting(self) -> bool:
        """True while the run is paused."""
        return self.state == "paused"

    def _note(
        self,
        command: CommandName,
        target: str | None = None,
        value: str | None = None,
        *,
        by: Author,
    ) -> None:
        self._given.append(CommandGiven(command, target, value, by))

    def _cut(self) -> None:
        if self._turn is not None and not self._turn.done():
            self._turn.cancel()

    def _continue(self, command: str) -> None:
        self.mode = "run"
        self._pause_asked = False
        self._resume(command)

    def _resume(self, command: str) -> None:
        if self.is_waiting:
            self.command = command
        self._wake.set()
