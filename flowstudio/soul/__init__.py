"""One turn with an agent: context, checkpoints, tools, approval, retries. Knows nothing of
flows."""

from flowstudio.soul.agent import Agent, Runtime
from flowstudio.soul.agentfile import (
    AgentFileError,
    OpenAgent,
    default_agent,
    load_agent,
    open_agent,
)
from flowstudio.soul.approval import Approval, ApprovalRequest, Policy
from flowstudio.soul.compaction import SimpleCompaction
from flowstudio.soul.context import Context, ContextError
from flowstudio.soul.dmail import DenwaRenji, DMail
from flowstudio.soul.errors import (
    BackToTheFuture,
    LLMNotSet,
    LLMNotSupported,
    MaxStepsReached,
    NeedsUser,
)
from flowstudio.soul.kimisoul import KimiSoul
from flowstudio.soul.prompt import system_prompt
from flowstudio.soul.protocol import Soul, StatusSnapshot, TurnResult
from flowstudio.soul.questions import OpenQuestion, Questions
from flowstudio.soul.rules import TurnRules
from flowstudio.soul.skills import SkillLike
from flowstudio.soul.slash import SlashCommand
from flowstudio.soul.toolset import StudioToolset

__all__ = [
    "Agent",
    "AgentFileError",
    "Approval",
    "ApprovalRequest",
    "BackToTheFuture",
    "Context",
    "ContextError",
    "DMail",
    "DenwaRenji",
    "KimiSoul",
    "LLMNotSet",
    "LLMNotSupported",
    "MaxStepsReached",
    "NeedsUser",
    "OpenAgent",
    "OpenQuestion",
    "Policy",
    "Questions",
    "Runtime",
    "SimpleCompaction",
    "SkillLike",
    "SlashCommand",
    "Soul",
    "StatusSnapshot",
    "StudioToolset",
    "TurnResult",
    "TurnRules",
    "default_agent",
    "load_agent",
    "open_agent",
    "system_prompt",
]
