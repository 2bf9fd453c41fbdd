"""Who plays whom in a replay: wire, control, soul and conversation, led by the tape."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio.models.registry import REHEARSAL
from flowstudio.run.conditions import Facts
from flowstudio.run.control import Forced, Hold, RunControl
from flowstudio.run.journal import NotRecorded
from flowstudio.run.replay_ends import BrokeOff, Over, RecordedFailure, RecordedQuestion
from flowstudio.run.runner import FlowRunner
from flowstudio.run.tape import Tape, settled
from flowstudio.run.watchdog import Watchdog
from flowstudio.soul import Context
from flowstudio.wire import (
    Author,
    Body,
    ChoiceMade,
    ChoiceRejected,
    CommandGiven,
    Event,
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

    from flowstudio.run.replay_stretch import Stretch


_HOLDS: frozenset[PauseReason] = frozenset({"step", "pause", "breakpoint", "run_to"})


class PlayedWire(Wire):
    """Says what the runner says, at the recorded time, and then what others said."""

    def __init__(self, stretch: Stretch) -> None:
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
        body = settled(body, recorded)
        event = Event(body, recorded.run, recorded.time, self._node, self._visit)
        self._stretch.tape.at += 1
        self._stretch.soul.note(body)
        self.play(event)
        self._stretch.look_ahead()
        if self._stretch.tape.is_over and not isinstance(body, RunEnded):
            raise Over
        return event

    def play(self, event: Event) -> None:
        """Hand on an event as it is."""
        for consumer in tuple(self._consumers):
            consumer(event)


class PlayedControl(RunControl):
    """A control whose pauses are the recorded ones, and whose commands are given by the tape."""

    def __init__(self, stretch: Stretch) -> None:
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


class PlayedWatchdog(Watchdog):
    """Notices what was noticed."""

    def __init__(self, stretch: Stretch) -> None:
        super().__init__(0, Path())
        self._stretch = stretch

    def look(self, node: str, answer: str) -> str | None:
        return self._stretch.tape.next_is("no_progress")


class PlayedRunner(FlowRunner):
    """The runner, with whoever answered as the author of each choice."""

    def answered_by(self, author: Author) -> None:
        """Who answers the visit that begins."""
        self._author = author

    def offer(self, moves: int) -> None:
        """How many moves are offered where none is left."""
        self._max_moves = moves


class _Context(Context):
    """A conversation that stands where the recorded one stood."""

    def __init__(self, stretch: Stretch) -> None:
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


class PlayedSoul:
    """Answers each turn with what was recorded since its prompt."""

    def __init__(self, stretch: Stretch) -> None:
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
            raise RecordedFailure("nothing is recorded for this visit")
        if tape.is_over:
            raise Over
        if (message := tape.next_is("needs_user")) is not None:
            raise RecordedQuestion(message)
        if (message := tape.next_is("model_failed")) is not None:
            raise RecordedFailure(message)
        if (message := tape.next_is("disk")) is not None and self._broke_off():
            raise NotRecorded(0, message)
        if (message := tape.next_is("failed")) is not None:
            raise BrokeOff(message.removeprefix("the run broke off: "))
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
