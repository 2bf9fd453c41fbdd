"""Finds a model server on this machine: Ollama or llama.cpp at their usual ports."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from flowstudio.models.registry import ModelOption

if TYPE_CHECKING:
    import httpx

LOCAL_SERVERS: Mapping[str, str] = {
    "ollama": "http://127.0.0.1:11434/v1",
    "llama.cpp": "http://127.0.0.1:8080/v1",
}
"""The servers that are looked for, each with its address."""
CONTEXT_SIZE = 32_768
"""Tokens that a local model's window is taken to hold where the server does not say."""
_MOST = 50


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
    options: list[ModelOption] = []
    for item in cast("list[object]", listed)[:_MOST]:
        record = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
        model: object = record.get("id")
        if isinstance(model, str) and model:
            options.append(
                ModelOption(
                    name=f"{server}/{model.rsplit('/', 1)[-1]}",
                    provider="openai",
                    model=model,
                    base_url=url,
                    context_size=_find_size(record),
                )
            )
    return options


def _find_size(record: dict[str, Any]) -> int:
    meta: object = record.get("meta")
    size: object = cast("dict[str, Any]", meta).get("n_ctx") if isinstance(meta, dict) else None
    return size if isinstance(size, int) and size > 0 else CONTEXT_SIZE
