"""A key goes to its server and nowhere else: not to disk, not on the wire, not into a message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kosong.chat_provider import APIStatusError

from flowstudio.models import explain_error
from flowstudio.soul import Context
from flowstudio.wire import Event, Retried, StepInterrupted
from tests.servers.openai_server import openai_server
from tests.servers.scripted import Call, fail, say, use
from tests.soul.bench import KEY, Bench, connect


@pytest.mark.parametrize("status", [401, 429])
async def test_a_server_that_repeats_the_key_does_not_get_it_shown(
    tmp_path: Path, status: int
) -> None:
    refusal = fail(status, message=f"Incorrect API key provided: {KEY}. See Authorization: {KEY}")
    async with openai_server(*[refusal] * 4) as server:
        context = Context(tmp_path / "context.jsonl")
        bench = Bench(await connect(server.base_url), tmp_path, context=context)
        with pytest.raises(APIStatusError) as caught:
            await bench.soul.turn("Hello")
    events = json.dumps([Event(body, "run", 0.0).to_json() for body in bench.said])
    assert bench.said_of(StepInterrupted)
    assert status == 401 or bench.said_of(Retried)
    assert KEY not in events
    assert KEY not in explain_error(caught.value)
    assert KEY not in (tmp_path / "context.jsonl").read_text()


async def test_a_command_that_prints_its_environment_shows_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    file = tmp_path / "context.jsonl"
    async with openai_server(use(Call("Shell", {"command": "env"})), say("ok")) as server:
        bench = Bench(
            await connect(server.base_url),
            tmp_path,
            tools=["Shell"],
            yolo=True,
            context=Context(file),
        )
        await bench.soul.turn("Go")
        assert KEY not in json.dumps(server.requests[1].body)
    assert KEY not in file.read_text()


async def test_a_model_shows_no_key_of_its_own(tmp_path: Path) -> None:
    async with openai_server() as server:
        llm = await connect(server.base_url)
    assert KEY not in repr(llm)
