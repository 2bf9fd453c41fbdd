"""A turn over Anthropic's protocol, which is stricter about a history than OpenAI's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flowstudio.config import Config
from flowstudio.models import LLM, ModelOption, build_model
from flowstudio.wire import Thinking
from tests.servers.anthropic_server import anthropic_server
from tests.servers.scripted import Call, say, use
from tests.soul.bench import KEY, Bench


async def connect(base_url: str) -> LLM:
    option = ModelOption(
        "claude", "anthropic", "claude-x", base_url, "TEST_KEY", context_size=200_000
    )
    return await build_model(option, Config(), environ={"TEST_KEY": KEY})


def blocks(message: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [block for block in message["content"] if block["type"] == kind]


async def test_the_results_of_one_answers_calls_go_back_together(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the sky")
    calls = use(Call("ReadFile", {"path": "a.txt"}), Call("Think", {"thought": "hm"}))
    async with anthropic_server(calls, say("Blue.")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["ReadFile", "Think"])
        result = await bench.soul.turn("What colour?")
        sent = server.requests[1].messages
    assert result.answer_text == "Blue."
    assert [block["name"] for block in blocks(sent[-2], "tool_use")] == ["ReadFile", "Think"]
    results = blocks(sent[-1], "tool_result")
    assert [block["tool_use_id"] for block in results] == ["call_1", "call_2"]
    assert "the sky" in str(results[0]["content"])


async def test_arguments_that_are_no_json_do_not_make_the_history_unusable(
    tmp_path: Path,
) -> None:
    async with anthropic_server(
        use(Call("ReadFile", "{oops")), say("Sorry."), say("Yes.")
    ) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["ReadFile"])
        await bench.soul.turn("Go")
        result = await bench.soul.turn("Still there?")
        sent = blocks(server.requests[2].messages[1], "tool_use")
    assert sent[0]["input"] == {"invalid_arguments": "{oops"}
    assert result.answer_text == "Yes."


async def test_a_signed_thought_goes_back_with_its_signature(tmp_path: Path) -> None:
    thinks = use(Call("Think", {"thought": "x"}), thinking="I should note it.")
    async with anthropic_server(thinks, say("Noted.")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["Think"])
        await bench.soul.turn("Go")
        thoughts = blocks(server.requests[1].messages[1], "thinking")
    assert thoughts[0]["signature"] == "signed"
    assert [body.text for body in bench.said_of(Thinking)] == ["I should note it."]


async def test_after_an_interruption_the_conversation_goes_on(tmp_path: Path) -> None:
    import asyncio
    import contextlib

    from flowstudio.wire import Text

    async with anthropic_server(say("The first", fault="stall"), say("Yes.")) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        heard = asyncio.Event()
        bench.on(Text, lambda _: heard.set())
        task = asyncio.create_task(bench.soul.turn("Go"))
        await heard.wait()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await bench.soul.turn("Go on")
        roles = [message["role"] for message in server.requests[1].messages]
    assert roles == ["user", "assistant", "user"]
