"""Events of the wire as updates of an ACP session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from acp import (
    plan_entry,
    start_tool_call,
    text_block,
    tool_content,
    update_agent_message_text,
    update_agent_thought_text,
    update_plan,
    update_tool_call,
)
from acp.schema import PlanEntryStatus, ToolKind

from flowstudio.flow import Flow
from flowstudio.run.called_lines import describe_called
from flowstudio.text import duration, first_line, harmless, shorten
from flowstudio.wire import (
    CalledFlowSaid,
    ChoiceMade,
    ChoiceRejected,
    Event,
    FlowReloaded,
    NodeEntered,
    NodeLeft,
    Notice,
    Retried,
    RunEnded,
    RunStarted,
    StepInterrupted,
    Text,
    Thinking,
    ToolCalled,
    ToolReturned,
)

type Update = Any
"""One of the protocol's session updates."""

_KINDS: dict[str, ToolKind] = {
    "ReadFile": "read",
    "WriteFile": "edit",
    "StrReplaceFile": "edit",
    "Glob": "search",
    "Grep": "search",
    "Shell": "execute",
    "Think": "think",
    "SetTodoList": "think",
}
_TITLE = 100


class Translator:
    """Gives the updates of one session's events, in order."""

    def __init__(self, find_flow: Callable[[], Flow | None]) -> None:
        """`find_flow` gives the flow that is run, None while none is."""
        self._find_flow = find_flow
        self._status: dict[str, PlanEntryStatus] = {}
        self._calls: dict[str, str] = {}
        self._count = 0

    def call_id(self, id: str) -> str:
        """The id, unique in the session, of the last tool call that the model called `id`."""
        return self._calls.get(id, id)

    @property
    def last_call(self) -> str:
        """The id of the tool call that was begun last."""
        return next(reversed(self._calls.values()), "call")

    def read(self, event: Event) -> Iterator[Update]:
        """The updates that say what the event says; most events need none."""
        match event.body:
            case Text(text=text):
                yield update_agent_message_text(text)
            case Thinking(text=text):
                yield update_agent_thought_text(text)
            case ToolCalled() as called:
                yield self._begin(called)
            case ToolReturned() as returned:
                yield update_tool_call(
                    self.call_id(returned.id),
                    status="completed" if returned.ok else "failed",
                    content=[tool_content(text_block(harmless(returned.output)))],
                )
            case Notice(text=text):
                yield _line(text)
            case CalledFlowSaid() as said if line := describe_called(said):
                yield _line(line)
            case Retried(reason=reason, wait=wait):
                yield _line(f"↻ {reason} Trying again in {duration(wait)}.")
            case StepInterrupted(reason=reason):
                yield _line(f"✗ {reason}")
            case RunStarted() | FlowReloaded():
                self._status = {} if isinstance(event.body, RunStarted) else self._status
                yield from self._plan()
            case NodeEntered(kind=kind, label=label):
                yield from self._mark(event.node, "in_progress")
                if kind in ("task", "decision"):
                    yield _line(f"▸ {shorten(first_line(label), _TITLE)}")
            case NodeLeft():
                yield from self._mark(event.node, "completed")
            case ChoiceRejected(got=got, branches=branches):
                what = "no choice" if got is None else f"“{got}” is no branch"
                yield _line(f"↻ {what}; asked again for one of: {', '.join(branches)}")
            case ChoiceMade(branch=branch, by=by):
                yield _line(f"→ {branch} ({by})")
            case RunEnded(reason=reason, message=message, moves=moves):
                sign = "✓" if reason == "reached_end" else "✗"
                yield _line(f"{sign} {message}, after {moves} moves")
            case _:
                pass

    def _begin(self, called: ToolCalled) -> Update:
        self._count += 1
        # Models number their calls anew in each answer.
        self._calls[called.id] = f"{self._count}-{called.id}"
        return start_tool_call(
            self._calls[called.id],
            shorten(harmless(f"{called.name} {called.arguments}"), _TITLE),
            kind=_KINDS.get(called.name, "other"),
            status="in_progress",
            raw_input={"arguments": called.arguments},
        )

    def _mark(self, node: str | None, status: PlanEntryStatus) -> Iterator[Update]:
        if node is not None:
            self._status[node] = status
            yield from self._plan()

    def _plan(self) -> Iterator[Update]:
        """The flow as a plan: its nodes in the order in which they are written."""
        flow = self._find_flow()
        if flow is None:
            return
        yield update_plan(
            plan_entry(
                shorten(first_line(harmless(node.text)), _TITLE),
                status=self._status.get(node.id, "pending"),
            )
            for node in flow.nodes.values()
            if node.kind in ("task", "decision")
        )


def _line(text: str) -> Update:
    """Words of the program's own, apart from the model's."""
    return update_agent_message_text(f"\n\n{harmless(text)}\n\n")
