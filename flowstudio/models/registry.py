"""Which models can be chosen: from the configuration, from keys in the environment, and the
rehearsal.

A key is only ever looked at, never kept: an option holds the name of its variable.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from flowstudio import paths
from flowstudio.config import ProviderSettings
from flowstudio.models.errors import ModelError
from flowstudio.models.inprocess import DEFAULT_SIZE, explain_missing

if TYPE_CHECKING:
    from pathlib import Path

    from flowstudio.config import (
        ChoiceMode,
        Config,
        ModelSettings,
        PriceSettings,
        ProviderType,
    )
    from flowstudio.models.llm import Capability

REHEARSAL = "rehearsal"
MODEL_VARIABLE = "FLOWSTUDIO_MODEL"


@dataclass(frozen=True, slots=True)
class ModelOption:
    """A model that can be chosen, or that could be if something were not missing."""

    name: str
    """What the user writes: a name from the configuration, or `openai/gpt-5`."""
    provider: ProviderType
    model: str
    """The server's own name for it."""
    base_url: str | None = None
    """The server's address; None for the protocol's usual one."""
    key_env: str | None = None
    """The environment variable that holds the key; None where the server wants none."""
    context_size: int | None = None
    capabilities: frozenset[Capability] = frozenset({"tools"})
    why_not: str = ""
    """What is missing, as a sentence; empty where nothing is."""
    choices: ChoiceMode = "auto"
    """How it is held to a flow's branches; see `models.choices`."""
    prices: PriceSettings | None = None
    max_tokens: int | None = None
    """Tokens of one answer at most; None leaves it to the server."""
    path: Path | None = None
    """The GGUF file of a model that runs in this process."""
    server: Literal["", "ollama", "llama.cpp"] = ""
    """Which program serves it, where that was found out."""

    @property
    def usable(self) -> bool:
        """True where it can be chosen now."""
        return not self.why_not


@dataclass(frozen=True, slots=True)
class _Known:
    """A provider that a key in the environment is enough for."""

    provider: ProviderType
    keys: tuple[str, ...]
    url_env: str | None
    model_env: str
    model: str
    context_size: int
    capabilities: frozenset[Capability]


_ALL: frozenset[Capability] = frozenset({"image", "thinking", "tools"})
# The makers' own names, as their lists had them in November 2026. They retire models every few
# months: each can be replaced by its variable (`KIMI_MODEL`, …) or in the configuration.
_KNOWN = (
    _Known(
        "kimi",
        ("KIMI_API_KEY", "MOONSHOT_API_KEY"),
        "KIMI_BASE_URL",
        "KIMI_MODEL",
        "kimi-k2.6",
        262_144,
        _ALL,
    ),
    _Known(
        "openai", ("OPENAI_API_KEY",), "OPENAI_BASE_URL", "OPENAI_MODEL", "gpt-5.4", 272_000, _ALL
    ),
    _Known(
        "anthropic",
        ("ANTHROPIC_API_KEY",),
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_MODEL",
        "claude-sonnet-4-6",
        200_000,
        _ALL,
    ),
    _Known(
        "gemini",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        None,
        "GEMINI_MODEL",
        "gemini-3.5-flash",
        1_000_000,
        _ALL,
    ),
)
_KEYS: Mapping[ProviderType, tuple[str, ...]] = {
    **{known.provider: known.keys for known in _KNOWN},
    "openai-responses": ("OPENAI_API_KEY",),
}


def rehearsal_option() -> ModelOption:
    """The rehearsal, which is always there."""
    return ModelOption(REHEARSAL, "rehearsal", REHEARSAL)


def list_models(config: Config, environ: Mapping[str, str] | None = None) -> list[ModelOption]:
    """All options: the configuration's in its order, then each known provider, then the
    rehearsal."""
    env = os.environ if environ is None else environ
    options = [
        _from_config(name, settings, config.providers, env)
        for name, settings in config.models.items()
    ]
    taken = {option.name for option in options}
    options += [one for known in _KNOWN if (one := _from_key(known, env)).name not in taken]
    return [*(one for one in options if one.name != REHEARSAL), rehearsal_option()]


def default_model(config: Config, environ: Mapping[str, str] | None = None) -> ModelOption:
    """The model to start with: `config.model`, `FLOWSTUDIO_MODEL`, the first with a key, rehearsal.

    Raises:
        ModelError: one is named that does not exist or cannot be used.
    """
    env = os.environ if environ is None else environ
    options = list_models(config, env)
    first = next(option for option in options if option.usable)
    if config.model:
        return _require_usable(find_model(options, config.model))
    if name := env.get(MODEL_VARIABLE):
        try:
            named = find_model(options, name)
        except ModelError:
            # A bare model name is one of the provider that has a key.
            if "/" in name or first.name == REHEARSAL:
                raise
            return replace(first, name=f"{first.name.split('/')[0]}/{name}", model=name)
        return _require_usable(named)
    return first


