"""What is tried again, after which wait, and what the user is told of it."""

from __future__ import annotations

import asyncio
import time
from email.utils import formatdate
from pathlib import Path

import pytest
from kosong.chat_provider import (
    APIConnectionError,
    APIEmptyResponseError,
    APIStatusError,
    APITimeoutError,
    ChatProviderError,
)

from flowstudio.config import LoopControl
from flowstudio.soul.retry import LONGEST_RETRY_AFTER
from flowstudio.wire import Retried, StepInterrupted, Text
from tests.servers.anthropic_server import anthropic_server
from tests.servers.openai_server import openai_server
from tests.servers.scripted import EMPTY, Reply, fail, say
from tests.soul.bench import KEY, Bench, check_accepted, connect

RETRIED = (404, 408, 429, 500, 502, 503, 504, *range(520, 528))
FINAL = (400, 401, 403, 405, 409, 413, 422, 501, 505, 528)


@pytest.mark.parametrize("status", RETRIED)
async def test_a_status_that_may_pass_is_tried_again(tmp_path: Path, status: int) -> None:
    async with openai_server(fail(status), say("There.")) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        result = await bench.soul.turn("Hello")
    assert result.answer_text == "There."
    assert len(bench.waits) == 1
    assert bench.history == [("user", "Hello"), ("assistant", "There.")]


@pytest.mark.parametrize("status", FINAL)
async def test_a_status_that_will_not_pass_is_not_tried_again(tmp_path: Path, status: int) -> None:
    async with openai_server(fail(status), say("Never.")) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        with pytest.raises(APIStatusError):
            await bench.soul.turn("Hello")
        assert len(server.requests) == 1
    assert bench.waits == []


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(say("half", fault="reset"), id="connection reset in mid-stream"),
        pytest.param(say("half", fault="hang-up"), id="connection closed in mid-stream"),
        pytest.param(EMPTY, id="empty answer"),
        pytest.param(say(error={"message": "overloaded", "code": "server_error"}), id="in stream"),
    ],
)
async def test_an_answer_that_fails_on_the_way_is_asked_for_again(
    tmp_path: Path, fault: Reply
) -> None:
    async with openai_server(fault, say("whole")) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        await bench.soul.turn("Hello")
    assert bench.history == [("user", "Hello"), ("assistant", "whole")]
    assert len(bench.said_of(Retried)) == 1


async def test_a_server_that_falls_silent_is_given_up_after_the_request_timeout(
    tmp_path: Path,
) -> None:
    async with openai_server(say("half", fault="stall"), say("whole")) as server:
        bench = Bench(await connect(server.base_url, request_timeout=0.2), tmp_path)
        await bench.soul.turn("Hello")
    assert bench.history[-1] == ("assistant", "whole")
    assert "in time" in bench.said_of(Retried)[0].reason


async def test_a_thought_without_an_answer_counts_as_empty(tmp_path: Path) -> None:
    async with openai_server(Reply(thinking="hm"), say("whole")) as server:
        llm = await connect(server.base_url, capabilities=frozenset({"thinking"}))
        bench = Bench(llm, tmp_path)
        await bench.soul.turn("Hello")
    assert "empty" in bench.said_of(Retried)[0].reason


async def test_nobody_listening_is_tried_again_and_then_told(tmp_path: Path) -> None:
    async with openai_server() as server:
        url = server.base_url
    bench = Bench(await connect(url), tmp_path, loop=LoopControl(max_retries_per_step=2))
    with pytest.raises(APIConnectionError):
        await bench.soul.turn("Hello")
    assert len(bench.waits) == 2
    assert "cannot be reached" in bench.said_of(StepInterrupted)[0].reason


