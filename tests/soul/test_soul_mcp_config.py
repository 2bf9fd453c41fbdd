"""MCP servers as the configuration names them: the file that other programs use, too."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from kosong.message import TextPart

from flowstudio.config import Config
from flowstudio.soul.agentfile import McpServerSettings
from flowstudio.soul.approval import Approval
from flowstudio.soul.mcp import McpConnection
from flowstudio.soul.mcp_config import read_servers
from flowstudio.wire import Wire

SERVER = Path(__file__).parent.parent / "servers" / "mcp_server.py"


def write(folder: Path, value: object) -> None:
    (folder / "mcp.json").write_text(value if isinstance(value, str) else json.dumps(value))


def config(**servers: object) -> Config:
    return Config.model_validate({"mcpServers": servers})


def test_the_file_beside_the_configuration_is_read_and_the_configuration_wins(
    tmp_path: Path,
) -> None:
    write(tmp_path, {"mcpServers": {"a": {"command": "from-file"}, "b": {"command": "b"}}})
    servers, problems = read_servers(config(a={"command": "from-config"}), tmp_path, {})
    assert [(one.name, one.command) for one in servers] == [("a", "from-config"), ("b", "b")]
    assert problems == []


def test_variables_are_filled_in_from_the_environment(tmp_path: Path) -> None:
    given = config(
        a={
            "type": "http",
            "url": "http://${HOST:-localhost}/mcp",
            "headers": {"Authorization": "Bearer ${A_TOKEN}"},
            "unknown-field-of-another-program": 1,
        },
        b={"command": "${HOME_OF_B}/b", "args": ["--x=${X:-}"], "env": {"K": "${A_TOKEN}"}},
    )
    servers, problems = read_servers(given, tmp_path, {"A_TOKEN": "k", "HOME_OF_B": "/b"})
    assert problems == []
    assert servers[0].url == "http://localhost/mcp"
    assert servers[0].headers == {"Authorization": "Bearer k"}
    assert (servers[1].command, servers[1].args, servers[1].env) == ("/b/b", ("--x=",), {"K": "k"})


def test_a_server_that_is_switched_off_is_left_out(tmp_path: Path) -> None:
    assert read_servers(config(a={"command": "a", "disabled": True}), tmp_path, {}) == ([], [])


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("{", "not read"),
        ("[]", "no object mcpServers"),
        ({"mcpServers": []}, "no object mcpServers"),
        ({"mcpServers": {"a": {}}}, "give either command or url"),
        ({"mcpServers": {"a": {"command": "x", "url": "y"}}}, "give either command or url"),
        ({"mcpServers": {"a": {"command": 3}}}, "mcpServers.a.command"),
        ({"mcpServers": {"a b": {"command": "x"}}}, "letters, digits"),
        ({"mcpServers": {"a": {"command": "${NOT_SET}"}}}, "NOT_SET is not set"),
    ],
)
def test_what_is_wrong_is_told_and_costs_the_others_nothing(
    tmp_path: Path, file: object, told: str
) -> None:
    write(tmp_path, file)
    servers, problems = read_servers(config(fine={"command": "fine"}), tmp_path, {})
    assert [one.name for one in servers] == ["fine"]
    assert len(problems) == 1
    assert told in problems[0]


@pytest.fixture
async def address() -> AsyncIterator[str]:
    """A real MCP server over HTTP, in a process of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(SERVER), "--http", str(port), stderr=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(30):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    await asyncio.sleep(0.05)
                else:
                    writer.close()
                    break
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        await process.wait()


async def test_a_server_over_http_brings_its_tools(address: str) -> None:
    settings = McpServerSettings(name="sums", url=address, headers={"X-Test": "yes"})
    connection = McpConnection(settings, Approval(Wire(), policy="allow"))
    try:
        tools = {tool.base.name: tool for tool in await connection.open()}
        value = await tools["sums__add"].call({"a": 2, "b": 40})
    finally:
        await connection.close()
    (part,) = value.output
    assert isinstance(part, TextPart)
    assert part.text == "42"


async def test_a_long_answer_is_cut_and_all_of_it_is_in_a_file(address: str) -> None:
    connection = McpConnection(
        McpServerSettings(name="sums", url=address), Approval(Wire(), policy="allow")
    )
    try:
        tools = {tool.base.name: tool for tool in await connection.open()}
        value = await tools["sums__say"].call({"text": "word ", "times": 20_000})
    finally:
        await connection.close()
    parts = [part.text for part in value.output if isinstance(part, TextPart)]
    assert len(parts[0]) == 30_000
    kept = Path(parts[-1].split(" is in ")[1].rstrip(".]"))
    assert await asyncio.to_thread(kept.read_text) == "word " * 20_000
