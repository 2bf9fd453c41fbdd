"""Between the screen and the session: turns key presses into commands and events into a state.

The driver owns no widget. It says what happened through the callbacks it was given, so that the
screen stays a matter of composing and routing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowstudio.studio.breakpoint_book import BreakpointBook
from flowstudio.studio.keymap import key_of
from flowstudio.studio.options import StudioOptions as StudioOptions

if TYPE_CHECKING:
    from flowstudio.config import Config
    from flowstudio.flow.model import FlowEdge, FlowNode
    from flowstudio.models.rehearsal import AskUser, Question
    from flowstudio.run.attach_client import AttachedRun, RemoteQuestions
    from flowstudio.run.control import RunControl
    from flowstudio.run.resume import Which
    from flowstudio.run.session import RunRequest, Session
    from flowstudio.run.state import RunState
    from flowstudio.skill.skill import Skill
    from flowstudio.soul.questions import Questions
    from flowstudio.studio.earlier import Earlier
    from flowstudio.studio.look import Look
    from flowstudio.studio.waiting import Given
    from flowstudio.wire import Event, Verdict


class CommandRefused(Exception):
    """The command makes no sense now; the message says why and what would."""


@dataclass(slots=True)
class Driver:
    """The session of the studio and the run that it is in."""

    options: StudioOptions
    on_event: Callable[[Event], None]
    session: Session | None = None
    state: RunState | None = None
    skill: Skill | None = None
    """The skill of the run that is on, or of the last one."""
    points: BreakpointBook = field(init=False)
    """The breakpoints of all flows."""
    is_talking: bool = False
    """True while a prompt that belongs to no run is answered."""
    on_loop: Callable[[str, int], object] | None = None
    """Takes a plain prompt that is to be a Ralph loop, and its rounds."""
    on_earlier: Callable[[Earlier], object] | None = None
    """Takes an earlier run when it goes on: what it has done so far is shown again."""
    remote: AttachedRun | None = None
    """The run of another process that this studio is attached to."""
    look: Look | None = None
    """An earlier moment that is looked at; None while the screen shows what is now."""
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the session stands."""
    _vouched: dict[Path, str] = field(default_factory=dict["Path", str])
    """Files that the studio itself made of what is trusted, with their texts."""
    _model_name: str = ""
    _connecting: asyncio.Task[None] | None = None
    _resumed: Earlier | None = None
    """The run that is about to go on."""
    _given: Given | None = None
    _is_free: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while no run is on."""

    def __post_init__(self) -> None:
        self.points = BreakpointBook(self._control_of, self._warn)
        self._is_free.set()

    # The session

    async def open(self, config: Config, work_dir: Path, skills: Sequence[Skill] = ()) -> None:
        """Import the soul and set up the model; takes a second or two, in a thread where it can.

        What cannot be had is said as a notice: the studio then rehearses.
        """
        from flowstudio.studio.setup import open_session
        from flowstudio.wire import Notice

        self.session, problem = await open_session(
            self.options, config, work_dir, self._ask_as_model, skills
        )
        self.session.wire.subscribe(self._take)
        self.session.soul.take_prompt = self._take_prompt
        self._model_name = self.session.llm.name if self.session.llm else "no model"
        self.ready.set()
        if problem:
            self.session.wire.emit(Notice(problem, "warning"))
        # Servers of tools may take their time; what needs none of them need not wait.
        self._connecting = asyncio.create_task(self.session.connect_servers())

    async def close(self) -> None:
        """End what the session started."""
        if self._connecting is not None:
            self._connecting.cancel()
            await asyncio.gather(self._connecting, return_exceptions=True)
        if self.session is not None:
            await self.session.close()

    def vouch(self, skill: Skill) -> None:
        """Ask for no trust in this skill while its text stays as it is: all of it is trusted."""
        self._vouched[skill.path] = skill.source

    def folder_to_trust(self, skill: Skill) -> Path | None:
        """The folder that the user must trust before this skill is run; None where none need be.

        Raises:
            CommandRefused: the state of trust cannot be read.
        """
        from flowstudio.skill.trust import TrustError, TrustGuard

        session = self.session
        if session is None or session.llm is None or session.llm.answers_as != "model":
            return None
        if self._vouched.get(skill.path) == skill.source:
            return None
        extra = (*self.options.skills_dirs, *session.runtime.config.skills_dirs)
        try:
            return TrustGuard(session.runtime.work_dir, extra).untrusted(skill)
        except TrustError as error:
            raise CommandRefused(str(error)) from error

    @property
    def is_ready(self) -> bool:
        """True once the session stands."""
        return self.ready.is_set()

    @property
    def model_name(self) -> str:
        """Who answers, for the top line."""
        if self.remote is not None:
            return self.remote.folder.header.model
        session = self.session
        return session.llm.name if session and session.llm else self._model_name

    @property
    def is_running(self) -> bool:
        """True while a run is on, paused or not."""
        return self.session is not None and self.session.is_running

    @property
    def control(self) -> RunControl | None:
        """The control of the run that is on."""
        return self.session.control if self.session and self.session.is_running else None

    def _take(self, event: Event) -> None:
        from flowstudio.run.state import RunState
        from flowstudio.studio.waiting import Given
        from flowstudio.wire import RunStarted

        if isinstance(event.body, RunStarted):
            self.state = RunState()
            body = event.body
            self._given = Given(body.input, body.variables, is_literal=body.path is None)
        elif event.type == "run_reopened" and self._resumed is not None:
            self.state = self._resumed.state
            header = self._resumed.folder.header
            literal = header.rounds is not None
            self._given = Given(header.input, header.variables, is_literal=literal)
            if self.on_earlier is not None:
                self.on_earlier(self._resumed)
            self._resumed = None
        if self.state is not None:
            self.state.apply(event)
        self.on_event(event)

    # Runs

    async def run(
        self,
        skill: Skill,
        text: str,
        *,
        stepping: bool,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """Run a skill's flow to its end.

        Raises:
            CommandRefused: it holds no flow that can be run.
            what `run_request` raises.
        """
        if skill.flow is None:
            raise CommandRefused(f"“{skill.name}” holds no flow that can be run")
        await self.ready.wait()
        from flowstudio.run.session import RunRequest

        request = RunRequest(
            skill.flow,
            skill.name,
            skill.path,
            skill.source,
            text,
            variables=variables or {},
        )
        await self.run_request(skill, request, stepping=stepping)

    async def run_request(self, skill: Skill, request: RunRequest, *, stepping: bool) -> None:
        """Run to the end what stands in `skill`.

        Raises:
            CommandRefused: another run is on.
            OSError: the run's folder cannot be written.
        """
        control = await self._make_control(skill, stepping=stepping)
        assert self.session is not None
        await self._run(self.session.run_flow(request, control), skill)

    async def resume(
        self, earlier: Earlier, skill: Skill, which: Which | None = None, *, held: bool = False
    ) -> None:
        """Go on with an earlier run, drawn by `skill`, until its end.

        Args:
            which: the flow to go on with, where its file is no longer what the run used.
            held: pause before the visit that comes next.

        Raises:
            CommandRefused: another run is on.
            what `Session.resume` raises.
        """
        control = await self._make_control(skill, stepping=False)
        if held:
            control.pause()
        assert self.session is not None
        self._resumed = earlier
        try:
            await self._run(self.session.resume(earlier.path, which, control), skill)
        finally:
            self._resumed = None

    async def attach(self, remote: AttachedRun, earlier: Earlier) -> None:
        """Watch and steer the run of another process until it ends, or this studio is detached."""
        await self.ready.wait()
        from flowstudio.studio.attached import follow

        await self._run(follow(self, remote, earlier, self._take), earlier.skill)

    async def _make_control(self, skill: Skill, *, stepping: bool) -> RunControl:
        await self.ready.wait()
        session = self.session
        assert session is not None
        if session.is_running:
            raise CommandRefused(f"a run is on already: {key_of('run.stop')} stops it")
        if self.is_talking:
            raise CommandRefused(f"the agent is answering: {key_of('run.stop')} stops it")
        from flowstudio.run.control import RunControl

        control = RunControl(interactive=True, mode="step" if stepping else "run")
        control.breakpoints = self.points.of(skill)
        return control

    async def _run(self, running: Coroutine[Any, Any, object], skill: Skill) -> None:
        before, self.skill, self.look = self.skill, skill, None
        self._is_free.clear()
        begun = self.state
        try:
            await running
        finally:
            if self.state is begun:
                self.skill = before  # it was refused
            self._is_free.set()

    async def stop_and_wait(self) -> None:
        """Stop the run that is on, if any, and wait until it has ended."""
        if self.control is not None:
            self.control.stop()
        await self._is_free.wait()

    def make_loop(self, prompt: str, rounds: int) -> tuple[RunRequest, Skill]:
        """A plain prompt as a Ralph loop: what to run, and a skill that draws it."""
        from flowstudio.run.plain_prompt import prompt_request
        from flowstudio.studio.earlier import drawn_only

        assert self.session is not None
        request = prompt_request(prompt, rounds)
        return request, drawn_only(request.name, request.source, self.session.runtime.work_dir)

    @property
    def rounds(self) -> int:
        """The rounds of a plain prompt's loop, as configured; 0 for none."""
        session = self.session
        return session.runtime.config.loop.max_ralph_iterations if session else 0

    async def _take_prompt(self, prompt: object) -> bool:
        """A plain prompt becomes a loop where the user wants that; talk within a run does not."""
        assert self.session is not None
        rounds = self.rounds
        if not rounds or self.is_running or self.on_loop is None or not isinstance(prompt, str):
            return False
        self.on_loop(prompt, rounds)
        return True

    def require_control(self) -> RunControl:
        """The control of the run that is on.

        Raises:
            CommandRefused: there is none.
        """
        control = self.control
        if control is None:
            run, step = key_of("run.start"), key_of("run.step")
            raise CommandRefused(f"no run is on: {run} runs the flow, {step} steps through it")
        return control

    def next_prompt(self, node: FlowNode) -> tuple[str, bool]:
        """What would be sent at a node now, filled in, and whether it was edited by hand."""
        own = self.control.waiting_prompt(node.id) if self.control else None
        runner = self.session.runner if self.session else None
        label = own if own is not None else node.text
        if runner is None or self._given is None:
            return label, own is not None
        from flowstudio.studio.waiting import fill_prompt

        return fill_prompt(label, runner.flow, self._given, self.state), own is not None

    def exits(self) -> list[FlowEdge]:
        """The branches where the run stands; empty where there is nothing to choose."""
        session, state = self.session, self.state
        if session is None or session.runner is None or state is None or state.current is None:
            return []
        edges = session.runner.flow.outgoing.get(state.current, [])
        return edges if len(edges) > 1 else []

    def choose(self, number: int) -> str:
        """Take branch `number` (from 1) where the run stands, and say what that does.

        Raises:
            CommandRefused: there is no such branch to take.
        """
        if self.answer_question(str(number)):
            return ""
        control, edges = self.require_control(), self.exits()
        assert self.state is not None
        if not edges:
            raise CommandRefused(f"“{self.state.current}” has a single exit: nothing to choose")
        if number > len(edges):
            raise CommandRefused(f"“{self.state.current}” has {len(edges)} branches")
        edge = edges[number - 1]
        asked = control.state != "paused"
        control.choose(edge.src, edge.label or "")
        return f"“{edge.label}” will be taken when the answer is there" if asked else ""

    def forced(self) -> Mapping[str, str]:
        """The branches that wait to be taken by hand, by node."""
        control = self.control
        if control is None or self.session is None or self.session.runner is None:
            return {}
        nodes: Iterable[str] = self.session.runner.flow.nodes
        return {node: branch for node in nodes if (branch := control.forced_at(node))}

    def _control_of(self, skill: Skill) -> RunControl | None:
        """The control of the run that is on, if it is of this skill."""
        same = self.skill is not None and self.skill.path == skill.path
        return self.control if same else None

    def _warn(self, problem: str) -> None:
        from flowstudio.wire import Notice

        if problem and self.session is not None:
            self.session.wire.emit(Notice(problem, "warning"))

    # Hot reload

    def reload(self, skill: Skill, renamed: tuple[str, ...] = ()) -> None:
        """The skill's file changed: a run that is on follows, if the flow can be run.

        `renamed` is the old and the new id of a node that was renamed.
        """
        same = self.skill is not None and self.skill.path == skill.path
        if not same or self.session is None or self.remote is not None:
            return
        if self.skill is not None and self.skill.source == skill.source:
            return  # touched, or taken in already
        self.skill = skill
        if skill.flow is not None:
            told = self.session.reload(skill.flow, skill.source, renamed)
            if told is None and renamed and self.state is not None:
                self.state.rename(*renamed)  # the run is over; its marks stay with the node

    # Questions and talk

    async def _ask_as_model(self, question: Question) -> str:
        """In a rehearsal the user is the model: tasks are done at once, decisions are asked."""
        if question.node is None:
            return (
                "This is a rehearsal: no model is set up, so nobody can answer. Set KIMI_API_KEY, "
                "OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or name a model in the "
                f"configuration. {key_of('run.start')} runs the flow; you pick its branches."
            )
        if not question.branches:
            return "Done."
        assert self.session is not None
        again = " again" if question.attempt > 1 else ""
        asked = f"You are the model{again}: which branch?"
        answer = await self.session.runtime.questions.ask(asked, question.branches)
        return answer or ""

    def user_as_model(self) -> AskUser:
        """The user in the model's place, for a rehearsal."""
        from flowstudio.models import AskUser

        return AskUser(self._ask_as_model)

    def answer_question(self, text: str) -> bool:
        """Answer the question that waits, by a branch's number or in words; False if none waits."""
        questions = self.questions
        if questions is None or not questions.pending:
            return False
        question = questions.pending[0]
        if text.isdigit() and 1 <= int(text) <= len(question.options):
            text = question.options[int(text) - 1]
        elif text.isdigit() and question.options:
            raise CommandRefused(f"there are {len(question.options)} answers to choose from")
        is_branch = text in self._branch_labels() and text in question.options
        questions.answer(question.id, f"<choice>{text}</choice>" if is_branch else text)
        return True

    @property
    def questions(self) -> Questions | RemoteQuestions | None:
        """What the user is asked, here or where the run is made; None before the session stands."""
        if self.remote is not None:
            return self.remote.questions
        return self.session.runtime.questions if self.session else None

    def approve(self, request: str, verdict: Verdict) -> None:
        """The user's word on a tool's request."""
        if self.remote is not None:
            self.remote.approve(request, verdict)
        elif self.session is not None:
            self.session.runtime.approval.answer(request, verdict)

    def _branch_labels(self) -> set[str]:
        return {edge.label for edge in self.exits() if edge.label}

    async def say(self, text: str) -> None:
        """Send what the user typed to the agent.

        Raises:
            CommandRefused: the agent is busy.
        """
        await self.ready.wait()
        session = self.session
        assert session is not None
        if self.remote is not None:
            raise CommandRefused("the agent works in another process: it cannot be talked to here")
        control = self.control
        if self.is_talking or (control is not None and control.state != "paused"):
            raise CommandRefused("the agent is busy: wait, or pause the run with p")
        self.is_talking = True
        try:
            await session.say(text)
        finally:
            self.is_talking = False
