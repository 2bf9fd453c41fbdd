"""A model that is ready to answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from kosong.chat_provider import ChatProvider

type Capability = Literal["image", "thinking", "tools"]


@dataclass(frozen=True, slots=True)
class LLM:
    """A chat provider, and what the soul must know about the model behind it."""

    provider: ChatProvider
    name: str
    """The name by which the user chose it."""
    model: str
    """The server's own name for it."""
    context_size: int | None
    """Tokens that its window holds; None where there is no such bound (a rehearsal)."""
    capabilities: frozenset[Capability] = frozenset({"tools"})

    @property
    def answers_as(self) -> Literal["model", "user", "script", "seed"]:
        """Who really answers: a rehearsal names the user, the script or the seed."""
        return getattr(self.provider, "answers_as", "model")
