"""Sets up the session of the studio: model, soul and tools. Imports kosong, so it is imported
late.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio import paths
from flowstudio.mindflow.called import CalledSkills
from flowstudio.mindflow.library_writes import LibraryWrites
from flowstudio.models import AskUser, ModelError, RehearsalProvider, ScriptAnswers, SeededWalk
from flowstudio.models.build import build_model
from flowstudio.models.llm import LLM
from flowstudio.models.local import resolve_model
from flowstudio.models.registry import default_model, rehearsal_option
from flowstudio.models.script import load_script
from flowstudio.run.called_flow import play_flow
from flowstudio.run.opening import open_session as open_run_session
from flowstudio.run.session import Session
from flowstudio.skill.trust import TrustGuard
from flowstudio.soul import AgentFileError, Runtime, default_agent
from flowstudio.soul.tools.sandbox import Sandbox, SandboxError, open_sandbox
from flowstudio.telemetry import trace_to_the_end
from flowstudio.wire import Wire

if TYPE_CHECKING:
    from flowstudio.config import Config
    from flowstudio.models.rehearsal import Question
    from flowstudio.skill import Skill
    from flowstudio.studio.driver import StudioOptions


async def open_session(
    options: StudioOptions,
    config: Config,
    work_dir: Path,
    ask: Callable[[Question], Awaitable[str]],
    skills: Sequence[Skill] = (),
) -> tuple[Session, str]:
    """The session, and a sentence on what could not be had (empty where all is well).

    Args:
        skills: those that the agent is told of, as far as their folders are trusted.
    """
    problem = ""
    if options.max_ralph_iterations is not None:
        config.loop.max_ralph_iterations = options.max_ralph_iterations
    try:
        llm = await _find_llm(options, config, ask)
    except ModelError as error:
        problem = f"{error} Until then this is a rehearsal."
        llm = await build_model(rehearsal_option(), config, answerer=AskUser(ask))
    if options.sandbox:
        config.sandbox = "on"
    config.sandbox_network = config.sandbox_network and not options.no_network
    try:
        sandbox, missing = await open_sandbox(config)
    except SandboxError as error:
        # The studio opens all the same, and no command is run.
        sandbox, missing = Sandbox("bwrap", why_not=str(error)), str(error)
    guard = TrustGuard(work_dir, (*options.skills_dirs, *config.skills_dirs))
    runtime = Runtime.create(
        config,
        Wire(),
        work_dir=work_dir,
        llm=llm,
        skills=[skill for skill in skills if not guard.why_no_skill(skill)],
        yolo=options.yolo or config.yolo,
        sandbox=sandbox,
    )
    runtime.why_no_skill = guard.why_no_skill
    runtime.skill_host = CalledSkills(runtime, play=play_flow)
    runtime.claims = LibraryWrites(runtime, (*options.skills_dirs, *config.skills_dirs))
    agent_problem = ""
    try:
        session = open_run_session(runtime, agent_file=options.agent, runs_dir=paths.runs_dir())
    except AgentFileError as error:
        agent_problem = f"{error}. Until then the studio's own agent acts."
        session = Session(runtime, default_agent(runtime), runs_dir=paths.runs_dir())
    untraced = trace_to_the_end(runtime.wire)
    return session, "\n".join(one for one in (problem, missing, agent_problem, untraced) if one)


async def _find_llm(
    options: StudioOptions, config: Config, ask: Callable[[Question], Awaitable[str]]
) -> LLM:
    if options.script is not None:
        return _rehearse(ScriptAnswers(load_script(options.script)), options)
    if options.seed is not None:
        return _rehearse(SeededWalk(options.seed), options)
    if options.model is None:
        option = default_model(config)
    else:
        option = await resolve_model(config, options.model)
    return await build_model(option, config, answerer=AskUser(ask))


def _rehearse(answers: ScriptAnswers | SeededWalk, options: StudioOptions) -> LLM:
    provider = RehearsalProvider(answers, pace=options.pace)
    return LLM(provider, "rehearsal", "rehearsal", None, frozenset({"image", "tools"}))
