"""A small model of hot reload: what the five rules promise, for one flow and one stepped run.

It knows no screen, no file and no runner: only what was done, and what must be so after it. The
flow is BEGIN, a task that may be missing, a decision that leads to END or to a second task, which
may be missing too, and back.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Literal

type Key = Literal["a", "q", "m"]
"""Which node is meant, whatever it is called: first task, decision, second task."""
type Stand = Literal["none", "before", "asked", "answered", "unchosen", "gone"]
"""Where the run is: nowhere; held before its node; its node is in flight; its answer is shown; its
branch is no longer there; its node is no longer there."""
type Fault = Literal["first", "second"]

_HEAD = """---
name: demo
description: A flow that is edited all the time{dots}
type: flow
---

```mermaid
flowchart TD
"""


@dataclass(frozen=True, slots=True)
class Chart:
    """A file that can be read: what its flow is."""

    a: str | None = "a"
    q: str = "q"
    m: str | None = "m"
    words: int = 1
    marks: str = ""
    """What the decision's question ends with."""
    dots: str = "."
    yes: str = "yes"

    @property
    def ids(self) -> dict[str, Key]:
        """The ids of its nodes, and which each is; BEGIN and END aside."""
        named: list[tuple[str | None, Key]] = [(self.a, "a"), (self.q, "q"), (self.m, "m")]
        return {name: key for name, key in named if name is not None}

    def label(self, node: str) -> str:
        """What is asked at a node."""
        match self.ids[node]:
            case "a":
                return f"Alpha {self.words}"
            case "q":
                return f"Good {self.words}{self.marks}"
            case "m":
                return f"Mend {self.words}"

    @property
    def first(self) -> str:
        """The node behind BEGIN."""
        return self.a or self.q

    def exits(self, node: str) -> dict[str | None, str]:
        """Branch and target of each exit of a node."""
        if node == self.q:
            return {self.yes: "END", "no": self.m or self.first}
        return {None: self.q}

    @property
    def lines(self) -> list[str]:
        """The chart, a line each."""
        lines = ["BEGIN([BEGIN])", f"{self.q}{{{self.label(self.q)}}}", "END([END])"]
        if self.a:
            lines += [f"{self.a}[{self.label(self.a)}]", f"{self.a} --> {self.q}"]
        if self.m:
            lines += [f"{self.m}[{self.label(self.m)}]", f"{self.m} --> {self.q}"]
        lines += [f"BEGIN --> {self.first}"]
        lines += [f"{self.q} -->|{label}| {dst}" for label, dst in self.exits(self.q).items()]
        return lines

    @property
    def text(self) -> str:
        """The file."""
        return "".join([_HEAD.format(dots=self.dots), *(f"{one}\n" for one in self.lines), "```\n"])

    def broken(self, fault: Fault) -> tuple[str, int]:
        """The file with a fault in it, and the fault's line."""
        lines, head = self.lines, _HEAD.format(dots=self.dots).count("\n")
        at = 0 if fault == "first" else len(lines)
        lines.insert(at, "oops[never closed")
        text = "".join([_HEAD.format(dots=self.dots), *(f"{one}\n" for one in lines), "```\n"])
        return text, head + at + 1


