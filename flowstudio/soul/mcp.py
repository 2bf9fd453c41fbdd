"""Tools from servers that speak MCP (Model Context Protocol), as tools of an agent.

Each server lives in a task of its own from `connect` until `close`: the SDK's connections must be
closed by the task that opened them.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from kosong.message import ContentPart, TextPart
from kosong.tooling import Tool, ToolError, ToolOk, ToolReturnValue

from flowstudio.soul.approval import Approval, ToolRejectedError
from flowstudio.soul.tools.outputs import Outputs
from flowstudio.soul.tools.toolbox import MOST_OUTPUT

if TYPE_CHECKING:
    from pathlib import Path

    from mcp import ClientSession, types

    from flowstudio.soul.agentfile import McpServerSettings

CONNECT_SECONDS = 20.0
CALL_SECONDS = 120.0
_JOINT = "__"


class McpError(Exception):
    """A server cannot be used; the message names it and says why."""


class McpTool:
    """One tool of a server, under the name `SERVER__TOOL`. Each call asks for leave."""

    def __init__(self, server: str, tool: types.Tool, connection: McpConnection) -> None:
        self._server = server
        self._name = tool.name
        self._connection = connection
        self._base = Tool(
            name=f"{server}{_JOINT}{tool.name}",
            description=tool.description or tool.name,
            parameters=tool.inputSchema or {"type": "object", "properties": {}},
        )

    @property
    def base(self) -> Tool:
        """What the model is told of it."""
        return self._base

    async def call(self, arguments: Any, /) -> ToolReturnValue:
        """Ask, then have the server act."""
        return await self._connection.call(self._server, self._name, arguments)


class McpConnection:
    """A connection to one server."""

    def __init__(
        self,
        settings: McpServerSettings,
        approval: Approval,
        *,
        cwd: Path | None = None,
        outputs: Outputs | None = None,
    ) -> None:
        self.settings = settings
        self._approval = approval
        self._cwd = cwd
        self._outputs = outputs or Outputs()
        self._session: ClientSession | None = None
        self._tools: list[McpTool] = []
        self._ready = asyncio.Event()
        self._leave = asyncio.Event()
        self._failure: Exception | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def tools(self) -> Sequence[McpTool]:
        """The server's tools, once it is open."""
        return self._tools

    async def open(self) -> Sequence[McpTool]:
        """Start or reach the server and list its tools.

        Raises:
            McpError: it does not start, or does not answer within 20 s.
        """
        self._task = asyncio.create_task(self._live())
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await self._ready.wait()
        except TimeoutError:
            await self.close()
            raise McpError(
                f"The MCP server {self.settings.name} does not answer within {CONNECT_SECONDS:g} s."
            ) from None
        except asyncio.CancelledError:
            await self.close()
            raise
        if self._failure is not None:
            await self.close()
            raise McpError(
                f"The MCP server {self.settings.name} cannot be used: {_innermost(self._failure)}"
            ) from self._failure
        return self._tools

    async def close(self) -> None:
        """End the connection, and the server if it was started here."""
        self._leave.set()
        if self._task is None:
            return
        if not self._ready.is_set():
            self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def call(self, server: str, name: str, arguments: dict[str, Any]) -> ToolReturnValue:
        """Call a tool, after asking."""
        import anyio
        from mcp.shared.exceptions import McpError as ProtocolError

        shown = "\n".join(f"{key}: {value}" for key, value in arguments.items())
        asked = await self._approval.request(
            f"{server}{_JOINT}{name}", f"use {server}'s {name}", f"{name} of {server}\n{shown}"
        )
        if not asked.allowed:
            return ToolRejectedError(asked.reason)
        if self._session is None:
            return ToolError(message=f"The server {server} has gone.", brief="server has gone")
        try:
            async with asyncio.timeout(CALL_SECONDS):
                result = await self._session.call_tool(
                    name, arguments, read_timeout_seconds=timedelta(seconds=CALL_SECONDS)
                )
        except TimeoutError:
            return ToolError(message=f"{name} took longer than {CALL_SECONDS:g} s.", brief="late")
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return ToolError(message=f"The server {server} has gone.", brief="server has gone")
        except ProtocolError as error:
            return ToolError(message=f"{name} failed: {error}", brief="failed")
        parts = _convert(result.content)
        if cut := _cut(parts):
            kept = self._outputs.keep(name, cut.encode(errors="replace"))
            parts.append(TextPart(text=f"[The output is cut; all of its text is in {kept}.]"))
        if result.isError:
            return ToolError(output=parts, message=f"{name} failed.", brief="failed")
        return ToolOk(output=parts, brief="done")

    async def _live(self) -> None:
        try:
            async with AsyncExitStack() as stack:
                session = await self._connect(stack)
                await session.initialize()
                listed = await session.list_tools()
                self._tools = [McpTool(self.settings.name, tool, self) for tool in listed.tools]
                self._session = session
                self._ready.set()
                await self._leave.wait()
        except Exception as error:
            self._failure = error
        finally:
            self._session = None
            self._ready.set()

    async def _connect(self, stack: AsyncExitStack) -> ClientSession:
        from mcp import ClientSession, StdioServerParameters
        from mcp.client.stdio import get_default_environment, stdio_client

        settings = self.settings
        if settings.url is not None:
            streams = await stack.enter_async_context(_reach(settings, stack))
            reading, writing = streams[0], streams[1]
        else:
            passed = {name: os.environ[name] for name in settings.pass_env if name in os.environ}
            parameters = StdioServerParameters(
                command=settings.command or "",
                args=list(settings.args),
                env={**get_default_environment(), **passed, **settings.env},
                cwd=self._cwd,
            )
            # What the server writes to standard error would land on the screen.
            silence = stack.enter_context(open(os.devnull, "w"))  # noqa: PTH123, ASYNC230, SIM115
            reading, writing = await stack.enter_async_context(stdio_client(parameters, silence))
        return await stack.enter_async_context(ClientSession(reading, writing))


