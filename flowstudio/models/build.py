"""From an option to a model that answers. Only here is a provider's SDK imported, in a thread."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kosong.chat_provider import ChatProviderError

from flowstudio.models.choices import Choosing, find_means
from flowstudio.models.errors import ModelError, redact
from flowstudio.models.guard import Guarded
from flowstudio.models.inprocess import DEFAULT_SIZE, InProcess
from flowstudio.models.llm import LLM
from flowstudio.models.rehearsal import Answerer, RehearsalProvider, SeededWalk

if TYPE_CHECKING:
    from kosong.chat_provider import ChatProvider

    from flowstudio.config import Config
    from flowstudio.models.registry import ModelOption

_CONNECT = 10.0
"""Seconds to get a connection; an answer may take `loop.request_timeout`."""
_NO_KEY = "none"
"""Sent where the server wants no key: the SDKs insist on one."""


async def build_model(
    option: ModelOption,
    config: Config,
    *,
    environ: Mapping[str, str] | None = None,
    answerer: Answerer | None = None,
) -> LLM:
    """The model, ready to answer. No call is made yet.

    The SDKs' own retries are off, since the soul retries and says so on the wire.

    Args:
        answerer: who answers in a rehearsal; a seeded walk where left out.

    Raises:
        ModelError: its key is missing, or its provider cannot be set up.
    """
    env = os.environ if environ is None else environ
    if option.why_not:
        raise ModelError(f"The model {option.name} cannot be used. {option.why_not}")
    if option.provider == "rehearsal":
        provider: ChatProvider = RehearsalProvider(answerer or SeededWalk(0))
        return LLM(provider, option.name, option.model, None, frozenset({"image", "tools"}))
    key = _NO_KEY
    if option.key_env:
        key = env.get(option.key_env, "")
        if not key:
            raise ModelError(
                f"The model {option.name} needs a key. Set {option.key_env} in the environment."
            )
    try:
        # The SDKs take 1 to 3 s to import; the screen goes on meanwhile.
        provider = await asyncio.to_thread(
            _build_provider, option, key, config.loop.request_timeout
        )
    except ImportError as error:
        raise ModelError(
            f"The models of {option.provider} need a package that is not installed: {error.name}. "
            "Install it next to Flow Studio."
        ) from error
    except (ChatProviderError, ValueError, TypeError) as error:
        raise ModelError(
            f"The model {option.name} cannot be set up: {redact(str(error)).replace(key, '***')}"
        ) from error
    means = find_means(option)
    tools = "tools" in option.capabilities
    if means is not None or not tools:
        thinks = "thinking" in option.capabilities
        provider = Choosing(
            provider, means, tools=tools, thinks=thinks, max_tokens=option.max_tokens
        )
    return LLM(
        provider,
        option.name,
        option.model,
        option.context_size,
        option.capabilities,
        option.prices,
    )


def _build_provider(option: ModelOption, key: str, seconds: float) -> ChatProvider:
    common: dict[str, Any] = {"model": option.model, "api_key": key, "base_url": option.base_url}
    match option.provider:
        case "openai":
            from kosong.contrib.chat_provider.openai_legacy import OpenAILegacy

            # Most servers that let one read a model's thinking send it under this name.
            reads = "reasoning_content" if "thinking" in option.capabilities else None
            provider = OpenAILegacy(**common, reasoning_key=reads, **_for_openai(seconds))
            return provider.with_generation_kwargs(**_limit("max_tokens", option))
        case "openai-responses":
            from kosong.contrib.chat_provider.openai_responses import OpenAIResponses

            responses = OpenAIResponses(**common, **_for_openai(seconds))
            return responses.with_generation_kwargs(**_limit("max_output_tokens", option))
        case "kimi":
            from kosong.chat_provider.kimi import Kimi

            kimi = Kimi(**common, **_for_openai(seconds))
            return kimi.with_generation_kwargs(**_limit("max_tokens", option))
        case "anthropic":
            import anthropic
            from kosong.contrib.chat_provider.anthropic import Anthropic

            # The SDK's own class: which HTTP library it takes one of depends on its version.
            timeout = anthropic.Timeout(seconds, connect=min(_CONNECT, seconds))
            limit = option.max_tokens or _find_max_tokens(option.model)
            return Guarded(
                Anthropic(**common, default_max_tokens=limit, timeout=timeout, max_retries=0)
            )
        case "gemini":
            from kosong.contrib.chat_provider.google_genai import GoogleGenAI

            gemini = GoogleGenAI(**common).with_generation_kwargs(
                **_limit("max_output_tokens", option), **_asked_once()
            )
            return Guarded(gemini, silence=seconds)
        case "local":
            if option.path is None:
                raise ValueError("no file is named")
            size = option.context_size or DEFAULT_SIZE
            local = InProcess(option.path, size, **_for_openai(seconds))
            return local.with_generation_kwargs(**_limit("max_tokens", option))
        case "rehearsal":
            raise ValueError("a rehearsal has no server")


def _limit(field: str, option: ModelOption) -> dict[str, Any]:
    """The field that bounds an answer, under the name that the protocol has for it."""
    return {} if option.max_tokens is None else {field: option.max_tokens}


def _asked_once() -> dict[str, Any]:
    """Options of each request to Google.

    Without them its SDK waits for one to ten seconds, by lot, and asks once more where nobody
    answers; kosong passes none to the client.
    """
    from google.genai.types import HttpOptions, HttpRetryOptions

    return {"http_options": HttpOptions(retry_options=HttpRetryOptions(attempts=1))}


def _for_openai(seconds: float) -> dict[str, Any]:
    import openai

    timeout = openai.Timeout(seconds, connect=min(_CONNECT, seconds))
    return {"timeout": timeout, "max_retries": 0}


def _find_max_tokens(model: str) -> int:
    """What Anthropic's protocol must be told: the most tokens of an answer, thinking included.

    It must lie above the 32,000 tokens that kosong lets older models think, where the model allows
    it.
    """
    if "claude-3" in model:
        return 4096
    if any(part in model for part in ("opus-4-0", "opus-4-1", "opus-4-2")):
        return 32_000
    return 40_000
