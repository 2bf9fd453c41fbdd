"""What a stream of events adds up to: where the run stands and what it has done so far.

Any front end feeds its events to a `RunState` and shows what it says; the same state comes from a
live run, from a journal and from a replay.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from flowstudio.run.usage import Usage
from flowstudio.wire import (
    ApprovalAsked,
    ApprovalGiven,
    Author,
    ChoiceMade,
    ChoiceRejected,
    EndReason,
    Event,
    FlowReloaded,
    NodeEntered,
    NodeLeft,
    PromptSent,
    RunEnded,
    RunForked,
    RunPaused,
    RunReopened,
    RunResumed,
    RunStarted,
    StatusChanged,
    StepBegan,
    StepInterrupted,
    TokensUsed,
    UserAnswered,
    UserAsked,
)

_FAULTS: frozenset[EndReason] = frozenset({"model_failed", "choice_failed", "dead_end", "failed"})
"""Ends for which the node where the run stood is marked."""

type Phase = Literal["idle", "running", "paused", "ended"]
type EdgeKey = tuple[str, str, str | None]
"""Source, target and the branch's label; None where the source has a single exit."""


@dataclass(slots=True)
class Visit:
    """One visit of a node, as the timeline shows it."""

    node: str
    visit: int
    move: int
    kind: str
    label: str
    started: float
    prompt: str | None = None
    answer: str | None = None
    branch: str | None = None
    by: Author | None = None
    over: str | None = None
    forced: bool = False
    retries: int = 0
    tokens: int = 0
    seconds: float | None = None
    to: str | None = None
    cut: bool = False
    """True where the answer was cut: `answer` is what had come of it."""
    usage: Usage = field(default_factory=Usage)
    """What the model used for it: tokens, seconds, cost."""
    context: int | None = None
    """The conversation's position when the visit was done."""

    @property
    def is_done(self) -> bool:
        """True once the run has left the node."""
        return self.seconds is not None

    @property
    def jumped(self) -> bool:
        """True where the run was sent on by hand, along no branch."""
        return self.is_done and self.branch is None and self.by not in (None, "only-exit")

    @property
    def skipped(self) -> bool:
        """True where it was sent on before anything was sent: nothing was done here."""
        return self.jumped and self.prompt is None


