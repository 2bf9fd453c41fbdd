"""What happens between an answer with tool calls and the next one: the calls are made, in order.

kosong hands each call over while the answer still comes. The dispatcher only notes them, and runs
them one after the other when the answer is complete: an answer that breaks off and is asked for
again has then done nothing yet, and two commands in one answer run in the order in which the model
wrote them.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kosong.message import TextPart
from kosong.tooling import Tool, ToolError, ToolResult, ToolResultFuture, ToolReturnValue, Toolset

from flowstudio.soul.approval import ToolRejectedError
from flowstudio.soul.arguments import repair_call
from flowstudio.soul.emit import WireFailure
from flowstudio.soul.messages import TOOL_INTERRUPTED, as_parts, mend
from flowstudio.soul.rules import NO_RULES
from flowstudio.soul.secrets import Secrets
from flowstudio.soul.tools.ask_user import UnansweredError
from flowstudio.wire import ToolCalled, ToolReturned, Wire

if TYPE_CHECKING:
    from kosong.message import ToolCall

_SHOWN = 20_000
"""How many characters of a tool's output go over the wire."""


@dataclass(frozen=True, slots=True)
class _Noted:
    """A call that waits for its turn."""

    call: ToolCall
    written: str
    """The arguments as the model wrote them."""
    wrong: str | None
    future: ToolResultFuture


class Dispatcher:
    """kosong's `Toolset` around another one: notes calls, then runs them and says so on the
    wire."""

    def __init__(self, toolset: Toolset, wire: Wire, secrets: Secrets | None = None) -> None:
        self._toolset = toolset
        self._secrets = secrets or Secrets()
        self._wire = wire
        self._noted: list[_Noted] = []
        self._results: list[ToolResult] = []
        self.rules = NO_RULES
        """Which of the tools the present turn may use."""

    @property
    def tools(self) -> list[Tool]:
        """What the model is told of each tool."""
        return [tool for tool in self._toolset.tools if self.rules.allows(tool.name)]

    @property
    def calls(self) -> list[ToolCall]:
        """The calls of the present answer."""
        return [noted.call for noted in self._noted]

    @property
    def results(self) -> list[ToolResult]:
        """A result for each call of the present answer; those without one were interrupted."""
        done = self._results
        return done + [_interrupted(noted.call) for noted in self._noted[len(done) :]]

    def begin(self) -> None:
        """Forget the calls of the answer before: another one is asked for."""
        self._noted = []
        self._results = []

    def handle(self, tool_call: ToolCall) -> ToolResultFuture:
        """Note a call. Its id is made unique within the answer and its arguments valid JSON."""
        taken = {noted.call.id for noted in self._noted}
        if not tool_call.id or tool_call.id in taken:
            tool_call.id = f"{tool_call.id or 'call'}-{len(self._noted) + 1}"
        written = mend(tool_call.function.arguments or "")
        tool_call.function.arguments = written
        wrong = repair_call(tool_call)
        future: ToolResultFuture = asyncio.get_running_loop().create_future()
        self._noted.append(_Noted(tool_call, written, wrong, future))
        return future

    async def run(self) -> list[ToolResult]:
        """Make the calls. After one that the user rejected, or a question that nobody is there to
        answer, the rest are not made.

        When this is cancelled, the call in flight is cancelled and awaited; `results` is then
        complete all the same.
        """
        why = ""
        for noted in self._noted:
            if why:
                value = ToolError(message=f"Not made: {why}.", brief="not made")
                result = ToolResult(tool_call_id=noted.call.id, return_value=value)
            else:
                result = await self._run_one(noted)
            match result.return_value:
                case ToolRejectedError():
                    why = "the user rejected an earlier call of the same answer"
                case UnansweredError():
                    why = "an earlier question of the same answer waits for the user"
                case _:
                    pass
            self._results.append(result)
            if not noted.future.done():
                noted.future.set_result(result)
        return self._results

    async def _run_one(self, noted: _Noted) -> ToolResult:
        call = noted.call
        began = time.monotonic()
        written = self._secrets.hide(noted.written)
        self._wire.emit(ToolCalled(call.id, call.function.name, written))
        try:
            value = self._secrets.hide_in(await self._call(noted))
        except asyncio.CancelledError:
            value = _interrupted(call).return_value
            self._say_returned(call, value, time.monotonic() - began)
            raise
        except WireFailure as failure:
            raise failure.cause from None
        self._say_returned(call, value, time.monotonic() - began)
        return ToolResult(tool_call_id=call.id, return_value=value)

    async def _call(self, noted: _Noted) -> ToolReturnValue:
        if noted.wrong is not None:
            return ToolError(
                message=f"Not called: {noted.wrong}. Call it again with valid arguments.",
                brief="invalid arguments",
            )
        name = noted.call.function.name
        if not self.rules.allows(name):
            return ToolError(message=self.rules.explain(name), brief="not for this step")
        handled = self._toolset.handle(noted.call)
        result = handled if isinstance(handled, ToolResult) else await handled
        return result.return_value

    def _say_returned(self, call: ToolCall, value: ToolReturnValue, seconds: float) -> None:
        output = value.output if isinstance(value.output, str) else _as_text(value)
        if not output:
            output = value.message
        self._wire.emit(
            ToolReturned(
                id=call.id,
                name=call.function.name,
                ok=not value.is_error,
                brief=mend(value.brief or _first_line(value.message)),
                output=mend(output)[:_SHOWN],
                seconds=round(seconds, 3),
            )
        )


def _interrupted(call: ToolCall) -> ToolResult:
    value = ToolError(message=TOOL_INTERRUPTED, brief="interrupted")
    return ToolResult(tool_call_id=call.id, return_value=value)


def _as_text(value: ToolReturnValue) -> str:
    parts = as_parts(value.output)
    return "".join(part.text if isinstance(part, TextPart) else f"[{part.type}]" for part in parts)


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0][:80]
