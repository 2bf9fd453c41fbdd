"""What a called skill says goes on its caller's wire: its acts, and the nodes of a called flow.

Its words do not: they are for the caller, which has them as the tool's result.
"""

from __future__ import annotations

from dataclasses import replace

from flowstudio.soul.emit import emit_from_tool
from flowstudio.wire import (
    Body,
    CalledFlowSaid,
    ChoiceMade,
    ChoiceRejected,
    Compacted,
    Event,
    NodeEntered,
    NodeLeft,
    Notice,
    PromptSent,
    Retried,
    RunEnded,
    RunStarted,
    TokensUsed,
    ToolCalled,
    ToolReturned,
    Wire,
)


def forward(outer: Wire, call: str, skill: str) -> Wire:
    """A wire for a called skill; what is to be seen of it is said on the caller's.

    Args:
        call: tells this call apart from the others of the session.
        skill: the called skill's name.
    """
    inner = Wire(outer.run)

    def pass_on(event: Event) -> None:
        if (body := _seen(event, call, skill)) is not None:
            emit_from_tool(outer, body)

    inner.subscribe(pass_on)
    return inner


def _seen(event: Event, call: str, skill: str) -> Body | None:
    """What the caller's wire says for an event; None where it says nothing."""
    match event.body:
        case ToolCalled() as called:
            return replace(called, id=f"{call}/{called.id}")
        case ToolReturned() as returned:
            return replace(returned, id=f"{call}/{returned.id}")
        case TokensUsed() | Retried() | Notice() | Compacted():
            return event.body
        case CalledFlowSaid() as deeper:
            return replace(deeper, call=f"{call}/{deeper.call}", depth=deeper.depth + 1)
        case RunStarted() | RunEnded() | NodeEntered() | NodeLeft() | ChoiceMade():
            return CalledFlowSaid.of(event, call, skill)
        case ChoiceRejected() | PromptSent() if event.node is not None:
            return CalledFlowSaid.of(event, call, skill)
        case _:
            return None
