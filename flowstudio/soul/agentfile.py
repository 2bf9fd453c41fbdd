"""Agent files: a YAML file that says who an agent is and which tools it has.

name: reviewer
system_prompt: |            # or system_prompt_path: reviewer.md
  You review code. ${SKILLS}
tools: [ReadFile, Glob, Grep, submit_answer]
mcp_servers:
  - {name: issues, command: issue-server, args: [--stdio]}
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from flowstudio.soul.agent import Agent
from flowstudio.soul.prompt import DEFAULT_PROMPT, system_prompt
from flowstudio.soul.tools import DEFAULT_TOOLS, TOOL_NAMES, make_tools

if TYPE_CHECKING:
    from flowstudio.soul.agent import Runtime
    from flowstudio.soul.mcp import McpConnection
    from flowstudio.soul.toolset import StudioToolset

DEFAULT_NAME = "flowstudio"


class AgentFileError(Exception):
    """An agent file cannot be used; the message says where and why."""


class McpServerSettings(BaseModel):
    """A server of tools that speaks MCP: started by a command, or reached at an address."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, pattern=r"^[A-Za-z0-9_-]+$")
    command: str | None = None
    """The program; it speaks over standard input and output."""
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict[str, str])
    """Variables for the program."""
    pass_env: tuple[str, ...] = ()
    """Variables, keys too, that it gets from the studio's own environment."""
    url: str | None = None
    """The address of a server that speaks streamable HTTP."""
    headers: dict[str, str] = Field(default_factory=dict[str, str])
    """Headers for it."""
    sse: bool = False
    """True for a server that speaks the older HTTP+SSE."""

    @model_validator(mode="after")
    def _has_one_way(self) -> McpServerSettings:
        if (self.command is None) == (self.url is None):
            raise ValueError("give either command or url")
        return self


class AgentFile(BaseModel):
    """What stands in an agent file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1)
    system_prompt: str | None = None
    """The prompt; `${WORK_DIR}`, `${TODAY}`, `${SKILLS}` and `${NOTES}` are filled in."""
    system_prompt_path: Path | None = None
    """A file that holds it, relative to the agent file."""
    tools: tuple[str, ...] = DEFAULT_TOOLS
    exclude_tools: tuple[str, ...] = ()
    mcp_servers: tuple[McpServerSettings, ...] = ()

    @model_validator(mode="after")
    def _is_consistent(self) -> AgentFile:
        if self.system_prompt is not None and self.system_prompt_path is not None:
            raise ValueError("give either system_prompt or system_prompt_path")
        for name in (*self.tools, *self.exclude_tools):
            if name not in TOOL_NAMES:
                near = difflib.get_close_matches(name, TOOL_NAMES, n=1)
                hint = f"; did you mean {near[0]}?" if near else ""
                raise ValueError(f"there is no tool {name!r}{hint}")
        return self


def read_agent_file(path: Path) -> AgentFile:
    """Read and check an agent file.

    Raises:
        AgentFileError: it cannot be read, is no YAML, or something in it is wrong.
    """
    try:
        raw: object = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise AgentFileError(f"{path}: the agent file cannot be read: {error}") from error
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise AgentFileError(f"{path}: no valid YAML: {reason}") from error
    if not isinstance(raw, dict):
        raise AgentFileError(f"{path}: an agent file is a mapping with `name`")
    try:
        return AgentFile.model_validate(cast("dict[str, Any]", raw))
    except ValidationError as error:
        lines = [
            f"{path}: {'.'.join(str(part) for part in one['loc']) or 'agent'}: {one['msg']}"
            for one in error.errors()
        ]
        raise AgentFileError("\n".join(lines)) from error


def default_agent(runtime: Runtime) -> Agent:
    """The studio's own agent, with the default tools."""
    prompt = system_prompt(runtime.work_dir, runtime.skills)
    return Agent(DEFAULT_NAME, prompt, make_tools(runtime))


def load_agent(runtime: Runtime, path: Path | None = None) -> Agent:
    """The agent of a file, or the default one. Its MCP servers are added by `open_agent`.

    Raises:
        AgentFileError: the file, or the prompt file that it names, cannot be used.
    """
    return default_agent(runtime) if path is None else _build(runtime, path)[0]


def _build(runtime: Runtime, path: Path) -> tuple[Agent, StudioToolset, AgentFile]:
    file = read_agent_file(path)
    template = file.system_prompt or DEFAULT_PROMPT
    if file.system_prompt_path is not None:
        place = path.parent / file.system_prompt_path
        try:
            template = place.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise AgentFileError(f"{path}: system_prompt_path: {error}") from error
    names = [name for name in dict.fromkeys(file.tools) if name not in file.exclude_tools]
    toolset = make_tools(runtime, names)
    prompt = system_prompt(runtime.work_dir, runtime.skills, template=template)
    return Agent(file.name, prompt, toolset), toolset, file


@dataclass(frozen=True, slots=True)
class OpenAgent:
    """An agent whose MCP servers run."""

    agent: Agent
    connections: tuple[McpConnection, ...]
    problems: tuple[str, ...]
    """A sentence for each server that cannot be used."""

    async def close(self) -> None:
        """End the servers. Await it before the event loop ends."""
        for connection in self.connections:
            await connection.close()


async def open_agent(
    runtime: Runtime, path: Path | None = None, servers: Sequence[McpServerSettings] = ()
) -> OpenAgent:
    """The agent of a file (or the default one), with the tools of its MCP servers and of `servers`;
    those that fail are told and left out.

    Raises:
        AgentFileError: the file, or the prompt file that it names, cannot be used.
    """
    if path is None:
        toolset = make_tools(runtime)
        agent = Agent(DEFAULT_NAME, system_prompt(runtime.work_dir, runtime.skills), toolset)
        wanted = list(servers)
    else:
        agent, toolset, file = _build(runtime, path)
        own = {one.name for one in file.mcp_servers}
        wanted = [*file.mcp_servers, *(one for one in servers if one.name not in own)]
    if not wanted:
        return OpenAgent(agent, (), ())
    from flowstudio.soul.mcp import connect

    connections, problems = await connect(
        wanted, runtime.approval, cwd=runtime.work_dir, outputs=runtime.outputs
    )
    for connection in connections:
        for tool in connection.tools:
            toolset.add(tool)
    return OpenAgent(agent, tuple(connections), tuple(problems))
