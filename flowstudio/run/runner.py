"""FlowRunner: one walk through a flow.

The runner knows the flow, a soul that answers and a `RunControl` that holds it; it knows no screen
and no disk. Everything that happens is said on the soul's wire. Each move passes a gate where the
control can hold, redirect or end the run, so a run behaves the same in the studio, in CI and over
SSH.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from flowstudio.flow.model import Flow, FlowEdge, FlowNode
from flowstudio.models.errors import explain_error
from flowstudio.models.hint import TurnHint, turn_hint
from flowstudio.run import visit as visits
from flowstudio.run.control import RunControl, RunStopped
from flowstudio.run.prompts import fill, takes_input, with_request
from flowstudio.run.ralph import ralph_flow, ralph_moves
from flowstudio.run.visit import FAILURES, Answer, RunnableSoul
from flowstudio.soul import MaxStepsReached
from flowstudio.wire import (
    Author,
    ChoiceMade,
    EndReason,
    FlowReloaded,
    NodeEntered,
    NodeLeft,
    PauseReason,
    RunEnded,
    RunPaused,
    RunResumed,
    RunStarted,
)

if TYPE_CHECKING:
    from kosong.message import ContentPart, Message

DEFAULT_MAX_MOVES = 1000


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ended. `path` is the ids of the nodes entered, in order, BEGIN and END included."""

    reason: EndReason
    message: str
    path: tuple[str, ...]

    @property
    def moves(self) -> int:
        """How many edges were followed."""
        return max(len(self.path) - 1, 0)


class _Ended(Exception):
    """Unwinds the walk when the run is over."""

    def __init__(self, reason: EndReason, message: str) -> None:
        super().__init__(message)
        self.reason: EndReason = reason
        self.message = message


class _Jumped(Exception):
    """Unwinds a visit when the user wants to go on from another node."""

    def __init__(self, node: str) -> None:
        super().__init__(node)
        self.node = node


@dataclass(slots=True)
class _Walk:
    """Where a run stands."""

    soul: RunnableSoul
    text: str
    request_waits: bool
    current: str
    bound: int
    visits: Counter[str] = field(default_factory=Counter[str])
    path: list[str] = field(default_factory=list[str])

    @property
    def visit(self) -> int:
        return self.visits[self.current]


