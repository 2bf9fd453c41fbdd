"""The journal of a run: one JSON record a line, each with a checksum.

A line is the event as `--json` prints it with two fields more: `n`, which counts the records from
1, and, last, `crc`, the CRC-32 (eight hex digits) of the line without it. So the file reads well
in `less` and `git diff`, a damaged line is told from a good one, and a missing one is noticed.
Pieces of streamed text are joined into one record.

Acknowledged means on disk: the writer is the first consumer of the wire, and `node_left`,
`run_ended` and what comes before an act that cannot be taken back are fsynced before anybody else
hears of them. A disk that refuses is an error only there; anything else is kept and written later.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Literal

from flowstudio.run.folder import sync_folder
from flowstudio.text import to_json
from flowstudio.wire import (
    Event,
    FlowReloaded,
    NodeLeft,
    RunEnded,
    RunForked,
    RunReopened,
    RunStarted,
    TalkHeld,
    Text,
    Thinking,
    ToolCalled,
)

_ACKNOWLEDGED = (RunStarted, RunReopened, NodeLeft, ToolCalled, RunForked)
"""Nobody may hear of these before they are on disk: a disk that refuses them is an error."""
_SYNCED = (*_ACKNOWLEDGED, FlowReloaded, TalkHeld, RunEnded)
"""These are synced too, but said in any case: nothing that follows depends on them."""
_KEPT = frozenset(
    kind.type.encode()
    for kind in (RunStarted, RunReopened, RunForked, NodeLeft, FlowReloaded, TalkHeld, RunEnded)
)
"""Records behind which damage is no damaged tail: to drop one of them would lose something."""
_sync_file: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync


class JournalDamaged(ValueError):
    """A record in the middle of a journal is damaged or missing; `offset` is its place in bytes."""

    def __init__(self, path: Path, offset: int, what: Literal["damaged", "missing"]) -> None:
        super().__init__(f"{path}: the record at byte {offset} is {what}")
        self.path = path
        self.offset = offset


class NotRecorded(OSError):
    """The disk refused an event that nobody may hear of before it is there; nobody did."""


def explain_disk(error: OSError) -> str:
    """Why a run cannot be recorded, as a sentence."""
    what = error.strerror or str(error)
    where = f" ({error.filename})" if error.filename else ""
    return f"the run cannot be recorded: {what}{where}; make room, then go on: nothing is lost"


class JournalWriter:
    """Appends events to a journal; a consumer for `Wire.subscribe`.

    Args:
        path: the file. Where it holds records, the new ones follow them and are counted on; a
            damaged tail is put into a file beside it (`journal.jsonl.damaged-<offset>`).
        after: what is in the file, where it was read already.

    Raises:
        NotRecorded: the disk refuses a record that must not be heard of before it is there. The
            same record may be given again. What was written stays readable: no part of a record is
            left behind.
        JournalDamaged: the file to go on with is damaged.
    """

    def __init__(self, path: Path, *, sync: bool = True, after: Tail | None = None) -> None:
        if after is None:
            after = read_tail(path) if path.exists() else Tail(0, 0, 0, 0)
        self._path = path
        self._file: BinaryIO = path.open("ab", buffering=0)
        if after.dropped:
            cut_tail(path, after, self._file)
        self._synced = after.size
        """Bytes that are on disk for good."""
        self._written = 0
        """Bytes behind them that were written."""
        self._loose: list[bytes] = []
        """The records since the last sync, for a disk that loses or refuses them."""
        self._failed: OSError | None = None
        self._sync = sync
        self._count = after.count
        self._stream: Event | None = None
        if sync:
            sync_folder(path.parent)

    @property
    def trouble(self) -> OSError | None:
        """Why what was said lately is not on disk yet; None where it is."""
        return self._failed

    def __call__(self, event: Event) -> None:
        """Record one event; on disk when this returns, if it is one of the durable kinds."""
        if self._joins(event):
            return
        self.flush()
        if isinstance(event.body, Text | Thinking):
            self._stream = event
            return
        self._add(event)
        if not isinstance(event.body, _SYNCED):
            return
        try:
            self.sync()
        except OSError as error:
            if isinstance(event.body, _ACKNOWLEDGED):
                # Nobody will hear of it: it will be said again, or never.
                self._loose.pop()
                self._count -= 1
                raise NotRecorded(error.errno, error.strerror, str(self._path)) from error

    def _joins(self, event: Event) -> bool:
        """Whether the event continued the stream that is being joined."""
        match self._stream, event.body:
            case Event(body=Text(text=before)), Text(text=text):
                self._stream = replace(self._stream, body=Text(before + text))
            case Event(body=Thinking(text=before)), Thinking(text=text):
                self._stream = replace(self._stream, body=Thinking(before + text))
            case _:
                return False
        return True

    def flush(self) -> None:
        """Write the streamed text that is still being joined."""
        if self._stream is not None:
            stream, self._stream = self._stream, None
            self._add(stream)

    def sync(self) -> None:
        """Return when all records are on disk for good.

        Raises:
            OSError: the disk refuses. Nothing is lost: the next call tries again.
        """
        if not self._loose:
            return
        try:
            if self._failed is not None:
                # After a failed fsync the system may hold as written what is not: all of it is
                # written anew.
                self._file.truncate(self._synced)
                self._written = 0
                self._write(b"".join(self._loose))
            if self._sync:
                _sync_file(self._file.fileno())
        except OSError as error:
            self._fail(error)
            raise
        self._failed = None
        self._synced += self._written
        self._written = 0
        self._loose.clear()

    def close(self) -> None:
        """Write what is left and close; safe to call twice.

        Raises:
            OSError: the last records could not be written.
        """
        if self._file.closed:
            return
        try:
            self.flush()
            if self._failed is not None:
                self.sync()
        finally:
            self._file.close()

    def _add(self, event: Event) -> None:
        self._count += 1
        line = _seal(to_json({"n": self._count, **event.to_json()}))
        self._loose.append(line)
        if self._failed is not None:
            return
        try:
            self._write(line)
        except OSError as error:
            self._fail(error)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            # A full disk may take a part of it before it refuses the rest.
            rest = rest[self._file.write(rest) :]
        self._written += len(data)

    def _fail(self, error: OSError) -> None:
        """Leave whole records only; from now on just `sync` tries to write."""
        self._failed = error
        with contextlib.suppress(OSError):
            self._file.truncate(self._synced)
            self._written = 0


@dataclass(frozen=True, slots=True)
class Tail:
    """The end of a journal: what follows it goes there."""

    count: int
    """Records that can be read."""
    size: int
    """The bytes that they take."""
    dropped: int
    """Bytes of a damaged tail behind them."""
    records: int
    """How many lines those bytes are, the last one perhaps without its end."""


@dataclass(frozen=True, slots=True)
class Journal:
    """A journal as read: its events, and what was left off at its end."""

    events: tuple[Event, ...]
    dropped: int
    """Bytes of a damaged tail that were not read."""
    records: int = 0
    """How many lines those bytes are."""

    @property
    def warning(self) -> str:
        """What was left off, as a sentence; empty where nothing was."""
        return explain_dropped(self.dropped, self.records)


def explain_dropped(dropped: int, records: int) -> str:
    """A damaged tail as a sentence; empty where there is none."""
    if not dropped:
        return ""
    what = "record" if records == 1 else "records"
    return (
        f"The journal's end is damaged: {records} {what} ({dropped} bytes) left off. At most the "
        "last visit is run again."
    )


def read_journal(path: Path) -> Journal:
    """Read a journal; a damaged tail is left off.

    Raises:
        JournalDamaged: a record is damaged or missing, and not at the end.
        OSError: the file cannot be read.
    """
    data = path.read_bytes()
    tail = _check(path, data)
    events: list[Event] = []
    for offset, line in _lines(data, tail.size):
        event = _decode(line)
        if event is None:
            raise JournalDamaged(path, offset, "damaged")
        events.append(event)
    return Journal(tuple(events), tail.dropped, tail.records)


def read_tail(path: Path) -> Tail:
    """Check a journal's records and tell where its end is.

    Raises:
        what `read_journal` raises.
    """
    return _check(path, path.read_bytes())


def read_kinds(
    path: Path, kinds: frozenset[str], *, last: str = ""
) -> tuple[list[tuple[int, Event]], Tail]:
    """Only the events of some kinds, each with its offset in bytes: quick for a long journal.

    Of the kind `last` only the last one is read.

    Raises:
        what `read_journal` raises.
    """
    data = path.read_bytes()
    tail = _check(path, data)
    wanted = frozenset(kind.encode() for kind in kinds)
    found: list[tuple[int, Event]] = []
    # Within a text the quotes are escaped, so what is found is a record's head.
    place = data.rfind(b', "type": "%s"' % last.encode(), 0, tail.size) if last else -1
    only = data.rfind(b"\n", 0, place) + 1 if place >= 0 else -1
    for match in _HEAD.finditer(data, 0, tail.size):
        if match[2] not in wanted and match.start() != only:
            continue
        start = match.start()
        end = data.index(b"\n", start) + 1
        event = _decode(data[start:end])
        if event is None:
            raise JournalDamaged(path, start, "damaged")
        found.append((start, event))
    return found, tail


def find_heads(data: bytes) -> Iterator[tuple[str, int, int]]:
    """The records of a journal's bytes by kind, with their begin and end; nothing is checked."""
    for match in _HEAD.finditer(data):
        end = data.find(b"\n", match.end()) + 1
        if end:
            yield match[2].decode(), match.start(), end


