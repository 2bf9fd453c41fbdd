"""What holds an agent that nobody watches: leave, trust, sandbox, answers; and what it has at hand.

The commands that run flows with tools share these options, and open their session here.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio.cli.output import say

if TYPE_CHECKING:
    from flowstudio.config import Config
    from flowstudio.models.llm import LLM
    from flowstudio.run.session import Session
    from flowstudio.soul import SkillLike
    from flowstudio.wire import Wire


class LeashError(Exception):
    """The session cannot be opened as asked; the message says why and what to do."""


def settle(config: Config, args: argparse.Namespace) -> Config:
    """The configuration with what the call says of the sandbox."""
    if args.sandbox:
        config.sandbox = "on"
    if args.no_network:
        config.sandbox_network = False
    return config


@asynccontextmanager
async def leashed_session(
    args: argparse.Namespace,
    config: Config,
    wire: Wire,
    *,
    work_dir: Path,
    llm: LLM,
    skills: Sequence[SkillLike],
    runs_dir: Path,
) -> AsyncGenerator[Session]:
    """A session without a screen, with its MCP servers; they end with it.

    Raises:
        LeashError: the sandbox cannot be had, or the answers or the agent file cannot be used.
    """
    from flowstudio.run.opening import open_session
    from flowstudio.soul import AgentFileError, Runtime
    from flowstudio.soul.answers import AnswersError, load_answers
    from flowstudio.soul.tools.sandbox import SandboxError, open_sandbox
    from flowstudio.telemetry import traced

    settle(config, args)
    # A rehearsal uses no tool, and its answers are its own.
    acts = llm.answers_as == "model"
    try:
        sandbox, missing = await open_sandbox(config) if acts else (None, "")
        answers = load_answers(args.answers) if args.answers else None
        runtime = Runtime.create(
            config,
            wire,
            work_dir=work_dir,
            llm=llm,
            skills=skills,
            policy="allow" if args.yolo or config.yolo else "reject",
            sandbox=sandbox,
            answers=answers,
        )
        if missing:
            say(f"flowstudio: {missing}", file=sys.stderr)
        if acts:
            from flowstudio.mindflow.called import CalledSkills
            from flowstudio.mindflow.library_writes import LibraryWrites
            from flowstudio.run.called_flow import play_flow
            from flowstudio.skill import configured_dirs
            from flowstudio.skill.trust import TrustGuard

            extra_dirs = configured_dirs(getattr(args, "skills_dir", ()))
            guard = TrustGuard(work_dir, extra_dirs)
            runtime.why_no_skill = guard.why_no_skill
            runtime.skill_host = CalledSkills(runtime, play=play_flow)
            runtime.claims = LibraryWrites(runtime, extra_dirs)
        session = open_session(runtime, agent_file=args.agent, runs_dir=runs_dir)
    except (SandboxError, AnswersError, AgentFileError) as error:
        raise LeashError(str(error)) from error
    with traced(wire):
        try:
            if acts:
                await session.connect_servers()
            yield session
        finally:
            await session.close()
