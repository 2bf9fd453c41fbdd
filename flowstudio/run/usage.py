"""What calls to a model used: tokens, seconds and, where prices are known, cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flowstudio.text import count, duration

if TYPE_CHECKING:
    from flowstudio.run.state import Visit
    from flowstudio.wire import TokensUsed


@dataclass(frozen=True, slots=True)
class Usage:
    """The sum of some calls; see `wire.TokensUsed` for the fields."""

    calls: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    seconds: float = 0.0
    """How long the model took; tools and waiting are not in it."""
    cost: float | None = None
    """In the configuration's currency; None where no call had a price."""

    @classmethod
    def of(cls, used: TokensUsed) -> Usage:
        """One call."""
        return cls(1, used.input, used.cached, used.output, used.seconds, used.cost)

    def __add__(self, other: Usage) -> Usage:
        if self.cost is None or other.cost is None:
            cost = self.cost if other.cost is None else other.cost
        else:
            cost = self.cost + other.cost
        return Usage(
            self.calls + other.calls,
            self.input + other.input,
            self.cached + other.cached,
            self.output + other.output,
            self.seconds + other.seconds,
            cost,
        )

    def __sub__(self, other: Usage) -> Usage:
        """What came since `other`, an earlier sum of the same calls."""
        return Usage(
            self.calls - other.calls,
            self.input - other.input,
            self.cached - other.cached,
            self.output - other.output,
            self.seconds - other.seconds,
            None if self.cost is None else self.cost - (other.cost or 0.0),
        )

    @property
    def tokens(self) -> int:
        """Sent and received."""
        return self.input + self.output

    def describe(self, currency: str = "$") -> str:
        """For people: `12.3k tokens in (4.0k cached), 850 out, model 4.2 s, $0.0123`."""
        cached = f" ({count(self.cached)} cached)" if self.cached else ""
        parts = [
            f"{count(self.input)} tokens in{cached}",
            f"{count(self.output)} out",
            f"model {duration(self.seconds)}",
        ]
        if self.cost is not None:
            parts.append(show_cost(self.cost, currency))
        return ", ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "calls": self.calls,
            "input": self.input,
            "cached": self.cached,
            "output": self.output,
            "seconds": round(self.seconds, 3),
            "cost": None if self.cost is None else round(self.cost, 9),
        }


def add_up(parts: Sequence[Usage]) -> Usage:
    """The sum of many, in one go: a run may have ten thousand visits."""
    costs = [one.cost for one in parts if one.cost is not None]
    return Usage(
        sum(one.calls for one in parts),
        sum(one.input for one in parts),
        sum(one.cached for one in parts),
        sum(one.output for one in parts),
        sum(one.seconds for one in parts),
        sum(costs) if costs else None,
    )


def show_cost(cost: float, currency: str) -> str:
    """A cost with as many digits as it takes to see that it is not nothing."""
    if cost >= 1 or cost == 0:
        return f"{currency}{cost:.2f}"
    digits = max(4, 1 - math.floor(math.log10(cost)))
    return f"{currency}{cost:.{digits}f}"


def usage_by_node(visits: Iterable[Visit]) -> dict[str, Usage]:
    """What each node used in all its visits, in the order in which they were first entered."""
    found: dict[str, Usage] = {}
    for visit in visits:
        found[visit.node] = found.get(visit.node, Usage()) + visit.usage
    return found
