"""Going on with an earlier run: where it was left, and what stands in the way.

Nothing here writes. `resume_plan` looks at a run's folder and says what a resume would do; a front
end shows that, asks what has to be asked, and hands the plan to `Session.resume`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from flowstudio.run.folder import RunFolder, open_run
from flowstudio.run.journal import Tail, explain_dropped, read_kinds
from flowstudio.run.lock import Holder, find_holder
from flowstudio.run.runner import DEFAULT_MAX_MOVES
from flowstudio.run.sources import Source, current_source, recorded_source
from flowstudio.run.start import Start
from flowstudio.wire import (
    CommandGiven,
    EndReason,
    Event,
    FlowReloaded,
    NodeEntered,
    NodeLeft,
    PauseReason,
    RunEnded,
    RunForked,
    RunPaused,
    RunReopened,
    RunResumed,
    RunStarted,
    TalkHeld,
)

type Which = Literal["current", "recorded"]
"""Which flow a resumed run goes on with: the file as it is now, or as the run last used it."""

_KINDS = (
    RunStarted,
    RunReopened,
    RunForked,
    RunPaused,
    RunResumed,
    RunEnded,
    NodeEntered,
    NodeLeft,
    FlowReloaded,
    TalkHeld,
    CommandGiven,
)
_NAMES = frozenset(kind.type for kind in _KINDS)


class ResumeRefused(Exception):
    """The run cannot go on; the message says why and what can be done instead."""


class FlowChanged(ResumeRefused):
    """The flow's file is not what the run used: somebody has to say which one is meant."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where a run stands, by its journal."""

    node: str | None
    """The node that comes next, or whose visit was broken off; None where none does, or where the
    run never began.
    """
    done: tuple[Event, ...]
    """The `node_left` of each visit that is done."""
    begun: RunStarted | None
    """None where the run was broken off before it began."""
    context: int = 0
    """The conversation's position to go on from."""
    revision: int = 1
    max_moves: int = DEFAULT_MAX_MOVES
    ended: EndReason | None = None
    """How it ended; None where it was broken off."""
    paused: PauseReason | None = None
    """Why it waited when it was broken off; None where it did not."""
    at_end: bool = False
    """END was reached and left."""
    forced: Mapping[str, str] = field(default_factory=dict[str, str])
    """Branches that wait to be taken by hand, by node."""
    prompt: str | None = None
    """A prompt that was meant for the visit that comes next."""
    path: tuple[str, ...] = ()
    """The nodes whose visits are done, by the ids that they have now."""


@dataclass(frozen=True, slots=True)
class ResumePlan:
    """What going on with a run means."""

    folder: RunFolder
    position: Position
    tail: Tail
    recorded: Source
    """The flow as the run last used it."""
    current: Source | None
    """The flow as its file holds it; None where it came from no file."""
    holder: Holder | None
    """Who writes the run now; it can then be looked at only."""

    @property
    def was_used(self) -> bool:
        """False where the run was broken off before it began: no flow was used yet."""
        return self.position.begun is not None

    @property
    def changed(self) -> bool:
        """True where the flow is another one than the run used: which one is meant must be said."""
        if self.current is None or not self.was_used:
            return False
        return self.current.flow is None or self.current.flow != self.recorded.flow

    @property
    def node_gone(self) -> bool:
        """True where the node that comes next is not in the flow as it is now."""
        node, current = self.position.node, self.current
        if node is None or current is None or current.flow is None:
            return False
        return node not in current.flow.nodes

    @property
    def warning(self) -> str:
        """What was left off of a damaged journal, as a sentence; empty where nothing was."""
        return explain_dropped(self.tail.dropped, self.tail.records)

    def source(self, which: Which | None) -> Source:
        """The flow to go on with.

        Raises:
            FlowChanged: the file has changed, and `which` doesn't say which flow is meant.
            ResumeRefused: the flow that is meant cannot be run.
        """
        if which is None and self.changed:
            assert self.current is not None
            problem = f": {self.current.problem}" if self.current.problem else ""
            raise FlowChanged(f"the flow is no longer the one that the run used{problem}")
        chosen = self.current if which == "current" and self.current else self.recorded
        if which != "recorded" and chosen is self.recorded and self.current is not None:
            # Equal but for what the run doesn't use: the file is what later edits go to.
            chosen = self.current
        if chosen.flow is None:
            raise ResumeRefused(f"the flow cannot be run: {chosen.problem}")
        return chosen

    def start(self, source: Source) -> Start | None:
        """Where to begin; None for BEGIN.

        Raises:
            ResumeRefused: there is nothing to go on with.
        """
        position = self.position
        if position.begun is None:
            return None
        if position.done and getattr(position.done[-1].body, "context", None) is None:
            raise ResumeRefused("the run was recorded by a version that could not resume yet")
        flow = source.flow
        assert flow is not None
        node = position.node
        if position.at_end:
            raise ResumeRefused("the run reached END: there is nothing left to do")
        if node is None and position.done:
            last = position.path[-1]
            exits = flow.outgoing.get(last, [])
            if not exits:
                raise ResumeRefused(f"nothing leads on from “{last}”: give it an exit")
            # A choice among new exits was never asked for.
            node = exits[0].dst if len(exits) == 1 else last
        left = position.max_moves - len(position.done)
        return make_start(position, node or flow.begin_id, left if left > 0 else position.max_moves)


