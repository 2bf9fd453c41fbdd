"""What calls to a model cost, from the prices in the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kosong.chat_provider import TokenUsage

    from flowstudio.config import PriceSettings

_MILLION = 1_000_000


def find_cost(usage: TokenUsage, prices: PriceSettings | None) -> float | None:
    """What a call cost, in the currency of its prices; None where no prices are known.

    Tokens that the server took from its cache cost `prices.cached`; those that it wrote there cost
    what input costs.
    """
    if prices is None:
        return None
    cached = prices.input if prices.cached is None else prices.cached
    full = usage.input_other + usage.input_cache_creation
    return (
        full * prices.input + usage.input_cache_read * cached + usage.output * prices.output
    ) / _MILLION
