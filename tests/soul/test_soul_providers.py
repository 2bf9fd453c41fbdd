"""A whole turn over each provider's protocol: a tool's result reaches the model that called it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flowstudio.config import Config
from flowstudio.models import ModelOption, build_model
from tests.servers.anthropic_server import anthropic_server
from tests.servers.gemini_server import gemini_server
from tests.servers.openai_server import openai_server
from tests.servers.responses_server import responses_server
from tests.servers.scripted import Call, say, use
from tests.soul.bench import KEY, Bench, check_accepted

SERVERS: dict[str, Any] = {
    "openai": openai_server,
    "kimi": openai_server,
    "openai-responses": responses_server,
    "anthropic": anthropic_server,
    "gemini": gemini_server,
}


async def bench_for(provider: Any, url: str, tmp_path: Path) -> Bench:
    option = ModelOption("m", provider, "model-1", url, "TEST_KEY", context_size=200_000)
    llm = await build_model(option, Config(), environ={"TEST_KEY": KEY})
    return Bench(llm, tmp_path, tools=["ReadFile", "Think", "SendDMail"])


@pytest.mark.parametrize("provider", SERVERS)
async def test_tools_are_called_and_their_results_reach_the_model(
    tmp_path: Path, provider: str
) -> None:
    (tmp_path / "a.txt").write_text("the sky is blue")
    calls = use(Call("ReadFile", {"path": "a.txt"}), Call("Think", {"thought": "hm"}))
    async with SERVERS[provider](calls, say("Blue.")) as server:
        bench = await bench_for(provider, server.base_url, tmp_path)
        result = await bench.soul.turn("What colour?")
        assert "the sky is blue" in json.dumps(server.requests[1].body)
    assert result.answer_text == "Blue."
    assert result.tokens == 220
    check_accepted(bench.soul.context.history)


@pytest.mark.parametrize("provider", SERVERS)
async def test_arguments_that_do_not_fit_are_told_and_the_conversation_goes_on(
    tmp_path: Path, provider: str
) -> None:
    async with SERVERS[provider](use(Call("ReadFile", {"path": 7})), say("Sorry.")) as server:
        bench = await bench_for(provider, server.base_url, tmp_path)
        result = await bench.soul.turn("Go")
        assert "valid string" in json.dumps(server.requests[1].body)
    assert result.answer_text == "Sorry."


@pytest.mark.parametrize("provider", SERVERS)
async def test_a_message_to_an_earlier_checkpoint_works(tmp_path: Path, provider: str) -> None:
    dmail = use(Call("SendDMail", {"message": "Look elsewhere.", "checkpoint_id": 1}))
    async with SERVERS[provider](dmail, say("I do.")) as server:
        bench = await bench_for(provider, server.base_url, tmp_path)
        result = await bench.soul.turn("Go")
        assert "Look elsewhere." in json.dumps(server.requests[1].body)
    assert result.answer_text == "I do."


@pytest.mark.parametrize("second", SERVERS)
@pytest.mark.parametrize("first", SERVERS)
async def test_another_model_can_go_on_where_one_left(
    tmp_path: Path, first: str, second: str
) -> None:
    """A conversation with tool calls of one protocol is taken by every other."""
    calls = use(Call("Think", {"thought": "a"}), Call("Think", {"thought": "b"}))
    async with (
        SERVERS[first](calls, say("First.")) as one,
        SERVERS[second](say("Second.")) as other,
    ):
        bench = await bench_for(first, one.base_url, tmp_path)
        await bench.soul.turn("Go")
        bench.soul.set_model((await bench_for(second, other.base_url, tmp_path)).soul.llm)
        result = await bench.soul.turn("Go on")
    assert result.answer_text == "Second."
