"""An editor: the protocol package's own client, in front of a real `flowstudio acp` process."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from acp import PROTOCOL_VERSION, RequestError, spawn_agent_process, text_block
from acp.schema import AllowedOutcome, DeniedOutcome, RequestPermissionResponse

ROOT = Path(__file__).parents[2]
LONGEST = 60.0


class Editor:
    """Keeps all updates and answers requests for leave; `pick` names the option by its words."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.asked: list[Any] = []
        self.pick: Callable[[list[str]], str | None] = lambda options: options[0]
        self.changed = asyncio.Event()
        self.conn: Any = None
        self.session = ""

    def on_connect(self, conn: Any) -> None:
        self.conn = conn

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)
        self.changed.set()

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any], **_: Any
    ) -> RequestPermissionResponse:
        self.asked.append((tool_call, options))
        self.changed.set()
        word = self.pick([option.name for option in options])
        for option in options:
            if option.name == word:
                outcome = AllowedOutcome(outcome="selected", option_id=option.option_id)
                return RequestPermissionResponse(outcome=outcome)
        return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        pass

    def of(self, kind: str) -> list[Any]:
        """The updates of one kind."""
        return [one for one in self.updates if one.session_update == kind]

    @property
    def text(self) -> str:
        """What the agent said."""
        return "".join(one.content.text for one in self.of("agent_message_chunk"))

    @property
    def plans(self) -> list[list[tuple[str, str]]]:
        """Each plan as pairs of words and status."""
        return [[(one.content, one.status) for one in plan.entries] for plan in self.of("plan")]

    async def say(self, *blocks: Any) -> Any:
        """Send a prompt and wait for its end."""
        parts = [text_block(one) if isinstance(one, str) else one for one in blocks]
        asking = self.conn.prompt(session_id=self.session, prompt=parts)
        return await asyncio.wait_for(asking, LONGEST)

    async def until(self, is_so: Callable[[], object]) -> None:
        """Wait for something that an update or a request brings."""
        async with asyncio.timeout(LONGEST):
            while not is_so():
                self.changed.clear()
                await self.changed.wait()


@asynccontextmanager
async def editor(
    cwd: Path, *argv: str, env: Mapping[str, str] | None = None, servers: Any = ()
) -> AsyncIterator[Editor]:
    """An editor with an open session in `cwd`."""
    client = Editor()
    environ = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(cwd / "home"),
        "PYTHONPATH": str(ROOT),
        "FLOWSTUDIO_HOME": str(cwd / "flowstudio-home"),
        **(env or {}),
    }
    command = ("-m", "flowstudio", "acp", *argv)
    async with spawn_agent_process(client, sys.executable, *command, env=environ, cwd=cwd) as (
        conn,
        _process,
    ):
        client.conn = conn
        await asyncio.wait_for(conn.initialize(protocol_version=PROTOCOL_VERSION), LONGEST)
        opened = await asyncio.wait_for(
            conn.new_session(cwd=str(cwd), mcp_servers=list(servers)), LONGEST
        )
        client.session = opened.session_id
        yield client
