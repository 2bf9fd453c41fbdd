"""FlowRunner: one walk through a flow.

The runner knows the flow, a soul that answers and a `RunControl` that holds it; it knows no screen
and no disk. Everything that happens is said on the soul's wire. Each move passes a gate where the
control can hold, redirect or end the run, so a run behaves the same in the studio, in CI and over
SSH.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flowstudio.flow.model import Flow, FlowEdge, FlowNode
from flowstudio.models.hint import TurnHint, turn_hint
from flowstudio.run import visit as visits
from flowstudio.run.control import Hold, RunControl, RunStopped
from flowstudio.run.journal import NotRecorded, explain_disk
from flowstudio.run.prompts import fill, takes_input, with_request
from flowstudio.run.ralph import ralph_flow, ralph_moves
from flowstudio.run.user_questions import AskUser, UserInTheSoulsPlace, find_question
from flowstudio.run.visit import FAILURES, Answer, RunnableSoul
from flowstudio.run.walk import Ended, Jumped, Left, Walk
from flowstudio.soul import MaxStepsReached, NeedsUser
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
    RunReopened,
    RunResumed,
    RunStarted,
)

if TYPE_CHECKING:
    from kosong.message import ContentPart, Message

    from flowstudio.run.start import Start
    from flowstudio.run.watchdog import Watchdog

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
        variables: what fills `{{name}}` in the labels.
        rounds: for a Ralph loop, how many it may make; to reach `max_moves` is then the end of the
            loop (`max_iterations`), and its prompt is sent as it is, with nothing filled in.
        watchdog: who notices that the run gets nowhere; without one nobody does.
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
        rounds: int | None = None,
        watchdog: Watchdog | None = None,
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
        self._rounds = rounds
        self._watchdog = watchdog
        self._renamed: dict[str, str] = {}
        self._walked: Walk | None = None
        """Where the run that is on stands."""
        self.ask_user: AskUser | None = None
        """Who answers nodes that ask the user; None: the soul, like any other."""

    @staticmethod
    def ralph_loop(
        user_message: Message | str | list[ContentPart], max_ralph_iterations: int
    ) -> FlowRunner:
        """The runner of a loop that repeats until the model says STOP (KLIP-10, section 6).

        `max_ralph_iterations` bounds the rounds; -1 is without bound.
        """
        prompt = user_message if isinstance(user_message, str | list) else user_message.content
        return FlowRunner(
            ralph_flow(prompt),
            name="ralph",
            max_moves=ralph_moves(max_ralph_iterations),
            rounds=max_ralph_iterations,
        )

    def reload(self, flow: Flow, renamed: tuple[str, ...] = ()) -> FlowReloaded:
        """Use `flow` from the next move on; nodes are the same where their ids are.

        The visit in flight finishes with the prompt it started with. `renamed` is the old and the
        new id of a node that was renamed: where the run stands on the old one, it goes on as the
        new one.
        """
        old, new = self.flow.nodes, flow.nodes
        self.revision += 1
        body = FlowReloaded(
            self.revision,
            added=tuple(node for node in new if node not in old),
            removed=tuple(node for node in old if node not in new),
            changed=tuple(n for n in new if n in old and new[n].label != old[n].label),
            renamed=renamed,
        )
        if renamed:
            before, now = renamed
            self._renamed[before] = now
            self.control.rename(before, now)
            if self._walked is not None:
                self._walked.rename(before, now)
        self.flow = flow
        return body

    async def run(
        self, soul: RunnableSoul, args: str = "", *, start: Start | None = None
    ) -> RunOutcome:
        """Walk from BEGIN to the run's end, and say how it ended.

        `args` is the flow's input: it fills `$ARGUMENTS`, or goes before the first prompt. With
        `start` a run that was left goes on from there.

        Raises:
            NotRecorded: the run's beginning cannot be kept on disk.
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
        if start is not None:
            walk.take_up(start)
        self._walked = walk
        self.control.begin(soul.wire.emit)
        soul.wire.emit(self._begin_with(walk, start))
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
            self._walked = None
            self.control.finish()
        soul.wire.emit(RunEnded(reason, message, walk.moves))
        if reason in ("max_moves", "max_iterations"):
            raise MaxStepsReached(self._max_moves, message)
        return RunOutcome(reason, message, tuple(walk.path))

    def _begin_with(self, walk: Walk, start: Start | None) -> RunStarted | RunReopened:
        if start is not None:
            return RunReopened(
                start.node, len(start.path), self._model, self.revision, start.moves_left
            )
        return RunStarted(
            self.name,
            self._path,
            self.revision,
            self._model,
            walk.text,
            self._max_moves,
            self._variables,
        )

    # The walk

    async def _walk(self, walk: Walk) -> None:
        while True:
            walk.current = self._now(walk.current)
            try:
                await self._require_node(walk)
            except Jumped as jump:
                walk.current = jump.node
                continue
            node = self.flow.nodes[walk.current]
            walk.enter(node.id, self.revision, time.monotonic())
            self.control.current = node.id
            with walk.soul.wire.visiting(node.id, walk.visit):
                walk.soul.wire.emit(
                    NodeEntered(len(walk.path), node.kind, node.text, self.revision)
                )
                if node.kind == "end":
                    if elsewhere := await self._end(walk, node.id):
                        walk.current = elsewhere
                        continue
                    return
                walk.current = await self._visit(walk, node.id)

    async def _end(self, walk: Walk, node_id: str) -> str | None:
        """Leave END, which only a breakpoint holds; gives where the user went on from there."""
        try:
            self._check_cut()
            if hold := self.control.why_hold_end(node_id, walk.facts):
                await self._hold(walk, hold)
        except Jumped as jump:
            return await self._leave(walk, jump.node, Answer(by=jump.by)) or jump.node
        return await self._leave(walk, None, Answer())

    def _now(self, node_id: str) -> str:
        """What a node is called in the flow that is in force."""
        for _ in self._renamed:
            if node_id in self.flow.nodes or node_id not in self._renamed:
                break
            node_id = self._renamed[node_id]
        return node_id

    async def _require_node(self, walk: Walk) -> None:
        """Hold the run as long as its node is not in the flow: a reload took it away."""
        while walk.current not in self.flow.nodes:
            message = f"“{walk.current}” is no longer in the flow: pick the node to go on from"
            await self._pause(walk, "node_gone", message, else_end="dead_end")

    async def _visit(self, walk: Walk, node_id: str) -> str:
        """Carry out one visit and give the node that comes next."""
        answer = Answer()
        try:
            await self._gate(walk, node_id)
            while True:
                answer = await self._answer(walk)
                if settled := await self._settle(walk, answer):
                    edge, answer = settled
                    break
        except Left as left:
            return left.to
        except Jumped as jump:
            text = answer.text or walk.partial or ""
            jumped = Answer(text, answer.tokens, by=jump.by)
            return await self._leave(walk, jump.node, jumped) or jump.node
        if answer.branch is not None:
            walk.soul.wire.emit(ChoiceMade(answer.branch, answer.by, answer.over, answer.forced))
        return await self._leave(walk, edge.dst, answer) or edge.dst

    async def _leave(self, walk: Walk, to: str | None, answer: Answer) -> str | None:
        """The visit is over: acknowledge it once it is on disk, and the conversation with it.

        Where the disk refuses, the run is held until it takes it; gives the node to go on from if
        the user said another one meanwhile.
        """
        self.control.forget(walk.current)
        seconds = round(time.monotonic() - walk.since, 3)
        left = NodeLeft(
            to,
            answer.branch,
            answer.by,
            answer.text,
            answer.tokens,
            seconds,
            walk.revision,
            cut=walk.partial is not None,
        )
        elsewhere: Jumped | None = None
        while True:
            if elsewhere is not None:
                left = replace(left, to=elsewhere.node, branch=None, by=elsewhere.by)
            context = walk.soul.context
            try:
                context.sync()
                walk.soul.wire.emit(replace(left, context=context.position))
            except OSError as error:
                try:
                    await self._hold_for_disk(walk, error)
                except Jumped as jump:
                    elsewhere = jump
                continue
            return elsewhere.node if elsewhere else None

    async def _hold_for_disk(self, walk: Walk, error: OSError) -> None:
        """Hold the run while it cannot be recorded; nobody there to make room: it ends."""
        await self._pause(walk, "disk", explain_disk(error), else_end="disk")

    async def _gate(self, walk: Walk, node_id: str) -> None:
        """Hold the run before the node if the user wants it held, or if it may make no more moves.

        Where no move is left, asking the model would be for nothing.
        """
        self._check_cut()
        hold = self.control.why_hold(node_id, walk.facts, first=len(walk.path) == 1)
        walk.bound += self.control.take_more()
        if walk.moves >= walk.bound:
            await self._offer_more(walk)
        elif hold is not None:
            await self._hold(walk, hold)

    async def _offer_more(self, walk: Walk) -> None:
        """No move is left: the user may allow more, else the run ends."""
        more, end = self._max_moves, "max_moves"
        message = f"the run made {walk.moves} moves, as many as it was allowed"
        if self._rounds is not None:
            more, end = max(self._rounds, 1), "max_iterations"
            rounds = "1 round" if self._rounds == 1 else f"{self._rounds} rounds"
            message = f"the loop was not told to stop in {rounds}, as many as it may make"
        try:
            await self._pause(walk, "max_moves", message, else_end=end)
        finally:
            walk.bound = walk.moves + (self.control.take_more() or more)

    async def _hold(self, walk: Walk, hold: Hold, *, answered: bool = False) -> None:
        """Pause where a command or a breakpoint wants it; nobody is there to step headless."""
        end: EndReason | None = None
        if hold.why in ("breakpoint", "no_progress"):
            end = "breakpoint" if hold.why == "breakpoint" else "no_progress"
        await self._pause(walk, hold.why, hold.message, else_end=end, answered=answered)

    async def _answer(self, walk: Walk) -> Answer:
        """What the node's turn brings; a model that fails is asked again when the user says so."""
        while True:
            await self._require_node(walk)
            node_id = walk.current
            node = self.flow.nodes[node_id]
            walk.revision = self.revision
            if node.kind in ("begin", "end"):
                return Answer()
            branches = [edge.label or "" for edge in self.flow.outgoing[node_id]]
            if len(branches) > 1 and (forced := self.control.take_forced(node_id)):
                return Answer(branch=forced.branch, by=forced.by, forced=True)
            before = walk.soul.context.position
            try:
                answer = await self._ask(walk, node, branches if len(branches) > 1 else [])
            except NeedsUser as error:
                # Asked again, with an answer at hand, it is asked as if for the first time.
                walk.soul.context.rewind(before)
                await self._pause(walk, "needs_user", str(error), else_end="needs_user")
                continue
            except FAILURES as error:
                self._check_cut()
                # The failed question leaves no trace: asked again, it is asked as if for the first
                # time. A turn that used up its steps did not fail: its work is worth knowing.
                if not isinstance(error, MaxStepsReached):
                    walk.soul.context.rewind(before)
                message = visits.explain_failure(error)
                await self._pause(walk, "model_failed", message, else_end="model_failed")
                continue
            except NotRecorded as error:
                # A tool call that cannot be recorded is not made; the visit begins again.
                self._check_cut()
                walk.soul.context.rewind(before)
                await self._hold_for_disk(walk, error)
                continue
            if answer is not None:
                walk.request_waits, walk.partial = False, None
                walk.spent += answer.tokens
                return answer
            # A command may come before the turn begins: then the last answer is another visit's.
            walk.partial = walk.soul.partial_text if walk.has_asked else None
            self._check_cut()

    async def _ask(self, walk: Walk, node: FlowNode, branches: list[str]) -> Answer | None:
        """The turn or turns of one visit; None where a command cut them."""
        self._check_cut()
        prompt = self._prompt(walk, node)
        user = self._find_user(walk, node, prompt, branches)
        soul = user or walk.soul
        asking = (
            visits.ask_choice(
                soul,
                visits.as_text(prompt),
                branches,
                retries=self._retries,
                control=self.control,
                node=node.id,
                author="user" if user else self._author,
            )
            if branches
            else visits.do_task(soul, prompt)
        )
        walk.has_asked = False

        async def ask() -> Answer:
            walk.has_asked = True
            return await asking

        hint = turn_hint.set(TurnHint(node.id, walk.visit, tuple(branches)))
        try:
            return await visits.cut_on_command(self.control, ask())
        finally:
            asking.close()
            turn_hint.reset(hint)

    def _find_user(
        self, walk: Walk, node: FlowNode, prompt: str | list[ContentPart], branches: list[str]
    ) -> UserInTheSoulsPlace | None:
        """The user, where the node asks them instead of the model."""
        label = walk.own_prompt if walk.own_prompt is not None else node.label
        if self.ask_user is None or not isinstance(label, str):
            return None
        question = find_question(fill(label, walk.text, self._variables))
        if question is None:
            return None
        text = visits.as_text(prompt)
        return UserInTheSoulsPlace(walk.soul, text, question, branches, self.ask_user)

    def _check_cut(self) -> None:
        """Follow a command to stop or to go elsewhere: it cut a turn, or came between two waits."""
        self.control.check_stop()
        if goto := self.control.take_goto():
            raise Jumped(goto.node, goto.by)

    def _prompt(self, walk: Walk, node: FlowNode) -> str | list[ContentPart]:
        own = self.control.take_prompt(node.id)
        # Kept for the visit: a failed call is made again with the same words.
        walk.own_prompt = own if own is not None else walk.own_prompt
        label = walk.own_prompt if walk.own_prompt is not None else node.label
        if not isinstance(label, str) or self._rounds is not None:
            return label
        prompt = fill(label, walk.text, self._variables)
        return with_request(prompt, walk.text) if walk.request_waits else prompt

    async def _settle(self, walk: Walk, answer: Answer) -> tuple[FlowEdge, Answer] | None:
        """The edge to follow after an answer, and by whose choice; None to ask again."""
        if answer.rejected:
            message = f"you refused a tool at “{walk.current}”, which ended its turn"
            await self._pause(walk, "tool_rejected", message, else_end="tool_rejected")
            return None
        if goto := self.control.take_goto():
            raise Jumped(goto.node, goto.by)
        if not answer.forced and (why := await self._watch(walk.current, answer)):
            hold: Hold | None = Hold("no_progress", why)
        else:
            hold = None
        was_held = False
        while True:
            # The flow may have been edited while the node was asked, and again while the run was
            # held: only what is drawn now counts.
            await self._require_node(walk)
            node_id = walk.current
            exits = self.flow.outgoing.get(node_id, [])
            if not exits:
                if elsewhere := await self._leave(walk, None, answer):
                    raise Left(elsewhere)
                if node_id == self.flow.end_id:
                    raise Ended("reached_end", _AT_END)
                raise Ended("dead_end", f"nothing leads on from “{node_id}”")
            if len(exits) == 1:
                answer = replace(answer, branch=None, by="only-exit", forced=False)
            elif answer.branch is None:
                failed = answer.failed or f"“{node_id}” has several exits now, and none was chosen"
                await self._pause(walk, "choice_failed", failed, else_end="choice_failed")
                was_held = True
            if not was_held and (hold := self._why_look(walk, node_id, answer) or hold):
                await self._hold(walk, hold, answered=True)
                if self.control.has_prompt(node_id):
                    self.control.ask_anew(node_id)
                    return None
                was_held = True
                if len(exits) > 1:
                    answer = self._force(node_id, answer)
                continue
            if len(exits) == 1:
                return exits[0], answer
            answer = self._force(node_id, answer)
            if answer.branch is None:
                return None
            for edge in self.flow.outgoing.get(node_id, []):
                if edge.label == answer.branch:
                    return edge, answer
            message = f"“{node_id}” no longer has a branch “{answer.branch}”"
            await self._pause(walk, "choice_failed", message, else_end="choice_failed")
            return None

    def _force(self, node_id: str, answer: Answer) -> Answer:
        """The answer with the branch that the user takes by hand, if there is one."""
        forced = self.control.take_forced(node_id)
        if forced is None or forced.branch == answer.branch:
            return answer
        return replace(answer, branch=forced.branch, by=forced.by, over=answer.branch, forced=True)

    def _why_look(self, walk: Walk, node_id: str, answer: Answer) -> Hold | None:
        """Whether the answer is to be looked at before it counts."""
        if hold := self.control.why_hold_after(node_id, lambda: walk.facts(answer)):
            return hold
        by_hand = answer.forced or answer.by == "user"
        if answer.branch is None or by_hand or not self.control.wants_to_look:
            return None
        return Hold("answered", f"“{node_id}” was answered “{answer.branch}”")

    async def _watch(self, node_id: str, answer: Answer) -> str | None:
        """Whether the run gets nowhere, as a sentence. Only what a model answers is watched."""
        if self._watchdog is None or self._author != "model" or not answer.text:
            return None
        found = await asyncio.to_thread(self._watchdog.look, node_id, answer.text)
        self._check_cut()
        return found

    async def _pause(
        self,
        walk: Walk,
        why: PauseReason,
        message: str,
        *,
        else_end: EndReason | None = None,
        answered: bool = False,
    ) -> None:
        """Wait for a command; where nobody can give one, end the run with `else_end`.

        Raises:
            RunStopped: the command was to stop.
        """
        if else_end is not None and not self.control.interactive:
            raise Ended(else_end, message)
        held = time.monotonic()
        self.control.begin_pause(why, walk.current, answered=answered)
        walk.soul.wire.emit(RunPaused(why, message))
        await self.control.wait()
        walk.since += time.monotonic() - held
        walk.soul.wire.emit(RunResumed(self.control.command))
        if goto := self.control.take_goto():
            raise Jumped(goto.node, goto.by)
