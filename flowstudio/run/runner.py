"""FlowRunner: one walk through a flow.

The runner knows the flow, a soul that answers and a `RunControl` that holds it; it knows no screen
and no disk. Everything that happens is said on the soul's wire. Each move passes a gate where the
control can hold, redirect or end the run, so a run behaves the same in the studio, in CI and over
SSH.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flowstudio.flow.model import Flow, FlowEdge, FlowNode
from flowstudio.models.hint import TurnHint, turn_hint
from flowstudio.run import visit as visits
from flowstudio.run.control import RunControl, RunStopped
from flowstudio.run.prompts import fill, takes_input, with_request
from flowstudio.run.ralph import ralph_flow, ralph_moves
from flowstudio.run.visit import FAILURES, Answer, RunnableSoul
from flowstudio.run.walk import Ended, Jumped, Walk
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
_AT_END = "the run reached END"


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
        walk = Walk(
            soul,
            args,
            request_waits=bool(args.strip()) and not takes_input(labels),
            current=self.flow.begin_id,
            bound=self._max_moves,
        )
        self.control.state = "running"
        soul.wire.emit(
            RunStarted(
                self.name,
                self._path,
                self.revision,
                self._model,
                args,
                self._max_moves,
                self._variables,
            )
        )
        try:
            await self._walk(walk)
            reason, message = "reached_end", _AT_END
        except RunStopped:
            reason, message = "stopped", "you stopped the run"
        except Ended as end:
            reason, message = end.reason, end.message
        except Exception as error:
            # Neither the flow nor the model: a full disk, most likely. Whoever watches must not
            # wait for the end of a run that is over.
            said = str(error) or type(error).__name__
            soul.wire.emit(RunEnded("failed", f"the run broke off: {said}", walk.moves))
            raise
        finally:
            self.control.finish()
        soul.wire.emit(RunEnded(reason, message, walk.moves))
        if reason == "max_moves":
            raise MaxStepsReached(self._max_moves, message)
        return RunOutcome(reason, message, tuple(walk.path))

    # The walk

    async def _walk(self, walk: Walk) -> None:
        while True:
            try:
                await self._require_node(walk, walk.current)
            except Jumped as jump:
                walk.current = jump.node
                continue
            node = self.flow.nodes[walk.current]
            walk.enter(node.id, self.revision, time.monotonic())
            with walk.soul.wire.visiting(node.id, walk.visit):
                walk.soul.wire.emit(
                    NodeEntered(len(walk.path), node.kind, node.text, self.revision)
                )
                if node.kind == "end":
                    self._leave(walk, None, Answer())
                    return
                walk.current = await self._visit(walk, node.id)

    async def _require_node(self, walk: Walk, node_id: str) -> None:
        """Hold the run as long as the node is not in the flow: a reload took it away."""
        while node_id not in self.flow.nodes:
            message = f"“{node_id}” is no longer in the flow: pick the node to go on from"
            await self._pause(walk, "node_gone", message, else_end="dead_end")

    async def _visit(self, walk: Walk, node_id: str) -> str:
        """Carry out one visit and give the node that comes next."""
        answer = Answer()
        try:
            await self._gate(walk, node_id)
            while True:
                answer = await self._answer(walk, node_id)
                if settled := await self._settle(walk, node_id, answer):
                    edge, answer = settled
                    break
        except Jumped as jump:
            self._leave(walk, jump.node, Answer(answer.text, answer.tokens, by="user"))
            return jump.node
        if answer.branch is not None:
            walk.soul.wire.emit(ChoiceMade(answer.branch, answer.by, answer.over, answer.forced))
        self._leave(walk, edge.dst, answer)
        return edge.dst

    def _leave(self, walk: Walk, to: str | None, answer: Answer) -> None:
        self.control.forget(walk.path[-1])
        seconds = round(time.monotonic() - walk.since, 3)
        walk.soul.wire.emit(
            NodeLeft(
                to,
                answer.branch,
                answer.by,
                answer.text,
                answer.tokens,
                seconds,
                walk.revision,
            )
        )

    async def _gate(self, walk: Walk, node_id: str) -> None:
        """Hold the run before the node if the user wants it held, or if it may make no more moves.

        Where no move is left, asking the model would be for nothing.
        """
        self._check_cut()
        why = self.control.why_pause(node_id, first=len(walk.path) == 1)
        if walk.moves >= walk.bound:
            message = f"the run made {walk.moves} moves, as many as it was allowed"
            try:
                await self._pause(walk, "max_moves", message, else_end="max_moves")
            finally:
                walk.bound = walk.moves + self._max_moves
            return
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

    async def _answer(self, walk: Walk, node_id: str) -> Answer:
        """What the node's turn brings; a model that fails is asked again when the user says so."""
        while True:
            await self._require_node(walk, node_id)
            node = self.flow.nodes[node_id]
            walk.revision = self.revision
            if node.kind in ("begin", "end"):
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
                # time. A turn that used up its steps did not fail: its work is worth knowing.
                if not isinstance(error, MaxStepsReached):
                    walk.soul.context.rewind(before)
                message = visits.explain_failure(error)
                await self._pause(walk, "model_failed", message, else_end="model_failed")
                continue
            if answer is not None:
                walk.request_waits = False
                return answer
            self._check_cut()

    async def _ask(self, walk: Walk, node: FlowNode, branches: list[str]) -> Answer | None:
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
        """Follow a command to stop or to go elsewhere: it cut a turn, or came between two waits."""
        self.control.check_stop()
        if goto := self.control.take_goto():
            raise Jumped(goto)

    def _prompt(self, walk: Walk, node: FlowNode) -> str | list[ContentPart]:
        own = self.control.take_prompt(node.id)
        # Kept for the visit: a failed call is made again with the same words.
        walk.own_prompt = own if own is not None else walk.own_prompt
        label = walk.own_prompt if walk.own_prompt is not None else node.label
        if not isinstance(label, str):
            return label
        prompt = fill(label, walk.text, self._variables)
        return with_request(prompt, walk.text) if walk.request_waits else prompt

    async def _settle(
        self, walk: Walk, node_id: str, answer: Answer
    ) -> tuple[FlowEdge, Answer] | None:
        """The edge to follow after an answer, and by whose choice; None to ask again."""
        if answer.rejected:
            message = f"you refused a tool at “{node_id}”, which ended its turn"
            await self._pause(walk, "tool_rejected", message, else_end="tool_rejected")
            return None
        if goto := self.control.take_goto():
            raise Jumped(goto)
        # The flow may have been edited while the node was asked: only what is drawn now counts.
        await self._require_node(walk, node_id)
        exits = self.flow.outgoing.get(node_id, [])
        if not exits:
            self._leave(walk, None, answer)
            if node_id == self.flow.end_id:
                raise Ended("reached_end", _AT_END)
            raise Ended("dead_end", f"nothing leads on from “{node_id}”")
        if len(exits) == 1:
            return exits[0], replace(answer, branch=None, by="only-exit")
        if answer.branch is None:
            failed = answer.failed or f"“{node_id}” has several exits now, and none was chosen"
            await self._pause(walk, "choice_failed", failed, else_end="choice_failed")
        elif answer.by != "user" and self.control.wants_to_look:
            message = f"“{node_id}” was answered “{answer.branch}”"
            await self._pause(walk, "answered", message)
            if self.control.has_prompt(node_id):
                return None
        forced = self.control.take_forced(node_id)
        if forced is not None and forced != answer.branch:
            answer = replace(answer, branch=forced, by="user", over=answer.branch, forced=True)
        if answer.branch is None:
            return None
        # And it may have been edited again while the run waited.
        for edge in self.flow.outgoing.get(node_id, []):
            if edge.label == answer.branch:
                return edge, answer
        message = f"“{node_id}” no longer has a branch “{answer.branch}”"
        await self._pause(walk, "choice_failed", message, else_end="choice_failed")
        return None

    async def _pause(
        self,
        walk: Walk,
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
            raise Ended(else_end, message)
        held = time.monotonic()
        self.control.begin_pause(why, walk.current)
        walk.soul.wire.emit(RunPaused(why, message))
        await self.control.wait()
        walk.since += time.monotonic() - held
        walk.soul.wire.emit(RunResumed(self.control.command))
        if goto := self.control.take_goto():
            raise Jumped(goto)
