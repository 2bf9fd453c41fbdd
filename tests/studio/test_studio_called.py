"""A called skill that is a flow, in the chat: its nodes stand below the call that runs it."""

from __future__ import annotations

from pathlib import Path

from flowstudio.wire import (
    CalledFlowSaid,
    ChoiceMade,
    Event,
    NodeEntered,
    RunEnded,
    ToolCalled,
)
from tests.studio.kit import FakeModel, open_studio


async def test_the_nodes_of_a_called_flow_are_shown_below_its_call(work: Path) -> None:
    async with open_studio(work, model=FakeModel()) as studio:
        session = studio.main.driver.session
        assert session is not None
        wire = session.runtime.wire
        wire.emit(ToolCalled("call_1", "skill__report", '{"request": "May"}'))
        for body, node in (
            (NodeEntered(2, "decision", "Are there enough?", 1), "check"),
            (ChoiceMade("yes", "model"), "check"),
            (RunEnded("reached_end", "the run reached END", 4), None),
        ):
            event = Event(body, "run", 0.0, node, 1 if node else None)
            wire.emit(CalledFlowSaid.of(event, "skill__report-1", "report"))
        await studio.until(lambda: "after 4 moves" in studio.chat_text, "the called flow's end")
        text = studio.chat_text
        assert text.index("skill__report") < text.index("report ▸ check: Are there enough?")
        assert "report ▸ check → yes" in text
        assert "report ▸ the run reached END, after 4 moves" in text
