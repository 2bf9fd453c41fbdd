"""Each provider is built from its option and streams from a server that speaks its protocol."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import kosong
import pytest
from kosong.chat_provider import APIConnectionError, APIStatusError, APITimeoutError
from kosong.message import Message
from kosong.tooling import Tool

from flowstudio.config import Config, LoopControl
from flowstudio.models import LLM, ModelError, ModelOption, build_model
from flowstudio.models.registry import rehearsal_option
from tests.servers.anthropic_server import anthropic_server
from tests.servers.gemini_server import gemini_server
from tests.servers.openai_server import openai_server
from tests.servers.responses_server import responses_server
from tests.servers.scripted import Call, fail, say, use

KEY = "sk-scripted-0123456789abcdef"
TOOLS = [Tool(name="look", description="Look.", parameters={"type": "object", "properties": {}})]
ASK = [Message(role="user", content="Hello")]


SERVERS: dict[str, Any] = {
    "openai": openai_server,
    "kimi": openai_server,
    "openai-responses": responses_server,
    "anthropic": anthropic_server,
    "gemini": gemini_server,
}


async def build(provider: Any, url: str, seconds: float = 10.0, **more: Any) -> LLM:
    option = ModelOption("m", provider, "model-1", url, "TEST_KEY", **more)
    config = Config(loop=LoopControl(request_timeout=seconds))
    return await build_model(option, config, environ={"TEST_KEY": KEY})


async def ask(llm: LLM) -> kosong.GenerateResult:
    return await kosong.generate(llm.provider, "Be brief.", TOOLS, ASK)


@pytest.mark.parametrize("provider", SERVERS)
async def test_each_provider_streams_an_answer_and_counts_its_tokens(provider: str) -> None:
    async with SERVERS[provider](say("Good ", "morning", tokens=(30, 7))) as server:
        result = await ask(await build(provider, server.base_url))
    assert result.message.extract_text() == "Good morning"
    assert result.usage is not None
    assert (result.usage.input, result.usage.output) == (30, 7)


@pytest.mark.parametrize("provider", SERVERS)
async def test_each_provider_sends_the_key_of_its_variable(provider: str) -> None:
    async with SERVERS[provider](say("ok")) as server:
        await ask(await build(provider, server.base_url))
        headers = server.requests[0].headers
    sent = [headers.get(name, "") for name in ("authorization", "x-api-key", "x-goog-api-key")]
    assert any(value.endswith(KEY) for value in sent)


@pytest.mark.parametrize("provider", SERVERS)
async def test_no_provider_retries_by_itself(provider: str) -> None:
    """The soul retries and says so; an SDK that also did would hide it."""
    async with SERVERS[provider](fail(503), say("never")) as server:
        with pytest.raises(APIStatusError) as caught:
            await ask(await build(provider, server.base_url))
        assert len(server.requests) == 1
    assert caught.value.status_code == 503


@pytest.mark.parametrize("provider", SERVERS)
async def test_every_refusal_comes_as_a_status(provider: str) -> None:
    async with SERVERS[provider](fail(401)) as server:
        with pytest.raises(APIStatusError) as caught:
            await ask(await build(provider, server.base_url))
    assert caught.value.status_code == 401


@pytest.mark.parametrize("provider", SERVERS)
async def test_a_connection_lost_in_mid_stream_is_a_connection_error(provider: str) -> None:
    async with SERVERS[provider](say("half", fault="reset")) as server:
        with pytest.raises(APIConnectionError):
            await ask(await build(provider, server.base_url))


@pytest.mark.parametrize("provider", SERVERS)
async def test_nobody_listening_is_a_connection_error_at_once(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Left alone, Google's SDK waits for up to ten seconds, by lot, and asks again."""
    monkeypatch.setattr("random.randint", lambda _low, _high: 10_000)
    async with SERVERS[provider]() as server:
        url = server.base_url
    with pytest.raises(APIConnectionError):
        await ask(await build(provider, url))


@pytest.mark.parametrize("provider", SERVERS)
async def test_silence_in_mid_stream_is_a_time_out(provider: str) -> None:
    async with SERVERS[provider](say("half", fault="stall")) as server:
        with pytest.raises(APITimeoutError):
            await ask(await build(provider, server.base_url, seconds=0.3))


@pytest.mark.parametrize("provider", SERVERS)
async def test_tool_calls_come_whole(provider: str) -> None:
    async with SERVERS[provider](use(Call("look", {"at": "the sky"}))) as server:
        result = await ask(await build(provider, server.base_url))
    (call,) = result.message.tool_calls or ()
    assert call.function.name == "look"
    assert json.loads(call.function.arguments or "") == {"at": "the sky"}


@pytest.mark.parametrize("provider", SERVERS)
async def test_thinking_comes_apart_from_the_answer(provider: str) -> None:
    from kosong.message import ThinkPart

    capable = frozenset({"thinking"})
    async with SERVERS[provider](say("42", thinking="6 x 7")) as server:
        result = await ask(await build(provider, server.base_url, capabilities=capable))
    thoughts = [part.think for part in result.message.content if isinstance(part, ThinkPart)]
    assert thoughts == ["6 x 7"]
    assert result.message.extract_text() == "42"


async def test_a_server_without_a_key_is_sent_none_of_the_environments() -> None:
    async with openai_server(say("ok")) as server:
        option = ModelOption("m", "openai", "model-1", server.base_url)
        llm = await build_model(option, Config(), environ={"OPENAI_API_KEY": KEY})
        await ask(llm)
        assert KEY not in str(server.requests[0].headers)


async def test_an_option_that_lacks_something_is_refused_with_what_it_lacks() -> None:
    lacking = ModelOption("m", "openai", "x", why_not="Set X_API_KEY to use it.")
    with pytest.raises(ModelError, match="Set X_API_KEY"):
        await build_model(lacking, Config())
    with pytest.raises(ModelError, match="Set TEST_KEY in the environment"):
        await build_model(ModelOption("m", "openai", "x", None, "TEST_KEY"), Config(), environ={})


async def test_the_rehearsal_needs_nothing_and_has_no_window() -> None:
    llm = await build_model(rehearsal_option(), Config(), environ={})
    assert llm.context_size is None
    assert llm.answers_as == "seed"
    assert (await ask(llm)).message.extract_text() == "Rehearsed the request."


def test_importing_the_room_loads_no_providers_sdk() -> None:
    code = (
        "import sys, flowstudio.models, flowstudio.soul;"
        "print([name for name in ('openai', 'anthropic', 'google.genai', 'textual', 'mcp')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
