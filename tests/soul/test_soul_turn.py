"""A turn through the real provider: what is sent, what is said, what is kept."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from kosong.message import ImageURLPart, TextPart

from flowstudio.config import LoopControl
from flowstudio.soul import Context, LLMNotSet, LLMNotSupported, MaxStepsReached
from flowstudio.wire import (
    ApprovalAsked,
    ApprovalGiven,
    StatusChanged,
    StepBegan,
    StepInterrupted,
    Text,
    Thinking,
    ToolCalled,
    ToolReturned,
)
from tests.servers.openai_server import openai_server
from tests.servers.scripted import Call, Reply, fail, say, use
from tests.soul.bench import Bench, check_accepted, connect


async def test_an_answer_is_streamed_to_the_wire_and_kept_in_the_context(tmp_path: Path) -> None:
    async with openai_server(say("Good ", "morning")) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        result = await bench.soul.turn("Hello")
    assert [text.text for text in bench.said_of(Text)] == ["Good ", "morning"]
    assert bench.history == [("user", "Hello"), ("assistant", "Good morning")]
    assert (result.answer_text, result.steps, result.tokens) == ("Good morning", 1, 110)
    assert server.requests[0].messages == [
        {"role": "system", "content": "You are under test."},
        {"role": "user", "content": "Hello"},
    ]


async def test_all_turns_share_one_context(tmp_path: Path) -> None:
    async with openai_server(say("one"), say("two")) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        await bench.soul.turn("first")
        await bench.soul.turn("second")
    sent = [message["content"] for message in server.requests[1].messages]
    assert sent == ["You are under test.", "first", "one", "second"]


async def test_thinking_is_said_apart_from_the_answer(tmp_path: Path) -> None:
    async with openai_server(say("42", thinking="six times seven")) as server:
        llm = await connect(server.base_url, capabilities=frozenset({"thinking"}))
        bench = Bench(llm, tmp_path)
        result = await bench.soul.turn("What is it?")
    assert [body.text for body in bench.said_of(Thinking)] == ["six times seven"]
    assert result.answer_text == "42"


async def test_a_tool_call_is_made_and_its_result_goes_back_to_the_model(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("the sky is blue\n")
    reads = use(Call("ReadFile", {"path": "notes.txt"}))
    async with openai_server(reads, say("Blue.")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["ReadFile"])
        result = await bench.soul.turn("What colour?")
    assert "the sky is blue" in server.requests[1].last_text
    assert server.requests[1].messages[-1]["tool_call_id"] == "call_1"
    assert result.steps == 2
    assert result.answer_text == "Blue."
    called, returned = bench.said_of(ToolCalled)[0], bench.said_of(ToolReturned)[0]
    assert (called.name, called.id) == ("ReadFile", "call_1")
    assert returned.ok
    assert returned.brief == "1 lines of notes.txt"
    check_accepted(bench.soul.context.history)


async def test_the_events_of_a_turn_come_in_their_order(tmp_path: Path) -> None:
    reads = use(Call("Think", {"thought": "hm"}), text="Let me see.")
    async with openai_server(reads, say("Done.")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["Think"])
        await bench.soul.turn("Go")
    assert [body.type for body in bench.said] == [
        "step_began",
        "text",
        "tokens_used",
        "tool_called",
        "tool_returned",
        "status_changed",
        "step_began",
        "text",
        "tokens_used",
        "status_changed",
    ]


async def test_several_calls_of_one_answer_are_made_in_the_order_they_were_written(
    tmp_path: Path,
) -> None:
    writes = use(
        Call("WriteFile", {"path": "a.txt", "content": "one\n"}),
        Call("WriteFile", {"path": "a.txt", "content": "two\n", "mode": "append"}),
        Call("ReadFile", {"path": "a.txt"}),
    )
    async with openai_server(writes, say("Done.")) as server:
        bench = Bench(
            await connect(server.base_url), tmp_path, tools=["WriteFile", "ReadFile"], yolo=True
        )
        await bench.soul.turn("Go")
    assert (tmp_path / "a.txt").read_text() == "one\ntwo\n"
    assert "two" in server.requests[1].last_text


async def test_no_tool_runs_before_its_answer_is_complete(tmp_path: Path) -> None:
    """An answer that breaks off is asked for again: what it called would be done twice."""
    write = Call("WriteFile", {"path": "log.txt", "content": "x", "mode": "append"})
    broken = use(write, Call("Think", {"thought": "hm"}), fault="reset")
    async with openai_server(broken, use(write), say("Done.")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["WriteFile"], yolo=True)
        await bench.soul.turn("Go")
    assert (tmp_path / "log.txt").read_text() == "x"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ('{"path": "a.txt"', "no valid JSON"),
        ('["a.txt"]', "must be a JSON object"),
        ('{"path": 7}', "path: Input should be a valid string"),
        ("{}", "path: Field required"),
        ('{"path": "missing.txt"}', "There is no file missing.txt"),
    ],
)
async def test_wrong_arguments_are_told_to_the_model_and_the_turn_goes_on(
    tmp_path: Path, arguments: str, told: str
) -> None:
    async with openai_server(use(Call("ReadFile", arguments)), say("Sorry.")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["ReadFile"])
        result = await bench.soul.turn("Go")
    assert told in server.requests[1].last_text
    assert result.answer_text == "Sorry."
    assert bench.said_of(ToolCalled)[0].arguments == arguments
    assert not bench.said_of(ToolReturned)[0].ok


async def test_arguments_that_are_no_json_go_back_into_the_history_as_an_object(
    tmp_path: Path,
) -> None:
    """Anthropic's, Google's and strict servers refuse a history with anything else."""
    import json

    async with openai_server(use(Call("ReadFile", '{"path": oops')), say("Sorry.")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["ReadFile"])
        await bench.soul.turn("Go")
    sent = server.requests[1].messages[-2]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent) == {"invalid_arguments": '{"path": oops'}


async def test_a_tool_that_does_not_exist_is_told_with_the_name_that_is_near(
    tmp_path: Path,
) -> None:
    async with openai_server(use(Call("ReadFil")), say("Ah.")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["ReadFile"])
        await bench.soul.turn("Go")
    assert "Did you mean ReadFile?" in server.requests[1].last_text


async def test_calls_with_the_same_id_each_get_their_own_result(tmp_path: Path) -> None:
    twice = Reply(
        calls=[
            Call("Think", {"thought": "a"}, "same"),
            Call("ReadFile", {"path": "nowhere"}, "same"),
        ]
    )
    async with openai_server(twice, say("Done.")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["Think", "ReadFile"])
        await bench.soul.turn("Go")
    results = [m["content"] for m in server.requests[1].messages if m["role"] == "tool"]
    assert len(results) == 2
    assert "Noted" in str(results[0])
    assert "nowhere" in str(results[1])
    check_accepted(bench.soul.context.history)


async def test_a_rejected_tool_ends_the_turn_and_the_calls_after_it_are_not_made(
    tmp_path: Path,
) -> None:
    think = Call("Think", {"thought": "b"})
    three = use(Call("Shell", {"command": "echo a > a"}), think, think)
    async with openai_server(three) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["Shell", "Think"])
        bench.on(
            ApprovalAsked,
            lambda asked: bench.runtime.approval.answer(asked.id, "reject", "not now"),
        )
        result = await bench.soul.turn("Go")
        assert len(server.requests) == 1
    assert result.rejected
    assert not (tmp_path / "a").exists()
    assert [body.name for body in bench.said_of(ToolCalled)] == ["Shell"]
    check_accepted(bench.soul.context.history)
    assert "not now" in bench.history[-3][1]
    assert "Not made" in bench.history[-2][1]
    assert "Not made" in bench.history[-1][1]


async def test_a_tool_waits_for_leave_and_then_acts(tmp_path: Path) -> None:
    async with openai_server(use(Call("Shell", {"command": "echo hi"})), say("ok")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["Shell"])
        bench.on(ApprovalAsked, lambda asked: bench.runtime.approval.answer(asked.id, "allow"))
        await bench.soul.turn("Go")
    assert bench.said_of(ApprovalAsked)[0].description == "echo hi"
    assert bench.said_of(ApprovalGiven)[0].verdict == "allow"
    assert bench.said_of(ToolReturned)[0].output == "hi\n"


async def test_an_accepted_submit_answer_ends_the_turn(tmp_path: Path) -> None:
    handed = use(Call("submit_answer", {"answer": "42"}))
    async with openai_server(handed) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["submit_answer"])
        result = await bench.soul.turn("Go")
        assert len(server.requests) == 1
    assert result.submitted
    assert result.answer_text == "42"


async def test_an_answer_that_is_not_accepted_goes_back_to_the_model(tmp_path: Path) -> None:
    empty = use(Call("submit_answer", {"answer": " "}))
    async with openai_server(empty, use(Call("submit_answer", {"answer": "42"}))) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["submit_answer"])
        result = await bench.soul.turn("Go")
    assert result.steps == 2
    assert "Not accepted" in server.requests[1].last_text


async def test_too_many_steps_end_the_turn(tmp_path: Path) -> None:
    think = use(Call("Think", {"thought": "again"}))
    async with openai_server(think, think, think) as server:
        bench = Bench(
            await connect(server.base_url),
            tmp_path,
            tools=["Think"],
            loop=LoopControl(max_steps_per_run=3),
        )
        with pytest.raises(MaxStepsReached):
            await bench.soul.turn("Go")
    assert [body.step for body in bench.said_of(StepBegan)] == [1, 2, 3]
    check_accepted(bench.soul.context.history)


async def test_without_a_model_there_is_no_turn(tmp_path: Path) -> None:
    bench = Bench(None, tmp_path)
    with pytest.raises(LLMNotSet, match="/model"):
        await bench.soul.turn("Hello")
    assert bench.history == []


async def test_a_picture_is_refused_for_a_model_without_sight(tmp_path: Path) -> None:
    picture = ImageURLPart(image_url=ImageURLPart.ImageURL(url="data:image/png;base64,AA=="))
    async with openai_server(say("A cat.")) as server:
        blind = Bench(await connect(server.base_url), tmp_path)
        with pytest.raises(LLMNotSupported, match="image"):
            await blind.soul.turn([TextPart(text="What is it?"), picture])
        assert blind.history == []
        seeing = Bench(await connect(server.base_url, capabilities=frozenset({"image"})), tmp_path)
        result = await seeing.soul.turn([TextPart(text="What is it?"), picture])
    assert result.answer_text == "A cat."


async def test_the_token_count_is_the_servers_and_the_status_says_how_full_the_window_is(
    tmp_path: Path,
) -> None:
    async with openai_server(say("hi", tokens=(900, 100))) as server:
        bench = Bench(await connect(server.base_url, context_size=10_000), tmp_path)
        await bench.soul.turn("Hello")
    assert bench.soul.status.tokens == 1000
    assert bench.said_of(StatusChanged)[-1].context_usage == 0.1


async def test_without_the_servers_count_tokens_are_estimated(tmp_path: Path) -> None:
    async with openai_server(say("x" * 4000, tokens=None)) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        result = await bench.soul.turn("Hello")
    assert 1000 <= bench.soul.status.tokens < 1100
    assert result.tokens == 0


async def test_a_cancelled_answer_keeps_what_came_of_it_marked_as_interrupted(
    tmp_path: Path,
) -> None:
    async with openai_server(say("The first half", fault="stall"), say("Hello again")) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        heard = asyncio.Event()
        bench.on(Text, lambda _: heard.set())
        task = asyncio.create_task(bench.soul.turn("Tell me"))
        await heard.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        kept = bench.history[-1]
        await bench.soul.turn("Go on")
        await server.dropped.wait()
    assert kept[0] == "assistant"
    assert kept[1].startswith("The first half")
    assert "interrupted" in kept[1]
    assert bench.said_of(StepInterrupted)
    check_accepted(bench.soul.context.history)


async def test_cancelling_a_running_tool_ends_it_and_leaves_a_result_for_every_call(
    tmp_path: Path,
) -> None:
    two = use(
        Call("Shell", {"command": "echo started; touch started; sleep 600"}),
        Call("Think", {"thought": "later"}),
    )
    async with openai_server(two, say("Fine.")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["Shell", "Think"], yolo=True)
        task = asyncio.create_task(bench.soul.turn("Go"))
        while not (tmp_path / "started").exists():  # noqa: ASYNC110 - a file has no event
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        check_accepted(bench.soul.context.history)
        roles = [role for role, _ in bench.history]
        await bench.soul.turn("Go on")
    assert roles == ["user", "assistant", "tool", "tool"]
    assert not bench.said_of(ToolReturned)[0].ok
    assert bench.said_of(ToolReturned)[0].brief == "interrupted"


async def test_cancelling_while_a_tool_waits_for_leave_takes_its_request_back(
    tmp_path: Path,
) -> None:
    async with openai_server(use(Call("Shell", {"command": "true"}))) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["Shell"])
        task = asyncio.create_task(bench.soul.turn("Go"))
        bench.on(ApprovalAsked, lambda _: task.cancel())
        with pytest.raises(asyncio.CancelledError):
            await task
    assert bench.runtime.approval.pending == ()
    check_accepted(bench.soul.context.history)


async def test_there_is_one_turn_at_a_time(tmp_path: Path) -> None:
    async with openai_server(say("one", fault="stall"), say("two")) as server:
        bench = Bench(await connect(server.base_url), tmp_path)
        task = asyncio.create_task(bench.soul.turn("first"))
        await server.quiet.wait()
        with pytest.raises(RuntimeError, match="on already"):
            await bench.soul.turn("second")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await bench.soul.turn("third")).answer_text == "two"
    assert ("user", "second") not in bench.history


async def test_a_consumer_that_fails_while_a_tool_asks_stops_the_turn(tmp_path: Path) -> None:
    """A journal on a full disk must not be told to the model as the tool's failure."""

    def full(_: object) -> None:
        raise OSError(28, "No space left on device")

    async with openai_server(use(Call("Shell", {"command": "true"}))) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["Shell"])
        bench.on(ApprovalAsked, full)
        with pytest.raises(OSError, match="No space"):
            await bench.soul.turn("Go")
        assert len(server.requests) == 1
    check_accepted(bench.soul.context.history)