class FlowRunner:
    """Walks a flow from BEGIN, one turn of the soul per node (KLIP-10, section 5).

    Args:
        flow: the validated flow.
        name: its name for people; the skill's.
        max_moves: how many edges may be followed before the run is stopped.
        control: who steps, pauses and overrides; without one the run goes straight through.
        max_choice_retries: how often an answer that names no branch is asked for again.
        path: the file the flow was read from, for the record.
        author: who answers, for `choice_made`: `model`, or the kind of rehearsal.
    """

    def __init__(
        self,
        flow: Flow,
        *,
        name: str | None = None,
        max_moves: int = DEFAULT_MAX_MOVES,
        control: RunControl | None = None,
        max_choice_retries: int = 3,
        path: str | None = None,
        model: str = "",
        author: Author = "model",
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.flow = flow
        self.name = name or "flow"
        self.control = control or RunControl()
        self.revision = 1
        self._max_moves = max_moves
        self._retries = max_choice_retries
        self._path = path
        self._model = model
        self._author: Author = author
        self._variables = dict(variables or {})

    @staticmethod
    def ralph_loop(
        user_message: Message | str | list[ContentPart], max_ralph_iterations: int
    ) -> FlowRunner:
        """The runner of a loop that repeats until the model says STOP (KLIP-10, section 6).

        `max_ralph_iterations` bounds the rounds; -1 is without bound.
        """
        prompt = user_message if isinstance(user_message, str | list) else user_message.content
        return FlowRunner(
            ralph_flow(prompt), name="ralph", max_moves=ralph_moves(max_ralph_iterations)
        )

    def reload(self, flow: Flow) -> FlowReloaded:
        """Use `flow` from the next move on; nodes are the same where their ids are.

        The visit in flight finishes with the prompt it started with.
        """
        old, new = self.flow.nodes, flow.nodes
        self.revision += 1
        body = FlowReloaded(
            self.revision,
            added=tuple(node for node in new if node not in old),
            removed=tuple(node for node in old if node not in new),
            changed=tuple(n for n in new if n in old and new[n].label != old[n].label),
        )
        self.flow = flow
        return body

    async def run(self, soul: RunnableSoul, args: str = "") -> RunOutcome:
        """Walk from BEGIN to the run's end, and say how it ended.

        `args` is the flow's input: it fills `$ARGUMENTS`, or goes before the first prompt.

        Raises:
            MaxStepsReached: `max_moves` edges were followed and nobody is there to allow more.
        """
        labels = [node.text for node in self.flow.nodes.values()]
        walk = _Walk(
            soul,
            args,
            request_waits=bool(args.strip()) and not takes_input(labels),
            current=self.flow.begin_id,
            bound=self._max_moves,
        )
        self.control.state = "running"
        soul.wire.emit(
            RunStarted(self.name, self._path, self.revision, self._model, args, self._max_moves)
        )
        try:
            await self._walk(walk)
            reason, message = "reached_end", "the run reached END"
        except RunStopped:
            reason, message = "stopped", "you stopped the run"
        except _Ended as end:
            reason, message = end.reason, end.message
        finally:
            self.control.state = "ended"
        moves = max(len(walk.path) - 1, 0)
        soul.wire.emit(RunEnded(reason, message, moves))
        if reason == "max_moves":
            raise MaxStepsReached(self._max_moves)
        return RunOutcome(reason, message, tuple(walk.path))

    # The walk

    async def _walk(self, walk: _Walk) -> None:
        while True:
            node = await self._find_node(walk)
            walk.visits[node.id] += 1
            walk.path.append(node.id)
            with walk.soul.wire.visiting(node.id, walk.visit):
                walk.soul.wire.emit(
                    NodeEntered(len(walk.path), node.kind, node.text, self.revision)
                )
                if node.kind == "end":
                    return
                walk.current = await self._visit(walk, node.id)

    async def _find_node(self, walk: _Walk) -> FlowNode:
        """The node to enter; asks where to go on if a reload took it away."""
        while walk.current not in self.flow.nodes:
            message = f"“{walk.current}” is no longer in the flow: pick the node to go on from"
            try:
                await self._pause(walk, "node_gone", message, else_end="dead_end")
            except _Jumped as jump:
                walk.current = jump.node
        return self.flow.nodes[walk.current]

    async def _visit(self, walk: _Walk, node_id: str) -> str:
        """Carry out one visit and give the node that comes next."""
        answer = Answer()
        started = time.monotonic()
        try:
            await self._gate(walk, node_id)
            started = time.monotonic()
            while True:
                answer = await self._answer(walk, node_id)
                if settled := await self._settle(walk, node_id, answer):
                    edge, answer = settled
                    break
        except _Jumped as jump:
            self._leave(walk, jump.node, Answer(answer.text, answer.tokens, by="user"), started)
            return jump.node
        if answer.branch is not None:
            walk.soul.wire.emit(ChoiceMade(answer.branch, answer.by, answer.over, answer.forced))
        self._leave(walk, edge.dst, answer, started)
        if len(walk.path) > walk.bound:
            message = f"the run made {walk.bound} moves, as many as it was allowed"
            try:
                await self._pause(walk, "max_moves", message, else_end="max_moves")
            except _Jumped as jump:
                return jump.node
            finally:
                walk.bound += self._max_moves
        return edge.dst

    def _leave(self, walk: _Walk, to: str, answer: Answer, started: float) -> None:
        seconds = round(time.monotonic() - started, 3)
        walk.soul.wire.emit(
            NodeLeft(to, answer.branch, answer.by, answer.text, answer.tokens, seconds)
        )

    async def _gate(self, walk: _Walk, node_id: str) -> None:
        """Hold the run before the node if the user wants it held."""
        self.control.check_stop()
        why = self.control.why_pause(node_id, first=len(walk.path) == 1)
        match why:
            case None:
                return
            case "breakpoint":
                message = f"breakpoint before “{node_id}”"
            case "pause":
                message = f"as you asked; “{node_id}” is next"
            case _:
                message = f"before “{node_id}”"
        await self._pause(walk, why, message)

    async def _answer(self, walk: _Walk, node_id: str) -> Answer:
        """What the node's turn brings; a model that fails is asked again when the user says so."""
        while True:
            node = self.flow.nodes.get(node_id)
            if node is None:
                message = f"“{node_id}” is no longer in the flow: pick the node to go on from"
                await self._pause(walk, "node_gone", message, else_end="dead_end")
                continue
            if node.kind == "begin":
                return Answer()
            branches = [edge.label or "" for edge in self.flow.outgoing[node_id]]
            if len(branches) > 1 and (forced := self.control.take_forced(node_id)):
                return Answer(branch=forced, by="user", forced=True)
            before = walk.soul.context.position
            try:
                answer = await self._ask(walk, node, branches if len(branches) > 1 else [])
            except FAILURES as error:
                self._check_cut()
                # The failed question leaves no trace: asked again, it is asked as if for the first
                # time.
                walk.soul.context.rewind(before)
                await self._pause(
                    walk, "model_failed", explain_error(error), else_end="model_failed"
                )
                continue
            if answer is not None:
                walk.request_waits = False
                return answer
            self._check_cut()

    async def _ask(self, walk: _Walk, node: FlowNode, branches: list[str]) -> Answer | None:
        """The turn or turns of one visit; None where a command cut them."""
        prompt = self._prompt(walk, node)
        asking = (
            visits.ask_choice(
                walk.soul,
                visits.as_text(prompt),
                branches,
                retries=self._retries,
                control=self.control,
                node=node.id,
                author=self._author,
            )
            if branches
            else visits.do_task(walk.soul, prompt)
        )
        hint = turn_hint.set(TurnHint(node.id, walk.visit, tuple(branches)))
        try:
            return await visits.cut_on_command(self.control, asking)
        finally:
            turn_hint.reset(hint)

    def _check_cut(self) -> None:
        """Follow the command that cut a turn."""
        self.control.check_stop()
        if goto := self.control.take_goto():
            raise _Jumped(goto)

    def _prompt(self, walk: _Walk, node: FlowNode) -> str | list[ContentPart]:
        own = self.control.take_prompt()
        label: str | list[ContentPart] = own if own is not None else node.label
        if not isinstance(label, str):
            return label
        prompt = fill(label, walk.text, self._variables)
        return with_request(prompt, walk.text) if walk.request_waits else prompt

    async def _settle(
        self, walk: _Walk, node_id: str, answer: Answer
    ) -> tuple[FlowEdge, Answer] | None:
        """The edge to follow after an answer, and by whose choice; None to ask again."""
        if answer.rejected:
            message = f"you refused a tool at “{node_id}”, which ended its turn"
            await self._pause(walk, "tool_rejected", message, else_end="tool_rejected")
            return None
        exits = self.flow.outgoing.get(node_id, [])
        if not exits:
            raise _Ended("dead_end", f"nothing leads on from “{node_id}”")
        if len(exits) == 1:
            return exits[0], replace(answer, branch=None, by="only-exit")
        if answer.branch is None:
            failed = answer.failed or f"“{node_id}” has several exits now, and none was chosen"
            await self._pause(walk, "choice_failed", failed, else_end="choice_failed")
        elif answer.by != "user" and self.control.wants_to_look:
            message = f"“{node_id}” was answered “{answer.branch}”"
            await self._pause(walk, "answered", message)
        forced = self.control.take_forced(node_id)
        if forced is not None and forced != answer.branch:
            answer = replace(answer, branch=forced, by="user", over=answer.branch, forced=True)
        if answer.branch is None:
            return None
        # The flow may have been edited while the run waited: only what is drawn now counts.
        for edge in self.flow.outgoing.get(node_id, []):
            if edge.label == answer.branch:
                return edge, answer
        message = f"“{node_id}” no longer has a branch “{answer.branch}”"
        await self._pause(walk, "choice_failed", message, else_end="choice_failed")
        return None

    async def _pause(
        self,
        walk: _Walk,
        why: PauseReason,
        message: str,
        *,
        else_end: EndReason | None = None,
    ) -> None:
        """Wait for a command; where nobody can give one, end the run with `else_end`.

        Raises:
            RunStopped: the command was to stop.
        """
        if else_end is not None and not self.control.interactive:
            raise _Ended(else_end, message)
        walk.soul.wire.emit(RunPaused(why, message))
        await self.control.wait(why)
        walk.soul.wire.emit(RunResumed(self.control.mode))
        if goto := self.control.take_goto():
            raise _Jumped(goto)
