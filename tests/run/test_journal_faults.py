"""What a journal is after its writer died, its disk refused, or somebody damaged its end."""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flowstudio.run import journal as journal_module
from flowstudio.run.journal import JournalDamaged, JournalWriter, read_journal
from flowstudio.wire import (
    Body,
    ChoiceMade,
    Event,
    NodeEntered,
    NodeLeft,
    Notice,
    PromptSent,
    RunEnded,
    RunStarted,
    StatusChanged,
    Text,
    ToolCalled,
    Wire,
)

_KEPT = (RunStarted, NodeLeft, RunEnded)


def left(answer: str = "Done.") -> NodeLeft:
    return NodeLeft("b", None, "only-exit", answer, 3, 0.5, context=7)


def a_run(visits: int = 3) -> list[Body]:
    """What a run of so many visits says."""
    said: list[Body] = [RunStarted("f", None, 1, "m", "", 9)]
    for number in range(visits):
        said += [
            NodeEntered(number + 1, "task", "a", 1),
            PromptSent("Do it. 做"),
            Text("Wor"),
            Text("king"),
            ToolCalled("1", "Shell", "{}"),
            StatusChanged(10, 0.1),
            ChoiceMade("b", "model"),
            left(f"answer {number}"),
        ]
    return [*said, RunEnded("reached_end", "the run reached END", visits)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


class Writer:
    """A journal's writer on a wire, with what a consumer behind it heard."""

    def __init__(self, path: Path, file: Callable[[Any], Any] | None = None) -> None:
        self.journal = JournalWriter(path)
        if file is not None:
            self.journal._file = file(self.journal._file)
        self.wire = Wire("run-1")
        self.wire.subscribe(self.journal)
        self.heard: list[Event] = []
        self.wire.subscribe(self.heard.append)

    def say(self, *bodies: Body) -> None:
        with self.wire.visiting("a", 1):
            for body in bodies:
                self.wire.emit(body)


def joined(events: list[Event]) -> list[Body]:
    """Bodies with streamed text joined, as the journal has them."""
    found: list[Body] = []
    for event in events:
        if isinstance(event.body, Text) and found and isinstance(found[-1], Text):
            found[-1] = Text(found[-1].text + event.body.text)
        else:
            found.append(event.body)
    return found


def kept(events: tuple[Event, ...] | list[Event]) -> list[Body]:
    return [event.body for event in events if isinstance(event.body, _KEPT)]


# Damage at the end


def write(path: Path, bodies: list[Body]) -> list[int]:
    """Write a journal; gives where each record begins, and the end."""
    writer = Writer(path)
    writer.say(*bodies)
    writer.journal.close()
    ends = [0]
    for line in path.read_bytes().splitlines(keepends=True):
        ends.append(ends[-1] + len(line))
    return ends


@pytest.mark.parametrize("ended", [False, True], ids=["in flight", "ended"])
def test_cut_at_any_byte_of_the_last_two_records_a_journal_opens_and_goes_on(
    path: Path, ended: bool
) -> None:
    ends = write(path, a_run() if ended else a_run()[:-3])
    whole, all_events = path.read_bytes(), read_journal(path).events
    for size in range(ends[-3], ends[-1] + 1):
        path.write_bytes(whole[:size])
        journal = read_journal(path)
        count = sum(1 for end in ends[1:] if end <= size)
        assert journal.events == all_events[:count]
        assert journal.dropped == size - ends[count]
        writer = Writer(path)
        writer.say(Notice("on"))
        writer.journal.close()
        again = read_journal(path)
        assert [event.body for event in again.events[count:]] == [Notice("on")]
        assert again.dropped == 0


def test_a_flip_of_any_byte_of_the_last_record_costs_that_record_only(path: Path) -> None:
    ends = write(path, a_run())
    whole, events = path.read_bytes(), read_journal(path).events
    for place in range(ends[-2], ends[-1]):
        data = bytearray(whole)
        data[place] ^= 1 << (place % 8)
        path.write_bytes(data)
        journal = read_journal(path)
        assert journal.events == events[:-1]
        assert (journal.dropped, journal.warning != "") == (ends[-1] - ends[-2], True)


def test_damage_in_the_records_since_the_last_visit_costs_no_visit(path: Path) -> None:
    """A power cut may keep a later block of what was not synced and lose an earlier one."""
    ends = write(path, [*a_run(2)[:-1], *(Notice(f"note {number}") for number in range(4))])
    whole, events = path.read_bytes(), read_journal(path).events
    for place in range(ends[-5], ends[-1]):
        data = bytearray(whole)
        data[place] ^= 1 << (place % 8)
        path.write_bytes(data)
        journal = read_journal(path)
        assert kept(journal.events) == kept(events)
        assert journal.dropped >= ends[-1] - ends[-2]


def test_damage_before_a_visit_that_was_done_is_refused_with_its_place(path: Path) -> None:
    ends = write(path, a_run(2)[:-1])
    whole = path.read_bytes()
    for start, end in itertools.pairwise(ends[:-1]):
        data = bytearray(whole)
        data[(start + end) // 2] ^= 1
        path.write_bytes(data)
        with pytest.raises(JournalDamaged) as caught:
            read_journal(path)
        assert caught.value.offset == start
        with pytest.raises(JournalDamaged):
            JournalWriter(path)
    assert list(path.parent.iterdir()) == [path]


def test_a_damaged_tail_is_kept_beside_the_journal_when_it_is_written_on(path: Path) -> None:
    ends = write(path, a_run()[:-1])
    whole = path.read_bytes()
    for _ in range(2):
        path.write_bytes(whole[:-5])
        JournalWriter(path).close()
        assert path.read_bytes() == whole[: ends[-2]]
    asides = sorted(path.parent.glob("journal.jsonl.damaged-*"))
    names = [f"journal.jsonl.damaged-{ends[-2]}", f"journal.jsonl.damaged-{ends[-2]}-2"]
    assert [aside.name for aside in asides] == names
    assert [path.read_bytes() + aside.read_bytes() for aside in asides] == [whole[:-5]] * 2


def test_reading_changes_nothing(path: Path) -> None:
    write(path, a_run())
    path.write_bytes(path.read_bytes()[:-5])
    before = path.read_bytes()
    read_journal(path)
    assert (path.read_bytes(), list(path.parent.iterdir())) == (before, [path])


# Death


class Died(BaseException):
    """The process is gone."""


class Mortal:
    """A file that dies at its n-th write or sync; of that write some bytes arrive."""

    def __init__(self, file: Any, lives: int, part: float) -> None:
        self.file = file
        self.lives = lives
        self.part = part

    def live(self) -> bool:
        self.lives -= 1
        return self.lives >= 0

    def write(self, data: memoryview) -> int:
        if not self.live():
            self.file.write(bytes(data)[: int(len(data) * self.part)])
            raise Died
        return self.file.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


@pytest.mark.parametrize("part", [0.0, 0.5, 1.0], ids=["nothing", "half", "all"])
def test_death_at_any_write_or_sync_loses_nothing_that_was_heard(
    path: Path, monkeypatch: pytest.MonkeyPatch, part: float
) -> None:
    bodies = a_run()
    deaths = 0
    for lives in range(100):
        path.unlink(missing_ok=True)
        mortal: list[Mortal] = []

        def sync(_: int, mortal: list[Mortal] = mortal) -> None:
            if not mortal[0].live():
                raise Died

        monkeypatch.setattr(journal_module, "_sync_file", sync)
        mortal.append(Mortal(None, lives, part))

        def replace(file: Any, mortal: list[Mortal] = mortal) -> Any:
            mortal[0].file = file
            return mortal[0]

        writer = Writer(path, replace)
        try:
            writer.say(*bodies)
        except Died:
            deaths += 1
        else:
            break
        found = read_journal(path)
        heard = kept(writer.heard)
        # What is acknowledged is there; at most one record more, which nobody heard of.
        assert kept(found.events)[: len(heard)] == heard
        assert len(kept(found.events)) - len(heard) in (0, 1)
        again = Writer(path)
        again.say(Notice("on"))
        again.journal.close()
        assert read_journal(path).events[: len(found.events)] == found.events
    assert deaths > 30


# A disk that refuses


class Refusing:
    """A file that refuses to write or to shrink while `error` is set; a part may still arrive."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.error: int | None = None
        self.room = 0

    def write(self, data: memoryview) -> int:
        if self.error is None:
            return self.file.write(data)
        if self.room:
            part, self.room = data[: self.room], 0
            return self.file.write(part)
        raise OSError(self.error, os.strerror(self.error))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT])
def test_a_disk_that_refuses_loses_nothing_and_is_written_when_it_takes_again(
    path: Path, error: int
) -> None:
    bodies = a_run()
    for refused in range(1, len(bodies)):
        path.unlink(missing_ok=True)
        writer = Writer(path, Refusing)
        file: Any = writer.journal._file
        writer.say(*bodies[:refused])
        file.error, file.room = error, 20
        again = 0
        for body in bodies[refused:]:
            try:
                writer.say(body)
            except OSError as caught:
                assert caught.errno == error
                assert writer.journal.trouble is not None
                heard = kept(writer.heard)
                assert kept(read_journal(path).events) == heard
                file.error = None
                writer.say(body)
                again += 1
        file.error = None
        writer.journal.close()
        assert [event.body for event in read_journal(path).events] == joined(writer.heard)
        assert again <= 1
    assert writer.journal.trouble is None


def test_after_a_failed_sync_all_that_was_not_on_disk_is_written_anew(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A system that failed to sync may hold what it lost as written, and says no more of it."""
    bodies = a_run(1)
    writer = Writer(path)
    writer.say(*bodies[:-2])
    synced = path.stat().st_size

    def refuse(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(journal_module, "_sync_file", refuse)
        with pytest.raises(OSError):
            writer.say(bodies[-2])
    assert path.stat().st_size < synced
    writer.say(*bodies[-2:])
    writer.journal.close()
    assert [event.body for event in read_journal(path).events] == joined(writer.heard)


def test_what_was_said_at_the_end_on_a_full_disk_is_written_when_the_journal_closes(
    path: Path,
) -> None:
    writer = Writer(path, Refusing)
    file: Any = writer.journal._file
    writer.say(RunStarted("f", None, 1, "m", "", 9))
    file.error = errno.ENOSPC
    writer.say(RunEnded("disk", "full", 1))
    assert [event.type for event in writer.heard] == ["run_started", "run_ended"]
    file.error = None
    writer.journal.close()
    assert read_journal(path).events[-1].body == RunEnded("disk", "full", 1)


def test_a_full_disk_at_the_close_is_an_error(path: Path) -> None:
    writer = Writer(path, Refusing)
    file: Any = writer.journal._file
    file.error = errno.ENOSPC
    writer.say(Notice("lost"))
    with pytest.raises(OSError):
        writer.journal.close()
    writer.journal.close()