async def connect(
    settings: Sequence[McpServerSettings],
    approval: Approval,
    *,
    cwd: Path | None = None,
    outputs: Outputs | None = None,
) -> tuple[list[McpConnection], list[str]]:
    """Connect to servers, all at once.

    Returns:
        The connections that stand, and a sentence for each that does not.
    """
    connections = [McpConnection(one, approval, cwd=cwd, outputs=outputs) for one in settings]
    outcomes = await asyncio.gather(
        *(connection.open() for connection in connections), return_exceptions=True
    )
    standing: list[McpConnection] = []
    problems: list[str] = []
    for connection, outcome in zip(connections, outcomes, strict=True):
        if isinstance(outcome, McpError):
            problems.append(str(outcome))
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            standing.append(connection)
    return standing, problems


def _reach(settings: McpServerSettings, stack: AsyncExitStack) -> Any:
    """The connection to a server over HTTP."""
    if settings.sse:
        from mcp.client.sse import sse_client

        return sse_client(settings.url or "", headers=dict(settings.headers))
    import httpx
    from mcp.client.streamable_http import streamable_http_client

    # A stream may be silent for long; nothing else may.
    timeout = httpx.Timeout(CONNECT_SECONDS, read=300.0)
    client = httpx.AsyncClient(headers=dict(settings.headers), timeout=timeout)
    stack.push_async_callback(client.aclose)
    return streamable_http_client(settings.url or "", http_client=client)


def _convert(content: Sequence[Any]) -> list[ContentPart]:
    from kosong.tooling.mcp import convert_mcp_content

    parts: list[ContentPart] = []
    for block in content:
        try:
            parts.append(convert_mcp_content(block))
        except ValueError as error:
            parts.append(TextPart(text=f"[{error}]"))
    return parts


def _cut(parts: list[ContentPart]) -> str:
    """Cut the text in `parts` to what the model is shown; all of it, where something was cut."""
    whole = "\n".join(part.text for part in parts if isinstance(part, TextPart))
    if len(whole) <= MOST_OUTPUT:
        return ""
    room = MOST_OUTPUT
    for number, part in enumerate(parts):
        if isinstance(part, TextPart):
            parts[number] = TextPart(text=part.text[:room])
            room -= min(room, len(part.text))
    return whole


def _innermost(error: BaseException) -> str:
    """The first real cause in groups of exceptions, as a line."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return " ".join(str(error).split()) or type(error).__name__
