"""The replay of one stretch of a run: what is said is held against what was recorded."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from flowstudio.flow.choice import choice_prompt
from flowstudio.flow.model import Flow
from flowstudio.run.folder import Header
from flowstudio.run.prompts import fill, with_request
from flowstudio.run.replay_cast import (
    PlayedControl,
    PlayedRunner,
    PlayedSoul,
    PlayedWatchdog,
    PlayedWire,
)
from flowstudio.run.replay_ends import BrokeOff, Differs, Mismatch, Over
from flowstudio.run.resume import find_position, make_start
from flowstudio.run.runner import DEFAULT_MAX_MOVES
from flowstudio.run.start import Start
from flowstudio.run.tape import Tape, is_foreign, same, settled
from flowstudio.soul import MaxStepsReached
from flowstudio.wire import (
    Body,
    ChoiceRejected,
    CommandGiven,
    Event,
    FlowReloaded,
    NodeEntered,
    NodeLeft,
    PromptSent,
    RunEnded,
    RunReopened,
    RunStarted,
)

_COMPARED = 4_000
"""Characters of two prompts that are compared to find the nearest one."""


class Stretch:
    """The replay of one stretch: a runner, and what it believes to be control, soul and wire."""

    def __init__(
        self,
        tape: Tape,
        header: Header,
        find_flow: Callable[[int], Flow],
        prompts: Sequence[str],
        strict: bool,
        follows_reloads: bool,
    ) -> None:
        self.tape = tape
        self.header = header
        self.prompts = prompts
        self.strict = strict
        self.follows_reloads = follows_reloads
        self.find_flow = find_flow
        self.wire = PlayedWire(self)
        self.control = PlayedControl(self)
        self.soul = PlayedSoul(self)
        self._late: tuple[Flow, tuple[str, ...]] | None = None
        """An edit of the flow that came after the prompt was written which is sent next."""
        self.is_lost = False
        """True while the walk is where nothing was recorded."""
        self.first = tape.events[0].body
        first = self.first
        begun = first if isinstance(first, RunStarted) else None
        revision = first.revision if isinstance(first, RunStarted | RunReopened) else 1
        self.runner = PlayedRunner(
            find_flow(revision),
            name=begun.flow if begun else header.flow,
            max_moves=begun.max_moves if begun else DEFAULT_MAX_MOVES,
            control=self.control,
            max_choice_retries=_find_retries(tape),
            path=begun.path if begun else None,
            model=first.model if isinstance(first, RunStarted | RunReopened) else "",
            variables=begun.variables if begun else header.variables,
            rounds=header.rounds,
            watchdog=PlayedWatchdog(self),
        )
        self.runner.revision = revision

    async def play(self, seen: Sequence[Event]) -> Mismatch | None:
        """Run it; gives where a strict replay differs."""
        text = self.first.input if isinstance(self.first, RunStarted) else self.header.input
        start: Start | None = None
        if isinstance(self.first, RunReopened):
            position = find_position(list(seen))
            start = make_start(position, self.first.to, self.first.max_moves)
            begun = position.begun
            self.runner.offer(begun.max_moves if begun else DEFAULT_MAX_MOVES)
        try:
            await self.runner.run(self.soul, text, start=start)
        except Over:
            return None
        except Differs as differs:
            return differs.mismatch
        except (MaxStepsReached, BrokeOff):
            pass
        return None

    # What the wire asks

    def check(self, body: Body, node: str | None, visit: int | None) -> Event | None:
        """The recorded event in whose place something is said; None where there is none."""
        tape = self.tape
        expected = tape.next
        if expected is None and not self.is_lost:
            raise Over
        if expected is not None and same(expected, settled(body, expected), node, visit):
            self.is_lost = False
            return expected
        if self.strict and not _is_relabelled(expected, body):
            recorded = expected.body if expected else None
            raise Differs(Mismatch(node, visit, body, recorded, self._nearest(body)))
        if expected is not None and _in_place(expected, body, node, visit):
            self.is_lost = False
            return expected
        if isinstance(body, NodeEntered | PromptSent | NodeLeft | RunEnded):
            self.is_lost = not tape.seek(node, visit, type(body))
            return None if self.is_lost else tape.next
        return None

    def _nearest(self, body: Body) -> str | None:
        if not isinstance(body, PromptSent) or not self.prompts:
            return None
        wanted = body.prompt[:_COMPARED]

        def likeness(prompt: str) -> float:
            return difflib.SequenceMatcher(None, wanted, prompt[:_COMPARED]).quick_ratio()

        return max(dict.fromkeys(self.prompts), key=likeness)

    def _is_written_already(self, flow: Flow, reload: FlowReloaded) -> bool:
        """Whether the prompt that is sent next was written before the flow became this one.

        Between the two the run waits for an instant, in which an edit may come.
        """
        event = self.tape.next_of_runner()
        if event is None or not isinstance(event.body, PromptSent) or event.node is None:
            return False
        text = self.first.input if isinstance(self.first, RunStarted) else self.header.input
        given = (text, self.header.variables)
        prompt = event.body.prompt
        # A visit bears the id that its node had when it began.
        node = event.node if event.node in self.runner.flow.nodes else self.control.current or ""
        then = reload.renamed[1] if node in reload.renamed[:1] else node
        before = _prompts_of(self.runner.flow, node, *given)
        after = _prompts_of(flow, then, *given)
        if prompt in before and prompt in after:
            left = self.tape.find(NodeLeft)
            return left is not None and _revision(left) < reload.revision
        return prompt in before

    def look_ahead(self) -> None:
        """Play back what others said next, and give the commands that were given next."""
        tape = self.tape
        if self._late is not None and isinstance(tape.events[tape.at - 1].body, PromptSent):
            (flow, renamed), self._late = self._late, None
            self.runner.reload(flow, renamed)
        while (event := tape.next) is not None:
            if isinstance(event.body, CommandGiven):
                break
            if not is_foreign(event):
                return
            tape.at += 1
            if isinstance(event.body, FlowReloaded) and self.follows_reloads:
                flow = self.find_flow(event.body.revision)
                if self._is_written_already(flow, event.body):
                    self._late = flow, event.body.renamed
                else:
                    self.runner.reload(flow, event.body.renamed)
            self.soul.note(event.body)
            self.wire.play(event)
        for event in tape.events[tape.at :]:
            if not isinstance(event.body, CommandGiven):
                return
            self.control.obey(event.body)


def _revision(event: Event | None) -> int:
    """The revision whose prompt a visit sent."""
    return event.body.revision if event and isinstance(event.body, NodeLeft) else 0


def _prompts_of(flow: Flow, node: str, text: str, variables: Mapping[str, str]) -> set[str]:
    """The first prompts that a visit of a node may send."""
    if node not in flow.nodes:
        return set()
    filled = fill(flow.nodes[node].text, text, variables)
    branches = [edge.label or "" for edge in flow.outgoing[node]]
    prompts = {filled, with_request(filled, text)}
    if len(branches) > 1:
        return {choice_prompt(prompt, branches) for prompt in prompts}
    return prompts


def _find_retries(tape: Tape) -> int:
    """How often a choice was asked for again at most."""
    for event in tape.events:
        if isinstance(event.body, ChoiceRejected):
            return event.body.attempts - 1
    return 3


def _is_relabelled(recorded: Event | None, body: Body) -> bool:
    """Whether the same visit begins, of a node whose label was edited: its prompt will tell."""
    return (
        recorded is not None
        and isinstance(recorded.body, NodeEntered)
        and isinstance(body, NodeEntered)
        and replace(body, label="", revision=0) == replace(recorded.body, label="", revision=0)
    )


def _in_place(recorded: Event, body: Body, node: str | None, visit: int | None) -> bool:
    """Whether something is said where something of its kind was, though not the same."""
    if (recorded.node, recorded.visit) != (node, visit):
        return False
    if isinstance(body, PromptSent) and isinstance(recorded.body, PromptSent):
        return body.attempt == recorded.body.attempt
    return type(body) is type(recorded.body)
