"""`flowstudio models`: which models can be used here, and why the others cannot."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING, Any

from flowstudio.cli.output import fail, print_json, say
from flowstudio.config import Config, load_config
from flowstudio.text import count, duration, shorten

if TYPE_CHECKING:
    from flowstudio.models.registry import ModelOption
    from flowstudio.models.survey import Survey

_SHOWN = 200
"""Characters of an answer that are shown."""


def show_models(args: argparse.Namespace) -> int:
    """`flowstudio models`"""
    loaded = load_config()
    for problem in loaded.problems:
        say(f"flowstudio: {problem}", file=sys.stderr)
    if args.check is not None:
        return asyncio.run(_check(args.check, loaded.config, as_json=args.json))
    from flowstudio.models.survey import survey

    found = asyncio.run(survey(loaded.config))
    if args.json:
        print_json(_survey_record(found), indent=2)
    else:
        _print_survey(found, loaded.config)
    return 0


async def _check(name: str, config: Config, *, as_json: bool) -> int:
    from flowstudio.models import ModelError, resolve_model
    from flowstudio.models.survey import check_model
    from flowstudio.run.usage import show_cost

    try:
        option = await resolve_model(config, name)
    except ModelError as error:
        return fail(str(error), "")
    check = await check_model(option, config)
    if as_json:
        print_json(
            {
                "model": option.name,
                "ok": check.ok,
                "said": check.said,
                "seconds": round(check.seconds, 3),
                "input": check.input,
                "output": check.output,
                "cost": check.cost,
            }
        )
        return 0 if check.ok else 1
    if not check.ok:
        say(f"✗ {option.name}: {check.said}")
        return 1
    cost = "" if check.cost is None else f", {show_cost(check.cost, config.currency)}"
    said = shorten(check.said, _SHOWN)
    say(f"✓ {option.name} answered “{said}” in {duration(check.seconds)}")
    say(f"  {check.input} tokens in, {check.output} out{cost}")
    return 0


def _print_survey(found: Survey, config: Config) -> None:
    width = max(len(one.name) for one in found.options)
    for one in found.options:
        mark = "✓" if one.usable else "✗"
        star = "*" if one.name == found.default else " "
        line = f"{star}{mark} {one.name:<{width}}"
        say(f"{line}  {_describe(one, config) if one.usable else one.why_not}".rstrip())
    say()
    for name, url in found.absent.items():
        say(f"   {name}: no server answers at {url}")
    if found.problem:
        say(f"   {found.problem}")
    elif found.default:
        say(f" * is used where no model is named: {found.default}")


def _describe(option: ModelOption, config: Config) -> str:
    """Window, capabilities, how branches are held to, and prices."""
    from flowstudio.models.choices import find_means

    parts = [f"{count(option.context_size)} tokens"] if option.context_size else []
    if option.provider != "rehearsal":
        parts.append(" ".join(sorted(option.capabilities)) or "text only")
    if means := find_means(option):
        parts.append(f"choices by {means}")
    if prices := option.prices:
        money = config.currency
        parts.append(f"{money}{prices.input:g} in, {money}{prices.output:g} out per million")
    if option.provider == "rehearsal":
        parts.append("no model: you pick each branch, or a script or a seed does")
    return ", ".join(parts)


def _survey_record(found: Survey) -> dict[str, Any]:
    from flowstudio.models.choices import find_means

    return {
        "default": found.default or None,
        "problem": found.problem or None,
        "models": [
            {
                "name": one.name,
                "usable": one.usable,
                "why_not": one.why_not or None,
                "provider": one.provider,
                "model": one.model,
                "base_url": one.base_url,
                "path": str(one.path) if one.path else None,
                "key_env": one.key_env,
                "context_size": one.context_size,
                "capabilities": sorted(one.capabilities),
                "choices": find_means(one) or "text",
                "prices": one.prices.model_dump() if one.prices else None,
            }
            for one in found.options
        ],
        "absent": dict(found.absent),
    }
