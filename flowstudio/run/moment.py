"""A run as it stood at one of its visits: what the timeline shows of an earlier moment."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from flowstudio.run.state import RunState
from flowstudio.run.usage import add_up

LOOKING_BACK = "looking_back"
"""The reason that such a state gives for standing still; no run says it."""


def state_at(run: RunState, index: int) -> RunState:
    """The run as it stood at `run.visits[index]`, with that visit's own prompt, answer and branch.

    What happened later is not in it; the run itself is left as it is.

    Raises:
        IndexError: the run has no such visit.
    """
    visit = run.visits[index]
    number = index if index >= 0 else len(run.visits) + index
    state = RunState(
        phase="paused",
        flow=run.flow,
        model=run.model,
        why=f"as it was at visit {visit.visit} of “{visit.node}”",
        reason=LOOKING_BACK,
        current=visit.node,
        visits=[*run.visits[:number], replace(visit)],
        started=run.started,
        ended=visit.started + (visit.seconds or 0.0),
    )
    past = [one for one in run.visits[:number] if one.is_done]
    moves = [(one.node, one.to, one.branch) for one in past if one.to is not None]
    state.done = Counter(one.node for one in past if not one.skipped)
    state.tokens = sum(one.tokens for one in past)
    state.taken = Counter(moves)
    state.forced = {
        (one.node, one.to, one.branch) for one in past if one.forced and one.to is not None
    }
    state.usage = add_up([*(one.usage for one in past), visit.usage])
    return state


__all__ = ["LOOKING_BACK", "state_at"]
