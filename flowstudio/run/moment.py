"""A run as it stood at one of its visits: what the timeline shows of an earlier moment."""

from __future__ import annotations

from dataclasses import replace

from flowstudio.run.state import RunState

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
    for one in run.visits[:number]:
        if not one.is_done:
            continue
        state.done[one.node] += 1
        state.usage += one.usage
        state.tokens += one.tokens
        if one.to is not None:
            key = (one.node, one.to, one.branch)
            state.taken[key] += 1
            if one.forced:
                state.forced.add(key)
    state.usage += visit.usage
    return state


__all__ = ["LOOKING_BACK", "state_at"]
