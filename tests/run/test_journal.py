"""The journal: what is written is read back, and damage is told from a torn end."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowstudio.run import journal as journal_module
from flowstudio.run.journal import Journal, JournalDamaged, JournalWriter, read_journal, read_kinds
from flowstudio.wire import (
    BODIES,
    Body,
    ChoiceMade,
    Event,
    NodeEntered,
    NodeLeft,
    PromptSent,
    RunEnded,
    RunStarted,
    StepBegan,
    Text,
    Thinking,
    ToolCalled,
    Wire,
)

ODD = "中文 é 😀 \x1b[31m \x9b \u202e \ud800 \u2028 \x00 \r\n <choice>x</choice> \"'\\"
"""Text as a model might write it: controls, direction marks, half a surrogate pair."""


def example(kind: type[Body]) -> Body:
    """A body with something odd in each field."""
    values: dict[str, object] = {}
    for field in dataclasses.fields(kind):
        match field.type:
            case "str" | "str | None":
                values[field.name] = ODD
            case "int" | "int | None":
                values[field.name] = 7
            case "float":
                values[field.name] = 0.125
            case "bool":
                values[field.name] = True
            case "tuple[str, ...]":
                values[field.name] = (ODD, "")
            case named:
                values[field.name] = {
                    "Author": "user",
                    "Verdict": "session",
                    "EndReason": "dead_end",
                    "PauseReason": "breakpoint",
                }.get(str(named), "warning")
    return kind(**values)


def left(answer: str = "Done.") -> NodeLeft:
    return NodeLeft("b", None, "only-exit", answer, 3, 0.5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def write(path: Path, *bodies: Body) -> list[Event]:
    """Write events as a run does; gives what was said."""
    wire = Wire("run-1")
    said: list[Event] = []
    writer = JournalWriter(path)
    wire.subscribe(writer)
    wire.subscribe(said.append)
    with wire.visiting("a", 2):
        for body in bodies:
            wire.emit(body)
    writer.close()
    return said


@pytest.mark.parametrize("kind", BODIES.values(), ids=BODIES)
def test_every_kind_of_event_is_read_back_as_it_was_said(path: Path, kind: type[Body]) -> None:
    said = write(path, example(kind))
    assert read_journal(path) == Journal(tuple(said), 0)


def test_an_event_outside_a_visit_has_neither_node_nor_visit(path: Path) -> None:
    writer = JournalWriter(path)
    wire = Wire("run-1")
    wire.subscribe(writer)
    wire.emit(RunEnded("stopped", "", 0))
    writer.close()
    event = read_journal(path).events[0]
    assert (event.node, event.visit) == (None, None)


def test_streamed_pieces_are_one_record_at_the_time_of_the_first(path: Path) -> None:
    said = write(path, Text("Good "), Text("morning"), Thinking("hm"), Thinking("…"), left())
    events = read_journal(path).events
    assert [event.body for event in events] == [Text("Good morning"), Thinking("hm…"), left()]
    assert events[0].time == said[0].time


def test_text_of_two_steps_is_two_records(path: Path) -> None:
    write(path, Text("one"), StepBegan(2), Text("two"))
    bodies = [event.body for event in read_journal(path).events]
    assert bodies == [Text("one"), StepBegan(2), Text("two")]


def test_text_still_being_joined_is_written_at_the_close(path: Path) -> None:
    write(path, Text("cut "), Text("off"))
    assert [event.body for event in read_journal(path).events] == [Text("cut off")]


def test_a_line_reads_well_and_holds_no_control_character(path: Path) -> None:
    write(path, PromptSent("检查 é\x1b[0m\x9b\u202e"))
    text = path.read_text(encoding="utf-8")
    assert "检查 é" in text
    assert text.startswith('{"n": 1, "type": "prompt_sent", "run": "run-1", "time": "')
    assert all(c == "\n" or (c.isprintable()) for c in text)


@pytest.mark.parametrize("cut", [1, 2, 10, 40])
def test_a_torn_last_record_is_dropped_and_said(path: Path, cut: int) -> None:
    said = write(path, PromptSent("one"), left())
    whole = path.read_bytes()
    last = len(whole) - whole.rindex(b"\n", 0, -1) - 1
    path.write_bytes(whole[:-cut])
    assert read_journal(path) == Journal((said[0],), last - cut, records=1)


def test_a_last_record_with_a_flipped_bit_is_dropped(path: Path) -> None:
    said = write(path, PromptSent("one"), left())
    data = bytearray(path.read_bytes())
    data[-60] ^= 1
    path.write_bytes(data)
    assert read_journal(path).events == (said[0],)


@pytest.mark.parametrize("at", ["start", "middle", "checksum", "line end"])
def test_damage_further_up_is_refused_with_its_place(path: Path, at: str) -> None:
    write(path, PromptSent("one"), PromptSent("two"), PromptSent("three"), left())
    data = bytearray(path.read_bytes())
    start = data.index(b"\n") + 1
    end = data.index(b"\n", start)
    place = {"start": start, "middle": start + 50, "checksum": end - 4, "line end": end}[at]
    data[place] ^= 1
    path.write_bytes(data)
    with pytest.raises(JournalDamaged) as caught:
        read_journal(path)
    assert caught.value.offset == start
    assert str(start) in str(caught.value)


def test_no_flipped_bit_of_a_record_goes_unnoticed(path: Path) -> None:
    write(path, PromptSent("one"), ChoiceMade("yes", "user"), left())
    whole = path.read_bytes()
    start = whole.index(b"\n") + 1
    for place in range(start, whole.index(b"\n", start)):
        data = bytearray(whole)
        data[place] ^= 1 << (place % 8)
        path.write_bytes(data)
        with pytest.raises(JournalDamaged):
            read_journal(path)


@pytest.mark.parametrize("text", [b"", b"\n", b"no record\n", b"\x00" * 100])
def test_a_file_without_a_record_opens_empty(path: Path, text: bytes) -> None:
    path.write_bytes(text)
    journal = read_journal(path)
    assert (journal.events, journal.dropped) == ((), len(text))
    assert bool(journal.warning) == bool(text)


def test_a_missing_journal_is_an_error_of_the_system(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_journal(path)


def test_a_journal_that_goes_on_counts_on(path: Path) -> None:
    said = [*write(path, PromptSent("one"), left()), *write(path, PromptSent("two"))]
    assert read_journal(path) == Journal(tuple(said), 0)
    assert [json.loads(line)["n"] for line in path.read_bytes().splitlines()] == [1, 2, 3]


def test_a_missing_record_is_damage_with_its_place(path: Path) -> None:
    write(path, PromptSent("one"), PromptSent("two"), PromptSent("three"))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[2])
    with pytest.raises(JournalDamaged, match="missing") as caught:
        read_journal(path)
    assert caught.value.offset == len(lines[0])


def test_only_the_kinds_that_are_asked_for_are_read_with_their_places(path: Path) -> None:
    said = write(path, PromptSent("one"), left(), PromptSent('{"n": 9, "type": "node_left"'))
    found, tail = read_kinds(path, frozenset({"node_left"}))
    assert [event for _, event in found] == [said[1]]
    assert path.read_bytes()[found[0][0] :].startswith(b'{"n": 2, ')
    assert (tail.count, tail.size) == (3, path.stat().st_size)


def test_closing_twice_does_no_harm(path: Path) -> None:
    writer = JournalWriter(path)
    writer.close()
    writer.close()


# What is on disk when


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the file at each sync of it."""
    sizes: list[int] = []
    monkeypatch.setattr(journal_module, "_sync_file", lambda fd: sizes.append(os.fstat(fd).st_size))
    return sizes


