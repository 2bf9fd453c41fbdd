"""A model that is ready to answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from kosong.chat_provider import ChatProvider

    from flowstudio.config import PriceSettings

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
    prices: PriceSettings | None = None
    """What it costs; None where the configuration does not say."""

    def with_thinking(self, thinking: bool | None) -> ChatProvider:
        """The provider told to think, or not to; None leaves it to the server.

        OpenAI's protocol has no word for "off" that all its servers take, so there nothing is sent.
        """
        match thinking:
            case True:
                return self.provider.with_thinking("high")
            case False if self.provider.name not in ("openai", "openai-responses"):
                return self.provider.with_thinking("off")
            case _:
                return self.provider

    @property
    def answers_as(self) -> Literal["model", "user", "script", "seed"]:
        """Who really answers: a rehearsal names the user, the script or the seed."""
        return getattr(self.provider, "answers_as", "model")
