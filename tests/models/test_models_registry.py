"""Which models are offered, which one is taken, and what is said where none can be."""

from __future__ import annotations

import pytest

from flowstudio.config import Config
from flowstudio.models import ModelError, default_model, find_model, list_models
from tests.servers.openai_server import openai_server

OWN = Config.model_validate(
    {
        "providers": {
            "house": {"base_url": "http://house/v1"},
            "router": {"base_url": "http://router/v1", "key_env": "ROUTER_API_KEY"},
            "claude": {"type": "anthropic"},
            "dry": {"type": "rehearsal"},
        },
        "models": {
            "small": {"provider": "house", "model": "qwen", "context_size": 8000},
            "large": {"provider": "router", "model": "big-1", "capabilities": ["image"]},
            "careful": {"provider": "claude", "model": "claude-x"},
            "lost": {"provider": "hous", "model": "x"},
        },
    }
)


def by_name(config: Config, **environ: str) -> dict[str, bool]:
    return {option.name: option.usable for option in list_models(config, environ)}


def test_without_configuration_and_keys_only_the_rehearsal_is_usable() -> None:
    usable = [name for name, ok in by_name(Config()).items() if ok]
    assert usable == ["rehearsal"]


def test_what_is_missing_is_said() -> None:
    options = {option.name.split("/")[0]: option for option in list_models(Config(), {})}
    assert options["kimi"].why_not == "Set KIMI_API_KEY to use it."


@pytest.mark.parametrize(
    ("key", "provider"),
    [
        ("KIMI_API_KEY", "kimi"),
        ("MOONSHOT_API_KEY", "kimi"),
        ("OPENAI_API_KEY", "openai"),
        ("ANTHROPIC_API_KEY", "anthropic"),
        ("GEMINI_API_KEY", "gemini"),
        ("GOOGLE_API_KEY", "gemini"),
    ],
)
def test_a_key_in_the_environment_is_enough(key: str, provider: str) -> None:
    option = default_model(Config(), {key: "k"})
    assert (option.provider, option.key_env, option.usable) == (provider, key, True)


def test_an_option_never_holds_a_key() -> None:
    options = list_models(OWN, {"ROUTER_API_KEY": "sk-secret", "OPENAI_API_KEY": "sk-secret"})
    assert "sk-secret" not in repr(options)


def test_a_model_of_the_configuration_needs_its_key_only_where_one_is_named() -> None:
    listed = by_name(OWN, OPENAI_API_KEY="k")
    assert listed["small"]
    assert not listed["large"]
    assert not listed["careful"]
    assert by_name(OWN, ROUTER_API_KEY="k", ANTHROPIC_API_KEY="k")["careful"]


def test_the_usual_key_is_not_sent_to_another_server() -> None:
    small = find_model(list_models(OWN, {"OPENAI_API_KEY": "k"}), "small")
    assert small.key_env is None


def test_a_provider_that_does_not_exist_is_told_with_the_one_that_is_near() -> None:
    lost = find_model(list_models(OWN, {}), "lost")
    assert "Did you mean house?" in lost.why_not


def test_window_and_capabilities_come_from_the_configuration() -> None:
    options = list_models(OWN, {})
    assert find_model(options, "small").context_size == 8000
    assert find_model(options, "large").capabilities == {"image"}


@pytest.mark.parametrize(
    ("config", "environ", "taken"),
    [
        ({"model": "rehearsal"}, {"OPENAI_API_KEY": "k"}, "rehearsal"),
        ({}, {"OPENAI_API_KEY": "k", "FLOWSTUDIO_MODEL": "rehearsal"}, "rehearsal"),
        ({}, {"OPENAI_API_KEY": "k", "FLOWSTUDIO_MODEL": "gpt-x"}, "openai/gpt-x"),
        ({}, {"OPENAI_API_KEY": "k", "FLOWSTUDIO_MODEL": "openai/gpt-x"}, "openai/gpt-x"),
        ({}, {"OPENAI_API_KEY": "k", "OPENAI_MODEL": "gpt-y"}, "openai/gpt-y"),
        ({}, {"GEMINI_API_KEY": "k", "FLOWSTUDIO_MODEL": "gemini"}, "gemini/gemini-3.5-flash"),
        ({}, {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_MODEL": "m"}, "openai/m"),
        ({}, {}, "rehearsal"),
    ],
)
def test_the_default_is_the_configured_one_then_the_environments_then_what_has_a_key(
    config: dict[str, str], environ: dict[str, str], taken: str
) -> None:
    option = default_model(Config.model_validate(config), environ)
    assert option.name == taken
    assert option.model == taken.rsplit("/", maxsplit=1)[-1]


@pytest.mark.parametrize(
    ("config", "environ", "told"),
    [
        ({"model": "rehersal"}, {}, "Did you mean rehearsal"),
        ({}, {"FLOWSTUDIO_MODEL": "kimi"}, "Set KIMI_API_KEY"),
        ({}, {"FLOWSTUDIO_MODEL": "gpt-x"}, "no model “gpt-x”"),
        ({}, {"OPENAI_API_KEY": "k", "FLOWSTUDIO_MODEL": "anthropic"}, "Set ANTHROPIC_API_KEY"),
    ],
)
def test_a_default_that_cannot_be_used_is_told(
    config: dict[str, str], environ: dict[str, str], told: str
) -> None:
    with pytest.raises(ModelError, match=told):
        default_model(Config.model_validate(config), environ)


def test_a_model_is_found_by_its_own_name_its_servers_name_or_its_provider() -> None:
    options = list_models(OWN, {"OPENAI_API_KEY": "k"})
    assert find_model(options, "small").name == "small"
    assert find_model(options, "qwen").name == "small"
    assert find_model(options, "openai").usable


async def test_a_local_server_is_found_with_its_models() -> None:
    from flowstudio.models import discover_local

    async with openai_server() as server:
        server.models = [{"id": "models/qwen-2.gguf", "meta": {"n_ctx": 4096}}, {"id": "phi"}]
        servers = {"here": server.base_url}
        found = await discover_local(patience=5.0, servers=servers)
    assert [(one.name, one.model, one.context_size) for one in found] == [
        ("here/qwen-2.gguf", "models/qwen-2.gguf", 4096),
        ("here/phi", "phi", 32_768),
    ]
    assert all(one.usable for one in found)


async def test_where_nothing_listens_nothing_is_found() -> None:
    from flowstudio.models import discover_local

    async with openai_server() as server:
        servers = {"gone": server.base_url}
    assert await discover_local(patience=5.0, servers=servers) == []


@pytest.mark.parametrize("models", [[], [{"name": "no id"}], [{"id": 7}]])
async def test_what_does_not_answer_like_a_model_server_is_passed_over(
    models: list[dict[str, object]],
) -> None:
    from flowstudio.models import discover_local

    async with openai_server() as server:
        server.models = list(models)
        assert await discover_local(patience=5.0, servers={"odd": server.base_url}) == []
