"""Breakpoints as values: where the run is held, before or after a node, and on what condition.

before                          each time the run comes to the node
after                           when it is answered, before the run moves on
visit >= 3                      before its third visit and each later one
after tokens > 20k              when it is answered and more was spent
choice = No                     after it, for a choice and an answer are known only then
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from flowstudio.run.conditions import (
    Condition,
    ConditionError,
    Facts,
    format_conditions,
    parse_conditions,
    why_all,
)

type Moment = Literal["before", "after"]

_MOMENT = re.compile(r"\s*(before|after)(?=\s|$)", re.IGNORECASE)
_FILLER = re.compile(r"\s*(if|when)(?=\s|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """One breakpoint. All of its conditions must hold; without any it always holds the run."""

    node: str
    when: Moment = "before"
    conditions: tuple[Condition, ...] = ()

    @property
    def text(self) -> str:
        """When and on what condition, as it is typed: `after choice = No`."""
        return f"{self.when} {format_conditions(self.conditions)}".rstrip()

    def why(self, facts: Facts) -> str | None:
        """A sentence that says why it holds the run; None where it does not."""
        clause = why_all(self.conditions, facts)
        if clause is None:
            return None
        head = f"breakpoint {self.when} “{self.node}”"
        return f"{head}: {clause}" if clause else head


def parse_breakpoint(node: str, text: str) -> Breakpoint:
    """The breakpoint at `node` that a line describes: `[before|after] [condition [and …]]`.

    Raises:
        ConditionError: it cannot be read; the message says what is wrong and at which column.
    """
    moment = _MOMENT.match(text)
    at = moment.end() if moment else 0
    if filler := _FILLER.match(text, at):
        at = filler.end()
    conditions = parse_conditions(text[at:], offset=at)
    late = next((one for one in conditions if one.needs_answer), None)
    if moment is None:
        return Breakpoint(node, "after" if late else "before", conditions)
    when: Moment = "after" if moment[1].lower() == "after" else "before"
    if when == "before" and late is not None:
        what = f"“{late.field}” is known only after the node; write “after” instead of “before”"
        raise ConditionError(what, moment.start(1) + 1)
    return Breakpoint(node, when, conditions)


def parse_break_option(text: str, nodes: Iterable[str]) -> Breakpoint:
    """The breakpoint of a command line: `NODE [before|after] [condition]`.

    Raises:
        ConditionError: no such node, or the rest cannot be read.
    """
    known = list(nodes)
    fitting = [n for n in known if text == n or (text.startswith(n) and text[len(n)].isspace())]
    if not fitting:
        names = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
        first = text.split(maxsplit=1)[0] if text.strip() else ""
        raise ConditionError(f"the flow has no node “{first}”; it has {names}", 1)
    node = max(fitting, key=len)
    try:
        return parse_breakpoint(node, text[len(node) :])
    except ConditionError as error:
        message = str(error).split(": ", 1)[1]
        raise ConditionError(message, error.column + len(node)) from None


class Breakpoints:
    """The breakpoints of one flow: at most one before and one after each node.

    Behaves as a collection of node ids where only ids matter: `add("a")`, `"a" in points`.
    """

    def __init__(self, points: Iterable[Breakpoint | str] = ()) -> None:
        self._points: dict[tuple[str, Moment], Breakpoint] = {}
        self.on_change: Callable[[], object] | None = None
        """Called after each change: who keeps them writes them down."""
        for point in points:
            self._put(point)

    def add(self, point: Breakpoint | str) -> None:
        """Set a breakpoint, in place of one at the same node and moment; an id: before it."""
        self._put(point)
        self._tell()

    def discard(self, node: str, when: Moment | None = None) -> None:
        """Clear the breakpoints of a node, or the one of one moment."""
        for point in self.at(node):
            if when in (None, point.when):
                del self._points[node, point.when]
        self._tell()

    def clear(self) -> None:
        """Clear all."""
        self._points.clear()
        self._tell()

    def toggle(self, node: str) -> bool:
        """Clear the breakpoints of a node, or set one before it if there are none.

        True if one is set now.
        """
        if node in self:
            self.discard(node)
            return False
        self.add(node)
        return True

    def at(self, node: str) -> tuple[Breakpoint, ...]:
        """The breakpoints of a node, the one before it first."""
        moments: tuple[Moment, ...] = ("before", "after")
        return tuple(self._points[node, m] for m in moments if (node, m) in self._points)

    def why(self, node: str, when: Moment, facts: Callable[[], Facts]) -> str | None:
        """Why the run is to be held there, as a sentence; None if it is not."""
        point = self._points.get((node, when))
        return point.why(facts()) if point else None

    @property
    def nodes(self) -> frozenset[str]:
        """The nodes that have one."""
        return frozenset(node for node, _ in self._points)

    def __contains__(self, node: object) -> bool:
        return (node, "before") in self._points or (node, "after") in self._points

    def __iter__(self) -> Iterator[Breakpoint]:
        return iter(tuple(self._points.values()))

    def __len__(self) -> int:
        return len(self._points)

    def _put(self, point: Breakpoint | str) -> None:
        point = Breakpoint(point) if isinstance(point, str) else point
        self._points[point.node, point.when] = point

    def _tell(self) -> None:
        if self.on_change is not None:
            self.on_change()
