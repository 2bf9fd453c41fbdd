"""Holds a model to the branches of a flow, by what its server offers for it.

A decision is asked in words, and a strong model answers with its `<choice>` tag. Where an answer
comes without a valid one, the model is asked once more, and this time its server lets it name
nothing but a branch: by a grammar (llama.cpp), a response format, or a forced call of a tool with
an enumeration. What comes of it is added to the answer as the tag that the model should have
written, so that context, journal and runner see an answer like any other. The model has thought
and used its tools freely before.

A server that takes a grammar, and is sent no tools, answers in one call: free text, then the tag.
"""

from __future__ import annotations

import copy
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, cast

import kosong
from kosong.chat_provider import (
    APIEmptyResponseError,
    APIStatusError,
    RetryableChatProvider,
    StreamedMessagePart,
    ThinkingEffort,
    TokenUsage,
)
from kosong.message import Message, TextPart, ToolCall
from kosong.tooling import Tool

from flowstudio.flow.choice import match_choice, parse_choice
from flowstudio.models.gbnf import branch_grammar, label_grammar
from flowstudio.models.hint import turn_hint

if TYPE_CHECKING:
    from kosong.chat_provider import ChatProvider, StreamedMessage

    from flowstudio.models.registry import ModelOption

    def _is_provider(provider: Choosing) -> ChatProvider:  # pyright: ignore[reportUnusedFunction]
        return provider


type Means = Literal["grammar", "json", "tool"]
"""How a server can be told what may be said."""

CHOOSE = "choose_branch"
"""The name of the tool, and of the response format, that takes a branch."""
_LONGEST = 2000
"""Tokens of an answer that a grammar or a format holds, where the configuration has no bound."""


class Steerable(Protocol):
    """A provider whose requests can be given more fields."""

    def with_generation_kwargs(self, **kwargs: Any) -> Any: ...


def find_means(option: ModelOption) -> Means | None:
    """What `choices` comes to for this model; None where it is only asked in words.

    `auto` knows OpenAI's own server (a response format), and the servers on this machine that were
    started or found here. What another server can do is not known: its answer to a field that it
    does not know may be anything.
    """
    if option.provider not in ("openai", "kimi", "local"):
        return None
    match option.choices:
        case "auto" if option.provider == "local" or option.server == "llama.cpp":
            return "grammar"
        case "auto" if option.server == "ollama":
            return "json"
        case "auto" if option.provider == "openai" and option.base_url is None:
            return "json"
        case "auto" | "text":
            return None
        case means:
            return means


class Choosing:
    """A chat provider around another one: holds answers of decisions to the branches.

    Outside a decision (`turn_hint` names no branches) it passes everything on.
    """

    def __init__(
        self,
        provider: ChatProvider,
        means: Means | None,
        *,
        tools: bool,
        thinks: bool = False,
        max_tokens: int | None = None,
    ) -> None:
        """`tools` False: the model cannot call tools, so it is told of none. `thinks`: it may
        write down its thinking first, which a grammar for the whole answer would forbid.
        """
        self._provider = provider
        self._means: Means | None = means
        self._tools = tools
        self._thinks = thinks
        self._longest = max_tokens or _LONGEST
        self.name = provider.name

    @property
    def model_name(self) -> str:
        """The inner provider's."""
        return self._provider.model_name

    @property
    def thinking_effort(self) -> ThinkingEffort | None:
        """The inner provider's."""
        return self._provider.thinking_effort

    def with_thinking(self, effort: ThinkingEffort) -> Self:
        """A copy around a copy of the inner provider."""
        other = copy.copy(self)
        other._provider = self._provider.with_thinking(effort)
        return other

    def on_retryable_error(self, error: BaseException) -> bool:
        """Let the inner provider get itself a new connection, where it can."""
        inner = self._provider
        return isinstance(inner, RetryableChatProvider) and inner.on_retryable_error(error)

    async def generate(
        self, system_prompt: str, tools: Sequence[Tool], history: Sequence[Message]
    ) -> StreamedMessage:
        """Ask the inner provider; in a decision, until a branch is named or tools are called."""
        if not self._tools:
            tools = ()
        hint = turn_hint.get()
        branches = hint.branches if hint else ()
        if not branches or self._means is None:
            return await self._provider.generate(system_prompt, tools, history)
        provider = self._provider
        if self._means == "grammar" and not tools and not self._thinks:
            grammar = {"grammar": branch_grammar(branches)}
            provider = _steer(provider, extra_body=grammar, max_tokens=self._longest)
        first = await provider.generate(system_prompt, tools, history)
        return ChosenMessage(first, self, system_prompt, history, branches)

    async def settle(
        self,
        system_prompt: str,
        history: Sequence[Message],
        branches: Sequence[str],
    ) -> Settled:
        """Have the model name a branch and nothing else.

        Raises:
            ChatProviderError: the call failed, and may succeed when it is made again.
        """
        means = self._means
        if means is None:
            return Settled(None, None)
        tools: Sequence[Tool] = [_choice_tool(branches)] if means == "tool" else ()
        fields = _fields(means, branches)
        provider = _steer(self._provider, **fields, max_tokens=self._longest)
        try:
            result = await kosong.generate(provider, system_prompt, tools, history)
        except APIStatusError as error:
            if error.status_code not in (400, 404, 415, 422, 501):
                raise
            # It does not know the field. It is asked in words from now on.
            self._means = None
            return Settled(None, None)
        except APIEmptyResponseError:
            return Settled(None, None)
        return Settled(_read(result.message, branches), result.usage)


