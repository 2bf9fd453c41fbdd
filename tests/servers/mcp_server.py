"""A small server that speaks MCP over standard input and output, or with `--http PORT` over HTTP;
started by the tests."""

import asyncio
import os
import sys

from mcp.server.fastmcp import FastMCP

server = FastMCP("scripted")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def show(name: str) -> str:
    """Show a variable of the environment."""
    return os.environ.get(name, "not set")


@server.tool()
def say(text: str, times: int) -> str:
    """Say something several times."""
    return text * times


@server.tool()
def fail() -> str:
    """Fail."""
    raise RuntimeError("scripted failure")


@server.tool()
def leave() -> str:
    """Go away in mid-call."""
    os._exit(1)


@server.tool()
async def hang() -> str:
    """Never answer."""
    await asyncio.Event().wait()
    return ""


if __name__ == "__main__":
    if "--http" in sys.argv:
        server.settings.port = int(sys.argv[-1])
        server.run("streamable-http")
    else:
        server.run()