@dataclass(slots=True)
class Model:
    """What must be so."""

    chart: Chart = field(default_factory=Chart)
    """The last good state of the file: what is drawn, and what the run follows."""
    fault: int | None = None
    """The line of the fault, where the file is broken."""
    is_there: bool = True
    stand: Stand = "none"
    at: str | None = None
    branch: str | None = None
    waits: Stand = "none"
    """Where its node is gone: where the run was when that was found out."""
    by_hand: str | None = None
    """The branch that waits to be taken by hand."""
    asked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """The node and the words of each prompt, all runs together."""
    reloads: int = 0
    entered: list[str] = field(default_factory=list[str])
    """The way of the run, by the ids that the nodes had then."""
    left: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    """Which revision each visit used, by the id that the node had when it was entered."""
    done: Counter[str] = field(default_factory=Counter[str])
    taken: Counter[tuple[str, str, str | None]] = field(
        default_factory=Counter[tuple[str, str, str | None]]
    )
    forced: set[tuple[str, str, str | None]] = field(
        default_factory=set[tuple[str, str, str | None]]
    )
    revision: int = 1
    """The revision that the visit uses."""

    # The file

    def save(self, chart: Chart) -> None:
        """The file is good, and like this: rules 1 and 3."""
        if self.stand != "none" and chart != self.chart:
            self.reloads += 1
        self.chart, self.fault, self.is_there = chart, None, True

    def spoil(self, line: int) -> None:
        """The file is broken: rule 1. Neither the picture nor the run change."""
        self.fault, self.is_there = line, True

    def delete(self) -> None:
        """The file is gone: rule 5."""
        self.fault, self.is_there = None, False

    def rename(self, old: str, new: str) -> None:
        """A node has another id, and is the same node."""

        def now(node: str) -> str:
            return new if node == old else node

        match self.chart.ids[old]:
            case "a":
                self.save(replace(self.chart, a=new))
            case "q":
                self.save(replace(self.chart, q=new))
            case "m":
                self.save(replace(self.chart, m=new))
        self.at = self.at and now(self.at)
        self.done = Counter({now(node): times for node, times in self.done.items()})
        self.taken = Counter({(now(a), now(b), c): n for (a, b, c), n in self.taken.items()})
        self.forced = {(now(a), now(b), c) for a, b, c in self.forced}

    # The run

    def begin(self) -> None:
        """A run begins, and is held before its first prompt."""
        self.done, self.taken, self.forced = Counter(), Counter(), set()
        self.reloads, self.revision, self.entered, self.left = 0, 1, ["BEGIN"], []
        self.at, self.by_hand = "BEGIN", None
        self._go(None, self.chart.first)

    def _go(
        self, branch: str | None, to: str, *, by_hand: bool = False, skipped: bool = False
    ) -> None:
        """Leave the node where the run stands; nothing was done there where it was skipped."""
        assert self.at is not None
        self.left.append((self.entered[-1], self.revision))
        if not skipped:
            self.done[self.at] += 1
        self.taken[self.at, to, branch] += 1
        if by_hand:
            self.forced.add((self.at, to, branch))
        self.at, self.branch, self.by_hand = to, None, None
        self.entered.append(to)
        self.revision = self.reloads + 1
        self.stand = "before"
        if to == "END":
            self.left.append((to, self.revision))
            self.done[to] += 1
            self.stand = "none"

    def step(self) -> None:
        """`n`, where the run is held."""
        assert self.at is not None
        stand = self.waits if self.stand == "gone" else self.stand
        if self.at not in self.chart.ids:
            self.stand, self.waits = "gone", stand
        elif stand == "answered":
            self._take(self.branch)
        elif stand == "asked":
            self.answer(self.branch)
        else:
            self._ask()

    def _ask(self) -> None:
        assert self.at is not None
        self.stand, self.revision = "asked", self.reloads + 1
        self.asked.append((self.at, self.chart.label(self.at)))

    def _take(self, branch: str | None, *, by_hand: bool = False) -> None:
        assert self.at is not None
        exits = self.chart.exits(self.at)
        if branch in exits:
            self._go(branch, exits[branch], by_hand=by_hand)
        else:
            self.stand, self.by_hand = "unchosen", None

    def force(self, number: int) -> None:
        """A branch is taken by hand: before it is asked, while it is, or after it answered."""
        assert self.at is not None
        branch = list(self.chart.exits(self.at))[number - 1]
        if self.stand == "asked":
            self.by_hand = branch
        elif self.stand in ("before", "unchosen"):
            self.revision = self.reloads + 1
            self._take(branch, by_hand=True)
        else:
            self._take(branch, by_hand=branch != self.branch)

    def answer(self, branch: str | None) -> None:
        """What was in flight is done; rule 2: it was asked in the words that it began with."""
        assert self.at is not None
        if self.at not in self.chart.ids:
            self.branch, self.stand, self.waits = branch, "gone", "asked"
        elif branch is None:
            self._go(None, self.chart.exits(self.at)[None])
        elif self.by_hand is not None and self.by_hand != branch:
            self._take(self.by_hand, by_hand=True)
        else:
            self.branch, self.stand, self.by_hand = branch, "answered", None

    def jump(self, node: str) -> None:
        """Where its node is gone, the run goes on from another."""
        self._go(None, node, skipped=self.waits == "before")
