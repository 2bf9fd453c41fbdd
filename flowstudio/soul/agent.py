"""Who acts, and what with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flowstudio.soul.approval import Approval, Policy
from flowstudio.soul.dmail import DenwaRenji
from flowstudio.soul.questions import Questions
from flowstudio.soul.secrets import Secrets
from flowstudio.soul.tools.outputs import Outputs
from flowstudio.soul.undo import UndoLog

if TYPE_CHECKING:
    from pathlib import Path

    from kosong.tooling import Toolset

    from flowstudio.config import Config
    from flowstudio.models.llm import LLM
    from flowstudio.soul.answers import Answers
    from flowstudio.soul.retry import Sleep
    from flowstudio.soul.skills import SkillHost, SkillLike
    from flowstudio.soul.tools.changing import ClaimsWrites
    from flowstudio.soul.tools.sandbox import Sandbox
    from flowstudio.wire import Wire


@dataclass(frozen=True, slots=True)
class Agent:
    """A name, what it is told of itself, and the tools that it has."""

    name: str
    system_prompt: str
    toolset: Toolset


@dataclass(slots=True)
class Runtime:
    """All that a soul works with. The model and the skills may change while it lives."""

    config: Config
    llm: LLM | None
    wire: Wire
    work_dir: Path
    approval: Approval
    questions: Questions
    denwa_renji: DenwaRenji = field(default_factory=DenwaRenji)
    skills: Sequence[SkillLike] = ()
    why_no_skill: Callable[[SkillLike], str] | None = None
    """Says why a skill may not be used (its folder is not trusted); empty where it may."""
    skill_host: SkillHost | None = None
    """Offers the skills that a skill may call, as tools, while it is carried out."""
    claims: ClaimsWrites | None = None
    """Answers for what tools write to the library of skills."""
    disable_curl_tip: bool = False
    undo: UndoLog = field(default_factory=UndoLog)
    """What the file tools wrote, to be undone."""
    outputs: Outputs = field(default_factory=Outputs)
    """Where tools keep what is too long for the model."""
    secrets: Secrets = field(default_factory=Secrets)
    """Keys that must show nowhere."""
    sandbox: Sandbox | None = None
    """What Shell runs its commands in."""
    sleep: Sleep = asyncio.sleep
    """How a retry waits; another clock in tests."""

    @classmethod
    def create(
        cls,
        config: Config,
        wire: Wire,
        *,
        work_dir: Path,
        llm: LLM | None = None,
        skills: Sequence[SkillLike] = (),
        policy: Policy = "ask",
        yolo: bool | None = None,
        sandbox: Sandbox | None = None,
        answers: Answers | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> Runtime:
        """A runtime as the configuration says.

        Args:
            policy: who answers the tools' requests: the user (`ask`), or always the same. Under
                another policy than `ask` nobody answers the agent's own questions either.
            answers: answers to those, given beforehand.
            yolo: overrides the configuration's `yolo`.
        """
        return cls(
            config=config,
            llm=llm,
            wire=wire,
            work_dir=work_dir,
            approval=Approval(wire, policy=policy, yolo=config.yolo if yolo is None else yolo),
            questions=Questions(wire, somebody=policy == "ask", answers=answers),
            skills=skills,
            disable_curl_tip=config.disable_curl_tip,
            secrets=Secrets.of(config),
            sandbox=sandbox,
            sleep=sleep,
        )