def make_start(position: Position, node: str, moves_left: int) -> Start:
    """A walk's start at `node`, after the visits that are done."""
    asked = any(_was_asked(event.body) for event in position.done)
    spent = sum(one.body.tokens for one in position.done if isinstance(one.body, NodeLeft))
    return Start(node, position.path, moves_left, spent, request_waits=not asked)


def resume_plan(path: Path) -> ResumePlan:
    """What going on with the run in a folder means. Changes nothing.

    Raises:
        JournalDamaged: its journal is damaged, and not at the end.
        OSError: it cannot be read.
        ValueError: it is not a run's folder, or of a newer format.
    """
    folder = open_run(path)
    events, tail = read_journal_for_resume(folder.journal)
    position = find_position([event for _, event in events])
    return ResumePlan(
        folder,
        position,
        tail,
        recorded_source(folder, position.revision),
        current_source(folder),
        find_holder(path),
    )


def read_journal_for_resume(
    path: Path, *, all_visits: bool = False
) -> tuple[list[tuple[int, Event]], Tail]:
    """The events that say where a run stands, each with its place in bytes.

    Of the visits' beginnings only the last one is among them, unless `all_visits` is wanted.

    Raises:
        what `read_journal` raises, but for a journal that is not there: that one is empty.
    """
    try:
        if all_visits:
            return read_kinds(path, _NAMES)
        return read_kinds(path, _NAMES - {NodeEntered.type}, last=NodeEntered.type)
    except FileNotFoundError:
        return [], Tail(0, 0, 0, 0)


def find_position(events: list[Event]) -> Position:
    """Where a run stands after these events."""
    done: list[Event] = []
    begun: RunStarted | None = None
    path: list[str] = []
    node: str | None = None
    entered: str | None = None  # what the node was called when its visit began
    context, revision, max_moves = 0, 1, DEFAULT_MAX_MOVES
    ended: EndReason | None = None
    paused: PauseReason | None = None
    kind = ""
    at_end = False
    forced: dict[str, str] = {}
    prompt: str | None = None
    for event in events:
        match event.body:
            case RunStarted() as started:
                begun, revision, max_moves = started, started.revision, started.max_moves
            case RunReopened(to=to, moves=moves, max_moves=more, revision=number):
                node, entered, revision, max_moves = to, to, number, moves + more
                ended = paused = None
            case RunForked(branch=branch, prompt=prompt):
                ended = paused = None
                # What the parent's user meant for later is not the fork's business.
                forced.clear()
                if branch is not None and node is not None:
                    forced[node] = branch
            case NodeEntered(kind=kind):
                node = entered = event.node
            case NodeLeft(to=to, revision=number) as left:
                done.append(event)
                at = node if node and event.node == entered else event.node or ""
                path.append(at)
                node, entered, at_end = to, to, to is None and kind == "end"
                forced.pop(at, None)
                prompt = None
                context = context if left.context is None else left.context
                revision = max(revision, number)
            case TalkHeld(context=context):
                pass
            case FlowReloaded(revision=revision, renamed=(old, new)):
                node = new if node == old else node
                path = [new if one == old else one for one in path]
                if old in forced:
                    forced[new] = forced.pop(old)
            case FlowReloaded(revision=revision):
                pass
            case CommandGiven(command="choose", target=str(target), value=str(value)):
                forced[target] = value
            case CommandGiven(command="unforce", target=str(target)):
                forced.pop(target, None)
            case CommandGiven(command="replace_prompt", target=target, value=value):
                prompt = value if target in (None, node) else prompt
            case RunPaused(why=paused):
                pass
            case RunResumed():
                paused = None
            case RunEnded(reason=ended):
                paused = None
            case _:
                pass
    return Position(
        node,
        tuple(done),
        begun,
        context,
        revision,
        max_moves,
        ended,
        paused,
        at_end,
        forced,
        prompt,
        tuple(path),
    )


def _was_asked(body: object) -> bool:
    """Whether a visit sent a prompt and got an answer: the flow's input went with the first."""
    return isinstance(body, NodeLeft) and bool(body.answer) and not body.cut