@pytest.mark.parametrize(
    ("fault", "renewed"), [(say("half", fault="reset"), 1), (fail(503), 0), (EMPTY, 0)]
)
async def test_a_lost_connection_is_replaced_by_a_new_one_before_the_next_try(
    tmp_path: Path, fault: Reply, renewed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kosong.contrib.chat_provider.openai_legacy import OpenAILegacy

    errors: list[BaseException] = []
    renew = OpenAILegacy.on_retryable_error

    def note(provider: OpenAILegacy, error: BaseException) -> bool:
        errors.append(error)
        return renew(provider, error)

    monkeypatch.setattr(OpenAILegacy, "on_retryable_error", note)
    async with openai_server(fault, say("whole")) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        await bench.soul.turn("Hello")
    assert len(errors) == renewed


async def test_a_call_is_made_again_as_often_as_configured_and_each_wait_is_announced(
    tmp_path: Path,
) -> None:
    async with openai_server(*[fail(503)] * 4) as server:
        bench = Bench(
            await connect(server.base_url), tmp_path, loop=LoopControl(max_retries_per_step=3)
        )
        with pytest.raises(APIStatusError):
            await bench.soul.turn("Hello")
        assert len(server.requests) == 4
    told = bench.said_of(Retried)
    assert [(one.attempt, one.attempts) for one in told] == [(1, 4), (2, 4), (3, 4)]
    assert [one.wait for one in told] == [round(wait, 2) for wait in bench.waits]
    assert "503" in bench.said_of(StepInterrupted)[0].reason


async def test_waits_grow_from_a_third_of_a_second_to_ten_seconds_at_most(tmp_path: Path) -> None:
    async with openai_server(*[fail(503)] * 13) as server:
        bench = Bench(
            await connect(server.base_url), tmp_path, loop=LoopControl(max_retries_per_step=12)
        )
        with pytest.raises(APIStatusError):
            await bench.soul.turn("Hello")
    for number, wait in enumerate(bench.waits):
        least = min(10.0, 0.3 * 2**number)
        assert least <= wait <= min(10.0, least + 0.3)
    assert bench.waits[-1] == 10.0


async def test_waits_are_jittered(tmp_path: Path) -> None:
    async with openai_server(*[fail(503), say("ok")] * 8) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        for _ in range(8):
            await bench.soul.turn("Hello")
    assert len(set(bench.waits)) > 1


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({"retry_after": "7"}, 7, 7),
        ({"retry_after": "42"}, 42, 42),
        ({"retry_after_ms": "2500"}, 2.5, 2.5),
        ({"retry_after": "0"}, 0.3, 0.6),
        ({"retry_after": "soon"}, 0.3, 0.6),
    ],
)
async def test_a_servers_retry_after_is_kept_to(
    tmp_path: Path, headers: dict[str, str], least: float, most: float
) -> None:
    async with openai_server(fail(429, **headers), say("ok")) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        await bench.soul.turn("Hello")
    assert least <= bench.waits[0] <= most


async def test_a_retry_after_that_is_a_date_is_kept_to(tmp_path: Path) -> None:
    date = formatdate(time.time() + 60, usegmt=True)
    async with openai_server(fail(503, retry_after=date), say("ok")) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        await bench.soul.turn("Hello")
    assert 50 < bench.waits[0] <= 60


async def test_a_server_that_asks_for_a_very_long_pause_is_not_waited_for(tmp_path: Path) -> None:
    long = str(int(LONGEST_RETRY_AFTER) + 1)
    async with openai_server(fail(429, retry_after=long), say("never")) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        with pytest.raises(APIStatusError):
            await bench.soul.turn("Hello")
    assert bench.waits == []
    assert "5 min" in bench.said_of(StepInterrupted)[0].reason


async def test_text_of_an_answer_that_failed_is_not_kept(tmp_path: Path) -> None:
    async with openai_server(say("wrong", fault="reset"), say("right")) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        await bench.soul.turn("Hello")
    assert [body.text for body in bench.said_of(Text)] == ["wrong", "right"]
    assert bench.history[-1] == ("assistant", "right")


async def test_cancelling_during_a_wait_ends_the_turn(tmp_path: Path) -> None:
    async with openai_server(fail(503)) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        bench.runtime.sleep = asyncio.sleep
        task = asyncio.create_task(bench.soul.turn("Hello"))
        bench.on(Retried, lambda _: task.cancel())
        with pytest.raises(asyncio.CancelledError):
            await task
    check_accepted(bench.soul.context.history)


async def test_an_overloaded_anthropic_is_tried_again_though_its_status_was_200(
    tmp_path: Path,
) -> None:
    from flowstudio.config import Config
    from flowstudio.models import ModelOption, build_model

    overloaded = Reply(error={"type": "overloaded_error", "message": "Overloaded"})
    async with anthropic_server(overloaded, say("ok")) as server:
        option = ModelOption("a", "anthropic", "claude-x", server.base_url, "TEST_KEY")
        llm = await build_model(option, Config(), environ={"TEST_KEY": KEY})
        bench = Bench(llm, tmp_path)
        await bench.soul.turn("Hello")
    assert bench.history[-1] == ("assistant", "ok")


def test_the_errors_of_the_design_are_retryable_and_no_others() -> None:
    from flowstudio.soul.retry import is_retryable

    assert is_retryable(APIConnectionError("x"))
    assert is_retryable(APITimeoutError("x"))
    assert is_retryable(APIEmptyResponseError("x"))
    assert {code for code in range(400, 600) if is_retryable(APIStatusError(code, "x"))} == set(
        RETRIED
    )
    assert not is_retryable(ChatProviderError("x"))
    assert not is_retryable(ValueError("x"))