@dataclass(slots=True)
class RunState:
    """The state of one run."""

    phase: Phase = "idle"
    flow: str = ""
    model: str = ""
    why: str = ""
    """A sentence: why the run is paused, or how it ended."""
    reason: str = ""
    """The name of the pause's or the end's reason, as in the event."""
    waits_for: str = ""
    """What the user is asked right now: a branch, leave for a tool, a question of the agent's."""
    current: str | None = None
    visits: list[Visit] = field(default_factory=list[Visit])
    taken: Counter[EdgeKey] = field(default_factory=Counter[EdgeKey])
    forced: set[EdgeKey] = field(default_factory=set[EdgeKey])
    done: Counter[str] = field(default_factory=Counter[str])
    """How often each node was left with its work done: a visit that was skipped does not count."""
    failed: set[str] = field(default_factory=set[str])
    tokens: int = 0
    context_usage: float = 0.0
    model_calls: int = 0
    usage: Usage = field(default_factory=Usage)
    """What the model used in the whole run."""
    started: float = 0.0
    ended: float | None = None
    entered: str | None = None
    """The id under which the latest visit began: its events bear it, even after a rename."""
    renames: int = field(default=0, compare=False)
    """How often a node got another id: what was added up by ids before is void."""

    @property
    def now(self) -> Visit | None:
        """The visit in flight, or the last one."""
        return self.visits[-1] if self.visits else None

    def _node_of(self, event: Event) -> str | None:
        """What the node of an event is called now."""
        now = self.now
        return now.node if now and event.node == self.entered else event.node

    def apply(self, event: Event) -> None:
        """Take in one event."""
        now = self.now
        match event.body:
            case RunStarted(flow=flow, model=model):
                self.phase, self.flow, self.model = "running", flow, model
                self.started = event.time
            case NodeEntered(move=move, kind=kind, label=label):
                node = event.node or ""
                # A question that a command cut short is never answered.
                self.current, self.entered, self.waits_for = node, node, ""
                self.visits.append(Visit(node, event.visit or 1, move, kind, label, event.time))
            case PromptSent(prompt=prompt, attempt=1) if now and event.node:
                now.prompt = prompt
            case ChoiceRejected() if now:
                now.retries += 1
            case ChoiceMade(branch=branch, by=by, over=over, forced=forced) if now:
                now.branch, now.by, now.over, now.forced = branch, by, over, forced
            case StepInterrupted(partial=partial) if now and not now.is_done:
                now.answer, now.cut = partial, True
            case NodeLeft() as left if now:
                self._leave(now, left)
            case FlowReloaded(renamed=(old, new)):
                self.rename(old, new)
            case RunPaused(why=why, message=message):
                self.phase, self.reason, self.why = "paused", why, message
                if why in ("model_failed", "choice_failed") and (node := self._node_of(event)):
                    self.failed.add(node)
            case RunResumed():
                self.phase, self.reason, self.why = "running", "", ""
                self.failed.discard(self._node_of(event) or "")
            case RunReopened(model=model):
                self._forget_flight()
                self.phase, self.model = "running", model
            case RunForked(parent=parent):
                self._forget_flight()
                self.phase, self.why = "idle", f"forked from {parent}"
            case RunEnded(reason=reason, message=message):
                self.waits_for = ""
                self.phase, self.reason, self.why = "ended", reason, message
                self.ended = event.time
                if reason in _FAULTS and self.current:
                    self.failed.add(self.current)
            case UserAsked(question=question):
                self.waits_for = question
            case ApprovalAsked(tool=tool, action=action):
                self.waits_for = f"may {tool} {action}?"
            case UserAnswered() | ApprovalGiven():
                self.waits_for = ""
            case StatusChanged(tokens=tokens, context_usage=usage):
                self.tokens, self.context_usage = tokens, usage
            case StepBegan():
                self.model_calls += 1
            case TokensUsed() as used:
                spent = Usage.of(used)
                self.usage += spent
                if now and self._node_of(event) == now.node:
                    now.usage += spent
            case _:
                pass

    def rename(self, old: str, new: str) -> None:
        """A node has another id from now on; what was done there was done at the same node."""

        def now(node: str) -> str:
            return new if node == old else node

        self.renames += 1
        for visit in self.visits:
            visit.node, visit.to = now(visit.node), visit.to and now(visit.to)
        self.current = self.current and now(self.current)
        self.failed = {now(node) for node in self.failed}
        self.forced = {(now(src), now(dst), branch) for src, dst, branch in self.forced}
        done, taken = self.done, self.taken
        self.done, self.taken = Counter(), Counter()
        for node, times in done.items():
            self.done[now(node)] += times
        for (src, dst, branch), times in taken.items():
            self.taken[now(src), now(dst), branch] += times

    def _forget_flight(self) -> None:
        """The visit that was not done is void: it begins again, if at all."""
        if self.visits and not self.visits[-1].is_done:
            self.visits.pop()
        self.reason = self.why = self.waits_for = ""
        self.ended, self.current = None, None
        self.failed.clear()

    def _leave(self, now: Visit, left: NodeLeft) -> None:
        now.answer, now.tokens, now.seconds, now.to = (
            left.answer,
            left.tokens,
            left.seconds,
            left.to,
        )
        now.by, now.cut, now.context = now.by or left.by, left.cut, left.context
        if not now.skipped:
            self.done[now.node] += 1
        if left.to is None:
            return
        key = (now.node, left.to, left.branch)
        self.taken[key] += 1
        if now.forced:
            self.forced.add(key)
