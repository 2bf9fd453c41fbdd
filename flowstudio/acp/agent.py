"""The agent as the protocol knows it: sessions, prompts, cancelling."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp import PROTOCOL_VERSION, RequestError, run_agent
from acp.schema import (
    AgentCapabilities,
    Implementation,
    InitializeResponse,
    McpCapabilities,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    Usage,
)

from flowstudio import __version__
from flowstudio.acp.prompt import read_prompt
from flowstudio.acp.session import EditorSession, Settings, read_servers
from flowstudio.models import ModelError, resolve_model
from flowstudio.models.build import build_model
from flowstudio.models.registry import REHEARSAL, default_model
from flowstudio.soul import AgentFileError
from flowstudio.soul.tools.sandbox import SandboxError, open_sandbox

if TYPE_CHECKING:
    from acp.interfaces import Client

    from flowstudio.models import LLM


class StudioAgent:
    """What an editor talks to: `initialize`, then sessions with prompts."""

    def __init__(self, settings: Settings, model: str | None = None) -> None:
        self._settings = settings
        self._model = model
        self._client: Client | None = None
        self._sessions: dict[str, EditorSession] = {}

    def on_connect(self, conn: Client) -> None:
        """The editor is there."""
        self._client = conn

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: Any = None,
        client_info: Any = None,
        **_: Any,
    ) -> InitializeResponse:
        """Say who we are and what we take."""
        return InitializeResponse(
            protocol_version=min(protocol_version, PROTOCOL_VERSION),
            agent_capabilities=AgentCapabilities(
                load_session=False,
                prompt_capabilities=PromptCapabilities(image=True, embedded_context=True),
                mcp_capabilities=McpCapabilities(http=True, sse=False),
            ),
            agent_info=Implementation(name="flowstudio", title="Flow Studio", version=__version__),
            auth_methods=[],
        )

    async def authenticate(self, method_id: str, **_: Any) -> None:
        """Nothing to do: keys come from the environment."""

    async def new_session(
        self,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[Any] | None = None,
        **_: Any,
    ) -> NewSessionResponse:
        """Open a session in a work folder.

        Raises:
            RequestError: the folder is not there, or the model cannot be used.
        """
        work_dir = Path(cwd)
        if not work_dir.is_absolute() or not await asyncio.to_thread(work_dir.is_dir):
            raise RequestError(-32602, f"cwd must be a folder, as an absolute path: {cwd}")
        assert self._client is not None
        id = secrets.token_hex(8)
        try:
            llm = await self._find_llm()
            sandbox, missing = await open_sandbox(self._settings.config)
            session = EditorSession(id, self._client, work_dir, llm, self._settings, sandbox)
        except (ModelError, SandboxError, AgentFileError) as error:
            raise RequestError(-32603, str(error)) from error
        if missing:
            session.session.soul.notify(missing, "warning")
        self._sessions[id] = session
        await session.connect(read_servers(mcp_servers or ()))
        # The editor must know the session before it hears of its commands.
        asyncio.get_running_loop().call_soon(session.announce_commands)
        return NewSessionResponse(session_id=id)

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:
        """Answer a prompt; updates come meanwhile."""
        session = self._find(session_id)
        before = session.used
        reason = await session.prompt(read_prompt(prompt))
        spent = session.used - before
        usage = Usage(
            input_tokens=spent.input,
            output_tokens=spent.output,
            cached_read_tokens=spent.cached,
            total_tokens=spent.input + spent.output,
        )
        return PromptResponse(stop_reason=reason, usage=usage if usage.total_tokens else None)

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Cut the prompt that is being answered."""
        if session := self._sessions.get(session_id):
            session.cancel()

    async def close_session(self, session_id: str, **_: Any) -> None:
        """End a session."""
        if session := self._sessions.pop(session_id, None):
            await session.close()

    async def close(self) -> None:
        """End all sessions."""
        for id in tuple(self._sessions):
            await self.close_session(id)

    async def _find_llm(self) -> LLM | None:
        config = self._settings.config
        if self._model:
            option = await resolve_model(config, self._model)
        else:
            option = default_model(config)
        return None if option.name == REHEARSAL else await build_model(option, config)

    def _find(self, session_id: str) -> EditorSession:
        session = self._sessions.get(session_id)
        if session is None:
            raise RequestError(-32602, f"There is no session {session_id}.")
        return session


async def serve(settings: Settings, model: str | None = None) -> None:
    """Speak ACP over standard input and output until the editor goes away."""
    from acp.stdio import stdio_streams

    agent = StudioAgent(settings, model)
    output, input = await stdio_streams(limit=50 * 1024 * 1024)
    # Whatever else is printed must not stand between the protocol's lines.
    with contextlib.redirect_stdout(sys.stderr):
        try:
            await run_agent(agent, input, output)  # pyright: ignore[reportArgumentType]
        finally:
            await agent.close()
