"""A run in a process of its own, and others that are attached to it through its folder."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import stat
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from flowstudio.run import attach_socket
from flowstudio.run.attach_client import AttachedRun, AttachRefused
from flowstudio.run.breakpoints import Breakpoint
from flowstudio.wire import (
    ApprovalAsked,
    ChoiceMade,
    CommandGiven,
    Event,
    NodeEntered,
    Notice,
    RunEnded,
    Text,
)
from tests.cli.held import HeldRun, furnish, hold, until
from tests.cli.shell import LONGEST, Shell
from tests.servers.openai_server import openai_server
from tests.servers.scripted import Call, Reply, in_thread, say, use


@pytest.fixture
def round_trip(shell: Shell) -> Shell:
    return furnish(shell)


@pytest.fixture
def held(round_trip: Shell) -> Iterator[HeldRun]:
    yield from hold(round_trip)


@pytest.fixture(scope="module")
def unmoved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HeldRun]:
    """One run for all the tests that leave it where it is."""
    yield from hold(furnish(Shell(tmp_path_factory.mktemp("unmoved"))))


class Watcher:
    """An attached run whose events are collected as they come."""

    def __init__(self, run: AttachedRun) -> None:
        self.run = run
        self.seen: list[Event] = []
        self.task = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        async for event in self.run.events():
            self.seen.append(event)

    async def until(self, is_so: Callable[[], object]) -> None:
        async with asyncio.timeout(LONGEST):
            while not is_so():  # noqa: ASYNC110 - the state of another process
                await asyncio.sleep(0.005)

    @property
    def nodes(self) -> list[str | None]:
        return [event.node for event in self.seen if isinstance(event.body, NodeEntered)]


@asynccontextmanager
async def attached(folder: Path) -> AsyncIterator[Watcher]:
    watcher = Watcher(await AttachedRun.open(folder))
    try:
        yield watcher
    finally:
        watcher.run.detach()
        async with asyncio.timeout(LONGEST):
            await watcher.task


async def talk(folder: Path, *lines: bytes) -> list[dict[str, Any]]:
    """What the run says to raw lines; the connection is closed for writing behind them."""
    reader, writer = await asyncio.open_unix_connection(sock=attach_socket.connect(folder))
    writer.write(b"".join(lines))
    writer.write_eof()
    async with asyncio.timeout(LONGEST):
        said = await reader.read()
    writer.close()
    return [json.loads(line) for line in said.splitlines()]


HELLO = b'{"do": "attach", "version": 1, "pid": 1}\n'


async def test_an_attached_studio_sees_what_happened_and_where_the_run_waits(
    unmoved: HeldRun,
) -> None:
    async with attached(unmoved.folder) as watcher:
        entered = [e.node for e in watcher.run.past if isinstance(e.body, NodeEntered)]
        assert entered == ["B", "a", "q"]
        assert watcher.run.control.state == "paused"
        assert watcher.run.control.paused_at == "q"
        assert list(watcher.run.runner.flow.nodes) == ["B", "a", "q", "E"]
        assert "q" in watcher.run.control.breakpoints


async def test_it_steps_and_takes_a_branch_by_hand_and_the_journal_says_who(
    held: HeldRun,
) -> None:
    async with attached(held.folder) as watcher:
        control = watcher.run.control
        control.step()
        await watcher.until(lambda: control.paused_because == "answered")
        control.choose("q", "yes")
        await watcher.until(lambda: watcher.run.is_over or control.paused_at == "E")
        control.go_on()
        await watcher.until(lambda: watcher.run.is_over)
    assert held.end()[0] == 0
    made = held.bodies(ChoiceMade)
    assert made == [ChoiceMade("yes", "user", over="no", forced=True)]
    given = [(one.command, one.by) for one in held.bodies(CommandGiven)]
    assert given[:2] == [("step", "user"), ("choose", "user")]
    said = [notice.text for notice in held.bodies(Notice)]
    assert said[0] == f"A studio was attached to the run (process {os.getpid()})."


async def test_two_may_be_attached_and_both_see_what_one_of_them_does(held: HeldRun) -> None:
    async with attached(held.folder) as one, attached(held.folder) as other:
        one.run.control.set_breakpoint(Breakpoint("E"))
        await other.until(lambda: "E" in other.run.control.breakpoints)
        one.run.control.choose("q", "yes")
        await other.until(lambda: other.run.control.paused_at == "E")
        other.run.control.go_on()
        await one.until(lambda: one.run.is_over)
        await other.until(lambda: other.run.is_over)
        assert one.nodes == other.nodes == ["E"]
    assert held.end()[0] == 0


async def test_a_run_that_waits_goes_on_waiting_when_the_last_one_leaves(held: HeldRun) -> None:
    async with attached(held.folder):
        pass
    async with attached(held.folder) as again:
        assert again.run.control.state == "paused"
        again.run.control.stop()
        await again.until(lambda: again.run.is_over)
    assert held.end()[0] == 130


async def test_a_killed_studio_leaves_the_run_as_it_is(unmoved: HeldRun) -> None:
    reader, writer = await asyncio.open_unix_connection(sock=attach_socket.connect(unmoved.folder))
    writer.write(HELLO)
    await reader.readline()
    writer.transport.abort()
    async with attached(unmoved.folder) as watcher:
        assert watcher.run.control.paused_at == "q"


CONFIG = """
providers:
  it: {{type: openai, base_url: "{url}", key_env: IT_KEY}}