def find_model(options: Sequence[ModelOption], name: str) -> ModelOption:
    """The option that `name` means: its name, its model's name, its provider, or `provider/model`.

    With `provider/model` any model of a provider can be named, listed or not.

    Raises:
        ModelError: there is none; the message names near ones.
    """
    name = name.strip()
    usable_first = sorted(options, key=lambda one: not one.usable)
    readings: tuple[Callable[[ModelOption], bool], ...] = (
        lambda one: one.name == name,
        lambda one: one.model == name,
        lambda one: name in (one.provider, one.name.split("/")[0]),
    )
    for fits in readings:
        for option in usable_first:
            if fits(option):
                return option
    provider, slash, model = name.partition("/")
    if slash and model:
        for option in usable_first:
            if option.name == f"{provider}/{option.model}":
                return replace(option, name=name, model=model)
    near = difflib.get_close_matches(name, [one.name for one in options], n=3, cutoff=0.4)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    known = ", ".join(one.name for one in options)
    raise ModelError(f"There is no model “{name}”.{hint} The models are: {known}.")


def _require_usable(option: ModelOption) -> ModelOption:
    if option.why_not:
        raise ModelError(f"The model {option.name} cannot be used. {option.why_not}")
    return option


def _from_config(
    name: str,
    settings: ModelSettings,
    providers: Mapping[str, ProviderSettings],
    env: Mapping[str, str],
) -> ModelOption:
    provider = providers.get(settings.provider)
    if provider is None and settings.provider == "local":
        provider = ProviderSettings(type="local")
    if provider is not None and provider.type == "local":
        return _from_file(name, settings)
    if provider is None:
        near = difflib.get_close_matches(settings.provider, providers, n=1)
        hint = f" Did you mean {near[0]}?" if near else " Add it under `providers`."
        return ModelOption(
            name,
            "openai",
            settings.model,
            why_not=f"The configuration has no provider “{settings.provider}”.{hint}",
        )
    key_env, why_not = _find_key(provider, env)
    if not settings.model:
        why_not = "Give its name on the server as `model`: only local models have a `path`."
    return ModelOption(
        name=name,
        provider=provider.type,
        model=settings.model,
        base_url=provider.base_url,
        key_env=key_env,
        context_size=settings.context_size,
        capabilities=frozenset(settings.capabilities),
        why_not=why_not,
        choices=settings.choices,
        prices=settings.prices,
        max_tokens=settings.max_tokens,
    )


def _from_file(name: str, settings: ModelSettings) -> ModelOption:
    """A GGUF file that is run in this process."""
    path = settings.path
    if path is not None:
        path = paths.config_file().parent / path.expanduser()
    return ModelOption(
        name=name,
        provider="local",
        model=settings.model or (path.stem if path else name),
        # The memory of the window is taken at once: a small one unless another is asked for.
        context_size=(
            settings.context_size if "context_size" in settings.model_fields_set else DEFAULT_SIZE
        ),
        capabilities=frozenset(settings.capabilities),
        why_not=explain_missing(path),
        choices=settings.choices,
        prices=settings.prices,
        max_tokens=settings.max_tokens,
        path=path,
    )


def _find_key(provider: ProviderSettings, env: Mapping[str, str]) -> tuple[str | None, str]:
    """The variable that holds the key, and what is missing."""
    if provider.type in ("rehearsal", "local"):
        return None, ""
    if provider.key_env:
        return provider.key_env, "" if env.get(provider.key_env) else _missing(provider.key_env)
    if provider.base_url:
        # The usual key belongs to the usual server and must not go to another one.
        return None, ""
    keys = _KEYS[provider.type]
    found = next((key for key in keys if env.get(key)), None)
    return found or keys[0], "" if found else _missing(keys[0])


def _missing(variable: str) -> str:
    return f"Set {variable} to use it."


def _from_key(known: _Known, env: Mapping[str, str]) -> ModelOption:
    key = next((name for name in known.keys if env.get(name)), None)
    url = env.get(known.url_env) if known.url_env else None
    model = env.get(known.model_env) or known.model
    # A server of one's own (`OPENAI_BASE_URL`) often wants no key.
    keyless = key is None and url is not None and known.provider == "openai"
    return ModelOption(
        name=f"{known.provider}/{model}",
        provider=known.provider,
        model=model,
        base_url=url,
        key_env=None if keyless else key or known.keys[0],
        context_size=known.context_size,
        capabilities=known.capabilities,
        why_not="" if key or keyless else _missing(known.keys[0]),
    )
