"""Leave to act: a tool asks before it changes anything, and the user, or a policy, answers.

Requests and answers are said on the wire. A request waits until `answer` is called with its id; the
chat asks in place. Where nobody sits in front of it, a policy answers.
"""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass
from typing import Literal

from kosong.tooling import ToolError

from flowstudio.soul.emit import emit_from_tool
from flowstudio.wire import ApprovalAsked, ApprovalGiven, Verdict, Wire

type Policy = Literal["ask", "allow", "reject"]


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A tool that waits for leave."""

    id: str
    tool: str
    action: str
    description: str
    diff: str = ""
    """The change to a file as a unified diff, where it is one."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to a request."""

    verdict: Verdict
    reason: str = ""

    @property
    def allowed(self) -> bool:
        """True for `allow` and `session`."""
        return self.verdict != "reject"


class ToolRejectedError(ToolError):
    """What a tool returns where the user refused it. It ends the turn."""

    def __init__(self, reason: str = "") -> None:
        said = f" with these words: {reason}" if reason else ""
        super().__init__(
            message=f"The user rejected this call{said}. Do not try again in another way; "
            "wait for what the user says.",
            brief=f"rejected: {reason}" if reason else "rejected by the user",
        )


class Approval:
    """Keeps who may do what, and the requests that are open."""

    def __init__(self, wire: Wire, *, policy: Policy = "ask", yolo: bool = False) -> None:
        self._wire = wire
        self.policy: Policy = policy
        """What answers a request: the user (`ask`), or the same verdict each time."""
        self.yolo = yolo
        """True lets every tool act without asking; neither request nor answer is said then."""
        self._session: set[str] = set()
        self._open: dict[str, tuple[ApprovalRequest, asyncio.Future[Decision]]] = {}
        self._numbers = itertools.count(1)

    @property
    def pending(self) -> tuple[ApprovalRequest, ...]:
        """The requests that wait for an answer, oldest first."""
        return tuple(request for request, _ in self._open.values())

    @property
    def allowed_for_session(self) -> frozenset[str]:
        """The actions that were allowed for the rest of the session."""
        return frozenset(self._session)

    def set_yolo(self, yolo: bool) -> None:
        """Switch asking off or on again. Requests that are open are allowed when it goes off."""
        self.yolo = yolo
        if yolo:
            for request in self.pending:
                self.answer(request.id, "allow")

    async def request(self, tool: str, action: str, description: str, diff: str = "") -> Decision:
        """Ask for leave and wait for the answer.

        Args:
            tool: the tool's name.
            action: the kind of act, the unit of "allow for the session": `write file`.
            description: what exactly will happen, for people.
            diff: the change to a file as a unified diff, where it is one.
        """
        if self.yolo or action in self._session:
            return Decision("allow")
        request = ApprovalRequest(
            f"approval-{next(self._numbers)}", tool, action, description, diff
        )
        if self.policy == "ask":
            decision = await self._ask(request)
        else:
            self._say_asked(request)
            reason = "" if self.policy == "allow" else "nobody is here to allow it"
            decision = Decision(self.policy, reason)
        emit_from_tool(self._wire, ApprovalGiven(request.id, decision.verdict, decision.reason))
        if decision.verdict == "session":
            self._session.add(action)
            # What else waits for the same leave has it now.
            for other in self.pending:
                if other.action == action:
                    self.answer(other.id, "allow")
        return decision

    def answer(self, request_id: str, verdict: Verdict, reason: str = "") -> bool:
        """Answer an open request. False where it is not open (any more)."""
        entry = self._open.get(request_id)
        if entry is None or entry[1].done():
            return False
        entry[1].set_result(Decision(verdict, reason))
        return True

    async def _ask(self, request: ApprovalRequest) -> Decision:
        future: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self._open[request.id] = (request, future)
        try:
            self._say_asked(request)
            return await future
        finally:
            del self._open[request.id]

    def _say_asked(self, request: ApprovalRequest) -> None:
        emit_from_tool(
            self._wire,
            ApprovalAsked(
                request.id, request.tool, request.action, request.description, request.diff
            ),
        )
