"""One user's session: an agent with a model, and the runs that it makes.

The same session stands behind the studio and behind `flowstudio run`. It has one wire; a front end
subscribes to it, gives commands to `control`, and awaits `run_flow` or `say`.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio import paths
from flowstudio.flow.model import Flow
from flowstudio.models.errors import ModelError
from flowstudio.models.registry import find_model, list_models
from flowstudio.run.control import RunControl
from flowstudio.run.folder import RunFolder, create_run, open_run
from flowstudio.run.journal import JournalWriter, Tail
from flowstudio.run.lock import RunLock
from flowstudio.run.resume import Position, ResumeRefused, Which, resume_plan
from flowstudio.run.runner import DEFAULT_MAX_MOVES, FlowRunner, RunOutcome
from flowstudio.run.sources import keep_flow
from flowstudio.run.watchdog import Watchdog
from flowstudio.skill.rules import NO_RULES, read_rules
from flowstudio.soul import (
    Agent,
    Context,
    ContextError,
    KimiSoul,
    Runtime,
    StudioToolset,
    TurnRules,
)
from flowstudio.soul.messages import system_message
from flowstudio.soul.slash import SlashCommand
from flowstudio.wire import FlowReloaded, Notice, TalkHeld, Wire

if TYPE_CHECKING:
    from kosong.message import Message

    from flowstudio.models.llm import LLM
    from flowstudio.run.start import Start
    from flowstudio.soul.agentfile import McpServerSettings
    from flowstudio.soul.mcp import McpConnection


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What to run."""

    flow: Flow
    name: str
    path: Path | None = None
    """The file that the flow was read from."""
    source: str = ""
    """That file's text, kept with the run."""
    input: str = ""
    max_moves: int = DEFAULT_MAX_MOVES
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    """What fills `{{name}}` in the prompts."""
    rounds: int | None = None
    """For a plain prompt the rounds that its Ralph loop may make (0: no loop); None for a flow."""
    seed: int | None = None
    """The seed of a rehearsed run, and the file of its answers, kept so that it can go on."""
    script: str | None = None


