"""Around providers whose errors, or whose silence, kosong does not handle.

kosong's Anthropic provider knows the errors of `httpx`, but the SDK from 1.0 on stands on `httpx2`:
a connection lost in mid-stream would come out as an exception that nobody expects. kosong's Google
provider takes no time-out.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Self

from kosong.chat_provider import (
    APIConnectionError,
    APITimeoutError,
    ChatProviderError,
    StreamedMessagePart,
    ThinkingEffort,
    TokenUsage,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from kosong.chat_provider import ChatProvider, StreamedMessage
    from kosong.message import Message
    from kosong.tooling import Tool

    def _is_provider(provider: Guarded) -> ChatProvider:  # pyright: ignore[reportUnusedFunction]
        return provider


class Guarded:
    """A chat provider around another one, all of whose errors are kosong's."""

    def __init__(self, provider: ChatProvider, silence: float | None = None) -> None:
        """`silence` is how many seconds may pass without a part of the answer."""
        self._provider = provider
        self._silence = silence
        self.name = provider.name

    @property
    def model_name(self) -> str:
        """The inner provider's."""
        return self._provider.model_name

    @property
    def thinking_effort(self) -> ThinkingEffort | None:
        """The inner provider's."""
        return self._provider.thinking_effort

    async def generate(
        self, system_prompt: str, tools: Sequence[Tool], history: Sequence[Message]
    ) -> GuardedMessage:
        """Ask the inner provider."""
        async with _guard(self._silence):
            inner = await self._provider.generate(system_prompt, tools, history)
        return GuardedMessage(inner, self._silence)

    def with_thinking(self, effort: ThinkingEffort) -> Self:
        """A copy around a copy of the inner provider."""
        return type(self)(self._provider.with_thinking(effort), self._silence)


class GuardedMessage:
    """A stream, all of whose errors are kosong's."""

    def __init__(self, inner: StreamedMessage, silence: float | None) -> None:
        self._inner = inner
        self._parts = aiter(inner)
        self._silence = silence

    def __aiter__(self) -> AsyncIterator[StreamedMessagePart]:
        return self

    async def __anext__(self) -> StreamedMessagePart:
        async with _guard(self._silence):
            return await anext(self._parts)

    @property
    def id(self) -> str | None:
        """The inner stream's."""
        return self._inner.id

    @property
    def usage(self) -> TokenUsage | None:
        """The inner stream's."""
        return self._inner.usage


@asynccontextmanager
async def _guard(silence: float | None) -> AsyncGenerator[None]:
    try:
        async with asyncio.timeout(silence):
            yield
    except ChatProviderError:
        raise
    except TimeoutError as error:
        raise APITimeoutError(f"The server was silent for {silence:g} s.") from error
    except OSError as error:
        raise APIConnectionError(str(error)) from error
    except Exception as error:
        if (known := translate(error)) is None:
            raise
        raise known from error


def translate(error: Exception) -> ChatProviderError | None:
    """The error of an HTTP library as kosong's, known by the names that httpx gave them all."""
    names = {kind.__name__ for kind in type(error).__mro__}
    said = str(error) or type(error).__name__
    if "TimeoutException" in names:
        return APITimeoutError(said)
    if names & {"TransportError", "StreamError", "ClientConnectionError", "ClientPayloadError"}:
        return APIConnectionError(said)
    return None
