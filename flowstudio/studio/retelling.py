"""What the chat shows of a run's past when it goes on: its last visits, without what was asked."""

from __future__ import annotations

from collections.abc import Sequence

from flowstudio.wire import (
    ChoiceMade,
    ChoiceRejected,
    Event,
    NodeEntered,
    NodeLeft,
    PromptSent,
    RunStarted,
    Text,
    Thinking,
    ToolCalled,
    ToolReturned,
)

_TOLD = (
    RunStarted,
    NodeEntered,
    PromptSent,
    Text,
    Thinking,
    ToolCalled,
    ToolReturned,
    ChoiceRejected,
    ChoiceMade,
    NodeLeft,
)
"""Of what is done: its questions and requests are over, nobody can answer them any more."""
_VISITS = 12


def retell(events: Sequence[Event], *, is_on: bool = False) -> list[Event]:
    """The events of the last visits that are done, in their order.

    Of a run that is on elsewhere the visit in flight too, with what it waits for; one that is
    resumed begins that visit again.
    """
    ends = [place for place, event in enumerate(events) if isinstance(event.body, NodeLeft)]
    begin = ends[-_VISITS - 1] + 1 if len(ends) > _VISITS else 0
    done = ends[-1] + 1 if ends else 0
    told = [event for event in events[begin:done] if isinstance(event.body, _TOLD)]
    return [*told, *events[done:]] if is_on else told
