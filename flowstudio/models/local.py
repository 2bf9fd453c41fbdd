"""Finds a model server on this machine: Ollama or llama.cpp at their usual ports."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

from flowstudio.models.errors import ModelError
from flowstudio.models.registry import ModelOption, find_model, list_models

if TYPE_CHECKING:
    import httpx

    from flowstudio.config import Config
    from flowstudio.models.llm import Capability

LOCAL_SERVERS: Mapping[str, str] = {
    "ollama": "http://127.0.0.1:11434/v1",
    "llama.cpp": "http://127.0.0.1:8080/v1",
}
"""The servers that are looked for, each with its address."""
CONTEXT_SIZE = 32_768
"""Tokens that a local model's window is taken to hold where the server does not say."""
_MOST = 50
_KINDS: Mapping[str, Literal["ollama", "llama.cpp"]] = {
    "ollama": "ollama",
    "llama.cpp": "llama.cpp",
}
_OLLAMA_WORDS: Mapping[object, Capability] = {
    "tools": "tools",
    "vision": "image",
    "thinking": "thinking",
}
"""Ollama's words for what a model can do."""
_SEES: frozenset[Capability] = frozenset({"image", "tools"})


async def discover_local(
    *, patience: float = 0.5, servers: Mapping[str, str] | None = None
) -> list[ModelOption]:
    """The models of the servers that answer within `patience` seconds; never raises for one that
    fails.

    Something else may listen on these ports; what does not answer like a model server is passed
    over.
    """
    import httpx

    servers = LOCAL_SERVERS if servers is None else servers
    # Proxies from the environment are not for this machine, and without TLS there is nothing to
    # verify: loading the certificates would hold the screen up.
    async with httpx.AsyncClient(timeout=patience, trust_env=False, verify=False) as client:
        found = await asyncio.gather(
            *(_list(client, name, url, patience) for name, url in servers.items())
        )
    return [option for options in found for option in options]


async def _list(
    client: httpx.AsyncClient, server: str, url: str, seconds: float
) -> list[ModelOption]:
    import httpx

    try:
        # httpx bounds each wait for a byte; this bounds the whole.
        async with asyncio.timeout(seconds):
            answer = await client.get(f"{url}/models")
        raw: object = answer.json() if answer.is_success else None
    except (httpx.HTTPError, TimeoutError, ValueError):
        return []
    if not isinstance(raw, dict):
        return []
    listed: object = cast("dict[str, Any]", raw).get("data")
    if not isinstance(listed, list):
        return []
    found: list[dict[str, Any]] = []
    for item in cast("list[object]", listed)[:_MOST]:
        record = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
        if isinstance(record.get("id"), str) and record["id"]:
            found.append(record)
    known = _KINDS.get(server)
    facts = await asyncio.gather(*(_ask_facts(client, known, url, one, seconds) for one in found))
    return [
        ModelOption(
            name=f"{server}/{record['id'].rsplit('/', 1)[-1]}",
            provider="openai",
            model=record["id"],
            base_url=url,
            context_size=size,
            capabilities=capabilities,
            server=known or "",
        )
        for record, (size, capabilities) in zip(found, facts, strict=True)
    ]


async def _ask_facts(
    client: httpx.AsyncClient,
    server: Literal["ollama", "llama.cpp"] | None,
    url: str,
    record: dict[str, Any],
    seconds: float,
) -> tuple[int, frozenset[Capability]]:
    """The window and the capabilities of a model, as far as its server tells them."""
    size = _find_number(record, "meta", "n_ctx")
    tools: frozenset[Capability] = frozenset({"tools"})
    root = url.removesuffix("/v1")
    match server:
        case "llama.cpp":
            props = await _ask(client.get(f"{root}/props"), seconds)
            size = _find_number(props, "default_generation_settings", "n_ctx") or size
            sees = _find(props, "modalities", "vision") is True
            return size or CONTEXT_SIZE, _SEES if sees else tools
        case "ollama":
            asked = client.post(f"{root}/api/show", json={"model": record["id"]})
            shown = await _ask(asked, seconds)
            trained = max(
                (
                    value
                    for key, value in _as_dict(shown.get("model_info")).items()
                    if key.endswith(".context_length") and isinstance(value, int)
                ),
                default=CONTEXT_SIZE,
            )
            listed: object = shown.get("capabilities")
            if not isinstance(listed, list):
                return min(trained, CONTEXT_SIZE), tools
            words = cast("list[object]", listed)
            can: list[Capability] = [_OLLAMA_WORDS[word] for word in words if word in _OLLAMA_WORDS]
            return min(trained, CONTEXT_SIZE), frozenset(can)
        case None:
            return size or CONTEXT_SIZE, tools


async def _ask(asking: Awaitable[httpx.Response], seconds: float) -> dict[str, Any]:
    """A server's JSON object; empty where there is none."""
    import httpx

    try:
        async with asyncio.timeout(seconds):
            answer = await asking
        return _as_dict(answer.json()) if answer.is_success else {}
    except (httpx.HTTPError, TimeoutError, ValueError):
        return {}


def _as_dict(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _find(record: dict[str, Any], part: str, key: str) -> object:
    return _as_dict(record.get(part)).get(key)


def _find_number(record: dict[str, Any], part: str, key: str) -> int | None:
    size = _find(record, part, key)
    return size if isinstance(size, int) and size > 0 else None


async def resolve_model(
    config: Config, name: str, environ: Mapping[str, str] | None = None
) -> ModelOption:
    """The option that `name` means: configured, with a key, or served on this machine.

    Local servers are looked for only where nothing else has that name.

    Raises:
        ModelError: there is none; the message names near ones.
    """
    options = list_models(config, environ)
    try:
        return find_model(options, name)
    except ModelError:
        return find_model([*options, *await discover_local()], name)
