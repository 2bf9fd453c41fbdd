"""Calls to the model: with the thinking that is wanted, with retries, streamed to the wire."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import kosong
from kosong.chat_provider import ChatProviderError
from kosong.message import Message, TextPart, ThinkPart, ToolCall, ToolCallPart

from flowstudio.models.hint import turn_hint
from flowstudio.models.prices import find_cost
from flowstudio.soul.errors import LLMNotSet, LLMNotSupported
from flowstudio.soul.messages import mend, mend_part
from flowstudio.soul.retry import call_with_retries
from flowstudio.wire import Text, Thinking, TokensUsed

if TYPE_CHECKING:
    from kosong.chat_provider import ChatProvider, StreamedMessagePart, TokenUsage

    from flowstudio.models.llm import LLM
    from flowstudio.soul.agent import Runtime
    from flowstudio.soul.dispatch import Dispatcher


LONGEST_ANSWER = 16_000_000
"""Characters of an answer, its thinking and tool calls counted, after which it is cut off: a server
that never comes to an end must not take all the memory."""


def _length_of(part: StreamedMessagePart) -> int:
    match part:
        case TextPart(text=text):
            return len(text)
        case ThinkPart(think=think):
            return len(think)
        case ToolCall(function=function):
            return len(function.arguments or "")
        case ToolCallPart(arguments_part=arguments):
            return len(arguments or "")
        case _:
            return 0


class ModelCaller:
    """Makes the calls of one soul with the model in force."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._partial: list[str] = []
        self._length = 0
        self._thinking: bool | None = None
        self._provider: ChatProvider | None = None
        self._stand_in: tuple[LLM, ChatProvider] | None = None
        self.set_model(runtime.llm)

    @property
    def llm(self) -> LLM | None:
        """Who answers now: the session's model, or the one that stands in for it."""
        return self._stand_in[0] if self._stand_in else self._runtime.llm

    @contextmanager
    def using(self, llm: LLM | None) -> Generator[None]:
        """Let another model answer meanwhile; None changes nothing."""
        before = self._stand_in
        self._stand_in = (llm, llm.with_thinking(None)) if llm else None
        try:
            yield
        finally:
            self._stand_in = before

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
        self._length = 0

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
            began = time.monotonic()
            result = await kosong.step(
                provider, system_prompt, dispatcher, history, on_message_part=self._say_part
            )
            result.message.content = [mend_part(part) for part in result.message.content]
            self._say_used(result.usage, began, calls_tools=bool(result.tool_calls))
            return result

        return await self._retry(call)

    async def ask(self, system_prompt: str, messages: Sequence[Message]) -> str:
        """The model's answer to `messages`, without tools; only what it used goes on the wire.

        Raises:
            ChatProviderError: it failed, after all retries.
        """

        async def call(provider: ChatProvider) -> kosong.GenerateResult:
            began = time.monotonic()
            result = await kosong.generate(provider, system_prompt, [], messages)
            self._say_used(result.usage, began, summary=True)
            return result

        # What is asked here is not the node's question: no branch may be forced upon it.
        hint = turn_hint.set(None)
        try:
            return (await self._retry(call)).message.extract_text()
        finally:
            turn_hint.reset(hint)

    def _say_used(
        self,
        usage: TokenUsage | None,
        began: float,
        *,
        calls_tools: bool = False,
        summary: bool = False,
    ) -> None:
        """Say what a call used, if the server counted."""
        llm = self.llm
        if usage is None or llm is None:
            return
        cost = find_cost(usage, llm.prices)
        self._runtime.wire.emit(
            TokensUsed(
                llm.model,
                usage.input,
                usage.input_cache_read,
                usage.output,
                round(time.monotonic() - began, 3),
                None if cost is None else round(cost, 9),
                "summary" if summary else "step",
                "tool_calls" if calls_tools else "stop",
            )
        )

    async def _retry[T](self, call: Callable[[ChatProvider], Awaitable[T]]) -> T:
        provider = self._stand_in[1] if self._stand_in else self._provider
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
        self._length += _length_of(part)
        if self._length > LONGEST_ANSWER:
            raise ChatProviderError(
                f"The model's answer has no end: it was cut off after {LONGEST_ANSWER} characters. "
                "Try again, or choose another model."
            )
        match part:
            case TextPart(text=text) if text:
                self._partial.append(text)
                self._runtime.wire.emit(Text(mend(text)))
            case ThinkPart(think=think) if think:
                self._runtime.wire.emit(Thinking(mend(think)))
            case _:
                pass