@pytest.mark.parametrize(
    ("body", "durable"),
    [
        (RunStarted("f", None, 1, "m", "", 9), True),
        (left(), True),
        (ToolCalled("1", "Shell", "{}"), True),
        (RunEnded("reached_end", "", 3), True),
        (NodeEntered(1, "task", "a", 1), False),
        (StepBegan(1), False),
    ],
)
def test_what_is_acknowledged_is_synced_before_anybody_else_hears_of_it(
    path: Path, synced: list[int], body: Body, durable: bool
) -> None:
    wire = Wire("run-1")
    writer = JournalWriter(path)
    wire.subscribe(writer, first=True)
    seen: list[bool] = []
    wire.subscribe(lambda _: seen.append(bool(synced) and synced[-1] == path.stat().st_size))
    wire.emit(body)
    assert seen == [durable]
    writer.close()


def test_text_that_came_before_is_synced_with_the_record_that_acknowledges_it(
    path: Path, synced: list[int]
) -> None:
    write(path, Text("all of it"), left("all of it"))
    assert synced == [path.stat().st_size]


class FullDisk:
    """A file that takes so many bytes and no more, a part of the last write among them."""

    def __init__(self, file: object, room: int) -> None:
        self._file = file
        self.room = room

    def write(self, data: memoryview) -> int:
        if self.room == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        part = data[: min(len(data), self.room)]
        self.room -= len(part)
        return self._file.write(part)  # type: ignore[attr-defined]

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)


@pytest.fixture
def full_after(path: Path) -> Iterator[object]:
    """A writer whose disk is full after so many bytes."""
    writers: list[JournalWriter] = []

    def make(room: int) -> JournalWriter:
        writer = JournalWriter(path)
        writer._file = FullDisk(writer._file, room)  # type: ignore[assignment]
        writers.append(writer)
        return writer

    yield make
    for writer in writers:
        writer._file.room = 10**6  # type: ignore[attr-defined]
        writer.close()


def test_a_full_disk_is_an_error_and_leaves_no_half_record(path: Path, full_after: object) -> None:
    first = write(path, PromptSent("one"))
    writer = full_after(30)  # type: ignore[operator]
    wire = Wire("run-1")
    wire.subscribe(writer)
    with pytest.raises(OSError, match="No space left"):
        wire.emit(left())
    assert read_journal(path) == Journal(tuple(first), 0)


def test_a_record_is_written_where_there_is_room_again(path: Path, full_after: object) -> None:
    writer = full_after(30)  # type: ignore[operator]
    wire = Wire("run-1")
    wire.subscribe(writer)
    with pytest.raises(OSError):
        wire.emit(left("lost"))
    writer._file.room = 10**6
    said = wire.emit(left("kept"))
    assert read_journal(path) == Journal((said,), 0)
    assert path.read_text().startswith('{"n": 1,')
