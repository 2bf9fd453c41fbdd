"""Which models are found on this machine, what is missing of the others, and what one says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from flowstudio.config import Config
from flowstudio.models import ModelOption, discover_local, resolve_model
from flowstudio.models.choices import find_means
from flowstudio.models.survey import check_model, survey
from tests.servers.openai_server import openai_server
from tests.servers.scripted import fail, say

NOBODY = "http://127.0.0.1:1/v1"


@contextmanager
def serving(answers: Mapping[str, Any]) -> Iterator[str]:
    """A server that gives these JSON answers, whatever the method; its address with `/v1`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            body = json.dumps(answers.get(self.path, {})).encode()
            self.send_response(200 if self.path in answers else 404)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 (the base class names it so)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


async def find(kind: str, answers: Mapping[str, Any]) -> ModelOption:
    with serving(answers) as url:
        (option,) = await discover_local(patience=5.0, servers={kind: url})
    return option


async def test_a_llama_server_tells_its_window_and_whether_it_sees() -> None:
    option = await find(
        "llama.cpp",
        {
            "/v1/models": {"data": [{"id": "qwen3.gguf", "meta": {"n_ctx_train": 262144}}]},
            "/props": {
                "default_generation_settings": {"n_ctx": 16384},
                "modalities": {"vision": True},
            },
        },
    )
    assert (option.name, option.context_size) == ("llama.cpp/qwen3.gguf", 16384)
    assert option.capabilities == {"image", "tools"}
    assert find_means(option) == "grammar"


async def test_ollama_tells_what_its_models_can_do() -> None:
    option = await find(
        "ollama",
        {
            "/v1/models": {"data": [{"id": "gemma3:270m"}]},
            "/api/show": {
                "capabilities": ["completion", "vision"],
                "model_info": {"gemma3.context_length": 8192},
            },
        },
    )
    assert (option.name, option.context_size) == ("ollama/gemma3:270m", 8192)
    assert option.capabilities == {"image"}
    assert find_means(option) == "json"


@pytest.mark.parametrize("kind", ["ollama", "llama.cpp"])
@pytest.mark.parametrize("more", [{}, {"/props": [], "/api/show": 7}])
async def test_a_server_that_tells_nothing_more_is_taken_as_it_is(kind: str, more: Any) -> None:
    option = await find(kind, {"/v1/models": {"data": [{"id": "m"}]}, **more})
    assert (option.context_size, option.capabilities) == (32_768, {"tools"})


def config(url: str, **more: Any) -> Config:
    return Config.model_validate(
        {
            "providers": {"house": {"base_url": url}},
            "models": {"small": {"provider": "house", "model": "m-1", **more}},
        }
    )


async def test_the_survey_lists_all_with_what_is_missing() -> None:
    with serving({"/v1/models": {"data": [{"id": "qwen"}]}}) as url:
        found = await survey(config(NOBODY), {}, servers={"ollama": url, "llama.cpp": NOBODY})
    names = {one.name: one for one in found.options}
    assert names["small"].why_not.startswith("Its server does not answer: http://127.0.0.1:1/v1.")
    assert names["ollama/qwen"].usable
    assert [one.why_not for one in found.options if one.provider == "kimi"] == [
        "Set KIMI_API_KEY to use it."
    ]
    assert found.options[-1].name == "rehearsal"
    assert found.absent == {"llama.cpp": NOBODY}


async def test_a_server_that_refuses_the_question_answers_all_the_same() -> None:
    with serving({}) as url:
        found = await survey(config(url), {}, servers={})
    assert found.options[0].usable
    assert found.default == "small"


async def test_a_default_that_cannot_be_used_is_told() -> None:
    found = await survey(Config(model="nobody"), {}, servers={})
    assert found.default == ""
    assert "There is no model “nobody”" in found.problem


async def test_no_key_is_sent_to_find_out_whether_a_server_answers() -> None:
    async with openai_server() as server:
        environ = {"OPENAI_API_KEY": "sk-secret-0123456789", "OPENAI_BASE_URL": server.base_url}
        found = await survey(Config(), environ, servers={})
    assert "sk-secret" not in repr(found)


async def test_a_model_of_a_local_server_is_found_by_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving({"/v1/models": {"data": [{"id": "qwen"}]}}) as url:
        monkeypatch.setattr("flowstudio.models.local.LOCAL_SERVERS", {"ollama": url})
        option = await resolve_model(Config(), "ollama/qwen", {})
    assert (option.model, option.base_url) == ("qwen", url)


async def test_a_check_says_what_came_and_what_it_cost() -> None:
    async with openai_server(say("o", "k", tokens=(20, 2))) as server:
        settings = config(server.base_url, prices={"input": 1.0, "output": 5.0})
        option = await resolve_model(settings, "small", {})
        check = await check_model(option, settings, {})
    assert (check.ok, check.said, check.input, check.output) == (True, "ok", 20, 2)
    assert check.cost == pytest.approx(0.00003)


async def test_a_check_that_fails_says_why_without_the_key() -> None:
    key = "sk-secret-0123456789"
    async with openai_server(fail(401, message=f"wrong: {key}")) as server:
        option = ModelOption("m", "openai", "x", server.base_url, "HOUSE_KEY")
        check = await check_model(option, Config(), {"HOUSE_KEY": key})
    assert not check.ok
    assert "refused the key" in check.said
    assert key not in check.said
