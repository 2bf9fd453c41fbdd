"""Undoing what the file tools wrote: each write is noted, with the text before it, before it
happens.

A log lies in a folder: `undo.jsonl` with a line per write and per undoing, and the former content
of each file beside it. A process that is killed between the note and the write leaves a note whose
write never happened, which undoing sees.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from flowstudio.soul.tools.files import open_text, remove_file, replace_file
from flowstudio.soul.tools.toolbox import ToolFailure

_FILE = "undo.jsonl"


class UndoError(Exception):
    """A write cannot be undone; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Write:
    """A write of a tool that can be undone."""

    number: int
    """From 1, in the order in which they were made."""
    path: str
    """The file, absolute."""
    position: int
    """The context's position when it was made: see `Context.position`."""
    time: float
    """Seconds since the epoch."""
    before: str | None
    """The hash of the content before; None where there was no file."""
    after: str
    """The hash of what was written."""
    mode: int
    """The file's mode before."""
    folders: tuple[str, ...] = ()
    """Folders that were made for it, outermost first."""


class UndoLog:
    """The writes of a session or a run, newest last.

    Args:
        folder: where the log is kept; None keeps it in a temporary folder that goes with it.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.position: Callable[[], int] = lambda: 0
        """Says where the conversation stands; the soul sets it."""
        self._folder: Path | None = None
        self._writes: dict[int, Write] = {}
        self._count = 0
        if folder is not None:
            self.open(folder)

    def open(self, folder: Path) -> None:
        """Keep the log in this folder from now on, going on with what is in it already."""
        self._folder = folder
        self._writes = {}
        self._count = 0
        try:
            text = (folder / _FILE).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return
        if text and not text.endswith("\n"):
            # What was cut must not run into the next line.
            with contextlib.suppress(OSError):
                _write_private(folder / _FILE, b"\n", os.O_APPEND)
        for line in text.splitlines():
            # A line that was cut by a kill, or damaged, costs its own write only.
            with contextlib.suppress(ValueError, KeyError, TypeError):
                self._apply(cast("dict[str, Any]", json.loads(line)))

    @property
    def writes(self) -> tuple[Write, ...]:
        """What can be undone, oldest first."""
        return tuple(self._writes.values())

    def since(self, position: int) -> tuple[Write, ...]:
        """What was written when the conversation stood at `position` or later, newest first.

        In this order all of it can be undone: what a rewind to that position would leave behind.
        """
        return tuple(one for one in reversed(self.writes) if one.position >= position)

    def copy_beginning(self, folder: Path, position: int) -> None:
        """Begin a log in another folder with what was written before the conversation stood there.

        Raises:
            OSError: it cannot be written.
        """
        earlier = [one for one in self.writes if one.position < position]
        if not earlier:
            return
        copy = UndoLog(folder)
        for write in earlier:
            kept = self._kept(write)
            if kept is not None:
                _write_private(copy._make_folder() / kept.name, kept.read_bytes(), os.O_EXCL)
            copy._append(asdict(write))

    def find_conflicts(self, writes: Sequence[Write]) -> list[str]:
        """Why some of the writes cannot be undone in this order, a sentence each."""
        now: dict[str, str | None] = {}
        found: list[str] = []
        for write in writes:
            if write.path not in now:
                data = _read(Path(write.path))
                now[write.path] = None if data is None else _hash(data)
            if now[write.path] not in (write.after, write.before):
                found.append(_conflict(write, now[write.path], self._kept(write)))
            now[write.path] = write.before
        return found

    def note(self, place: Path, before: bytes | None, after: bytes) -> Write:
        """Keep what stands in a file that is about to be written.

        Raises:
            OSError: it cannot be kept; the file must not be written then.
        """
        folder = self._make_folder()
        mode = 0
        with contextlib.suppress(OSError):
            mode = stat.S_IMODE(place.lstat().st_mode)
        missing = [str(one) for one in place.parents if not one.exists()]
        write = Write(
            self._count + 1,
            str(place),
            self.position(),
            round(time.time(), 3),
            None if before is None else _hash(before),
            _hash(after),
            mode,
            tuple(reversed(missing)),
        )
        if before is not None:
            _write_private(folder / f"{write.number}.before", before, os.O_EXCL)
        self._append(asdict(write))
        return write

    def forget(self, write: Write) -> None:
        """A write that was noted did not happen."""
        if write.number in self._writes:
            self._append({"undone": write.number})

    def revert(self, write: Write) -> str:
        """Put back what stood in the file before; a sentence says what was done.

        Raises:
            UndoError: the file was changed since, or it cannot be written.
        """
        said = self.put_back(write)
        try:
            self._append({"undone": write.number})
        except OSError as error:
            raise UndoError(f"The undoing cannot be noted: {error}.") from error
        return said

    def put_back(self, write: Write) -> str:
        """As `revert`, but the log is left as it is: it may be another run's."""
        place = Path(write.path)
        data = _read(place)
        now = None if data is None else _hash(data)
        if now == write.after:
            return self._put_back(place, write)
        if now == write.before:
            return f"{write.path} is already as it was before"
        raise UndoError(_conflict(write, now, self._kept(write)))

    def _put_back(self, place: Path, write: Write) -> str:
        kept = self._kept(write)
        try:
            if kept is None:
                remove_file(place)
                for folder in reversed(write.folders):
                    with contextlib.suppress(OSError):
                        Path(folder).rmdir()
                return f"{write.path} is removed again"
            data = kept.read_bytes()
            if _hash(data) != write.before:
                raise UndoError(f"The former text of {write.path}, in {kept}, is damaged.")
            replace_file(place, write.path, data, write.mode)
        except ToolFailure as failure:
            raise UndoError(str(failure)) from failure
        except OSError as error:
            raise UndoError(f"{write.path} cannot be put back: {error.strerror}.") from error
        return f"{write.path} is as it was before"

    def _kept(self, write: Write) -> Path | None:
        """Where the former content lies; None where there was no file."""
        if write.before is None or self._folder is None:
            return None
        return self._folder / f"{write.number}.before"

    def _make_folder(self) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="flowstudio-undo-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._folder

    def _append(self, record: dict[str, Any]) -> None:
        line = json.dumps(record, ensure_ascii=False) + "\n"
        # A file name that is no UTF-8 has halves of characters in it.
        data = line.encode(errors="surrogateescape")
        _write_private(self._make_folder() / _FILE, data, os.O_APPEND)
        self._apply(record)

    def _apply(self, record: dict[str, Any]) -> None:
        if "undone" in record:
            self._writes.pop(int(record["undone"]), None)
            return
        fields: dict[str, Any] = {**record, "folders": tuple(record.get("folders", ()))}
        write = Write(**fields)
        self._writes[write.number] = write
        self._count = max(self._count, write.number)


def _conflict(write: Write, now: str | None, kept: Path | None) -> str:
    copy = f" What stood in it before is in {kept}." if kept else ""
    gone = "was removed" if now is None else "was changed"
    return f"{write.path} {gone} since: undoing would lose that.{copy}"


def _read(place: Path) -> bytes | None:
    try:
        with open_text(place, str(place)) as stream:
            return stream.read()
    except ToolFailure:
        return None if not os.path.lexists(place) else b"\0"


def _write_private(path: Path, data: bytes, flag: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | flag, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(data)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