@dataclass(frozen=True, slots=True)
class Settled:
    """What a call came to that could only name a branch."""

    branch: str | None
    usage: TokenUsage | None


class ChosenMessage:
    """An answer as it streams, and after it the choice where it named none."""

    def __init__(
        self,
        first: StreamedMessage,
        provider: Choosing,
        system_prompt: str,
        history: Sequence[Message],
        branches: Sequence[str],
    ) -> None:
        self._first = first
        self._provider = provider
        self._system_prompt = system_prompt
        self._history = history
        self._branches = branches
        self._more: TokenUsage | None = None
        self._stream = self._read_on()

    def __aiter__(self) -> AsyncIterator[StreamedMessagePart]:
        return self._stream

    @property
    def id(self) -> str | None:
        """The first call's."""
        return self._first.id

    @property
    def usage(self) -> TokenUsage | None:
        """Of both calls together."""
        first, more = self._first.usage, self._more
        if first is None or more is None:
            return first or more
        return TokenUsage(
            input_other=first.input_other + more.input_other,
            output=first.output + more.output,
            input_cache_read=first.input_cache_read + more.input_cache_read,
            input_cache_creation=first.input_cache_creation + more.input_cache_creation,
        )

    async def _read_on(self) -> AsyncIterator[StreamedMessagePart]:
        said: list[str] = []
        calls = False
        async for part in self._first:
            match part:
                case TextPart(text=text):
                    said.append(text)
                case ToolCall():
                    calls = True
                case _:
                    pass
            yield part
        text = "".join(said)
        if calls or match_choice(parse_choice(text), self._branches) is not None:
            return
        settled = await self._provider.settle(
            self._system_prompt, _ask_again(self._history, text, self._branches), self._branches
        )
        self._more = settled.usage
        if settled.branch is not None:
            gap = "\n\n" if text.strip() else ""
            yield TextPart(text=f"{gap}<choice>{settled.branch}</choice>")


def _ask_again(history: Sequence[Message], said: str, branches: Sequence[str]) -> Sequence[Message]:
    """The conversation with the answer that named no branch, and what is asked of it."""
    answer = [Message(role="assistant", content=said)] if said.strip() else []
    listed = "\n".join(f"- {branch}" for branch in branches)
    words = f"Which of the branches do you choose? Name it exactly, and nothing else:\n{listed}"
    return [*history, *answer, Message(role="user", content=words)]


def _steer(provider: ChatProvider, **fields: Any) -> ChatProvider:
    return cast("Steerable", provider).with_generation_kwargs(**fields)


def _fields(means: Means, branches: Sequence[str]) -> dict[str, Any]:
    """The fields of a request that let nothing but a branch be answered."""
    match means:
        case "grammar":
            return {"extra_body": {"grammar": label_grammar(branches)}}
        case "json":
            schema = {"name": CHOOSE, "strict": True, "schema": _schema(branches)}
            return {"response_format": {"type": "json_schema", "json_schema": schema}}
        case "tool":
            return {"tool_choice": {"type": "function", "function": {"name": CHOOSE}}}


def _schema(branches: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"branch": {"type": "string", "enum": list(branches)}},
        "required": ["branch"],
        "additionalProperties": False,
    }


def _choice_tool(branches: Sequence[str]) -> Tool:
    return Tool(name=CHOOSE, description="Take a branch of the flow.", parameters=_schema(branches))


def _read(message: Message, branches: Sequence[str]) -> str | None:
    """The branch that the answer names: in a call, in JSON, or as it is."""
    text = message.extract_text()
    for call in message.tool_calls or ():
        text = call.function.arguments or ""
    try:
        value: object = json.loads(text)
    except ValueError:
        value = None
    if isinstance(value, dict):
        named: object = cast("dict[str, Any]", value).get("branch")
        text = named if isinstance(named, str) else ""
    return match_choice(text, branches)