class Session:
    """An agent, its wire, and the run that it is in.

    Args:
        runtime: what the soul works with; its wire is the session's.
        agent: name, system prompt and tools.
        runs_dir: where run folders go; None keeps no run on disk.
        servers: MCP servers of the agent, beside those of the configuration.
    """

    def __init__(
        self,
        runtime: Runtime,
        agent: Agent,
        *,
        runs_dir: Path | None = None,
        servers: Sequence[McpServerSettings] = (),
    ) -> None:
        self.runtime = runtime
        self.agent = agent
        self.control: RunControl = RunControl()
        self.runner: FlowRunner | None = None
        self.folder: RunFolder | None = None
        self._runs_dir = runs_dir
        self._sources: list[Callable[[], Iterable[SlashCommand]]] = []
        self._request: RunRequest | None = None
        self._rules = NO_RULES
        self._servers = servers
        self._connections: list[McpConnection] = []
        self.soul = KimiSoul(agent, runtime, context=Context())

    @property
    def wire(self) -> Wire:
        """Where everything is said."""
        return self.runtime.wire

    @property
    def llm(self) -> LLM | None:
        """The model that answers."""
        return self.runtime.llm

    @property
    def is_running(self) -> bool:
        """True while a run is on, paused or not."""
        return self.runner is not None

    def add_commands(self, source: Callable[[], Iterable[SlashCommand]]) -> None:
        """Offer a front end's slash commands in this soul and in those of later runs."""
        self._sources.append(source)
        self.soul.add_commands(source)

    def set_model(self, llm: LLM | None) -> None:
        """Let another model answer from the next step on."""
        self.soul.set_model(llm)

    async def connect_servers(self) -> None:
        """Reach the MCP servers of the agent and of the configuration; their tools are the agent's
        then. One that cannot be used is told, and costs the others nothing.

        It may take 20 s; runs and prompts need not wait for it.
        """
        from flowstudio.soul.mcp_config import read_servers

        configured, problems = read_servers(self.runtime.config, paths.config_file().parent)
        own = {one.name for one in self._servers}
        wanted = [*self._servers, *(one for one in configured if one.name not in own)]
        if wanted:
            # The SDK takes a quarter of a second to be imported.
            await asyncio.to_thread(importlib.import_module, "mcp")
            from flowstudio.soul.mcp import connect

            runtime = self.runtime
            connections, failed = await connect(
                wanted, runtime.approval, cwd=runtime.work_dir, outputs=runtime.outputs
            )
            self._connections += connections
            problems += failed
            if isinstance(self.agent.toolset, StudioToolset):
                for connection in connections:
                    for tool in connection.tools:
                        self.agent.toolset.add(tool)
        for problem in problems:
            self.wire.emit(Notice(problem, "warning"))

    async def close(self) -> None:
        """End the MCP servers. Await it before the event loop ends."""
        connections, self._connections = self._connections, []
        for connection in connections:
            await connection.close()

    async def say(self, text: str) -> None:
        """Take what the user typed: a slash command or a prompt for the agent.

        While a run is held, the run goes on behind what was said, and is resumed behind it too.
        """
        before = self.soul.context.position
        try:
            await self.soul.run(text)
        finally:
            if self.runner is not None and self.soul.context.position != before:
                self._keep_talk(text)

    def _keep_talk(self, text: str) -> None:
        context = self.soul.context
        try:
            context.sync()
        except OSError as error:
            self.wire.emit(Notice(f"What was said is not on disk yet: {error}", "warning"))
            return
        self.wire.emit(TalkHeld(text, context.position))

    async def run_flow(self, request: RunRequest, control: RunControl | None = None) -> RunOutcome:
        """Run a flow from BEGIN to its end.

        The run starts with an empty conversation of its own; when it is over, the user may talk on
        in it.

        Raises:
            OSError: the run's folder cannot be written.
            MaxStepsReached: `max_moves` moves were made and nobody is there to allow more.
            ModelError: the flow names a model that cannot be used.
            RuntimeError: a run is on already.
        """
        self._require_free()
        self._use_rules(request.path, request.source)
        self.control = control or RunControl()
        llm = self.llm
        with self._own_folder(request, llm.name if llm else "") as folder:
            context = Context(folder.context if folder else None)
            if request.path is not None:
                context.append_message(_introduce(request.name, request.path))
            self.soul = self._make_soul(context)
            self.runner = self._make_runner(request)
            self._request, self.folder = request, folder
            if folder is not None:
                self.runtime.undo.open(folder.undo)
            self.wire.run = folder.id if folder else "run"
            try:
                with self._journal(folder):
                    return await self._walk(self.runner, request)
            finally:
                self.runner = None

    async def resume(
        self, path: Path, which: Which | None = None, control: RunControl | None = None
    ) -> RunOutcome:
        """Go on with an earlier run, in its own folder; only the visit in flight is run again.

        Where somebody is there to ask, a run that was held is held again.

        Args:
            which: the flow to go on with, where its file is no longer what the run used; see
                `resume_plan`, which also tells what else to say before this is called.

        Raises:
            ResumeRefused: it cannot go on, or (`FlowChanged`) `which` must be said first.
            RunBusy: somebody else writes the run.
            JournalDamaged: its journal is damaged, and not at the end.
            OSError: the run's folder cannot be read or written.
            ValueError: it is not a run's folder, or of a newer format.
            what `run_flow` raises.
        """
        self._require_free()
        open_run(path)
        with RunLock(path):
            plan = resume_plan(path)
            source = plan.source(which)
            start = plan.start(source)
            assert source.flow is not None
            folder, header = plan.folder, plan.folder.header
            flow_file = Path(header.path) if header.path else None
            request = RunRequest(
                source.flow,
                header.flow,
                flow_file,
                source.text,
                header.input,
                plan.position.begun.max_moves if plan.position.begun else DEFAULT_MAX_MOVES,
                header.variables,
                header.rounds,
            )
            self._use_rules(flow_file, source.text)
            try:
                context = Context(folder.context, at=plan.position.context)
            except ContextError as error:
                raise ResumeRefused(str(error)) from error
            if flow_file is not None and not plan.position.context:
                context.append_message(_introduce(header.flow, flow_file))
            revision = plan.position.revision
            if source.flow != plan.recorded.flow:
                revision += plan.was_used
                self._keep(folder, revision, request)
            self.control = control or RunControl()
            _give_again(self.control, plan.position)
            self.soul = self._make_soul(context)
            self.runner = self._make_runner(request)
            self.runner.revision = revision
            self._request, self.folder = request, folder
            self.runtime.undo.open(folder.undo)
            self.wire.run = folder.id
            try:
                with self._journal(folder, plan.tail):
                    if plan.warning:
                        self.wire.emit(Notice(plan.warning, "warning"))
                    return await self._walk(self.runner, request, start)
            finally:
                self.runner = None

    async def _walk(
        self, runner: FlowRunner, request: RunRequest, start: Start | None = None
    ) -> RunOutcome:
        """Run the flow, with the skills that it may call at hand."""
        host = self.runtime.skill_host
        if host is None or request.path is None:
            return await runner.run(self.soul, request.input, start=start)
        with host.using(self.soul, request.name, request.path) as use:
            outcome = await runner.run(self.soul, request.input, start=start)
            if outcome.reason != "reached_end":
                use.ended("partial" if outcome.reason == "stopped" else "failed", outcome.message)
            return outcome

    def _require_free(self) -> None:
        if self.runner is not None:
            raise RuntimeError("a run is on already")

    def _make_runner(self, request: RunRequest) -> FlowRunner:
        llm = self.llm
        runner = FlowRunner(
            request.flow,
            name=request.name,
            max_moves=request.max_moves,
            control=self.control,
            max_choice_retries=self.runtime.config.loop.max_choice_retries,
            path=str(request.path) if request.path else None,
            model=llm.name if llm else "",
            author=llm.answers_as if llm else "model",
            variables=request.variables,
            rounds=request.rounds,
            watchdog=Watchdog(
                self.runtime.config.loop.max_idle_visits,
                self.runtime.work_dir,
                (self._runs_dir,) if self._runs_dir else (),
            ),
        )
        if llm is not None and llm.answers_as == "model":
            # Elsewhere whoever plays the model answers these nodes too.
            runner.ask_user = self.runtime.questions.ask
        return runner

    def _use_rules(self, path: Path | None, source: str) -> None:
        """Hold the turns to what the flow's file says of tools and models.

        Raises:
            ModelError: it names a model that cannot be used.
        """
        rules = read_rules(path, source)
        if self.llm is not None and self.llm.answers_as == "model":
            options = list_models(self.runtime.config)
            for name in sorted(rules.models):
                option = find_model(options, name)
                if not option.usable:
                    raise ModelError(f"The model {name} cannot be used. {option.why_not}")
        self._rules = rules

    def _find_rules(self, node: str) -> TurnRules:
        found = self._rules.of(node)
        return TurnRules(found.tools, found.model)

    def reload(self, flow: Flow, source: str, renamed: tuple[str, ...] = ()) -> FlowReloaded | None:
        """Let the run that is on use the edited flow from its next move on.

        `renamed` is the old and the new id of a node that was renamed in it.
        """
        if self.runner is None:
            return None
        body = self.runner.reload(flow, renamed)
        assert self._request is not None
        try:
            self._use_rules(self._request.path, source)
        except ModelError as error:
            # The node that names it holds the run when it is reached.
            self._rules = read_rules(self._request.path, source)
            self.wire.emit(Notice(str(error), "warning"))
        if self.folder is not None:
            try:
                edited = replace(self._request, flow=flow, source=source)
                self._keep(self.folder, body.revision, edited)
            except OSError as error:
                self.wire.emit(
                    Notice(f"Revision {body.revision} could not be kept: {error}", "warning")
                )
        self.wire.emit(body)
        return body

    def _make_soul(self, context: Context) -> KimiSoul:
        """A soul with a conversation of its own, and what the user set in the one before."""
        soul = KimiSoul(self.agent, self.runtime, context=context)
        for source in self._sources:
            soul.add_commands(source)
        soul.take_prompt = self.soul.take_prompt
        soul.find_rules = self._find_rules
        if self.soul.thinking:
            soul.set_thinking(True)
        return soul

    @contextlib.contextmanager
    def _own_folder(self, request: RunRequest, model: str) -> Generator[RunFolder | None]:
        """A folder for a new run, that nobody else writes meanwhile."""
        if self._runs_dir is None:
            yield None
            return
        folder = create_run(
            self._runs_dir,
            flow=request.name,
            path=request.path,
            model=model,
            input=request.input,
            work_dir=self.runtime.work_dir,
            variables=request.variables,
            rounds=request.rounds,
            seed=request.seed,
            script=request.script,
        )
        with RunLock(folder.path):
            self._keep(folder, 1, request)
            yield folder

    def _keep(self, folder: RunFolder, revision: int, request: RunRequest) -> None:
        name = request.path.name if request.path else None
        keep_flow(folder, revision, name, request.source, request.flow)

    @contextlib.contextmanager
    def _journal(self, folder: RunFolder | None, after: Tail | None = None) -> Generator[None]:
        if folder is None:
            yield
            return
        writer = JournalWriter(folder.journal, after=after)
        leave = self.wire.subscribe(writer, first=True)
        try:
            yield
        finally:
            leave()
            try:
                writer.close()
            except OSError as error:
                message = f"The last records of the run are not on disk: {error}"
                self.wire.emit(Notice(message, "error"))


def _give_again(control: RunControl, position: Position) -> None:
    """Give the commands again that were meant for the visit that comes next."""
    for node, branch in position.forced.items():
        control.choose(node, branch)
    if position.prompt is not None:
        control.replace_prompt(position.prompt)
    if position.paused is not None and control.interactive:
        control.pause()


def _introduce(name: str, path: Path) -> Message:
    """Tells the agent where the flow's own files lie: its prompts name them by relative paths."""
    return system_message(
        f"You carry out the flow “{name}”, one prompt at a time. Files that belong to it, such as "
        f"scripts/ or references/, lie in {path.parent}; all other paths are relative to the work "
        "folder."
    )