def decode_line(line: bytes) -> Event | None:
    """The event of a journal's line; None where it is damaged or of an unknown kind."""
    sealed = zlib.crc32(b"}", zlib.crc32(line[:-_SEAL]))
    return _decode(line) if line[-_SEAL:] == b', "crc": "%08x"}\n' % sealed else None


def cut_tail(path: Path, tail: Tail, file: BinaryIO) -> Path:
    """Put a damaged tail into a file beside the journal, and take it off; gives that file."""
    aside = path.with_name(f"{path.name}.damaged-{tail.size}")
    number = 2
    while aside.exists():
        aside = path.with_name(f"{path.name}.damaged-{tail.size}-{number}")
        number += 1
    with path.open("rb") as source, aside.open("xb") as copy:
        source.seek(tail.size)
        copy.write(source.read())
        copy.flush()
        os.fsync(copy.fileno())
    file.truncate(tail.size)
    return aside


# Lines


def _seal(body: str) -> bytes:
    """The line for a record: its checksum as the last field."""
    data = body.encode()
    return data[:-1] + b', "crc": "%08x"}\n' % zlib.crc32(data)


_SEAL = len(b', "crc": "00000000"}\n')
_HEAD = re.compile(rb'^\{"n": (\d+), "type": "([a-z_]+)"', re.MULTILINE)


