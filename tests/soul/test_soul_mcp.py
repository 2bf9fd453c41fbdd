"""Tools from MCP servers, against a real one."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from kosong.message import TextPart
from kosong.tooling import ToolReturnValue

from flowstudio.config import Config
from flowstudio.soul import Runtime, StudioToolset, open_agent
from flowstudio.soul.agentfile import McpServerSettings
from flowstudio.soul.approval import Approval, Policy, ToolRejectedError
from flowstudio.soul.mcp import McpConnection, connect
from flowstudio.wire import ApprovalAsked, Wire
from tests.servers.openai_server import openai_server
from tests.servers.scripted import Call, say, use
from tests.soul.bench import Bench, connect as connect_model

SERVER = Path(__file__).parent.parent / "servers" / "mcp_server.py"
SETTINGS = McpServerSettings(
    name="sums", command=sys.executable, args=(str(SERVER),), pass_env=("PASSED_TOKEN",)
)


@asynccontextmanager
async def opened(policy: Policy = "allow") -> AsyncIterator[McpConnection]:
    connection = McpConnection(SETTINGS, Approval(Wire(), policy=policy))
    await connection.open()
    try:
        yield connection
    finally:
        await connection.close()


async def call(connection: McpConnection, name: str, /, **arguments: object) -> ToolReturnValue:
    (tool,) = [one for one in connection.tools if one.base.name == f"sums__{name}"]
    return await tool.call(arguments)


def text(value: ToolReturnValue) -> str:
    return "".join(part.text for part in value.output if isinstance(part, TextPart))


async def test_a_servers_tools_are_listed_under_its_name_with_their_parameters() -> None:
    async with opened() as connection:
        bases = {tool.base.name: tool.base for tool in connection.tools}
    assert "sums__add" in bases
    assert bases["sums__add"].description == "Add two numbers."
    assert set(bases["sums__add"].parameters["properties"]) == {"a", "b"}


async def test_a_tool_answers() -> None:
    async with opened() as connection:
        value = await call(connection, "add", a=2, b=40)
    assert text(value) == "42"
    assert not value.is_error


async def test_a_tool_that_fails_is_told_with_what_it_said() -> None:
    async with opened() as connection:
        value = await call(connection, "fail")
    assert value.is_error
    assert "scripted failure" in text(value)


async def test_each_call_asks_and_a_no_calls_nothing() -> None:
    async with opened("reject") as connection:
        assert isinstance(await call(connection, "leave"), ToolRejectedError)
        assert isinstance(await call(connection, "add", a=1, b=1), ToolRejectedError)


async def test_a_server_that_goes_away_is_told_and_stays_told() -> None:
    async with opened() as connection:
        first = await call(connection, "leave")
        second = await call(connection, "add", a=1, b=1)
    assert first.is_error
    assert second.is_error


async def test_a_call_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flowstudio.soul.mcp.CALL_SECONDS", 0.2)
    async with opened() as connection:
        value = await call(connection, "hang")
    assert value.is_error


async def test_a_server_gets_only_the_variables_that_are_passed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k-1")
    monkeypatch.setenv("PASSED_TOKEN", "k-2")
    async with opened() as connection:
        assert text(await call(connection, "show", name="OPENAI_API_KEY")) == "not set"
        assert text(await call(connection, "show", name="PASSED_TOKEN")) == "k-2"


async def test_servers_that_cannot_be_used_are_told_and_the_others_stand() -> None:
    broken = McpServerSettings(name="broken", command="no-such-program-here")
    silent = McpServerSettings(name="silent", command=sys.executable, args=("-c", "pass"))
    standing, problems = await connect([broken, SETTINGS, silent], Approval(Wire()))
    names = [connection.settings.name for connection in standing]
    for connection in standing:
        await connection.close()
    assert names == ["sums"]
    assert len(problems) == 2
    assert "broken" in problems[0]
    assert "silent" in problems[1]


async def test_the_model_calls_a_servers_tool_in_a_turn(tmp_path: Path) -> None:
    async with opened() as connection:
        toolset = StudioToolset(connection.tools)
        add = use(Call("sums__add", json.dumps({"a": 2, "b": 3})))
        async with openai_server(add, say("Five.")) as server:
            bench = Bench(await connect_model(server.base_url), tmp_path, toolset=toolset)
            result = await bench.soul.turn("Add")
            assert server.requests[1].last_text == "5"
    assert result.answer_text == "Five."
    assert bench.said_of(ApprovalAsked) == []


async def test_an_agent_file_brings_its_servers_tools_and_tells_which_failed(
    tmp_path: Path,
) -> None:
    file = tmp_path / "agent.yaml"
    file.write_text(
        "name: a\ntools: [Think]\nmcp_servers:\n"
        f"- {{name: sums, command: {sys.executable}, args: [{SERVER}]}}\n"
        "- {name: broken, command: no-such-program-here}\n"
    )
    runtime = Runtime.create(Config(), Wire(), work_dir=tmp_path, yolo=True)
    opened_agent = await open_agent(runtime, file)
    try:
        names = [tool.name for tool in opened_agent.agent.toolset.tools]
    finally:
        await opened_agent.close()
    assert names[:2] == ["Think", "sums__add"]
    assert len(opened_agent.problems) == 1
    assert "broken" in opened_agent.problems[0]
