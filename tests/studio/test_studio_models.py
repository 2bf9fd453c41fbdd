"""The studio in front of a real server that speaks the chat protocol, faults included."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from flowstudio.wire import Retried
from tests.servers.openai_server import openai_server
from tests.servers.scripted import fail, say
from tests.studio.kit import choose, open_studio


@pytest.fixture
def configure(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Writes a configuration whose only model is served at an address."""

    def write(url: str) -> None:
        config = home / "flowstudio" / "config" / "config.yaml"
        config.parent.mkdir(parents=True)
        config.write_text(
            "model: local\n"
            f"providers: {{here: {{type: openai, base_url: '{url}', key_env: A_KEY}}}}\n"
            "models: {local: {provider: here, model: scripted}}\n",
            encoding="utf-8",
        )
        monkeypatch.setenv("A_KEY", "sk-0123456789abcdef")

    return write


async def test_a_flow_runs_against_a_server_through_a_rate_limit(
    work: Path, configure: Callable[[str], None]
) -> None:
    replies = (say("Once ", "upon ", "a time"), fail(429, retry_after="0"), say(choose("yes")))
    async with openai_server(*replies) as server:
        configure(server.base_url)
        async with open_studio(work) as studio:
            assert studio.main.driver.model_name == "local"
            await studio.press("r")
            await studio.ended()
            assert "Once upon a time" in studio.chat_text
            assert len(studio.said(Retried)) == 1
            assert "Trying again" in studio.chat_text
            assert studio.choices == [("yes", "model", False)]
            assert "tokens" in studio.lines[0]


async def test_text_streams_in_before_the_answer_is_whole(
    work: Path, configure: Callable[[str], None]
) -> None:
    async with openai_server(say("Once upon", fault="stall")) as server:
        configure(server.base_url)
        async with open_studio(work) as studio:
            await studio.press("r")
            await studio.until(lambda: "Once upon" in studio.text, "the first words")
            assert studio.phase == "running"
            await studio.press("s")
            await studio.ended("stopped")
            await studio.until(server.dropped.is_set, "the connection being given up")


async def test_a_wrong_key_pauses_the_run_with_a_sentence_and_n_tries_again(
    work: Path, configure: Callable[[str], None]
) -> None:
    replies = (
        fail(401, message="bad key sk-0123456789abcdef"),
        say("A draft."),
        say(choose("yes")),
    )
    async with openai_server(*replies) as server:
        configure(server.base_url)
        async with open_studio(work) as studio:
            await studio.press("r")
            await studio.paused_at("write")
            assert studio.state is not None
            assert studio.state.reason == "model_failed"
            assert "key" in studio.state.why
            assert "asks the model again" in studio.chat_text
            assert "sk-0123456789abcdef" not in studio.chat_text
            await studio.press("n")
            await studio.paused_at("good")
            await studio.press("c")
            await studio.ended()


async def test_a_server_that_cannot_be_reached_pauses_the_run(
    work: Path, configure: Callable[[str], None]
) -> None:
    async with openai_server() as server:
        configure(server.base_url)
    async with open_studio(work) as studio:
        session = studio.main.driver.session
        assert session is not None
        session.runtime.sleep = at_once
        await studio.press("r")
        await studio.paused_at("write")
        assert "Trying again" in studio.chat_text
        await studio.press("s")
        await studio.ended("stopped")


async def at_once(seconds: float) -> None:
    """A retry does not wait."""


async def test_a_missing_key_is_said_and_a_rehearsal_begins(
    work: Path, configure: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    configure("http://127.0.0.1:9/v1")
    monkeypatch.delenv("A_KEY")
    async with open_studio(work) as studio:
        await studio.until(lambda: "A_KEY" in studio.chat_text, "the name of the variable")
        assert "Until then this is a rehearsal." in studio.chat_text
        await studio.press("r")
        await studio.asked_at("good")
