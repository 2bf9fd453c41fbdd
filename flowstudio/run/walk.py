"""Where a run stands, and the two ways in which a walk leaves its course."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from flowstudio.run.conditions import Facts
from flowstudio.run.start import Start
from flowstudio.run.visit import Answer, RunnableSoul
from flowstudio.wire import Author, EndReason


class Ended(Exception):
    """Unwinds the walk when the run is over."""

    def __init__(self, reason: EndReason, message: str) -> None:
        super().__init__(message)
        self.reason: EndReason = reason
        self.message = message


class Jumped(Exception):
    """Unwinds a visit when the user wants to go on from another node."""

    def __init__(self, node: str, by: Author = "user") -> None:
        super().__init__(node)
        self.node = node
        self.by: Author = by


class Left(Exception):
    """Unwinds a visit that is over and acknowledged already; the run goes on at `to`."""

    def __init__(self, to: str) -> None:
        super().__init__(to)
        self.to = to


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
    spent: int = 0
    """Tokens that the answers of all visits took."""
    partial: str | None = None
    """What had come of the visit's answer when a command cut it; None where none was cut."""
    has_asked: bool = False
    """The turn that was last asked for began; a command may come before it does."""
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

    def take_up(self, start: Start) -> None:
        """Stand where an earlier run was left."""
        self.current, self.path = start.node, list(start.path)
        self.visits.update(start.path)
        self.spent, self.request_waits = start.spent, self.request_waits and start.request_waits
        # The move to the next node was made already.
        self.bound = len(self.path) + start.moves_left

    def enter(self, node: str, revision: int, now: float) -> None:
        """Begin a visit."""
        self.visits[node] += 1
        self.path.append(node)
        self.revision = revision
        self.own_prompt = self.partial = None
        self.since = now

    def rename(self, old: str, new: str) -> None:
        """A node has another id from now on; its visits are counted on."""
        if old in self.visits:
            self.visits[new] += self.visits.pop(old)
        self.current = new if self.current == old else self.current

    def facts(self, answer: Answer | None = None) -> Facts:
        """What breakpoints are held against, before the visit's answer or with it."""
        if answer is None:
            return Facts(self.visit, self.spent)
        return Facts(self.visit, self.spent, answer.branch, answer.text)
