"""The tools that an agent has, by name."""

from __future__ import annotations

import asyncio
import difflib
from typing import TYPE_CHECKING, Any, Protocol, cast

from kosong.tooling import CallableTool2, HandleResult, Tool, ToolError, ToolResult, ToolReturnValue
from pydantic import BaseModel, ValidationError

from flowstudio.soul.arguments import parse_arguments
from flowstudio.soul.emit import WireFailure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kosong.message import ToolCall


class AgentTool(Protocol):
    """A tool as kosong's `CallableTool2` and `CallableTool` are, or one that speaks MCP."""

    @property
    def base(self) -> Tool:
        """What the model is told of it."""
        ...

    async def call(self, arguments: Any, /) -> ToolReturnValue:
        """Check the arguments and act."""
        ...


class StudioToolset:
    """kosong's `Toolset`: gives each call to its tool, in a task of its own.

    What the model did wrong (a tool that does not exist, arguments that are no JSON) and what a
    tool raises comes back as an error for the model to read, never as an exception.
    """

    def __init__(self, tools: Iterable[AgentTool] = ()) -> None:
        self._tools: dict[str, AgentTool] = {}
        for tool in tools:
            self.add(tool)

    @property
    def tools(self) -> list[Tool]:
        """What the model is told of each tool."""
        return [tool.base for tool in self._tools.values()]

    @property
    def names(self) -> tuple[str, ...]:
        """The tools' names."""
        return tuple(self._tools)

    @property
    def all(self) -> tuple[AgentTool, ...]:
        """The tools themselves."""
        return tuple(self._tools.values())

    def get(self, name: str) -> AgentTool | None:
        """The tool of this name, if it is there."""
        return self._tools.get(name)

    def add(self, tool: AgentTool) -> None:
        """Add a tool; one of the same name gives way."""
        self._tools[tool.base.name] = tool

    def remove(self, name: str) -> None:
        """Take a tool away, if it is there."""
        self._tools.pop(name, None)

    def handle(self, tool_call: ToolCall) -> HandleResult:
        """Start a call; returns at once."""
        name = tool_call.function.name
        tool = self._tools.get(name)
        if tool is None:
            return ToolResult(tool_call_id=tool_call.id, return_value=self._explain_unknown(name))
        try:
            arguments = parse_arguments(tool_call.function.arguments)
        except ValueError as error:
            wrong = ToolError(message=f"{error}.", brief="invalid arguments")
            return ToolResult(tool_call_id=tool_call.id, return_value=wrong)
        return asyncio.ensure_future(_call(tool, tool_call.id, arguments))

    def _explain_unknown(self, name: str) -> ToolError:
        near = difflib.get_close_matches(name, self._tools, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]}?" if near else ""
        known = ", ".join(self._tools) or "none"
        return ToolError(
            message=f"There is no tool {name!r}.{hint} The tools are: {known}.",
            brief=f"no tool {name!r}",
        )


async def _call(tool: AgentTool, call_id: str, arguments: dict[str, Any]) -> ToolResult:
    try:
        value = _find_wrong(tool, arguments) or await tool.call(arguments)
    except WireFailure:
        raise
    except Exception as error:
        # Whatever goes wrong inside a tool, the model is told and the conversation goes on.
        said = str(error) or type(error).__name__
        value = ToolError(message=f"The tool failed: {said}", brief=f"failed: {said}"[:80])
    return ToolResult(tool_call_id=call_id, return_value=value)


def _find_wrong(tool: AgentTool, arguments: dict[str, Any]) -> ToolError | None:
    """What is wrong with the arguments, a line each: kosong would give pydantic's long form."""
    if not isinstance(tool, CallableTool2):
        return None
    try:
        cast("CallableTool2[BaseModel]", tool).params.model_validate(arguments)
    except ValidationError as error:
        return explain_wrong(error)
    return None


def explain_wrong(error: ValidationError) -> ToolError:
    """What is wrong with a tool's arguments, for the model: a line each."""
    wrong = [
        f"{'.'.join(str(part) for part in one['loc']) or 'arguments'}: {one['msg']}"
        for one in error.errors()
    ]
    return ToolError(
        message="Not called, the arguments are wrong:\n" + "\n".join(wrong),
        brief="invalid arguments",
    )
