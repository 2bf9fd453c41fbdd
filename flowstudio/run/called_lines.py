"""What a called flow says, as lines for people: under the tool call that runs it."""

from __future__ import annotations

from flowstudio.text import first_line, shorten
from flowstudio.wire import (
    CalledFlowSaid,
    ChoiceMade,
    ChoiceRejected,
    NodeEntered,
    RunEnded,
    RunStarted,
)


def describe_called(said: CalledFlowSaid) -> str:
    """What a called flow says, as a line for people; empty where it is nothing to tell."""
    where = f"{'  ' * (said.depth - 1)}{said.flow}"
    try:
        body = said.body
    except ValueError:  # a newer program wrote it
        return ""
    match body:
        case RunStarted():
            return f"{where} ▸ begins"
        case NodeEntered(kind="task" | "decision", label=label):
            visit = f" (visit {said.at_visit})" if (said.at_visit or 1) > 1 else ""
            return f"{where} ▸ {said.at}{visit}: {shorten(first_line(label), 60)}"
        case ChoiceRejected(got=got):
            what = "no choice" if got is None else f"“{shorten(got, 40)}” is no branch"
            return f"{where} ▸ {said.at}: {what}; asked again"
        case ChoiceMade(branch=branch):
            return f"{where} ▸ {said.at} → {branch}"
        case RunEnded(message=message, moves=moves):
            return f"{where} ▸ {message}, after {moves} moves"
        case _:
            return ""
