"""The stream of events: stamps, order, subscribing and leaving, and the JSON form."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from flowstudio.wire import BODIES, ChoiceRejected, Event, PromptSent, RunEnded, Text, Wire

AT = 1_768_919_101.5
"""2026-01-20T14:25:01.5Z"""


def test_an_event_is_one_flat_json_object() -> None:
    event = Event(PromptSent("Go."), "run-1", AT, "a", 2)
    assert event.to_json() == {
        "type": "prompt_sent",
        "run": "run-1",
        "time": "2026-01-20T14:25:01.500Z",
        "node": "a",
        "visit": 2,
        "prompt": "Go.",
        "attempt": 1,
    }


def test_node_and_visit_stand_in_json_only_where_they_apply() -> None:
    record = Event(RunEnded("stopped", "", 0), "run-1", AT).to_json()
    assert list(record) == ["type", "run", "time", "reason", "message", "moves"]


def test_no_field_of_a_body_hides_a_field_of_the_event() -> None:
    for kind in BODIES.values():
        names = {field.name for field in dataclasses.fields(kind)}
        assert not names & {"type", "run", "time", "node", "visit", "n", "crc"}, kind


def test_the_names_of_the_kinds_are_those_of_the_design() -> None:
    designed = (
        "run_started node_entered prompt_sent step_began text thinking tool_called tool_returned "
        "approval_asked approval_given retried choice_rejected choice_made node_left compacted "
        "dmail_sent flow_reloaded run_paused run_resumed run_ended"
    )
    assert set(designed.split()) <= set(BODIES)


def test_fields_that_are_not_known_are_ignored() -> None:
    record = {**Event(Text("hi"), "run-1", AT).to_json(), "later": 1}
    assert Event.from_json(record) == Event(Text("hi"), "run-1", AT)


def test_tuples_come_back_from_json_lists() -> None:
    event = Event(ChoiceRejected(None, 1, 4, ("yes", "no")), "run-1", AT, "q", 1)
    record: dict[str, Any] = event.to_json()
    record["branches"] = list(record["branches"])
    assert Event.from_json(record) == event


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"type": "unheard_of", "run": "r", "time": "2026-01-20T14:25:01Z"},
        {"type": "text", "run": "r", "time": "2026-01-20T14:25:01Z"},
        {"type": "text", "text": "hi", "time": "2026-01-20T14:25:01Z"},
        {"type": "text", "text": "hi", "run": "r", "time": "yesterday"},
        {"type": "text", "text": "hi", "run": "r", "time": 7},
        {"type": ["text"], "text": "hi", "run": "r", "time": "2026-01-20T14:25:01Z"},
        ["text"],
        "text",
        None,
    ],
)
def test_what_is_no_event_is_a_value_error(record: Any) -> None:
    with pytest.raises(ValueError):
        Event.from_json(record)


def test_times_are_those_that_are_written_down() -> None:
    wire = Wire("run-1", now=lambda: 1_768_919_101.123456789)
    event = wire.emit(Text("hi"))
    assert event.time == 1_768_919_101.123
    assert Event.from_json(event.to_json()) == event


def test_consumers_hear_events_in_the_order_in_which_they_came() -> None:
    wire = Wire()
    heard: list[str] = []
    wire.subscribe(lambda _: heard.append("second"))
    wire.subscribe(lambda _: heard.append("third"))
    wire.subscribe(lambda _: heard.append("first"), first=True)
    wire.emit(Text("hi"))
    assert heard == ["first", "second", "third"]


def test_who_has_left_hears_nothing_and_may_leave_twice() -> None:
    wire = Wire()
    heard: list[Event] = []
    leave = wire.subscribe(heard.append)
    leave()
    leave()
    wire.emit(Text("hi"))
    assert heard == []


def test_a_consumer_may_leave_while_an_event_is_given_out() -> None:
    wire = Wire()
    heard: list[str] = []

    def once(_: Event) -> None:
        heard.append("once")
        leave()

    leave = wire.subscribe(once)
    wire.subscribe(lambda _: heard.append("always"))
    wire.emit(Text("1"))
    wire.emit(Text("2"))
    assert heard == ["once", "always", "always"]


def test_an_exception_of_a_consumer_reaches_who_emitted_and_later_ones_hear_nothing() -> None:
    wire = Wire()
    heard: list[Event] = []

    def refuse(_: Event) -> None:
        raise OSError("the disk is full")

    wire.subscribe(heard.append)
    wire.subscribe(refuse, first=True)
    with pytest.raises(OSError):
        wire.emit(Text("hi"))
    assert heard == []


def test_a_visit_stamps_what_is_said_in_it_and_ends_with_an_exception_too() -> None:
    wire = Wire()
    stamps: list[tuple[str | None, int | None]] = []
    wire.subscribe(lambda event: stamps.append((event.node, event.visit)))
    wire.emit(Text("before"))
    with pytest.raises(KeyError), wire.visiting("a", 3):
        wire.emit(Text("in it"))
        raise KeyError
    wire.emit(Text("after"))
    assert stamps == [(None, None), ("a", 3), (None, None)]
