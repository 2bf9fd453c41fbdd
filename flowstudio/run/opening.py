"""Opens a session: the agent that the call or the configuration names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio import paths
from flowstudio.run.session import Session
from flowstudio.soul import load_agent
from flowstudio.soul.agentfile import read_agent_file

if TYPE_CHECKING:
    from flowstudio.soul import Runtime


def open_session(
    runtime: Runtime, *, agent_file: Path | None = None, runs_dir: Path | None = None
) -> Session:
    """A session with the agent of `agent_file`, else of the configuration, else the default one.

    Its MCP servers are reached by `Session.connect_servers`, when there is time for it.

    Raises:
        AgentFileError: the agent file cannot be used.
    """
    configured = runtime.config.agent
    path = agent_file
    if path is None and configured is not None:
        path = paths.config_file().parent / configured.expanduser()
    agent = load_agent(runtime, path)
    servers = read_agent_file(path).mcp_servers if path is not None else ()
    return Session(runtime, agent, runs_dir=runs_dir, servers=servers)
