"""Shell in bubblewrap: what a command can reach then. Skipped where bubblewrap does not work."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest
from kosong.message import ToolCall
from kosong.tooling import ToolReturnValue

from flowstudio.config import Config
from flowstudio.soul import Runtime
from flowstudio.soul.tools import make_tools
from flowstudio.soul.tools.sandbox import Sandbox, SandboxError, find_sandbox
from flowstudio.wire import Wire

FOUND, WHY = find_sandbox("auto")
works = pytest.mark.skipif(FOUND is None, reason=WHY)


async def shell(
    work: Path, command: str, sandbox: Sandbox | None = FOUND, seconds: int = 30
) -> ToolReturnValue:
    runtime = Runtime.create(Config(), Wire(), work_dir=work, policy="allow", sandbox=sandbox)
    tools = make_tools(runtime, ["Shell"])
    body = ToolCall.FunctionBody(
        name="Shell", arguments=json.dumps({"command": command, "timeout": seconds})
    )
    handled = tools.handle(ToolCall(id="1", function=body))
    result = await handled if isinstance(handled, asyncio.Future) else handled
    return result.return_value


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@works
async def test_the_work_folder_can_be_written(work: Path) -> None:
    value = await shell(work, "pwd; echo x > a; mkdir b; echo y > b/c; cat b/c")
    assert value.output == f"{work}\ny\n"
    assert (work / "a").read_text() == "x\n"


@works
@pytest.mark.parametrize(
    "command",
    [
        "echo x > {up}/out",
        "echo x > /etc/flowstudio-was-here",
        "echo x >> /etc/hostname",
        "ln -s {up} way && echo x > way/out",
        "touch /usr/flowstudio-was-here",
        "mount -o remount,rw / && touch /etc/flowstudio-was-here",
        "mount -o remount,rw,bind / && touch /etc/flowstudio-was-here",
        "unshare -Ur mount -o remount,rw,bind / && touch /etc/flowstudio-was-here",
        "touch /proc/1/root/etc/flowstudio-was-here",
    ],
)
async def test_nothing_else_can_be_written(work: Path, command: str) -> None:
    value = await shell(work, command.format(up=work.parent))
    # Below /tmp, where the tests live, the command writes into a /tmp of its own.
    assert value.is_error or "{up}" in command
    assert not (work.parent / "out").exists()
    assert not os.path.exists("/etc/flowstudio-was-here")  # noqa: ASYNC240, PTH110


@works
async def test_programs_and_files_of_the_system_are_there(work: Path) -> None:
    value = await shell(work, "head -c 4 /etc/passwd > /dev/null && expr 6 '*' 7")
    assert value.output == "42\n"


@works
async def test_the_studio_and_its_keys_are_not_to_be_seen(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k-1234567890")
    value = await shell(work, "cat /proc/[0-9]*/environ | tr '\\0' '\\n'; echo; ls -d /proc/[0-9]*")
    assert "k-1234567890" not in value.output
    assert f"/proc/{os.getpid()}\n" not in str(value.output)


@works
async def test_without_network_there_is_no_way_out(work: Path) -> None:
    code = "exec 3<>/dev/tcp/127.0.0.1/PORT && echo through"

    async def hear(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(hear, "127.0.0.1", 0)
    async with server:
        port = str(server.sockets[0].getsockname()[1])
        command = code.replace("PORT", port)
        with_it = await shell(work, command)
        alone, _ = find_sandbox("on", network=False)
        without = await shell(work, command, alone)
    assert with_it.output == "through\n"
    assert "through\n" not in without.output
    assert without.is_error


@works
async def test_what_is_started_inside_ends_with_the_command(work: Path) -> None:
    value = await shell(work, "setsid sleep 4321 & sleep 4321", seconds=1)
    assert value.is_error
    running = [
        entry.name
        for entry in Path("/proc").iterdir()  # noqa: ASYNC240
        if entry.name.isdigit() and b"sleep\x004321" in _command_of(entry)
    ]
    for pid in running:
        os.kill(int(pid), signal.SIGKILL)
    assert running == []


def _command_of(entry: Path) -> bytes:
    try:
        return (entry / "cmdline").read_bytes()
    except OSError:
        return b""


def test_off_looks_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert find_sandbox("off") == (None, "")


def test_where_the_program_is_missing_auto_says_so_and_on_refuses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    found, why = find_sandbox("auto")
    assert found is None
    assert "not installed" in why
    with pytest.raises(SandboxError, match="not installed"):
        find_sandbox("on")


def test_where_the_kernel_forbids_it_the_sentence_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n"
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(SandboxError, match=r"forbids it\): bwrap: No permissions") as caught:
        find_sandbox("on")
    assert "run without --sandbox" in str(caught.value)
