"""What front ends and runners see of a soul."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kosong.message import ContentPart, Message

    from flowstudio.models.llm import Capability
    from flowstudio.soul.context import Context
    from flowstudio.soul.slash import SlashCommand


@dataclass(frozen=True, slots=True)
class StatusSnapshot:
    """How full the context is."""

    context_usage: float
    """The share of the model's window that is filled, 0 to 1; 0 where the window has no bound."""
    tokens: int
    context_size: int | None


@dataclass(frozen=True, slots=True)
class TurnResult:
    """How a turn ended."""

    message: Message | None
    """The agent's last message."""
    answer_text: str
    """Its text, and after it what was handed in with `submit_answer`."""
    rejected: bool = False
    """True where the user rejected a tool, which ended the turn."""
    submitted: bool = False
    """True where an accepted `submit_answer` ended the turn."""
    steps: int = 0
    """Calls to the model."""
    tokens: int = 0
    """Tokens that the server counted for them, sent and received; 0 where it does not count."""


class Soul(Protocol):
    """An agent that takes prompts (KimiSoul's design)."""

    @property
    def name(self) -> str: ...
    @property
    def model_name(self) -> str: ...
    @property
    def model_capabilities(self) -> frozenset[Capability] | None: ...
    @property
    def thinking(self) -> bool: ...
    @property
    def status(self) -> StatusSnapshot: ...
    @property
    def context(self) -> Context: ...
    @property
    def available_slash_commands(self) -> Sequence[SlashCommand]: ...
    async def run(self, user_input: str | list[ContentPart]) -> TurnResult | None: ...
    def set_thinking(self, enabled: bool) -> None: ...
    async def compact_context(self) -> bool: ...
