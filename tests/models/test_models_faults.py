"""What goes wrong at a server is the same for each provider: told, never with its key."""

from __future__ import annotations

from typing import Any

import pytest
from kosong.chat_provider import APIEmptyResponseError, APIStatusError, ChatProviderError

from flowstudio.models import explain_error
from flowstudio.models.errors import find_retry_after
from tests.models.test_models_build import KEY, SERVERS, ask, build
from tests.servers.scripted import EMPTY, fail, say

BOUNDS = {
    "openai": ("max_tokens",),
    "kimi": ("max_tokens", "max_completion_tokens"),
    "openai-responses": ("max_output_tokens",),
    "anthropic": ("max_tokens",),
}


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503])
@pytest.mark.parametrize("provider", SERVERS)
async def test_a_server_that_repeats_the_key_does_not_get_it_shown(
    provider: str, status: int
) -> None:
    refusal = fail(status, message=f"Incorrect API key provided: {KEY}")
    async with SERVERS[provider](refusal) as server:
        with pytest.raises(APIStatusError) as caught:
            await ask(await build(provider, server.base_url))
    assert caught.value.status_code == status
    assert KEY not in explain_error(caught.value)


@pytest.mark.parametrize("provider", SERVERS)
async def test_the_pause_that_a_server_asks_for_is_known(provider: str) -> None:
    async with SERVERS[provider](fail(429, retry_after="7")) as server:
        with pytest.raises(APIStatusError) as caught:
            await ask(await build(provider, server.base_url))
    assert find_retry_after(caught.value) == 7.0
    assert "Wait 7 s" in explain_error(caught.value)


@pytest.mark.parametrize("provider", SERVERS)
async def test_an_empty_answer_is_one_that_may_be_asked_for_again(provider: str) -> None:
    async with SERVERS[provider](EMPTY) as server:
        with pytest.raises(APIEmptyResponseError):
            await ask(await build(provider, server.base_url))


@pytest.mark.parametrize("provider", SERVERS)
async def test_an_answer_that_is_no_event_stream_is_an_error_of_the_provider(provider: str) -> None:
    async with SERVERS[provider](say(raw=b"<html>hello</html>\n\n")) as server:
        with pytest.raises(ChatProviderError):
            await ask(await build(provider, server.base_url))


@pytest.mark.parametrize("provider", BOUNDS)
async def test_the_bound_of_an_answer_is_sent_under_the_protocols_name(provider: str) -> None:
    async with SERVERS[provider](say("ok")) as server:
        await ask(await build(provider, server.base_url, max_tokens=123))
        body: dict[str, Any] = server.requests[0].body
    assert 123 in [body.get(name) for name in BOUNDS[provider]]


async def test_gemini_is_told_the_bound_too() -> None:
    async with SERVERS["gemini"](say("ok")) as server:
        await ask(await build("gemini", server.base_url, max_tokens=123))
        assert server.requests[0].body["generationConfig"]["maxOutputTokens"] == 123
