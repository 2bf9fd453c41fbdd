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
"""Questions and requests are over: nobody can answer them any more."""
_VISITS = 12


def retell(events: Sequence[Event]) -> list[Event]:
    """The events of the last visits that are done, in their order."""
    ends = [place for place, event in enumerate(events) if isinstance(event.body, NodeLeft)]
    if not ends:
        return []
    begin = 0
    if len(ends) > _VISITS:
        begin = ends[-_VISITS - 1] + 1
    return [event for event in events[begin : ends[-1] + 1] if isinstance(event.body, _TOLD)]
