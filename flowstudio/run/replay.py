"""A run again, without a model: the real runner on the flow, with the recorded answers.

The runner walks, fills prompts, reads choices and counts as ever; what the model, the tools and the
user did is taken from the journal. So a replay shows what the run showed, event by event, and an
edited flow can be tried on the answers that an earlier run got.
"""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from flowstudio.flow.choice import choice_prompt
from flowstudio.flow.model import Flow
from flowstudio.models.registry import REHEARSAL
from flowstudio.run.conditions import Facts
from flowstudio.run.control import Forced, Hold, RunControl
from flowstudio.run.folder import Header, open_run
from flowstudio.run.journal import NotRecorded, read_journal
from flowstudio.run.prompts import fill, with_request
from flowstudio.run.resume import ResumeRefused, find_position, make_start
from flowstudio.run.runner import DEFAULT_MAX_MOVES, FlowRunner
from flowstudio.run.sources import current_source, recorded_source
from flowstudio.run.start import Start
from flowstudio.run.tape import Tape, is_foreign, same, split
from flowstudio.run.watchdog import Watchdog
from flowstudio.soul import Context, LLMNotSet, MaxStepsReached
from flowstudio.soul.errors import NeedsUser
from flowstudio.wire import (
    Author,
    Body,
    ChoiceMade,
    ChoiceRejected,
    CommandGiven,
    Consumer,
    EndReason,
    Event,
    FlowReloaded,
    NodeEntered,
    NodeLeft,
    PauseReason,
    PromptSent,
    Retried,
    RunEnded,
    RunPaused,
    RunReopened,
    RunStarted,
    StepBegan,
    StepInterrupted,
    Text,
    ToolReturned,
    Wire,
)

if TYPE_CHECKING:
    from kosong.message import ContentPart

_COMPARED = 4_000
"""Characters of two prompts that are compared to find the nearest one."""
_HOLDS: frozenset[PauseReason] = frozenset({"step", "pause", "breakpoint", "run_to"})


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The first place where a strict replay says something else than was recorded."""

    node: str | None
    visit: int | None
    said: Body
    recorded: Body | None
    """What was recorded in its place; None where the recording was over."""
    nearest: str | None = None
    """For a prompt, the recorded one that comes nearest."""

    @property
    def message(self) -> str:
        """What differs, as a sentence."""
        where = f"visit {self.visit} of “{self.node}”" if self.node else "the run"
        if isinstance(self.said, PromptSent):
            return f"{where}: the prompt is not the recorded one"
        if self.recorded is None:
            return f"{where}: {self.said.type} comes after all that was recorded"
        return f"{where}: {self.said.type} comes where {self.recorded.type} was recorded"

    @property
    def diff(self) -> list[str]:
        """The recorded text and the one of now, as a unified diff."""
        if isinstance(self.said, PromptSent):
            old, new = self.nearest or "", self.said.prompt
        else:
            old, new = str(self.recorded or ""), str(self.said)
        lines = difflib.unified_diff(
            old.splitlines(), new.splitlines(), "recorded", "now", lineterm=""
        )
        return list(lines)


@dataclass(frozen=True, slots=True)
class ReplayOutcome:
    """What came of a replay."""

    reason: EndReason | None
    """How it ended; None where the recording breaks off."""
    events: int
    mismatch: Mismatch | None = None


class _Over(BaseException):
    """The recording is over; unwinds the runner, which must not take it for a failure."""


class _Differs(BaseException):
    """A strict replay says something that was not recorded."""

    def __init__(self, mismatch: Mismatch) -> None:
        super().__init__(mismatch.message)
        self.mismatch = mismatch


class _RecordedFailure(LLMNotSet):
    """What the model's failure was told as."""

    def __init__(self, message: str) -> None:
        Exception.__init__(self, message)


class _RecordedQuestion(NeedsUser):
    """What was asked while nobody was there."""

    def __init__(self, message: str) -> None:
        Exception.__init__(self, message)
        self.question = message


async def replay(
    path: Path,
    consumer: Consumer,
    *,
    which: Literal["recorded", "current"] = "recorded",
    strict: bool = False,
) -> ReplayOutcome:
    """Replay the run in a folder; `consumer` hears its events. Nothing is written.

    Raises:
        ResumeRefused: the flow cannot be read.
        what `read_journal` and `open_run` raise.
    """
    folder = open_run(path)
    events = read_journal(folder.journal).events

    def find_flow(revision: int) -> Flow:
        source = current_source(folder) if which == "current" else None
        source = source or recorded_source(folder, revision)
        if source.flow is None:
            raise ResumeRefused(f"the flow cannot be run: {source.problem}")
        return source.flow

    follows = which == "recorded"
    return await play(
        events, folder.header, find_flow, consumer, strict=strict, follows_reloads=follows
    )


