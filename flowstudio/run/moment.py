"""A run as it stood at one of its visits: what the timeline shows of an earlier moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from flowstudio.run.state import EdgeKey, RunState, Visit
from flowstudio.run.usage import Usage, add_up

LOOKING_BACK = "looking_back"
"""The reason that such a state gives for standing still; no run says it."""
_STRIDE = 1_000
"""Visits between the places whose sums are kept."""


@dataclass(slots=True)
class _Sums:
    """What visits come to that are done, or never will be."""

    done: Counter[str] = field(default_factory=Counter[str])
    taken: Counter[EdgeKey] = field(default_factory=Counter[EdgeKey])
    forced: set[EdgeKey] = field(default_factory=set[EdgeKey])
    tokens: int = 0
    usage: Usage = field(default_factory=Usage)

    def then(self, visits: Sequence[Visit]) -> _Sums:
        """These and the visits that follow; this one is left as it is."""
        past = [one for one in visits if one.is_done]
        moves = [(one.node, one.to, one.branch) for one in past if one.to is not None]
        sums = _Sums(self.done.copy(), self.taken.copy(), self.forced.copy())
        sums.done.update(one.node for one in past if not one.skipped)
        sums.taken.update(moves)
        sums.forced.update(
            (one.node, one.to, one.branch) for one in past if one.forced and one.to is not None
        )
        sums.tokens = self.tokens + sum(one.tokens for one in past)
        sums.usage = add_up([self.usage, *(one.usage for one in past)])
        return sums


class Moments:
    """The moments of one run, which may go on meanwhile; it is left as it is.

    The sums of every thousandth visit are kept, so that a step along ten thousand visits does not
    add all of them up.
    """

    def __init__(self, run: RunState) -> None:
        self.run = run
        self._sums = [_Sums()]
        self._renames = run.renames

    def at(self, index: int) -> RunState:
        """The run as it stood at `run.visits[index]`, with that visit's prompt, answer and branch.

        What happened later is not in it.

        Raises:
            IndexError: the run has no such visit.
        """
        run, visit = self.run, self.run.visits[index]
        number = index if index >= 0 else len(run.visits) + index
        before = self._before(number)
        return RunState(
            phase="paused",
            flow=run.flow,
            model=run.model,
            why=f"as it was at visit {visit.visit} of “{visit.node}”",
            reason=LOOKING_BACK,
            current=visit.node,
            visits=[*run.visits[:number], replace(visit)],
            taken=before.taken,
            forced=before.forced,
            done=before.done,
            tokens=before.tokens,
            usage=add_up([before.usage, visit.usage]),
            started=run.started,
            ended=visit.started + (visit.seconds or 0.0),
        )

    def _before(self, number: int) -> _Sums:
        """What the first visits come to. The one that may be in flight is the last of the run: it
        is never among them."""
        visits = self.run.visits
        if self._renames != self.run.renames:
            self._sums, self._renames = [_Sums()], self.run.renames
        while (end := len(self._sums) * _STRIDE) <= number:
            self._sums.append(self._sums[-1].then(visits[end - _STRIDE : end]))
        kept = number // _STRIDE
        return self._sums[kept].then(visits[kept * _STRIDE : number])


def state_at(run: RunState, index: int) -> RunState:
    """One moment of a run.

    Raises:
        IndexError: the run has no such visit.
    """
    return Moments(run).at(index)


__all__ = ["LOOKING_BACK", "Moments", "state_at"]
