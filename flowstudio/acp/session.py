"""One session of an editor: a session of the studio, its events sent on, its questions asked."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp import RequestError, text_block, tool_content, update_agent_message_text
from acp.schema import (
    AllowedOutcome,
    AvailableCommand,
    AvailableCommandInput,
    AvailableCommandsUpdate,
    PermissionOption,
    StopReason,
    ToolCallUpdate,
    UnstructuredCommandInput,
)

from flowstudio import paths
from flowstudio.acp.updates import Translator
from flowstudio.mindflow.called import CalledSkills
from flowstudio.mindflow.library_writes import LibraryWrites
from flowstudio.models import AskUser, RehearsalProvider
from flowstudio.run.called_flow import play_flow
from flowstudio.run.control import RunControl
from flowstudio.run.opening import open_session
from flowstudio.run.session import RunRequest
from flowstudio.run.usage import Usage
from flowstudio.run.visit import FAILURES, explain_failure
from flowstudio.skill import Skill, configured_dirs, discover
from flowstudio.skill.trust import TrustError, TrustGuard, TrustStore
from flowstudio.soul import MaxStepsReached, Runtime
from flowstudio.soul.agentfile import McpServerSettings
from flowstudio.soul.slash import SlashCommand
from flowstudio.telemetry import trace_to_the_end
from flowstudio.text import harmless
from flowstudio.wire import (
    ApprovalAsked,
    Event,
    Notice,
    TokensUsed,
    UserAsked,
    Verdict,
    Wire,
)

if TYPE_CHECKING:
    from acp.interfaces import Client
    from kosong.message import ContentPart

    from flowstudio.config import Config
    from flowstudio.models import LLM, Question
    from flowstudio.soul import KimiSoul, StudioToolset
    from flowstudio.soul.mcp import McpConnection
    from flowstudio.soul.tools.sandbox import Sandbox

_ALLOWING: dict[str, Verdict] = {"allow": "allow", "session": "session", "reject": "reject"}
_OPTIONS = (
    PermissionOption(option_id="allow", name="Allow", kind="allow_once"),
    PermissionOption(option_id="session", name="Allow for this session", kind="allow_always"),
    PermissionOption(option_id="reject", name="Reject", kind="reject_once"),
)
_TRUST = "Yes, I trust it"
_NO_WORDS = "The user cannot answer here. Put your question at the end of your answer instead."


@dataclass(frozen=True, slots=True)
class Settings:
    """What all sessions of the program share."""

    config: Config
    skills_dirs: tuple[Path, ...] = ()
    yolo: bool = False


class EditorSession:
    """Stands between one session of the protocol and one of the studio."""

    def __init__(
        self,
        id: str,
        client: Client,
        work_dir: Path,
        llm: LLM | None,
        settings: Settings,
        sandbox: Sandbox | None = None,
    ) -> None:
        """`llm` None: a rehearsal, in which the user picks each branch.

        Raises:
            AgentFileError: the agent file of the configuration cannot be used.
        """
        self.id = id
        self.used = Usage()
        """What the model used so far."""
        self._client = client
        self._settings = settings
        self._work_dir = work_dir
        self._queue: asyncio.Queue[Any] = asyncio.Queue()
        self._asking: set[asyncio.Task[None]] = set()
        self._turn: asyncio.Task[None] | None = None
        self._cancelled = False
        self._connections: list[McpConnection] = []
        self._skills = discover(work_dir, extra_dirs=configured_dirs(settings.skills_dirs)).skills
        runtime = Runtime.create(
            settings.config,
            Wire(),
            work_dir=work_dir,
            llm=llm or self._rehearsal(),
            skills=self._skills,
            sandbox=sandbox,
            yolo=settings.yolo or settings.config.yolo,
        )
        self._guard = TrustGuard(work_dir, (*settings.skills_dirs, *settings.config.skills_dirs))
        runtime.why_no_skill = self._guard.why_no_skill
        runtime.skill_host = CalledSkills(runtime, play=play_flow)
        dirs = (*settings.skills_dirs, *settings.config.skills_dirs)
        runtime.claims = LibraryWrites(runtime, dirs)
        self.session = open_session(runtime, runs_dir=paths.runs_dir())
        self.session.add_commands(self._flow_commands)
        self._updates = Translator(lambda: runner.flow if (runner := self.session.runner) else None)
        self.session.wire.subscribe(self._take)
        self._sender = asyncio.create_task(self._send())
        if untraced := trace_to_the_end(self.session.wire):
            self.session.wire.emit(Notice(untraced, "warning"))

    async def connect(self, servers: Sequence[McpServerSettings]) -> None:
        """Reach the configuration's MCP servers and the editor's; one that fails is told."""
        await self.session.connect_servers()
        if not servers:
            return
        from flowstudio.soul.mcp import connect

        self._connections, problems = await connect(servers, self.session.runtime.approval)
        toolset: StudioToolset = self.session.agent.toolset  # pyright: ignore[reportAssignmentType]
        for connection in self._connections:
            for tool in connection.tools:
                toolset.add(tool)
        for problem in problems:
            self.session.wire.emit(Notice(problem, "warning"))

    def announce_commands(self) -> None:
        """Tell the editor which slash commands there are."""
        self._queue.put_nowait(
            AvailableCommandsUpdate(
                session_update="available_commands_update",
                available_commands=[
                    AvailableCommand(
                        name=command.name,
                        description=command.description or command.name,
                        input=_describe_input(command.arguments),
                    )
                    for command in self.session.soul.available_slash_commands
                ],
            )
        )

    async def prompt(self, prompt: str | list[ContentPart]) -> StopReason:
        """Take a prompt or a command, until the turn or the run that it begins is over.

        Raises:
            RequestError: the model failed; the message says how.
        """
        if self._turn is not None:
            raise RequestError(-32600, "A prompt is being answered already.")
        self._cancelled = False
        self._turn = asyncio.create_task(self._answer(prompt))
        try:
            await self._turn
        except asyncio.CancelledError:
            if not self._cancelled:
                raise
        except MaxStepsReached:
            return "max_turn_requests"
        except FAILURES as error:
            raise RequestError(-32603, explain_failure(error)) from error
        except OSError as error:
            raise RequestError(-32603, f"The run cannot be kept on disk: {error}") from error
        finally:
            self._turn = None
            # The answer to the request says that all of it was sent.
            await self._queue.join()
        return "cancelled" if self._cancelled else "end_turn"

    def cancel(self) -> None:
        """Cut what is on, if anything is."""
        if self._turn is None:
            return
        self._cancelled = True
        for task in self._asking:
            task.cancel()
        if self.session.is_running:
            self.session.control.stop()
        else:
            self._turn.cancel()

    async def close(self) -> None:
        """End what is on, and the MCP servers."""
        self.cancel()
        if (turn := self._turn) is not None:
            await asyncio.wait([turn])
        self._sender.cancel()
        for connection in self._connections:
            await connection.close()
        await self.session.close()

    async def _answer(self, prompt: str | list[ContentPart]) -> None:
        if isinstance(prompt, str):
            await self.session.say(prompt)
        else:
            await self.session.soul.run(prompt)

    # Flows

    def _flow_commands(self) -> Iterable[SlashCommand]:
        for skill in self._skills:
            if skill.flow is not None:
                yield SlashCommand(
                    f"flow:{skill.name}",
                    skill.description,
                    self._make_starter(skill),
                    arguments="[input]",
                )

    def _make_starter(self, skill: Skill) -> Any:
        async def run(soul: KimiSoul, args: str) -> None:
            if self.session.is_running:
                soul.notify("A run is on already.", "error")
                return
            assert skill.flow is not None
            if not await self._is_trusted(skill):
                soul.notify("The flow was not run: you do not trust the folder it came with.")
                return
            request = RunRequest(skill.flow, skill.name, skill.path, skill.source, args)
            await self.session.run_flow(request, RunControl())

        return run

    async def _is_trusted(self, skill: Skill) -> bool:
        """Whether the flow may use tools; asks once for a folder that is not trusted yet."""
        llm = self.session.llm
        if llm is None or llm.answers_as != "model":
            return True
        try:
            folder = self._guard.untrusted(skill)
            if folder is None:
                return True
            question = (
                f"“{skill.name}” comes with the folder {folder}. Its prompts would tell an agent "
                "with tools what to do. Do you trust the folder?"
            )
            if await self._ask("trust", question, (_TRUST, "No")) != _TRUST:
                return False
            TrustStore.of_user().trust(folder)
        except TrustError as error:
            self.session.soul.notify(str(error), "error")
            return False
        return True

    def _rehearsal(self) -> LLM:
        from flowstudio.models import LLM

        provider = RehearsalProvider(AskUser(self._ask_branch))
        return LLM(provider, "rehearsal", "rehearsal", None, frozenset({"image", "tools"}))

    async def _ask_branch(self, question: Question) -> str:
        """In a rehearsal the user picks the branch; nothing else is answered."""
        if not question.branches:
            return "Rehearsed: no model is configured, so nobody did this."
        chosen = await self._ask(f"choice-{question.node}", question.prompt, question.branches)
        return f"<choice>{chosen}</choice>" if chosen else ""

    # Events

    def _take(self, event: Event) -> None:
        for update in self._updates.read(event):
            self._queue.put_nowait(update)
        if isinstance(event.body, ApprovalAsked | UserAsked):
            self._queue.put_nowait(event.body)
        elif isinstance(event.body, TokensUsed):
            self.used += Usage.of(event.body)

    async def _send(self) -> None:
        """Send what is queued, in order. A question is asked once all before it was sent."""
        while True:
            item = await self._queue.get()
            try:
                match item:
                    case ApprovalAsked():
                        self._begin(self._ask_leave(item))
                    case UserAsked():
                        self._begin(self._ask_user(item))
                    case _:
                        with contextlib.suppress(ConnectionError):
                            await self._client.session_update(self.id, item)
            finally:
                self._queue.task_done()

    def _begin(self, asking: Any) -> None:
        task = asyncio.create_task(asking)
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _ask_leave(self, asked: ApprovalAsked) -> None:
        shown = asked.description
        if asked.diff and asked.diff not in shown:
            shown = f"{shown}\n\n{asked.diff}"
        call = ToolCallUpdate(
            tool_call_id=self._updates.last_call,
            title=f"{asked.tool}: {asked.action}",
            status="pending",
            content=[tool_content(text_block(harmless(shown)))],
        )
        chosen = await self._request(call, list(_OPTIONS))
        verdict = _ALLOWING.get(chosen or "", "reject")
        self.session.runtime.approval.answer(asked.id, verdict)

    async def _ask_user(self, asked: UserAsked) -> None:
        answer = None
        if asked.options:
            answer = await self._ask(asked.id, asked.question, asked.options)
        else:
            self._queue.put_nowait(update_agent_message_text(harmless(asked.question)))
        self.session.runtime.questions.answer(asked.id, answer or _NO_WORDS)

    async def _ask(self, id: str, question: str, options: Sequence[str]) -> str | None:
        """The option that the user picks, in the form in which editors ask for leave."""
        call = ToolCallUpdate(
            tool_call_id=id,
            title="Which branch?" if id.startswith("choice-") else "A question",
            kind="other",
            status="pending",
            content=[tool_content(text_block(harmless(question)))],
        )
        listed = [
            PermissionOption(option_id=str(number), name=option, kind="allow_once")
            for number, option in enumerate(options)
        ]
        chosen = await self._request(call, listed)
        return options[int(chosen)] if chosen is not None else None

    async def _request(self, call: ToolCallUpdate, options: list[PermissionOption]) -> str | None:
        """The id of the option that was picked; None where the editor has no answer."""
        try:
            response = await self._client.request_permission(self.id, call, options)
        except (RequestError, ConnectionError):
            return None
        outcome = response.outcome
        known = {option.option_id for option in options}
        if isinstance(outcome, AllowedOutcome) and outcome.option_id in known:
            return outcome.option_id
        return None


def read_servers(servers: Sequence[Any]) -> list[McpServerSettings]:
    """The editor's MCP servers as settings; kinds that are not supported are left out."""
    found: list[McpServerSettings] = []
    for server in servers:
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", server.name) or "server"
        if command := getattr(server, "command", None):
            env = {one.name: one.value for one in server.env}
            found.append(
                McpServerSettings(name=name, command=command, args=tuple(server.args), env=env)
            )
        elif getattr(server, "type", "") == "http":
            found.append(McpServerSettings(name=name, url=server.url))
    return found


def _describe_input(arguments: str) -> AvailableCommandInput | None:
    return (
        AvailableCommandInput(root=UnstructuredCommandInput(hint=arguments)) if arguments else None
    )
