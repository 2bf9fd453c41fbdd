"""Which models there are on this machine, whether their servers answer, and what one says."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flowstudio.models.build import build_model
from flowstudio.models.errors import ModelError, explain_error
from flowstudio.models.local import LOCAL_SERVERS, discover_local
from flowstudio.models.prices import find_cost
from flowstudio.models.registry import ModelOption, default_model, list_models

if TYPE_CHECKING:
    import httpx

    from flowstudio.config import Config

_QUESTION = "Answer with the word ok and nothing else."


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found."""

    options: tuple[ModelOption, ...]
    default: str
    """The name of the model that is taken where none is named; empty where the one that is
    configured cannot be used."""
    problem: str
    """Why it cannot, as a sentence; empty where it can."""
    absent: Mapping[str, str]
    """The local servers that did not answer, each with its address."""


async def survey(
    config: Config,
    environ: Mapping[str, str] | None = None,
    *,
    patience: float = 1.0,
    servers: Mapping[str, str] | None = None,
) -> Survey:
    """Every model that could be chosen. Waits at most `patience` seconds for each server.

    No key is sent: whether a server answers is all that is asked.
    """
    servers = LOCAL_SERVERS if servers is None else servers
    listed = list_models(config, environ)
    silent, local = await asyncio.gather(
        _find_silent(listed, patience), discover_local(patience=patience, servers=servers)
    )
    # What is configured under another name is not listed twice.
    known = {(one.base_url, one.model) for one in listed}
    options = [
        replace(
            one,
            why_not=f"Its server does not answer: {one.base_url}. Start it, or check the "
            "provider's base_url.",
        )
        if one.usable and one.base_url in silent
        else one
        for one in listed
    ]
    rehearsal = options.pop()
    options += [one for one in local if (one.base_url, one.model) not in known]
    default, problem = "", ""
    try:
        default = default_model(config, environ).name
    except ModelError as error:
        problem = str(error)
    found = {one.base_url for one in local}
    return Survey(
        (*options, rehearsal),
        default,
        problem,
        {name: url for name, url in servers.items() if url not in found},
    )


async def _find_silent(options: Sequence[ModelOption], seconds: float) -> set[str]:
    """The addresses at which nobody answers, whatever they would say."""
    import httpx

    urls = {one.base_url for one in options if one.usable and one.base_url}
    async with httpx.AsyncClient(timeout=seconds) as client:
        answers = await asyncio.gather(*(_answers(client, url, seconds) for url in sorted(urls)))
    return {url for url, answered in zip(sorted(urls), answers, strict=True) if not answered}


async def _answers(client: httpx.AsyncClient, url: str, seconds: float) -> bool:
    import httpx

    try:
        async with asyncio.timeout(seconds):
            await client.get(f"{url.rstrip('/')}/models")
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError):
        return False
    return True


@dataclass(frozen=True, slots=True)
class Check:
    """What one tiny request to a model brought."""

    ok: bool
    said: str
    """The answer, or a sentence on what went wrong."""
    seconds: float
    input: int = 0
    output: int = 0
    cost: float | None = None


async def check_model(
    option: ModelOption, config: Config, environ: Mapping[str, str] | None = None
) -> Check:
    """Ask the model for one word. Never raises for a model that cannot be used."""
    import kosong
    from kosong.chat_provider import ChatProviderError
    from kosong.message import Message

    began = time.monotonic()
    try:
        llm = await build_model(option, config, environ=environ)
        result = await kosong.generate(
            llm.provider, "Be brief.", [], [Message(role="user", content=_QUESTION)]
        )
    except (ModelError, ChatProviderError) as error:
        return Check(False, explain_error(error), time.monotonic() - began)
    usage = result.usage
    return Check(
        True,
        result.message.extract_text().strip(),
        time.monotonic() - began,
        usage.input if usage else 0,
        usage.output if usage else 0,
        find_cost(usage, option.prices) if usage else None,
    )
