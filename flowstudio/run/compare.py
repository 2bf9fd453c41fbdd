"""Two runs beside each other: where they first differ, in path, prompts and answers."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from flowstudio.run.state import RunState, Visit
from flowstudio.wire import Event

type Aspect = Literal["path", "prompt", "answer"]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place at which two runs differ in one aspect."""

    aspect: Aspect
    move: int
    """Counted from 1 for BEGIN."""
    node: str | None
    """The node that both visit there; None where the path differs."""
    visit: int | None
    one: str | None
    """What the first run has there; None where it is over."""
    other: str | None

    @property
    def diff(self) -> list[str]:
        """Both texts as a unified diff."""
        return list(
            difflib.unified_diff(
                (self.one or "").splitlines(), (self.other or "").splitlines(), lineterm="", n=2
            )
        )[2:]

    def to_json(self) -> dict[str, Any]:
        """As one JSON object."""
        return {
            "aspect": self.aspect,
            "move": self.move,
            "node": self.node,
            "visit": self.visit,
            "one": self.one,
            "other": self.other,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two runs have in common, and where they part."""

    common: int
    """Visits from BEGIN on that are the same in all aspects."""
    moves: tuple[int, int]
    """How many nodes each entered."""
    ends: tuple[str, str]
    """How each stands: the reason of its end, or its phase."""
    differences: tuple[Difference, ...]
    """The first one of each aspect, in the order of their moves."""

    @property
    def is_same(self) -> bool:
        """True where both took the same path with the same words."""
        return not self.differences

    def to_json(self) -> dict[str, Any]:
        """As one JSON object."""
        return {
            "same": self.is_same,
            "common": self.common,
            "moves": list(self.moves),
            "ends": list(self.ends),
            "differences": [one.to_json() for one in self.differences],
        }


def compare_runs(one: Iterable[Event], other: Iterable[Event]) -> Comparison:
    """Compare two runs by their events. Behind the first different node nothing is compared."""
    states = (_fold(one), _fold(other))
    first, second = states[0].visits, states[1].visits
    found: dict[Aspect, Difference] = {}
    common: int | None = None
    for index in range(max(len(first), len(second))):
        ours, theirs = _at(first, index), _at(second, index)
        move = index + 1
        if ours is None or theirs is None or ours.node != theirs.node:
            names = (ours and ours.node, theirs and theirs.node)
            found["path"] = Difference("path", move, None, None, *names)
            common = index if common is None else common
            break
        pairs: tuple[tuple[Aspect, str | None, str | None], ...] = (
            ("prompt", ours.prompt, theirs.prompt),
            ("answer", ours.answer, theirs.answer),
        )
        for aspect, left, right in pairs:
            if left == right:
                continue
            common = index if common is None else common
            if aspect not in found:
                found[aspect] = Difference(aspect, move, ours.node, ours.visit, left, right)
    order = sorted(found.values(), key=lambda one: (one.move, one.aspect != "prompt"))
    return Comparison(
        len(first) if common is None else common,
        (len(first), len(second)),
        (states[0].reason or states[0].phase, states[1].reason or states[1].phase),
        tuple(order),
    )


def _at(visits: Sequence[Visit], index: int) -> Visit | None:
    return visits[index] if index < len(visits) else None


def _fold(events: Iterable[Event]) -> RunState:
    state = RunState()
    for event in events:
        state.apply(event)
    return state