models:
  mine: {{provider: it, model: big-1}}
loop: {{max_retries_per_step: 0}}
"""


@contextmanager
def model_run(shell: Shell, *replies: Reply) -> Iterator[HeldRun]:
    """A run with a model, without `--wait`, whose first answer never ends."""
    stuck = Reply(pieces=["Hm"], fault="stall")
    with in_thread(lambda: openai_server(stuck, *replies)) as server:
        shell.configure(CONFIG.format(url=server.base_url))
        shell.env["IT_KEY"] = "sk-scripted"
        process = shell.start("run", "round.mmd", "--model", "mine")
        run = HeldRun(shell, process=process)
        try:
            until(server.quiet.is_set)
            yield run
        finally:
            process.kill()
            process.wait()


async def test_what_streams_already_is_seen_by_who_comes_later(round_trip: Shell) -> None:
    with model_run(round_trip) as run:
        async with attached(run.folder) as watcher:
            await watcher.until(lambda: any(event.type == "text" for event in watcher.seen))
            assert "".join(e.body.text for e in watcher.seen if isinstance(e.body, Text)) == "Hm"
            watcher.run.control.stop()
            await watcher.until(lambda: watcher.run.is_over)
        assert run.end()[0] == 130


async def test_without_wait_the_run_goes_on_alone_when_the_last_one_detaches(
    round_trip: Shell,
) -> None:
    answers = (say("Done."), say("<choice>yes</choice>"))
    with model_run(round_trip, *answers) as run:
        async with attached(run.folder) as watcher:
            control = watcher.run.control
            control.set_breakpoint(Breakpoint("q"))
            control.set_breakpoint(Breakpoint("E"))
            control.again()
            await watcher.until(lambda: control.paused_at == "q")
        status, out = run.end()
    assert status == 0, out


async def test_while_somebody_is_attached_tools_ask_them(round_trip: Shell) -> None:
    write = use(Call("WriteFile", {"path": "x.txt", "content": "written"}))
    with model_run(round_trip, write, say("Done."), say("<choice>yes</choice>")) as run:
        async with attached(run.folder) as watcher:
            watcher.run.control.again()
            asked: list[str] = []

            def is_asked() -> bool:
                bodies = (event.body for event in watcher.seen)
                asked[:] = [body.id for body in bodies if isinstance(body, ApprovalAsked)]
                return bool(asked)

            await watcher.until(is_asked)
            watcher.run.approve(asked[0], "allow")
            await watcher.until(lambda: watcher.run.is_over)
        assert run.end()[0] == 0
    assert (round_trip.cwd / "x.txt").read_text() == "written"


async def test_a_tool_that_waits_when_the_last_one_leaves_is_refused(round_trip: Shell) -> None:
    write = use(Call("WriteFile", {"path": "x.txt", "content": "written"}))
    with model_run(round_trip, write) as run:
        async with attached(run.folder) as watcher:
            watcher.run.control.again()
            await watcher.until(
                lambda: any(isinstance(event.body, ApprovalAsked) for event in watcher.seen)
            )
        assert run.end()[0] == 6
    assert not (round_trip.cwd / "x.txt").exists()


async def test_the_socket_is_the_owners_alone_and_goes_with_the_run(held: HeldRun) -> None:
    place = held.folder / attach_socket.NAME
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    held.process.send_signal(signal.SIGTERM)
    held.end()
    assert not place.exists()
    with pytest.raises(AttachRefused, match="it is not on"):
        await AttachedRun.open(held.folder)


async def test_a_socket_that_a_killed_run_left_is_nobodys(held: HeldRun) -> None:
    held.process.kill()
    held.process.wait()
    assert (held.folder / attach_socket.NAME).exists()
    with pytest.raises(AttachRefused, match="it is not on"):
        await AttachedRun.open(held.folder)
    done = held.shell("attach", "last")
    assert done.status == 2
    assert "is not on" in done.err
    assert "flowstudio resume" in done.err


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"hello\n", "not JSON"),
        (b"[" * 100_000 + b"\n", "nested too deeply"),
        (b"\xff\xfe\n", "not JSON"),
        (b'{"do": "attach", "version": 99}\n', "speaks version 1"),
        (b'{"do": "command", "command": "stop"}\n', "must be `attach`"),
        (b'{"do": "attach"}\n', "version"),
    ],
    ids=["words", "deep", "no text", "newer", "no hello", "no version"],
)
async def test_who_does_not_introduce_themselves_is_turned_away(
    unmoved: HeldRun, line: bytes, why: str
) -> None:
    said = await talk(unmoved.folder, line)
    assert [one["say"] for one in said] == ["refused"]
    assert why in said[0]["why"]
    async with attached(unmoved.folder) as watcher:
        assert watcher.run.control.paused_at == "q"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"{}\n", "not understood"),
        (b'{"do": "explode"}\n', "not understood"),
        (b'{"do": "command", "command": "sing"}\n', "not understood"),
        (b'{"do": "command", "command": "step", "by": "model"}\n', "not understood"),
        (b'{"do": "command", "command": "choose", "target": "q", "value": "x"}\n', "no branch"),
        (b'{"do": "command", "command": "choose", "target": "z", "value": "x"}\n', "no node"),
        (b'{"do": "command", "command": "go_to", "target": "z"}\n', "no node"),
        (b'{"do": "command", "command": "break", "target": "q", "value": "if"}\n', ""),
        (b'{"do": "command", "command": "allow_more", "value": "-1"}\n', "no number of moves"),
        (b'{"do": "reply", "id": "question-7", "text": "x"}\n', "answered already"),
        (b'{"do": "approve", "id": "x", "verdict": "allow"}\n', "answered already"),
        (b'{"do": "attach", "version": 1}\n', "attached already"),
    ],
)
async def test_a_message_that_makes_no_sense_is_refused_and_changes_nothing(
    unmoved: HeldRun, line: bytes, why: str
) -> None:
    said = await talk(unmoved.folder, HELLO, line)
    assert said[0]["say"] == "hello"
    refused = [one["why"] for one in said if one["say"] == "refused"]
    if why:
        assert len(refused) == 1
        assert why in refused[0]
    async with attached(unmoved.folder) as watcher:
        assert watcher.run.control.paused_at == "q"


async def test_a_line_without_end_costs_only_its_own_connection(unmoved: HeldRun) -> None:
    reader, writer = await asyncio.open_unix_connection(sock=attach_socket.connect(unmoved.folder))
    writer.write(HELLO + b"x" * (5 * 1024 * 1024))
    async with asyncio.timeout(LONGEST):
        with pytest.raises(ConnectionError):
            await writer.drain()
            while await reader.read(65536):
                pass
            raise ConnectionResetError
    async with attached(unmoved.folder) as watcher:
        assert watcher.run.control.paused_at == "q"


async def test_no_attach_makes_no_socket(round_trip: Shell) -> None:
    done = round_trip("run", "round.mmd", "--script", "round.yaml", "--no-attach")
    assert done.status == 0
    assert not (round_trip.runs[-1] / attach_socket.NAME).exists()


async def test_wait_and_no_attach_exclude_each_other(round_trip: Shell) -> None:
    done = round_trip.inside("run", "round.mmd", "--seed", "1", "--wait", "--no-attach")
    assert done.status == 2


async def test_a_run_that_waits_says_how_to_attach(held: HeldRun) -> None:
    held.process.send_signal(signal.SIGTERM)
    assert f"flowstudio attach {held.folder.name}" in held.end()[1]


async def test_a_folder_with_a_very_long_path_has_its_socket_too(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 30) / ("longer" * 20)
    folder.mkdir(parents=True)
    with attach_socket.listen(folder) as listening:
        assert (folder / attach_socket.NAME).is_socket()
        with attach_socket.connect(folder) as made:
            met, _ = listening.accept()
            with met:
                made.send(b"hello")
                assert met.recv(5) == b"hello"


def test_a_socket_left_over_is_replaced(tmp_path: Path) -> None:
    attach_socket.listen(tmp_path).close()
    with attach_socket.listen(tmp_path), attach_socket.connect(tmp_path) as made:
        assert made.family == socket.AF_UNIX


async def test_the_run_ends_for_all_who_are_attached(held: HeldRun) -> None:
    async with attached(held.folder) as watcher:
        held.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(LONGEST):
            await watcher.task
        assert isinstance(watcher.seen[-1].body, RunEnded)
        assert watcher.run.is_over
