"""A bound on silence, for providers whose SDK takes none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Self

from kosong.chat_provider import APITimeoutError, StreamedMessagePart, ThinkingEffort, TokenUsage

if TYPE_CHECKING:
    from kosong.chat_provider import ChatProvider, StreamedMessage
    from kosong.message import Message
    from kosong.tooling import Tool

    def _is_provider(provider: Patience) -> ChatProvider:  # pyright: ignore[reportUnusedFunction]
        return provider


class Patience:
    """A chat provider around another one, that gives up after `seconds` without a part."""

    def __init__(self, provider: ChatProvider, seconds: float) -> None:
        self._provider = provider
        self._seconds = seconds
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
    ) -> PatientMessage:
        """Ask the inner provider.

        Raises:
            APITimeoutError: it was silent for too long.
        """
        try:
            async with asyncio.timeout(self._seconds):
                inner = await self._provider.generate(system_prompt, tools, history)
        except TimeoutError as error:
            raise _silence(self._seconds) from error
        return PatientMessage(inner, self._seconds)

    def with_thinking(self, effort: ThinkingEffort) -> Self:
        """A copy around a copy of the inner provider."""
        return type(self)(self._provider.with_thinking(effort), self._seconds)


class PatientMessage:
    """A stream that raises where the next part does not come in time."""

    def __init__(self, inner: StreamedMessage, seconds: float) -> None:
        self._inner = inner
        self._parts = aiter(inner)
        self._seconds = seconds

    def __aiter__(self) -> AsyncIterator[StreamedMessagePart]:
        return self

    async def __anext__(self) -> StreamedMessagePart:
        try:
            async with asyncio.timeout(self._seconds):
                return await anext(self._parts)
        except TimeoutError as error:
            raise _silence(self._seconds) from error

    @property
    def id(self) -> str | None:
        """The inner stream's."""
        return self._inner.id

    @property
    def usage(self) -> TokenUsage | None:
        """The inner stream's."""
        return self._inner.usage


def _silence(seconds: float) -> APITimeoutError:
    return APITimeoutError(f"The server was silent for {seconds:g} s.")