async def play(
    events: Sequence[Event],
    header: Header,
    find_flow: Callable[[int], Flow],
    consumer: Consumer,
    *,
    strict: bool = False,
    follows_reloads: bool = True,
) -> ReplayOutcome:
    """Replay recorded events; `find_flow` gives the flow at a revision."""
    count = 0
    reason: EndReason | None = None

    def hear(event: Event) -> None:
        nonlocal count, reason
        count += 1
        if isinstance(event.body, RunEnded):
            reason = event.body.reason
        elif isinstance(event.body, RunReopened):
            reason = None
        consumer(event)

    seen: list[Event] = []
    prompts = [event.body.prompt for event in events if isinstance(event.body, PromptSent)]
    for before, tape in split(events):
        for event in before:
            hear(event)
        seen += before
        if tape.is_over:
            continue
        stretch = _Stretch(tape, header, find_flow, prompts, strict, follows_reloads)
        stretch.wire.subscribe(hear)
        mismatch = await stretch.play(seen)
        if mismatch is not None:
            return ReplayOutcome(reason, count, mismatch)
        seen += tape.events
    return ReplayOutcome(reason, count)


class _Stretch:
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
        self.wire = _Wire(self)
        self.control = _Control(self)
        self.soul = _Soul(self)
        self._late: Flow | None = None
        """An edit of the flow that came after the prompt was written which is sent next."""
        self.is_lost = False
        """True while the walk is where nothing was recorded."""
        self.first = tape.events[0].body
        first = self.first
        begun = first if isinstance(first, RunStarted) else None
        revision = first.revision if isinstance(first, RunStarted | RunReopened) else 1
        self.runner = _Runner(
            find_flow(revision),
            name=begun.flow if begun else header.flow,
            max_moves=begun.max_moves if begun else DEFAULT_MAX_MOVES,
            control=self.control,
            max_choice_retries=_find_retries(tape),
            path=begun.path if begun else None,
            model=first.model if isinstance(first, RunStarted | RunReopened) else "",
            variables=begun.variables if begun else header.variables,
            rounds=header.rounds,
            watchdog=_Watchdog(self),
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
        except _Over:
            return None
        except _Differs as differs:
            return differs.mismatch
        except (MaxStepsReached, _BrokeOff):
            pass
        return None

    # What the wire asks

    def check(self, body: Body, node: str | None, visit: int | None) -> Event | None:
        """The recorded event in whose place something is said; None where there is none."""
        tape = self.tape
        expected = tape.next
        if expected is None and not self.is_lost:
            raise _Over
        if expected is not None and same(expected, _settled(body, expected), node, visit):
            self.is_lost = False
            return expected
        if self.strict and not _is_relabelled(expected, body):
            recorded = expected.body if expected else None
            raise _Differs(Mismatch(node, visit, body, recorded, self._nearest(body)))
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

    def _is_written_already(self, flow: Flow, revision: int) -> bool:
        """Whether the prompt that is sent next was written before the flow became this one.

        Between the two the run waits for an instant, in which an edit may come.
        """
        event = self.tape.next_of_runner()
        if event is None or not isinstance(event.body, PromptSent) or event.node is None:
            return False
        text = self.first.input if isinstance(self.first, RunStarted) else self.header.input
        given = (event.node, text, self.header.variables)
        prompt = event.body.prompt
        before, after = _prompts_of(self.runner.flow, *given), _prompts_of(flow, *given)
        if prompt in before and prompt in after:
            left = self.tape.find(NodeLeft)
            return left is not None and _revision(left) < revision
        return prompt in before

    def look_ahead(self) -> None:
        """Play back what others said next, and give the commands that were given next."""
        tape = self.tape
        if self._late is not None and isinstance(tape.events[tape.at - 1].body, PromptSent):
            flow, self._late = self._late, None
            self.runner.reload(flow)
        while (event := tape.next) is not None:
            if isinstance(event.body, CommandGiven):
                break
            if not is_foreign(event):
                return
            tape.at += 1
            if isinstance(event.body, FlowReloaded) and self.follows_reloads:
                flow = self.find_flow(event.body.revision)
                if self._is_written_already(flow, event.body.revision):
                    self._late = flow
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


def _settled(body: Body, recorded: Event) -> Body:
    """What is said, with the words of the surroundings as they were recorded."""
    match body, recorded.body:
        case (RunPaused(why="disk"), RunPaused(why="disk")):
            return recorded.body
        case (RunEnded(reason="disk"), RunEnded(reason="disk")):
            return recorded.body
        case (NodeLeft(), NodeLeft(seconds=seconds)):
            return replace(body, seconds=seconds)
        case _:
            return body


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


class _Wire(Wire):
    """Says what the runner says, at the recorded time, and then what others said."""

    def __init__(self, stretch: _Stretch) -> None:
        super().__init__(stretch.tape.events[0].run)
        self._stretch = stretch

    def emit(self, body: Body) -> Event:
        recorded = self._stretch.check(body, self._node, self._visit)
        if recorded is None:
            event = super().emit(body)
            if isinstance(body, RunPaused):
                # Nobody was there to say how it goes on.
                self._stretch.control.stop(by="replay")
            return event
        body = _settled(body, recorded)
        event = Event(body, recorded.run, recorded.time, self._node, self._visit)
        self._stretch.tape.at += 1
        self._stretch.soul.note(body)
        self.play(event)
        self._stretch.look_ahead()
        if self._stretch.tape.is_over and not isinstance(body, RunEnded):
            raise _Over
        return event

    def play(self, event: Event) -> None:
        """Hand on an event as it is."""
        for consumer in tuple(self._consumers):
            consumer(event)


class _Control(RunControl):
    """A control whose pauses are the recorded ones, and whose commands are given by the tape."""

    def __init__(self, stretch: _Stretch) -> None:
        self._stretch = stretch
        self._obeyed: set[int] = set()
        self._is_alone = False
        super().__init__()

    @property
    def interactive(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether what comes now was a pause; alone a run ends there."""
        event = self._tape.next_of_runner()
        return not self._is_alone and event is not None and isinstance(event.body, RunPaused)

    @interactive.setter
    def interactive(self, value: bool) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        pass

    def be_alone(self) -> None:
        """Nothing is recorded from here on: nobody is there to be asked."""
        self._is_alone = True

    @property
    def _tape(self) -> Tape:
        return self._stretch.tape

    def obey(self, given: CommandGiven) -> None:
        """Give a recorded command, once."""
        if id(given) in self._obeyed:
            return
        self._obeyed.add(id(given))
        turn = self._turn
        if not self._stretch.soul.was_cut:
            # It came when the answer was there already.
            self._turn = None
        try:
            self._do(given)
        finally:
            self._turn = turn

    def _do(self, given: CommandGiven) -> None:
        by, node, value = given.by, given.target or "", given.value or ""
        match given.command:
            case "step":
                self.step(by=by)
            case "continue":
                self.go_on(by=by)
            case "pause":
                self.pause(by=by)
            case "stop":
                self.stop(by=by)
            case "choose":
                self.choose(node, value, by=by)
            case "unforce":
                self.unforce(node, by=by)
            case "go_to":
                self.go_to(node, by=by)
            case "run_to":
                self.run_to(node, by=by)
            case "again":
                self.again(by=by)
            case "allow_more":
                self.allow_more(int(value), by=by)
            case "replace_prompt":
                self.replace_prompt(value, by=by)
            case "break" | "unbreak":
                # Where it held is recorded; the breakpoint itself is only said.
                self._given.append(given)

    def why_hold(self, node: str, facts: Callable[[], Facts], *, first: bool) -> Hold | None:
        super().why_hold(node, facts, first=first)
        event = self._tape.next_of_runner()
        match event.body if event else None:
            case RunPaused(why=why, message=message) if why in _HOLDS:
                return Hold(why, message)
            case RunEnded(reason="breakpoint", message=message):
                return Hold("breakpoint", message)
            case _:
                return None

    def why_hold_end(self, node: str, facts: Callable[[], Facts]) -> Hold | None:
        self.tell()
        message = self._tape.next_is("breakpoint")
        return Hold("breakpoint", message) if message is not None else None

    def why_hold_after(self, node: str, facts: Callable[[], Facts]) -> Hold | None:
        self.tell()
        message = self._tape.next_is("breakpoint")
        return Hold("breakpoint", message) if message is not None else None

    def take_forced(self, node: str) -> Forced | None:
        self.tell()
        event = self._tape.next_of_runner()
        match event.body if event and not self._stretch.is_lost else None:
            case PromptSent() | ChoiceRejected() | RunPaused(why="answered"):
                # It came an instant too late for this look, and was found at the next one.
                return None
            case _:
                return super().take_forced(node)

    @property
    def wants_to_look(self) -> bool:
        return self._tape.next_is("answered") is not None


class _Watchdog(Watchdog):
    """Notices what was noticed."""

    def __init__(self, stretch: _Stretch) -> None:
        super().__init__(0, Path())
        self._stretch = stretch

    def look(self, node: str, answer: str) -> str | None:
        return self._stretch.tape.next_is("no_progress")


class _Runner(FlowRunner):
    """The runner, with whoever answered as the author of each choice."""

    def answered_by(self, author: Author) -> None:
        """Who answers the visit that begins."""
        self._author = author

    def offer(self, moves: int) -> None:
        """How many moves are offered where none is left."""
        self._max_moves = moves


class _Context(Context):
    """A conversation that stands where the recorded one stood."""

    def __init__(self, stretch: _Stretch) -> None:
        super().__init__()
        self._stretch = stretch

    @property
    def position(self) -> int:
        event = self._stretch.tape.find(NodeLeft)
        if event is None or not isinstance(event.body, NodeLeft) or event.body.context is None:
            return 0
        return event.body.context

    def rewind(self, position: int) -> None:
        """Nothing: there is nothing in it."""

    def sync(self) -> None:
        if self._stretch.tape.next_is("disk") is not None:
            raise OSError("the disk refused")


@dataclass(frozen=True, slots=True)
class _Turn:
    answer_text: str
    rejected: bool = False
    tokens: int = 0


class _BrokeOff(Exception):
    """What ended the recorded run was no fault of flow or model."""


class _Soul:
    """Answers each turn with what was recorded since its prompt."""

    def __init__(self, stretch: _Stretch) -> None:
        self._stretch = stretch
        self._context = _Context(stretch)
        self._texts: list[str] = []
        self._submitted: str | None = None
        self._partial = ""
        self.was_cut = False
        """True where a command cut the turn that is on."""

    @property
    def wire(self) -> Wire:
        return self._stretch.wire

    @property
    def context(self) -> Context:
        return self._context

    @property
    def partial_text(self) -> str:
        return self._partial

    def note(self, body: Body) -> None:
        """Keep of what is said what the next answer is made of."""
        match body:
            case NodeEntered():
                self._stretch.runner.answered_by(self._find_author())
            case PromptSent():
                self._texts, self._submitted, self._partial = [], None, ""
                self.was_cut = False
            case StepBegan() | Retried():
                self._texts = []
            case Text(text=text):
                self._texts.append(text)
            case StepInterrupted(partial=partial):
                self._partial, self.was_cut = partial, True
            case ToolReturned(name="submit_answer", ok=True, output=output):
                self._submitted = output
            case _:
                pass

    async def turn(self, user_input: str | list[ContentPart], /) -> _Turn:
        """The recorded result of the turn; a recorded failure is one again."""
        # A command that cut the turn does so here.
        await asyncio.sleep(0)
        stretch, tape = self._stretch, self._stretch.tape
        if stretch.is_lost:
            stretch.control.be_alone()
            raise _RecordedFailure("nothing is recorded for this visit")
        if tape.is_over:
            raise _Over
        if (message := tape.next_is("needs_user")) is not None:
            raise _RecordedQuestion(message)
        if (message := tape.next_is("model_failed")) is not None:
            raise _RecordedFailure(message)
        if (message := tape.next_is("disk")) is not None and self._broke_off():
            raise NotRecorded(0, message)
        if (message := tape.next_is("failed")) is not None:
            raise _BrokeOff(message.removeprefix("the run broke off: "))
        rejected = tape.next_is("tool_rejected") is not None
        text = "".join(self._texts)
        if self._submitted is not None:
            text = f"{text}\n\n{self._submitted}" if text.strip() else self._submitted
        tokens = 0
        event = tape.find(NodeLeft, ChoiceRejected, PromptSent, RunEnded)
        if event is not None and isinstance(event.body, NodeLeft) and not event.body.cut:
            # The user's answers are not streamed.
            text, tokens = text or event.body.answer, event.body.tokens
        return _Turn(text, rejected, tokens)

    def _broke_off(self) -> bool:
        """Whether the disk refused a tool call in the turn, not the visit at its end."""
        event = self._stretch.tape.find(NodeLeft, PromptSent, RunEnded)
        return event is None or not isinstance(event.body, NodeLeft)

    def _find_author(self) -> Author:
        """Who answers the visit that begins, by the choice that was made."""
        for event in self._stretch.tape.events[self._stretch.tape.at :]:
            match event.body:
                case ChoiceMade(forced=False, by=by):
                    return by
                case NodeLeft() | NodeEntered():
                    break
                case _:
                    pass
        first = self._stretch.first
        is_model = isinstance(first, RunStarted | RunReopened) and first.model != REHEARSAL
        return "model" if is_model else "script"
