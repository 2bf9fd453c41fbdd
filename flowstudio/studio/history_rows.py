"""The runs of the history in their order: forks below their parents, filtered by what is typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowstudio.run.history import RunSummary

_DEEPEST = 6
"""Forks of forks further down are no longer indented."""


@dataclass(frozen=True, slots=True)
class Row:
    """One run in the list."""

    run: RunSummary
    depth: int = 0
    """How many parents of it are in the list."""
    is_last: bool = True
    """True for the last fork of its parent."""

    @property
    def branch(self) -> str:
        """The part of the tree before its name: `└ ` for a fork."""
        if not self.depth:
            return ""
        return "  " * (min(self.depth, _DEEPEST) - 1) + ("└ " if self.is_last else "├ ")

    @property
    def fork(self) -> str:
        """Where it parted from its parent: `@7`; empty for a run that is no fork."""
        header = self.run.header
        return f"@{header.parent_move}" if header and header.parent else ""


def arrange(runs: Sequence[RunSummary], wanted: str = "") -> list[Row]:
    """The runs that match, latest first, each followed by its forks."""
    words = wanted.casefold().split()
    found = [run for run in runs if all(word in _words(run) for word in words)]
    known = {run.id for run in found}
    forks: dict[str, list[RunSummary]] = {}
    tops: list[RunSummary] = []
    for run in found:
        parent = run.header.parent if run.header else None
        if parent is not None and parent in known and parent != run.id:
            forks.setdefault(parent, []).append(run)
        else:
            tops.append(run)
    rows: list[Row] = []
    waiting = [Row(run) for run in reversed(tops)]
    while waiting:
        row = waiting.pop()
        rows.append(row)
        children = forks.pop(row.run.id, [])
        for place, child in enumerate(reversed(children)):
            waiting.append(Row(child, row.depth + 1, is_last=place == 0))
    # Runs that name each other as parents, which only a hand-made folder does, come last.
    rows += [Row(run) for group in forks.values() for run in group]
    return rows


def _words(run: RunSummary) -> str:
    header = run.header
    parts = [run.id, run.standing, run.reason.replace("_", " "), run.reason, run.at or ""]
    if header is not None:
        parts += [header.flow, header.model, header.input]
    return "\n".join(parts).casefold()


def when(moment: float, now: float) -> str:
    """When something was, for people: `just now`, `5 min ago`, `today 09:12`, `3 Nov 09:12`."""
    age = now - moment
    if age < 60:
        return "just now"
    if age < 3600:
        return f"{int(age // 60)} min ago"
    then, today = datetime.fromtimestamp(moment), datetime.fromtimestamp(now)
    if then.date() == today.date():
        return f"today {then:%H:%M}"
    if then.year == today.year:
        return f"{then.day} {then:%b %H:%M}"
    return f"{then:%Y-%m-%d}"