async def test_after_a_failed_turn_the_next_one_goes_on_in_the_same_context(
    tmp_path: Path,
) -> None:
    from kosong.chat_provider import APIStatusError

    async with openai_server(fail(401), say("Now I can.")) as server:
        context = Context(tmp_path / "context.jsonl")
        bench = Bench(await connect(server.base_url), tmp_path, context=context)
        with pytest.raises(APIStatusError):
            await bench.soul.turn("Hello")
        result = await bench.soul.turn("Again")
    assert result.answer_text == "Now I can."
    assert [role for role, _ in bench.history] == ["user", "user", "assistant"]


@pytest.mark.parametrize(
    ("pieces", "kept"),
    [(["Hi \ud83d", "\ude00"], "Hi \U0001f600"), (["cut \ud83d"], "cut \ufffd")],
)
async def test_halves_of_characters_from_a_server_are_mended(
    tmp_path: Path, pieces: list[str], kept: str
) -> None:
    """Some servers cut a JSON escape between its two halves; no server takes a half back."""
    async with openai_server(say(*pieces), say("ok")) as server:
        bench = Bench(
            await connect(server.base_url), tmp_path, context=Context(tmp_path / "context.jsonl")
        )
        await bench.soul.turn("Hello \udcff")
        await bench.soul.turn("Again")
    assert bench.history[0] == ("user", "Hello \ufffd")
    assert bench.history[1] == ("assistant", kept)
    for body in bench.said_of(Text):
        body.text.encode()


async def test_half_a_character_in_a_tools_arguments_does_not_stop_the_conversation(
    tmp_path: Path,
) -> None:
    todo = '{"todos": [{"title": "half \\ud83d"}]}'
    async with openai_server(use(Call("SetTodoList", todo)), say("ok")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["SetTodoList"])
        result = await bench.soul.turn("Go")
    assert result.answer_text == "ok"
    for body in bench.said_of(ToolReturned):
        body.output.encode()
