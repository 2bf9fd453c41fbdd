"""Lets a studio be attached to a run that goes on without a screen.

The server is one more consumer of the wire and one more giver of commands: it costs a socket that
nobody connects to until somebody does. While nobody is attached, the run is as it was without it.
With the last one who leaves, what they set goes too: the run goes on by itself, unless it was told
to wait for whoever comes.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flowstudio import __version__
from flowstudio.run import attach_socket
from flowstudio.run.attach_messages import (
    LONGEST,
    VERSION,
    Approve,
    Attach,
    Bye,
    Command,
    FromRun,
    FromStudio,
    Happened,
    Hello,
    NotUnderstood,
    Paused,
    Refused,
    Reply,
    read_from_studio,
    write_message,
)
from flowstudio.run.breakpoints import Breakpoint, parse_breakpoint
from flowstudio.run.conditions import ConditionError
from flowstudio.wire import Event, Notice, RunPaused, RunReopened, RunStarted, Text, Thinking

if TYPE_CHECKING:
    from flowstudio.run.control import RunControl
    from flowstudio.run.session import Session
    from flowstudio.soul.approval import Policy

_SLOWEST = 64 * 1024 * 1024
"""Bytes that wait for a studio that does not read; then it is let go."""

_FAREWELL = 5.0
"""Seconds that who is attached has for reading the end of the run."""


class CannotObey(Exception):
    """A command that makes no sense here; the message says why."""


@dataclass(slots=True, eq=False)
class _Studio:
    """Somebody who is attached."""

    writer: asyncio.StreamWriter
    pid: int

    def send(self, message: FromRun) -> None:
        """Send a message; who does not take what is sent is let go."""
        transport = self.writer.transport
        if transport.is_closing():
            return
        if transport.get_write_buffer_size() > _SLOWEST:
            transport.abort()
            return
        self.writer.write(write_message(message))


@dataclass(slots=True)
class AttachServer:
    """Serves one run; made by `serve_attachers`."""

    session: Session
    control: RunControl
    waits: bool
    """Whether pauses wait while nobody is attached, instead of ending the run."""
    _policy: Policy = "reject"
    """What answers the tools while nobody is attached."""
    _studios: list[_Studio] = field(default_factory=list[_Studio])
    _stream: list[Event] = field(default_factory=list[Event])
    """Pieces of text that are on the wire and not in the journal's file yet."""
    _pause: Paused | None = None
    _own_points: tuple[Breakpoint, ...] = ()
    _tasks: dict[asyncio.Task[None], _Studio] = field(
        default_factory=dict[asyncio.Task[None], _Studio]
    )
    """Who listens to whom."""
    _accepting: asyncio.Task[None] | None = None

    # The run

    def take(self, event: Event) -> None:
        """Take in one event, and pass it on."""
        match event.body:
            case RunStarted() | RunReopened():
                self._open()
            case RunPaused(why=why, message=message):
                self._pause = Paused(why=why, message=message, node=event.node)
            case _ if self._pause is not None and self.control.state != "paused":
                self._pause = None
            case _:
                pass
        if isinstance(event.body, Text | Thinking):
            if self._stream and self._stream[-1].type != event.type:
                self._stream.clear()
            self._stream.append(event)
        else:
            self._stream.clear()
        if self._studios:
            message = Happened(event=event.to_json())
            for studio in tuple(self._studios):
                studio.send(message)

    def _open(self) -> None:
        folder = self.session.folder
        if folder is None or self._accepting is not None:
            return
        try:
            listening = attach_socket.listen(folder.path)
        except OSError as error:
            self.session.wire.emit(Notice(f"Nobody can be attached to the run: {error}", "warning"))
            return
        self._accepting = asyncio.create_task(self._accept(listening))

    async def _accept(self, listening: socket.socket) -> None:
        try:
            listening.setblocking(False)
            server = await asyncio.start_unix_server(self._meet, sock=listening, limit=LONGEST)
            async with server:
                await server.serve_forever()
        finally:
            listening.close()

    async def close(self) -> None:
        """The run is over: say so to all, and take the socket away."""
        if self._accepting is not None:
            folder = self.session.folder
            if folder is not None:
                with contextlib.suppress(OSError):
                    (folder.path / attach_socket.NAME).unlink()
            for studio in tuple(self._studios):
                studio.send(Bye())
                with contextlib.suppress(OSError):
                    studio.writer.write_eof()
            # Who reads gets the last events; nobody is waited for longer than that takes.
            tasks = dict(self._tasks)
            if reading := [task for task, one in tasks.items() if one in self._studios]:
                await asyncio.wait(reading, timeout=_FAREWELL)
            for studio in tasks.values():
                studio.writer.transport.abort()
            self._accepting.cancel()
            await asyncio.gather(self._accepting, *tasks, return_exceptions=True)

    # Those who come

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        studio = self._tasks[task] = _Studio(writer, 0)
        try:
            if await self._welcome(studio, reader):
                await self._listen(studio, reader)
        except (OSError, asyncio.LimitOverrunError, ValueError):
            pass  # gone, or a line that never ends: it is let go below
        finally:
            self._part(studio)
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
            self._tasks.pop(task, None)

    async def _welcome(self, studio: _Studio, reader: asyncio.StreamReader) -> bool:
        """Read the first message; False where it is not one to go on after."""
        line = await reader.readline()
        try:
            first = read_from_studio(line)
        except NotUnderstood as error:
            studio.send(Refused(why=f"not understood: {error}"))
            return False
        if not isinstance(first, Attach):
            studio.send(Refused(why="the first message must be `attach`"))
            return False
        if first.version != VERSION:
            why = f"this run speaks version {VERSION} of the protocol, you {first.version}: use the"
            studio.send(Refused(why=f"{why} flowstudio that runs it ({__version__})"))
            return False
        folder, runner = self.session.folder, self.session.runner
        if folder is None or runner is None:
            studio.send(Refused(why="the run is over"))
            return False
        studio.pid = first.pid
        if not self._studios:
            self._take_over()
        studio.send(
            Hello(
                version=VERSION,
                program=f"flowstudio {__version__}",
                run=folder.id,
                journal=folder.journal.stat().st_size,
                revision=runner.revision,
                paused=self._pause if self.control.is_waiting else None,
                mode=self.control.mode,
                breakpoints=[(point.node, point.text) for point in self.control.breakpoints],
            )
        )
        for event in self._stream:
            studio.send(Happened(event=event.to_json()))
        self._studios.append(studio)
        self.session.wire.emit(Notice(f"A studio was attached to the run (process {first.pid})."))
        return True

    async def _listen(self, studio: _Studio, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            try:
                self._follow(read_from_studio(line))
            except NotUnderstood as error:
                studio.send(Refused(why=f"not understood: {error}"))
            except CannotObey as error:
                studio.send(Refused(why=str(error)))

    def _take_over(self) -> None:
        """From now on somebody is there."""
        runtime, control = self.session.runtime, self.control
        self._own_points = tuple(control.breakpoints)
        control.interactive = True
        self._policy = runtime.approval.policy
        if self._policy == "reject":
            runtime.approval.policy = "ask"
        runtime.questions.somebody = True

    def _part(self, studio: _Studio) -> None:
        if studio not in self._studios:
            return
        self._studios.remove(studio)
        if self.session.runner is None:
            return
        self.session.wire.emit(Notice(f"A studio was detached (process {studio.pid})."))
        if not self._studios and not self.waits:
            self._be_alone()

    def _be_alone(self) -> None:
        """Nobody is there any more: the run goes on as it would have without them."""
        runtime, control = self.session.runtime, self.control
        control.interactive = False
        for point in control.breakpoints:
            if point not in self._own_points:
                control.clear_breakpoint(point.node, point.when)
        for point in self._own_points:
            if point not in tuple(control.breakpoints):
                control.set_breakpoint(point)
        control.go_on()
        runtime.approval.policy = self._policy
        if self._policy == "reject":
            for request in runtime.approval.pending:
                runtime.approval.answer(request.id, "reject", "nobody is here to allow it")
        runtime.questions.somebody = self._policy == "ask"
        if not runtime.questions.somebody:
            runtime.questions.give_up()

    # What they want

    def _follow(self, message: FromStudio) -> None:
        runtime = self.session.runtime
        match message:
            case Attach():
                raise CannotObey("you are attached already")
            case Approve(id=request, verdict=verdict, reason=reason):
                if not runtime.approval.answer(request, verdict, reason):
                    raise CannotObey("that request was answered already")
            case Reply(id=question, text=text):
                if not runtime.questions.answer(question, text):
                    raise CannotObey("that question was answered already")
            case Command():
                self._obey(message)
                # At a gate it would be said too, but the others who look on would not see it until
                # the run comes to one.
                self.control.tell()

    def _obey(self, given: Command) -> None:
        """Give a command to the run, in its user's name."""
        control, node, value = self.control, given.target or "", given.value or ""
        if self.session.runner is None:
            raise CannotObey("the run is over")
        match given.command:
            case "step":
                control.step()
            case "continue":
                control.go_on()
            case "pause":
                control.pause()
            case "stop":
                control.stop()
            case "again":
                control.again()
            case "choose":
                self._require_branch(node, value)
                control.choose(node, value)
            case "unforce":
                control.unforce(node)
            case "go_to":
                control.go_to(self._require_node(node))
            case "run_to":
                control.run_to(self._require_node(node))
            case "allow_more":
                if not value.isdecimal() or not 0 < int(value[:10]) <= 1_000_000:
                    raise CannotObey(f"“{value}” is no number of moves")
                control.allow_more(int(value))
            case "replace_prompt":
                control.replace_prompt(value)
            case "break":
                try:
                    control.set_breakpoint(parse_breakpoint(self._require_node(node), value))
                except ConditionError as error:
                    raise CannotObey(f"no breakpoint: {error}") from error
            case "unbreak":
                when = "before" if value == "before" else "after" if value == "after" else None
                control.clear_breakpoint(node, when)

    def _require_node(self, node: str) -> str:
        runner = self.session.runner
        if runner is None or node not in runner.flow.nodes:
            raise CannotObey(f"the flow has no node “{node}”")
        return node

    def _require_branch(self, node: str, branch: str) -> None:
        self._require_node(node)
        runner = self.session.runner
        labels = [edge.label for edge in runner.flow.outgoing.get(node, [])] if runner else []
        if branch not in labels:
            raise CannotObey(f"“{node}” has no branch “{branch}”")


@contextlib.asynccontextmanager
async def serve_attachers(
    session: Session, control: RunControl, *, wait: bool = False
) -> AsyncGenerator[None]:
    """Let studios be attached to the run that begins meanwhile in `session` under `control`.

    Args:
        wait: what would be a pause waits for a studio to be attached, instead of ending the run.
    """
    server = AttachServer(session, control, wait)
    if wait:
        control.interactive = True
        if session.runtime.approval.policy == "reject":
            session.runtime.approval.policy = "ask"
        session.runtime.questions.somebody = True
    leave = session.wire.subscribe(server.take)
    try:
        yield
    finally:
        leave()
        await server.close()
