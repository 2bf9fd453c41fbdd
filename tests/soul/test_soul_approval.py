"""Leave to act: who is asked, how often, and what the answer does."""

from __future__ import annotations

import asyncio

import pytest

from flowstudio.soul import Approval
from flowstudio.wire import ApprovalAsked, ApprovalGiven, Body, Wire


class Desk:
    """An approval whose user answers each request by the rules of a table."""

    def __init__(self, answers: dict[str, str] | None = None, **more: object) -> None:
        self.said: list[Body] = []
        wire = Wire()
        wire.subscribe(lambda event: self.said.append(event.body))
        self.approval = Approval(wire, **more)  # type: ignore[arg-type]
        if answers is not None:
            wire.subscribe(lambda event: self._answer(event.body, answers))

    def _answer(self, body: Body, answers: dict[str, str]) -> None:
        if isinstance(body, ApprovalAsked):
            self.approval.answer(body.id, answers[body.action], "because")  # type: ignore[arg-type]

    @property
    def asked(self) -> list[str]:
        return [body.action for body in self.said if isinstance(body, ApprovalAsked)]

    @property
    def given(self) -> list[tuple[str, str]]:
        return [
            (body.verdict, body.reason) for body in self.said if isinstance(body, ApprovalGiven)
        ]


async def test_leave_for_once_is_asked_again() -> None:
    desk = Desk({"write": "allow"})
    for _ in range(2):
        assert (await desk.approval.request("T", "write", "w")).allowed
    assert desk.asked == ["write", "write"]


async def test_leave_for_the_session_is_asked_once_per_action() -> None:
    desk = Desk({"write": "session", "run": "allow"})
    for action in ("write", "write", "run", "write"):
        assert (await desk.approval.request("T", action, "x")).allowed
    assert desk.asked == ["write", "run"]


async def test_a_rejection_carries_its_reason() -> None:
    desk = Desk({"write": "reject"})
    decision = await desk.approval.request("T", "write", "w")
    assert (decision.allowed, decision.reason) == (False, "because")
    assert desk.given == [("reject", "because")]


async def test_yolo_asks_nobody_and_says_nothing() -> None:
    desk = Desk(yolo=True)
    assert (await desk.approval.request("T", "write", "w")).allowed
    assert desk.said == []


@pytest.mark.parametrize(("policy", "allowed"), [("allow", True), ("reject", False)])
async def test_where_nobody_is_there_a_policy_answers_and_says_so(
    policy: str, allowed: bool
) -> None:
    desk = Desk(policy=policy)
    decision = await desk.approval.request("T", "write", "w")
    assert decision.allowed is allowed
    assert desk.asked == ["write"]
    assert [verdict for verdict, _ in desk.given] == [policy]


async def test_an_open_request_can_be_seen_and_is_gone_when_answered() -> None:
    desk = Desk()
    task = asyncio.create_task(desk.approval.request("Shell", "run", "ls"))
    await asyncio.sleep(0)
    (request,) = desk.approval.pending
    assert (request.tool, request.action, request.description) == ("Shell", "run", "ls")
    assert desk.approval.answer(request.id, "allow")
    assert (await task).allowed
    assert desk.approval.pending == ()


async def test_a_second_answer_and_one_to_nothing_are_refused() -> None:
    desk = Desk()
    task = asyncio.create_task(desk.approval.request("T", "run", "ls"))
    await asyncio.sleep(0)
    (request,) = desk.approval.pending
    assert desk.approval.answer(request.id, "allow")
    assert not desk.approval.answer(request.id, "reject")
    assert (await task).allowed
    assert not desk.approval.answer("nothing", "allow")


async def test_leave_for_the_session_also_answers_what_waits_for_the_same() -> None:
    desk = Desk()
    tasks = [
        asyncio.create_task(desk.approval.request("T", action, "x"))
        for action in ("write", "write", "run")
    ]
    await asyncio.sleep(0)
    desk.approval.answer(desk.approval.pending[0].id, "session")
    assert [(await task).allowed for task in tasks[:2]] == [True, True]
    assert [request.action for request in desk.approval.pending] == ["run"]
    tasks[2].cancel()


async def test_switching_yolo_on_allows_what_waits() -> None:
    desk = Desk()
    task = asyncio.create_task(desk.approval.request("T", "write", "w"))
    await asyncio.sleep(0)
    desk.approval.set_yolo(True)
    assert (await task).allowed


async def test_a_cancelled_request_is_taken_back() -> None:
    desk = Desk()
    task = asyncio.create_task(desk.approval.request("T", "write", "w"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert desk.approval.pending == ()
