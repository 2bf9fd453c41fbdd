"""D-Mail: the agent goes back to a checkpoint and reads there what it wrote to itself."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from flowstudio.config import LoopControl
from flowstudio.soul import DenwaRenji, DMail, MaxStepsReached
from flowstudio.wire import ApprovalAsked, DmailSent
from tests.servers.openai_server import openai_server
from tests.servers.scripted import Call, say, text_of, use
from tests.soul.bench import Bench, check_accepted, connect

TOOLS = ["SendDMail", "Think", "Shell"]


def send(checkpoint: int, message: str = "It was not in the log.") -> Call:
    return Call("SendDMail", {"message": message, "checkpoint_id": checkpoint})


async def test_what_came_after_the_checkpoint_is_forgotten_and_the_message_is_read(
    tmp_path: Path,
) -> None:
    think = use(Call("Think", {"thought": "a long way round"}))
    async with openai_server(think, use(send(1)), say("Then it is in the code.")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=TOOLS)
        result = await bench.soul.turn("Find it")
        sent = [text_of(message) for message in server.requests[2].messages]
    assert result.answer_text == "Then it is in the code."
    assert not any("a long way round" in text for text in sent)
    assert "It was not in the log." in sent[-2]
    assert sent[-1] == "<system>CHECKPOINT 2</system>"
    # The user's prompt came before checkpoint 1 and is still there.
    assert "Find it" in sent
    check_accepted(bench.soul.context.history)


async def test_the_message_is_the_systems_and_not_an_answer_or_a_prompt(tmp_path: Path) -> None:
    async with openai_server(use(send(0)), say("ok")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=TOOLS)
        await bench.soul.turn("Find it")
    note = bench.history[-2]
    assert note[1].startswith("<system>")
    assert note[1].endswith("</system>")


async def test_where_it_came_from_and_where_it_went_is_said(tmp_path: Path) -> None:
    think = use(Call("Think", {"thought": "x"}))
    async with openai_server(think, use(send(1)), say("ok")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=TOOLS)
        await bench.soul.turn("Go")
    (sent,) = bench.said_of(DmailSent)
    assert (sent.origin, sent.checkpoint, sent.message) == (2, 1, "It was not in the log.")


async def test_the_model_is_told_the_numbers_of_the_checkpoints(tmp_path: Path) -> None:
    async with openai_server(say("ok")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=TOOLS)
        await bench.soul.turn("Go")
        sent = [text_of(message) for message in server.requests[0].messages]
    assert sent[1:] == [
        "<system>CHECKPOINT 0</system>",
        "Go",
        "<system>CHECKPOINT 1</system>",
    ]


async def test_an_agent_without_the_tool_is_not_told_of_checkpoints(tmp_path: Path) -> None:
    async with openai_server(say("ok")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["Think"])
        await bench.soul.turn("Go")
    assert bench.history == [("user", "Go"), ("assistant", "ok")]


async def test_a_checkpoint_that_does_not_exist_is_told_to_the_model(tmp_path: Path) -> None:
    async with openai_server(use(send(7)), say("Ah.")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=TOOLS)
        await bench.soul.turn("Go")
        told = [text_of(message) for message in server.requests[1].messages]
    assert "There is no checkpoint 7; the checkpoints go from 0 to 1." in told[-2]
    assert bench.said_of(DmailSent) == []


async def test_of_two_messages_in_one_answer_only_the_first_goes(tmp_path: Path) -> None:
    both = use(send(0, "first"), send(0, "second"))
    async with openai_server(both, say("ok")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=TOOLS)
        await bench.soul.turn("Go")
    assert [body.message for body in bench.said_of(DmailSent)] == ["first"]


async def test_a_rejected_tool_takes_the_message_back(tmp_path: Path) -> None:
    both = use(send(0), Call("Shell", {"command": "true"}))
    async with openai_server(both, say("ok")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=TOOLS)
        bench.on(ApprovalAsked, lambda asked: bench.runtime.approval.answer(asked.id, "reject"))
        result = await bench.soul.turn("Go")
        assert result.rejected
        await bench.soul.turn("Again")
    assert bench.said_of(DmailSent) == []


async def test_cancelling_takes_the_message_back(tmp_path: Path) -> None:
    both = use(send(0), Call("Shell", {"command": "true"}))
    async with openai_server(both, say("ok")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=TOOLS)
        task = asyncio.create_task(bench.soul.turn("Go"))
        bench.on(ApprovalAsked, lambda _: task.cancel())
        with pytest.raises(asyncio.CancelledError):
            await task
        await bench.soul.turn("Again")
    assert bench.said_of(DmailSent) == []


async def test_an_agent_that_sends_itself_back_for_ever_is_stopped(tmp_path: Path) -> None:
    import pytest

    async with openai_server(*[use(send(0))] * 4) as server:
        bench = Bench(
            await connect(server.base_url),
            tmp_path,
            tools=TOOLS,
            loop=LoopControl(max_steps_per_run=4),
        )
        with pytest.raises(MaxStepsReached):
            await bench.soul.turn("Go")


def test_a_message_waits_until_it_is_fetched_and_then_no_longer() -> None:
    renji = DenwaRenji()
    renji.set_n_checkpoints(1)
    renji.send_dmail(DMail("m", 0))
    assert renji.fetch_pending_dmail() == DMail("m", 0)
    assert renji.fetch_pending_dmail() is None
