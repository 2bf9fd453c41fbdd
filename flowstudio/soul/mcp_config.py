"""The MCP servers of the configuration: `mcpServers` in it, and a `mcp.json` beside it.

The form is the one that other programs use, so that a file can be shared:

    {"mcpServers": {"issues": {"command": "issue-server", "args": ["--stdio"]},
                    "docs": {"url": "https://example.org/mcp",
                             "headers": {"Authorization": "Bearer ${DOCS_TOKEN}"}}}}
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from flowstudio.config import McpServer
from flowstudio.soul.agentfile import McpServerSettings

if TYPE_CHECKING:
    from flowstudio.config import Config

_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")
_NAME = re.compile(r"[A-Za-z0-9_-]+")


def read_servers(
    config: Config, folder: Path, environ: Mapping[str, str] | None = None
) -> tuple[list[McpServerSettings], list[str]]:
    """The servers that are to be used, and a sentence for each that cannot be.

    Args:
        folder: the configuration's folder, where `mcp.json` lies.
    """
    env = os.environ if environ is None else environ
    servers, problems = _read_file(folder / "mcp.json")
    servers.update(config.mcpServers)
    found: list[McpServerSettings] = []
    for name, server in servers.items():
        if server.disabled:
            continue
        try:
            found.append(_settle(name, server, env))
        except ValueError as error:
            problems.append(f"The MCP server {name} cannot be used: {error}")
    return found, problems


def _read_file(path: Path) -> tuple[dict[str, McpServer], list[str]]:
    try:
        raw: object = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}, []
    except (OSError, ValueError, RecursionError) as error:
        return {}, [f"{path}: not read: {error}"]
    listed = cast("dict[str, Any]", raw).get("mcpServers") if isinstance(raw, dict) else None
    if not isinstance(listed, dict):
        return {}, [f"{path}: holds no object mcpServers"]
    servers: dict[str, McpServer] = {}
    problems: list[str] = []
    for name, given in cast("dict[str, Any]", listed).items():
        try:
            servers[name] = McpServer.model_validate(given)
        except ValidationError as error:
            wrong = error.errors()[0]
            where = ".".join(str(part) for part in ("mcpServers", name, *wrong["loc"]))
            problems.append(f"{path}: {where}: {wrong['msg']}")
    return servers, problems


def _settle(name: str, server: McpServer, env: Mapping[str, str]) -> McpServerSettings:
    """A server with its variables filled in. Raises ValueError where one is not set."""
    if not _NAME.fullmatch(name):
        raise ValueError("its name may hold letters, digits, - and _ only")

    def fill(text: str) -> str:
        def value(match: re.Match[str]) -> str:
            groups: dict[str, str | None] = match.groupdict()
            found = env.get(match["name"], groups["default"])
            if found is None:
                raise ValueError(f"the variable {match['name']} is not set")
            return found

        return _VARIABLE.sub(value, text)

    return McpServerSettings(
        name=name,
        command=None if server.command is None else fill(server.command),
        args=tuple(fill(one) for one in server.args),
        env={key: fill(value) for key, value in server.env.items()},
        url=None if server.url is None else fill(server.url),
        headers={key: fill(value) for key, value in server.headers.items()},
        sse=server.type == "sse",
    )
