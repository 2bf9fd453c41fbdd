"""The journal of a run: one JSON record a line, each with a checksum.

A line is the event as `--json` prints it with two fields more: `n`, which counts the records from
1, and, last, `crc`, the CRC-32 (eight hex digits) of the line without it. So the file reads well
in `less` and `git diff`, and a damaged line is told from a good one. Pieces of streamed text are
joined into one record.

Acknowledged means on disk: the writer is the first consumer of the wire, and `node_left`,
`run_ended` and what comes before an act that cannot be taken back are fsynced before anybody else
hears of them.
"""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from flowstudio.run.folder import sync_folder
from flowstudio.text import to_json
from flowstudio.wire import (
    Event,
    FlowReloaded,
    NodeLeft,
    RunEnded,
    RunStarted,
    Text,
    Thinking,
    ToolCalled,
)

_DURABLE = (RunStarted, NodeLeft, ToolCalled, FlowReloaded, RunEnded)
_sync_file: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync


class JournalDamaged(ValueError):
    """A record in the middle of a journal is damaged; `offset` is its place in bytes."""

    def __init__(self, path: Path, offset: int) -> None:
        super().__init__(f"{path}: the record at byte {offset} is damaged")
        self.path = path
        self.offset = offset


class JournalWriter:
    """Appends events to a journal; a consumer for `Wire.subscribe`.

    Raises:
        OSError: the disk refuses. Nothing was acknowledged then, and the run hears of it. What was
            written stays readable: no part of the record that did not fit is left behind.
    """

    def __init__(self, path: Path, *, sync: bool = True) -> None:
        self._file: BinaryIO = path.open("ab", buffering=0)
        self._size = self._file.seek(0, os.SEEK_END)
        self._sync = sync
        self._count = 0
        self._stream: Event | None = None
        if sync:
            sync_folder(path.parent)

    def __call__(self, event: Event) -> None:
        """Record one event; on disk when this returns, if it is one of the durable kinds."""
        if self._joins(event):
            return
        self.flush()
        if isinstance(event.body, Text | Thinking):
            self._stream = event
            return
        self._write(event)
        if self._sync and isinstance(event.body, _DURABLE):
            _sync_file(self._file.fileno())

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
            self._write(self._stream)
            self._stream = None

    def close(self) -> None:
        """Flush and close; safe to call twice."""
        if self._file.closed:
            return
        try:
            self.flush()
        finally:
            self._file.close()

    def _write(self, event: Event) -> None:
        record = {"n": self._count + 1, **event.to_json()}
        line = _seal(to_json(record))
        try:
            rest = memoryview(line)
            while rest:
                # A full disk may take a part of it before it refuses the rest.
                rest = rest[self._file.write(rest) :]
        except OSError:
            with contextlib.suppress(OSError):
                self._file.truncate(self._size)
            raise
        self._size += len(line)
        self._count += 1


@dataclass(frozen=True, slots=True)
class Journal:
    """A journal as read: its events, and what was left off at its end."""

    events: tuple[Event, ...]
    dropped: int
    """Bytes of a damaged tail that were not read."""


def read_journal(path: Path) -> Journal:
    """Read a journal; a damaged last record (a torn write) is dropped.

    Raises:
        JournalDamaged: a record that is not the last one is damaged.
        OSError: the file cannot be read.
    """
    data = path.read_bytes()
    events: list[Event] = []
    for offset, line in _lines(data):
        event = _unseal(line)
        if event is None:
            if offset + len(line) < len(data):
                raise JournalDamaged(path, offset)
            return Journal(tuple(events), len(line))
        events.append(event)
    return Journal(tuple(events), 0)


def _seal(body: str) -> bytes:
    """The line for a record: its checksum as the last field."""
    data = body.encode()
    return data[:-1] + b', "crc": "%08x"}\n' % zlib.crc32(data)


_SEAL = len(b', "crc": "00000000"}\n')


def _unseal(line: bytes) -> Event | None:
    """The event of a line; None where the line is damaged."""
    if len(line) <= _SEAL or not line.endswith(b'"}\n'):
        return None
    body = line[:-_SEAL] + b"}"
    if line[-_SEAL:] != b', "crc": "%08x"}\n' % zlib.crc32(body):
        return None
    try:
        return Event.from_json(json.loads(body))
    except ValueError:
        return None


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end + 1
        yield start, data[start:end]
        start = end