def _check(path: Path, data: bytes) -> Tail:
    """Find the end of the good records.

    Damage is a tail where nothing that was acknowledged follows it: what a power cut leaves of the
    records since the last sync. Anything else is damage further up.
    """
    count = 0
    crc32 = zlib.crc32
    for offset, line in _lines(data, len(data)):
        sealed = crc32(b"}", crc32(line[:-_SEAL]))
        head = _HEAD.match(line)
        if line[-_SEAL:] != b', "crc": "%08x"}\n' % sealed or head is None:
            if _holds_kept(data, offset + len(line)):
                raise JournalDamaged(path, offset, "damaged")
            lines = sum(1 for _ in _lines(data[offset:], len(data) - offset))
            return Tail(count, offset, len(data) - offset, lines)
        if int(head[1]) != count + 1:
            raise JournalDamaged(path, offset, "missing")
        count += 1
    return Tail(count, len(data), 0, 0)


def _holds_kept(data: bytes, start: int) -> bool:
    """Whether a whole record that must not be dropped stands behind `start`."""
    for _, line in _lines(data, len(data), start):
        head = _HEAD.match(line)
        if head is None or head[2] not in _KEPT:
            continue
        if line[-_SEAL:] == b', "crc": "%08x"}\n' % zlib.crc32(b"}", zlib.crc32(line[:-_SEAL])):
            return True
    return False


def _decode(line: bytes) -> Event | None:
    """The event of a checked line; None where it is none that this program knows."""
    try:
        return Event.from_json(json.loads(line[:-_SEAL] + b"}"))
    except ValueError:
        return None


def _lines(data: bytes, size: int, start: int = 0) -> Iterator[tuple[int, bytes]]:
    while start < size:
        end = data.find(b"\n", start, size)
        end = size if end < 0 else end + 1
        yield start, data[start:end]
        start = end
