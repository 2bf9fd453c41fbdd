"""Where a run stands, and the two ways in which a walk leaves its course."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from flowstudio.run.visit import RunnableSoul
from flowstudio.wire import EndReason


class Ended(Exception):
    """Unwinds the walk when the run is over."""

    def __init__(self, reason: EndReason, message: str) -> None:
        super().__init__(message)
        self.reason: EndReason = reason
        self.message = message


class Jumped(Exception):
    """Unwinds a visit when the user wants to go on from another node."""

    def __init__(self, node: str) -> None:
        super().__init__(node)
        self.node = node


@dataclass(slots=True)
class Walk:
    """Where a run stands."""

    soul: RunnableSoul
    text: str
    """The flow's input."""
    request_waits: bool
    """The input still has to go before a prompt."""
    current: str
    """The node that the run stands on."""
    bound: int
    """Moves that may be made; more are offered where somebody is there to ask."""
    visits: Counter[str] = field(default_factory=Counter[str])
    path: list[str] = field(default_factory=list[str])
    revision: int = 1
    """The flow's revision that the visit uses."""
    own_prompt: str | None = None
    """What the user wrote in place of the label, for the visit that is on."""
    since: float = 0.0
    """When the visit began, on the monotonic clock; moved forward by the time it was held."""

    @property
    def visit(self) -> int:
        """How often the current node was entered."""
        return self.visits[self.current]

    @property
    def moves(self) -> int:
        """How many edges were followed."""
        return max(len(self.path) - 1, 0)

    def enter(self, node: str, revision: int, now: float) -> None:
        """Begin a visit."""
        self.visits[node] += 1
        self.path.append(node)
        self.revision = revision
        self.own_prompt = None
        self.since = now
