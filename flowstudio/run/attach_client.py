"""The other end of `attach_server`: a run that another process makes, as if it were made here.

What a front end asks of a run is here in the same form: a `RunControl` whose commands go to the
other process, and the events that come from there. Both ends follow the same events, so what the
control says of the run's state is true but for what is on its way.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flowstudio.run import attach_socket
from flowstudio.run.attach_messages import (
    LONGEST,
    VERSION,
    Approve,
    Attach,
    Bye,
    Command,
    FromStudio,
    Happened,
    Hello,
    NotUnderstood,
    Refused,
    Reply,
    read_from_run,
    write_message,
)
from flowstudio.run.breakpoints import Breakpoint, Breakpoints, parse_breakpoint
from flowstudio.run.conditions import ConditionError
from flowstudio.run.control import Forced, RunControl
from flowstudio.run.folder import RunFolder, open_run
from flowstudio.run.journal import decode_line
from flowstudio.run.runner import FlowRunner
from flowstudio.run.sources import recorded_source
from flowstudio.wire import (
    Author,
    CommandGiven,
    CommandName,
    Event,
    FlowReloaded,
    NodeEntered,
    NodeLeft,
    Notice,
    RunEnded,
    RunPaused,
    RunResumed,
    UserAnswered,
    UserAsked,
    Verdict,
)


class AttachRefused(Exception):
    """The run cannot be attached to; the message says why."""


class RemoteControl(RunControl):
    """A control whose commands are carried out by the process that makes the run."""

    def __init__(self, hello: Hello, send: Any) -> None:
        super().__init__(interactive=True, mode=hello.mode, breakpoints=_points(hello))
        self._send = send
        self.state = "running"

    def _note(
        self,
        command: CommandName,
        target: str | None = None,
        value: str | None = None,
        *,
        by: Author,
    ) -> None:
        self._send(Command(command=command, target=target, value=value))

    def _cut(self) -> None:
        """What has to be cut is cut over there."""

    def follow(self, event: Event) -> None:
        """Keep step with the run over there."""
        match event.body:
            case NodeEntered():
                self.current = event.node
            case NodeLeft() if event.node:
                self.forget(event.node)
            case RunPaused(why=why):
                self.begin_pause(why, event.node, answered=why == "answered")
            case RunResumed():
                self.state, self.paused_because, self.paused_at = "running", None, None
            case CommandGiven() as given:
                self._heed(given)
            case RunEnded():
                self.finish()
            case _:
                pass

    def _heed(self, given: CommandGiven) -> None:
        """A command that anybody gave over there."""
        match given:
            case CommandGiven(command="choose", target=str(node), value=str(branch)):
                self._forced[node] = Forced(branch, given.by)
            case CommandGiven(command="unforce", target=str(node)):
                self._forced.pop(node, None)
            case CommandGiven(command="break", target=str(node), value=str(text)):
                with contextlib.suppress(ConditionError):
                    self.breakpoints.add(parse_breakpoint(node, text))
            case CommandGiven(command="unbreak", target=str(node), value=when):
                self.breakpoints.discard(node, when if when in ("before", "after") else None)
            case CommandGiven(command="step"):
                self.mode = "step"
            case CommandGiven(command="continue" | "run_to"):
                self.mode = "run"
            case _:
                pass


@dataclass(slots=True)
class RemoteQuestions:
    """The questions that wait for the user over there."""

    _send: Any
    _open: dict[str, UserAsked] = field(default_factory=dict[str, UserAsked])

    @property
    def pending(self) -> tuple[UserAsked, ...]:
        """The questions that wait, oldest first."""
        return tuple(self._open.values())

    def answer(self, question_id: str, text: str) -> bool:
        """Answer an open question. False where it is not open (any more)."""
        if self._open.pop(question_id, None) is None:
            return False
        self._send(Reply(id=question_id, text=text))
        return True

    def follow(self, event: Event) -> None:
        """Keep step with what is asked and answered."""
        match event.body:
            case UserAsked() as asked:
                self._open[asked.id] = asked
            case UserAnswered(id=answered):
                self._open.pop(answered, None)
            case NodeEntered() | NodeLeft() | RunEnded():
                self._open.clear()
            case _:
                pass


class AttachedRun:
    """A run that another process makes; open it with `AttachedRun.open`.

    `events` is to be read until it ends: with the run, with `detach`, or when the process is gone.
    """

    def __init__(
        self,
        folder: RunFolder,
        hello: Hello,
        past: tuple[Event, ...],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.folder = folder
        self.past = past
        """What happened before."""
        self.source = recorded_source(folder, hello.revision)
        """The flow as the run uses it."""
        if self.source.flow is None:
            raise AttachRefused(self.source.problem)
        self.control = RemoteControl(hello, self.send)
        self.questions = RemoteQuestions(self.send)
        self.runner = FlowRunner(self.source.flow, name=folder.header.flow, control=self.control)
        """Never run here: it says which flow is run over there."""
        self.runner.revision = hello.revision
        self.is_over = False
        """True once the run has ended; False where only the connection has."""
        self._hello = hello
        self._reader = reader
        self._writer = writer
        for event in past:
            self._follow(event)

    @staticmethod
    async def open(path: Path) -> AttachedRun:
        """Attach to the run in a folder.

        Raises:
            AttachRefused: nobody serves it, or whoever does will not have us.
            OSError: its folder cannot be read.
            ValueError: it is not a run's folder.
        """
        folder = open_run(path)
        try:
            made = attach_socket.connect(path)
        except attach_socket.NotOn as error:
            raise AttachRefused(str(error)) from error
        reader, writer = await asyncio.open_unix_connection(sock=made, limit=LONGEST)
        try:
            writer.write(write_message(Attach(version=VERSION, pid=os.getpid())))
            async with asyncio.timeout(10):
                first = read_from_run(await reader.readline())
            match first:
                case Hello() if first.version == VERSION:
                    past = await asyncio.to_thread(_read_past, folder, first.journal)
                    return AttachedRun(folder, first, past, reader, writer)
                case Hello():
                    raise AttachRefused(f"the run speaks version {first.version} of the protocol")
                case Refused(why=why):
                    raise AttachRefused(why)
                case _:
                    raise AttachRefused("the run said no hello")
        except (NotUnderstood, TimeoutError, ConnectionError) as error:
            writer.close()
            why = f"whoever serves the run {path.name} does not answer as expected: {error}"
            raise AttachRefused(why) from error
        except AttachRefused:
            writer.close()
            raise

    async def events(self) -> AsyncGenerator[Event]:
        """What happens from now on, as it happens."""
        paused = self._hello.paused
        if paused is not None and self.control.state != "paused":
            # The journal could not take it: a full disk, most likely.
            body = RunPaused(paused.why, paused.message)
            stamp = self.past[-1].time if self.past else 0.0
            event = Event(body, self.folder.id, stamp, paused.node)
            self._follow(event)
            yield event
        try:
            while line := await self._reader.readline():
                event = self._read(line)
                if event is None:
                    return
                self._follow(event)
                yield event
        except (ConnectionError, asyncio.LimitOverrunError, ValueError):
            pass  # gone; `is_over` tells whether the run is
        finally:
            self.detach()
            with contextlib.suppress(OSError):
                await self._writer.wait_closed()

    def _read(self, line: bytes) -> Event | None:
        """The event in a line; None at the end."""
        match read_from_run(line):
            case Happened(event=record):
                return Event.from_json(record)
            case Refused(why=why):
                return self._notice(f"The run did not follow: {why}")
            case Bye():
                return None
            case Hello():
                return self._notice("The run said hello twice.")

    def _notice(self, text: str) -> Event:
        stamp = self.past[-1].time if self.past else 0.0
        return Event(Notice(text, "warning"), self.folder.id, stamp)

    def _follow(self, event: Event) -> None:
        self.control.follow(event)
        self.questions.follow(event)
        match event.body:
            case RunEnded():
                self.is_over = True
            case FlowReloaded(revision=revision, renamed=renamed):
                if renamed:
                    self.control.rename(*renamed)
                self.source = recorded_source(self.folder, revision)
                if self.source.flow is not None:
                    self.runner.flow, self.runner.revision = self.source.flow, revision
            case _:
                pass

    def approve(self, request_id: str, verdict: Verdict, reason: str = "") -> None:
        """The user's word on a tool's request."""
        self.send(Approve(id=request_id, verdict=verdict, reason=reason))

    def send(self, message: FromStudio) -> None:
        """Send a message; it is lost where nobody is there any more."""
        if not self._writer.transport.is_closing():
            self._writer.write(write_message(message))

    def detach(self) -> None:
        """Leave; the run goes on. Safe to call twice."""
        self._writer.close()


def _read_past(folder: RunFolder, size: int) -> tuple[Event, ...]:
    """The events in the first `size` bytes of a journal."""
    with folder.journal.open("rb") as file:
        lines = file.read(size).splitlines(keepends=True)
    events = (decode_line(line) for line in lines)
    return tuple(event for event in events if event is not None)


def _points(hello: Hello) -> Breakpoints:
    points: list[Breakpoint] = []
    for node, text in hello.breakpoints:
        with contextlib.suppress(ConditionError):
            points.append(parse_breakpoint(node, text))
    return Breakpoints(points)
