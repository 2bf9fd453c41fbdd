"""Compaction: when it happens, what stays, and that a failure changes nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from kosong.chat_provider import APIStatusError
from kosong.message import Message, ToolCall

from flowstudio.config import LoopControl
from flowstudio.soul import Context, SimpleCompaction
from flowstudio.wire import Compacted, Notice
from tests.servers.openai_server import openai_server
from tests.servers.scripted import Call, fail, say, use
from tests.soul.bench import Bench, check_accepted, connect

FULL = (140_000, 20_000)
"""Tokens that leave less than the reserve in a window of 200,000."""


async def test_a_context_that_would_not_fit_is_summarised_before_the_step(tmp_path: Path) -> None:
    first, second = say("long answer", tokens=FULL), say("ok")
    async with openai_server(first, say("They greeted."), second) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        await bench.soul.turn("Hello")
        await bench.soul.turn("Next")
        asked = server.requests[1].last_text
        sent = [message["content"] for message in server.requests[2].messages]
    assert "Hello" in asked
    assert "They greeted." in sent[1]
    assert sent[2:] == ["long answer", "Next"]
    (said,) = bench.said_of(Compacted)
    assert said.summary == "They greeted."
    assert said.before > 160_000 > 1000 > said.after


@pytest.mark.parametrize(
    ("size", "tokens", "compacted"),
    [
        (200_000, 149_000, False),
        (200_000, 150_100, True),
        # In a small window the reserve is half of it: 50,000 would never leave room.
        (32_000, 15_000, False),
        (32_000, 16_500, True),
        (None, 900_000, False),
    ],
)
async def test_the_reserve_is_50000_tokens_or_half_of_a_small_window(
    tmp_path: Path, size: int | None, tokens: int, compacted: bool
) -> None:
    replies = [say("a", tokens=(tokens, 0))]
    replies += [say("summary")] if compacted else []
    async with openai_server(*replies, say("b")) as server:
        bench = Bench(await connect(server.base_url, context_size=size), tmp_path)
        await bench.soul.turn("one")
        await bench.soul.turn("two")
    assert bool(bench.said_of(Compacted)) is compacted


async def test_a_failed_compaction_leaves_the_context_as_it_was_and_the_turn_goes_on(
    tmp_path: Path,
) -> None:
    async with openai_server(say("a", tokens=FULL), fail(400), say("b")) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        await bench.soul.turn("one")
        await bench.soul.turn("two")
    assert [text for _, text in bench.history] == ["one", "a", "two", "b"]
    assert bench.said_of(Notice)[0].severity == "warning"
    assert bench.said_of(Compacted) == []


async def test_compact_on_request_raises_what_the_model_raises_and_changes_nothing(
    tmp_path: Path,
) -> None:
    file = tmp_path / "context.jsonl"
    async with openai_server(say("a"), say("b"), fail(400)) as server:
        bench = Bench(await connect(server.base_url), tmp_path, context=Context(file))
        await bench.soul.turn("one")
        await bench.soul.turn("two")
        before = file.read_bytes()
        with pytest.raises(APIStatusError):
            await bench.soul.compact_context()
    assert file.read_bytes() == before


async def test_a_cancelled_compaction_changes_nothing(tmp_path: Path) -> None:
    async with openai_server(say("a"), say("b"), say("half", fault="stall")) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        await bench.soul.turn("one")
        await bench.soul.turn("two")
        before = bench.history
        task = asyncio.create_task(bench.soul.compact_context())
        await server.quiet.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert bench.history == before


async def test_what_is_said_while_the_model_summarises_is_not_lost(tmp_path: Path) -> None:
    async with openai_server(say("a"), say("b"), say("short")) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        await bench.soul.turn("one")
        await bench.soul.turn("two")
        task = asyncio.create_task(bench.soul.compact_context())
        await asyncio.sleep(0)
        bench.soul.context.append_message(message("user", "meanwhile"))
        assert not await task
    assert [text for _, text in bench.history] == ["one", "a", "two", "b", "meanwhile"]


async def test_the_summary_is_asked_for_with_the_same_retries_as_a_step(tmp_path: Path) -> None:
    async with openai_server(say("a"), say("b"), fail(503), say("short")) as server:
        bench = Bench(
            await connect(server.base_url), tmp_path, loop=LoopControl(max_retries_per_step=1)
        )
        await bench.soul.turn("one")
        await bench.soul.turn("two")
        assert await bench.soul.compact_context()
    assert len(bench.waits) == 1
    assert "short" in bench.history[0][1]


async def test_the_summary_is_not_said_as_an_answer(tmp_path: Path) -> None:
    async with openai_server(say("a"), say("b"), say("short")) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        await bench.soul.turn("one")
        await bench.soul.turn("two")
        said = len(bench.said)
        await bench.soul.compact_context()
    assert [body.type for body in bench.said[said:]] == [
        "tokens_used",
        "compacted",
        "status_changed",
    ]


async def test_a_short_conversation_is_not_summarised(tmp_path: Path) -> None:
    async with openai_server(say("a")) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        await bench.soul.turn("one")
        assert not await bench.soul.compact_context()
        assert len(server.requests) == 1


async def test_tool_calls_that_are_kept_keep_their_results(tmp_path: Path) -> None:
    think = use(Call("Think", {"thought": "x"}))
    async with openai_server(say("a"), think, say("b"), say("short"), say("c")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["Think"])
        await bench.soul.turn("one")
        await bench.soul.turn("two")
        await bench.soul.compact_context()
        check_accepted(bench.soul.context.history)
        await bench.soul.turn("three")
    assert [role for role, _ in bench.history] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
    ]


async def test_after_a_compaction_the_first_checkpoint_is_the_summarys(tmp_path: Path) -> None:
    async with openai_server(say("a"), say("b"), say("short")) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        await bench.soul.turn("one")
        await bench.soul.turn("two")
        await bench.soul.compact_context()
    assert bench.soul.context.n_checkpoints == 1


def message(role: str, text: str) -> Message:
    return Message.model_validate({"role": role, "content": text})


@pytest.mark.parametrize(
    ("roles", "kept"),
    [
        ("", ""),
        ("u", "u"),
        ("ua", "ua"),
        ("uau", "au"),
        ("uaua", "ua"),
        ("uauatat", "atat"),
        ("sua", "sua"),
        ("suaua", "ua"),
        ("uasus", "asus"),
    ],
)
def test_the_last_two_messages_of_user_and_assistant_are_kept(roles: str, kept: str) -> None:
    """s is a note of the system, t a tool's result: neither counts."""
    names = {"u": "user", "a": "assistant", "t": "tool", "s": "user"}
    history = [message(names[one], "<system>note</system>" if one == "s" else one) for one in roles]
    older, rest = SimpleCompaction().split(history)
    assert len(rest) == len(kept)
    assert [*older, *rest] == history


async def test_a_tools_long_output_is_cut_for_the_summary() -> None:
    call = ToolCall(id="1", function=ToolCall.FunctionBody(name="Shell", arguments="{}"))
    history = [
        message("user", "go"),
        Message(role="assistant", content="", tool_calls=[call]),
        Message(role="tool", tool_call_id="1", content="x" * 100_000),
        message("user", "a"),
        message("assistant", "b"),
    ]
    asked: list[str] = []

    async def summarise(_: str, messages: object) -> str:
        asked.append(messages[0].extract_text())  # type: ignore[index]
        return "short"

    await SimpleCompaction().compact(history, summarise)
    assert len(asked[0]) < 10_000
    assert "96000 more characters" in asked[0]
    assert "called Shell" in asked[0]
