"""One user's session: an agent with a model, and the runs that it makes.

The same session stands behind the studio and behind `flowstudio run`. It has one wire; a front end
subscribes to it, gives commands to `control`, and awaits `run_flow` or `say`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio.flow.model import Flow
from flowstudio.run.control import RunControl
from flowstudio.run.folder import RunFolder, create_run
from flowstudio.run.journal import JournalWriter
from flowstudio.run.runner import DEFAULT_MAX_MOVES, FlowRunner, RunOutcome
from flowstudio.soul import Agent, Context, KimiSoul, Runtime
from flowstudio.soul.messages import system_message
from flowstudio.soul.slash import SlashCommand
from flowstudio.wire import Event, FlowReloaded, Notice, Wire

if TYPE_CHECKING:
    from kosong.message import Message

    from flowstudio.models.llm import LLM


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


class Session:
    """An agent, its wire, and the run that it is in.

    Args:
        runtime: what the soul works with; its wire is the session's.
        agent: name, system prompt and tools.
        runs_dir: where run folders go; None keeps no run on disk.
    """

    def __init__(self, runtime: Runtime, agent: Agent, *, runs_dir: Path | None = None) -> None:
        self.runtime = runtime
        self.agent = agent
        self.control: RunControl = RunControl()
        self.runner: FlowRunner | None = None
        self.folder: RunFolder | None = None
        self._runs_dir = runs_dir
        self._sources: list[Callable[[], Iterable[SlashCommand]]] = []
        self._request: RunRequest | None = None
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

    async def say(self, text: str) -> None:
        """Take what the user typed: a slash command or a prompt for the agent."""
        await self.soul.run(text)

    async def run_flow(self, request: RunRequest, control: RunControl | None = None) -> RunOutcome:
        """Run a flow from BEGIN to its end.

        The run starts with an empty conversation of its own; when it is over, the user may talk on
        in it.

        Raises:
            OSError: the run's folder cannot be written.
            MaxStepsReached: `max_moves` moves were made and nobody is there to allow more.
            RuntimeError: a run is on already.
        """
        if self.runner is not None:
            raise RuntimeError("a run is on already")
        self.control = control or RunControl()
        llm = self.llm
        folder = self._make_folder(request, llm.name if llm else "")
        context = Context(folder.context if folder else None)
        if request.path is not None:
            context.append_message(_introduce(request.name, request.path))
        self.soul = self._make_soul(context)
        self.runner = FlowRunner(
            request.flow,
            name=request.name,
            max_moves=request.max_moves,
            control=self.control,
            max_choice_retries=self.runtime.config.loop.max_choice_retries,
            path=str(request.path) if request.path else None,
            model=llm.name if llm else "",
            author=llm.answers_as if llm else "model",
            variables=request.variables,
        )
        self._request, self.folder = request, folder
        self.wire.run = folder.id if folder else "run"
        try:
            with self._journal(folder):
                return await self.runner.run(self.soul, request.input)
        finally:
            self.runner = None

    def reload(self, flow: Flow, source: str) -> FlowReloaded | None:
        """Let the run that is on use the edited flow from its next move on."""
        if self.runner is None:
            return None
        body = self.runner.reload(flow)
        if self.folder is not None:
            try:
                self._keep(self.folder, body.revision, source)
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
        if self.soul.thinking:
            soul.set_thinking(True)
        return soul

    def _make_folder(self, request: RunRequest, model: str) -> RunFolder | None:
        if self._runs_dir is None:
            return None
        folder = create_run(
            self._runs_dir,
            flow=request.name,
            path=request.path,
            model=model,
            input=request.input,
            work_dir=self.runtime.work_dir,
            variables=request.variables,
        )
        self._request = request
        self._keep(folder, 1, request.source)
        return folder

    def _keep(self, folder: RunFolder, revision: int, source: str) -> None:
        path = self._request.path if self._request else None
        folder.keep_revision(revision, path.name if path else "flow.txt", source)

    @contextlib.contextmanager
    def _journal(self, folder: RunFolder | None) -> Generator[None]:
        if folder is None:
            yield
            return
        writer = JournalWriter(folder.journal)

        def write(event: Event) -> None:
            try:
                writer(event)
            except OSError:
                # The run breaks off now; the others must still hear that it did.
                leave()
                raise

        leave = self.wire.subscribe(write, first=True)
        try:
            yield
        finally:
            leave()
            try:
                writer.close()
            except OSError as error:
                self.wire.emit(Notice(f"The journal could not be closed: {error}", "error"))


def _introduce(name: str, path: Path) -> Message:
    """Tells the agent where the flow's own files lie: its prompts name them by relative paths."""
    return system_message(
        f"You carry out the flow “{name}”, one prompt at a time. Files that belong to it, such as "
        f"scripts/ or references/, lie in {path.parent}; all other paths are relative to the work "
        "folder."
    )
