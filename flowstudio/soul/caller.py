"""Calls to the model: with the thinking that is wanted, with retries, streamed to the wire."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

import kosong
from kosong.message import Message, TextPart, ThinkPart

from flowstudio.soul.errors import LLMNotSet, LLMNotSupported
from flowstudio.soul.messages import mend, mend_part
from flowstudio.soul.retry import call_with_retries
from flowstudio.wire import Text, Thinking

if TYPE_CHECKING:
    from kosong.chat_provider import ChatProvider, StreamedMessagePart

    from flowstudio.models.llm import LLM
    from flowstudio.soul.agent import Runtime
    from flowstudio.soul.dispatch import Dispatcher


class ModelCaller:
    """Makes the calls of one soul with the model in force."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._partial: list[str] = []
        self._thinking: bool | None = None
        self._provider: ChatProvider | None = None
        self.set_model(runtime.llm)

    @property
    def partial_text(self) -> str:
        """The text of the answer that is coming, or of the last one, as far as it came."""
        return mend("".join(self._partial))

    @property
    def thinking(self) -> bool:
        """True where the model was told to think before it answers."""
        return self._thinking is True

    def set_model(self, llm: LLM | None) -> None:
        """Let another model answer from the next call on."""
        self._runtime.llm = llm
        if llm is None or "thinking" not in llm.capabilities:
            self._thinking = None
        # Kept, since a provider may get itself a new connection after an error.
        self._provider = llm.with_thinking(self._thinking) if llm else None

    def set_thinking(self, enabled: bool) -> None:
        """Tell the model to think before it answers, or not to.

        Raises:
            LLMNotSet: there is no model.
            LLMNotSupported: it cannot think.
        """
        llm = self._runtime.llm
        if llm is None:
            raise LLMNotSet
        if enabled and "thinking" not in llm.capabilities:
            raise LLMNotSupported(llm.name, "thinking")
        self._thinking = enabled
        self._provider = llm.with_thinking(enabled)

    def forget_partial(self) -> None:
        """A new step begins: no text has come yet."""
        self._partial = []

    async def step(
        self, system_prompt: str, dispatcher: Dispatcher, history: Sequence[Message]
    ) -> kosong.StepResult:
        """One call (`kosong.step`); its tool calls are noted in `dispatcher`, not made.

        Raises:
            ChatProviderError: it failed, after all retries.
        """

        async def call(provider: ChatProvider) -> kosong.StepResult:
            self.forget_partial()
            dispatcher.begin()
            result = await kosong.step(
                provider, system_prompt, dispatcher, history, on_message_part=self._say_part
            )
            result.message.content = [mend_part(part) for part in result.message.content]
            return result

        return await self._retry(call)

    async def ask(self, system_prompt: str, messages: Sequence[Message]) -> str:
        """The model's answer to `messages`, without tools and without a word on the wire.

        Raises:
            ChatProviderError: it failed, after all retries.
        """

        async def call(provider: ChatProvider) -> kosong.GenerateResult:
            return await kosong.generate(provider, system_prompt, [], messages)

        return (await self._retry(call)).message.extract_text()

    async def _retry[T](self, call: Callable[[ChatProvider], Awaitable[T]]) -> T:
        provider = self._provider
        if provider is None:
            raise LLMNotSet
        return await call_with_retries(
            lambda: call(provider),
            provider=provider,
            retries=self._runtime.config.loop.max_retries_per_step,
            wire=self._runtime.wire,
            sleep=self._runtime.sleep,
        )

    def _say_part(self, part: StreamedMessagePart) -> None:
        match part:
            case TextPart(text=text) if text:
                self._partial.append(text)
                self._runtime.wire.emit(Text(mend(text)))
            case ThinkPart(think=think) if think:
                self._runtime.wire.emit(Thinking(mend(think)))
            case _:
                pass
