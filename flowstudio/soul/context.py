"""The conversation: messages, checkpoints and a token count, in memory or in a JSON Lines file.

The file only ever grows. To go back appends a record that points at an earlier state; nothing is
rewritten, so a process killed at any instant leaves a file that opens, at worst without its last
line. Each record makes a new state out of the state before it. A state is known by its *position*,
the number of records up to it, and every position ever reached can be returned to or copied into
another file: that is how a run resumes, rewinds and forks.

A disk that refuses disturbs nobody in the middle of a turn: what could not be written is kept, and
`sync` writes it or says that it cannot.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from kosong.message import Message
from pydantic_core import from_json

from flowstudio.soul.messages import (
    estimate_tokens,
    interrupted_tool_message,
    mend,
    system_message,
)

if TYPE_CHECKING:
    from pathlib import Path


class ContextError(Exception):
    """A context's file cannot be read, or what was asked of the context does not exist."""


@dataclass(frozen=True, slots=True)
class _State:
    """The conversation after some record, as a link to the state that it grew from."""

    parent: int
    message: dict[str, Any] | None
    """As in the file. Only what the model is shown is made a `Message`: a long run leaves far
    more."""
    is_checkpoint: bool
    checkpoints: int
    tokens: int


@dataclass(frozen=True, slots=True)
class _Group:
    """Records of a file that count only together."""

    start: int
    """The first one's offset in bytes."""
    states: int
    """How many states there were before it."""
    missing: int
    """How many are still to come; 0 or less where none is."""


_EMPTY = _State(parent=-1, message=None, is_checkpoint=False, checkpoints=0, tokens=0)


class Context:
    """A conversation. With a file, all that was said before is read from it and all else added to
    it.

    Every change is in the file (not necessarily synced) when the method returns, unless the disk
    refuses; then `sync` says so. No method waits: a cancelled turn can never leave half a change.

    Args:
        at: the position to go on from. What was said behind it is left; where it cannot be read,
            it is put into a file beside this one (`context.jsonl.damaged-…`).

    Raises:
        ContextError: the file holds a record that cannot be read, other than an incomplete last
        line and what lies behind `at`; or it ends before `at`.
    """

    def __init__(self, file: Path | None = None, *, at: int | None = None) -> None:
        self.file = file
        self._states: list[_State] = [_EMPTY]
        self._history: list[Message] = []
        self._size = 0
        """Bytes of the file that hold whole records."""
        self._synced = 0
        """How many of them are on disk for good."""
        self._loose: list[bytes] = []
        """What was added since then, for a disk that loses it."""
        self._refused = False
        """The disk took the last change in part or not at all: only `sync` tries again."""
        if file is not None and file.exists():
            self._load(file, at)
        elif at:
            raise ContextError(f"{file}: the conversation is gone")

    @property
    def history(self) -> Sequence[Message]:
        """The messages that the model is shown, oldest first. A view: do not change it."""
        return self._history

    @property
    def token_count(self) -> int:
        """Tokens in the context: as the server last counted, and an estimate of what came since."""
        return self._states[-1].tokens

    @property
    def n_checkpoints(self) -> int:
        """How many checkpoints there are; their ids go from 0 to one less."""
        return self._states[-1].checkpoints

    @property
    def position(self) -> int:
        """The number of records so far. It never falls, and `rewind` takes it at any later time."""
        return len(self._states) - 1

    def checkpoint(self, *, add_user_message: bool = False) -> int:
        """Mark this place and return its id; with a message that tells the model the id, if
        wanted."""
        number = self.n_checkpoints
        records: list[Message | _Record] = [{"role": "_checkpoint", "id": number}]
        if add_user_message:
            records.append(_tell_checkpoint(number))
        self._add(records)
        return number

    def append_message(self, message: Message | Sequence[Message]) -> None:
        """Add one message, or several with a single write."""
        self._add([message] if isinstance(message, Message) else message)

    def append_step(
        self, answer: Message, results: Sequence[Message], tokens: int | None = None
    ) -> None:
        """Add an answer and the results of its tool calls with a single write.

        Args:
            tokens: the whole context up to and with the answer, as the server counted it.
        """
        counted: list[_Record] = [{"role": "_usage", "token_count": tokens}] if tokens else []
        self._add([answer, *counted, *results])

    def update_token_count(self, tokens: int) -> None:
        """Set the token count to what a server counted."""
        self._add([{"role": "_usage", "token_count": tokens}])

    def revert_to(self, checkpoint_id: int) -> None:
        """Go back to how it was when checkpoint `checkpoint_id` was made; it and all later ones are
        gone.

        Raises:
            ContextError: there is no such checkpoint.
        """
        self._return_to(self._find_checkpoint(checkpoint_id))

    def begin_again(
        self, checkpoint_id: int, messages: Sequence[Message], *, add_user_message: bool = False
    ) -> None:
        """Revert to a checkpoint, make it anew and add messages: all of it or, on a kill, nothing.

        Raises:
            ContextError: there is no such checkpoint, nor is it the first one.
        """
        position = 0
        if checkpoint_id or self.n_checkpoints:
            position = self._find_checkpoint(checkpoint_id)
        records: list[_Record] = [{"role": "_checkpoint", "id": checkpoint_id}]
        if add_user_message:
            records.append(_dump(_tell_checkpoint(checkpoint_id)))
        records += [_dump(message) for message in messages]
        rewind = {"role": "_rewind", "to": position, "with": len(records)}
        self._write([rewind, *records])
        self._sync_if_possible()
        for record in (rewind, *records):
            self._apply(record)
        self._rebuild()

    def rewind(self, position: int) -> None:
        """Go back to how it was at `position`.

        Raises:
            ContextError: the position was never reached.
        """
        if not 0 <= position < len(self._states):
            raise ContextError(f"The context has no position {position}; it is at {self.position}.")
        self._return_to(position)

    def clear(self) -> None:
        """Go back to an empty conversation."""
        self.rewind(0)

    def sync(self) -> None:
        """Return when all of it is on disk for good (fsync); at once where nothing was added.

        Raises:
            OSError: the disk refuses. Nothing is lost: the next call tries again.
        """
        if self.file is None or not self._loose:
            return
        try:
            # A file that held something and is gone is an error, not one to begin again.
            is_there = self._size > 0 or self.file.exists()
            with self.file.open("rb+" if is_there else "xb") as stream:
                if self._refused:
                    # After a failed fsync the system may hold as written what is not: all of it
                    # is written anew.
                    stream.truncate(self._synced)
                    stream.seek(self._synced)
                    stream.write(b"".join(self._loose))
                    stream.flush()
                os.fsync(stream.fileno())
        except OSError:
            self._refused = True
            raise
        self._refused = False
        self._synced += sum(map(len, self._loose))
        self._size = self._synced
        self._loose.clear()

    def copy_to(self, file: Path, position: int | None = None) -> Context:
        """Write the conversation at `position` (now, if left out) to a new file and open it.

        Raises:
            FileExistsError: the file is there already.
            ContextError: the position was never reached.
        """
        position = self.position if position is None else position
        if not 0 <= position < len(self._states):
            raise ContextError(f"The context has no position {position}; it is at {self.position}.")
        records: list[_Record] = []
        for state in self._find_line(position):
            if state.message is not None:
                records.append(state.message)
            elif state.is_checkpoint:
                records.append({"role": "_checkpoint", "id": state.checkpoints - 1})
        tokens = self._states[position].tokens
        records.append({"role": "_usage", "token_count": tokens})
        with file.open("xb") as stream:
            stream.write(_encode(records))
            stream.flush()
            os.fsync(stream.fileno())
        return Context(file)

    def _return_to(self, position: int) -> None:
        self._write([{"role": "_rewind", "to": position}])
        self._sync_if_possible()
        self._apply({"role": "_rewind", "to": position})
        self._rebuild()

    def _find_checkpoint(self, checkpoint_id: int) -> int:
        """The position just before the checkpoint was made."""
        at = len(self._states) - 1
        while at > 0:
            state = self._states[at]
            if state.is_checkpoint and state.checkpoints - 1 == checkpoint_id:
                return state.parent
            at = state.parent
        raise ContextError(
            f"There is no checkpoint {checkpoint_id}; there are {self.n_checkpoints}, from 0."
        )

    def _find_line(self, position: int) -> list[_State]:
        """The states that led to `position`, oldest first."""
        line: list[_State] = []
        while position > 0:
            state = self._states[position]
            line.append(state)
            position = state.parent
        line.reverse()
        return line

    def _rebuild(self) -> None:
        line = self._find_line(len(self._states) - 1)
        self._history = [
            Message.model_validate(state.message) for state in line if state.message is not None
        ]

    def _add(self, added: Sequence[Message | _Record]) -> None:
        records = [_dump(one) if isinstance(one, Message) else one for one in added]
        self._write(records)
        for record in records:
            self._apply(record)
        self._history += [one for one in added if isinstance(one, Message)]

    def _write(self, records: Sequence[_Record]) -> None:
        if self.file is None:
            return
        data = _encode(records)
        self._loose.append(data)
        if self._refused:
            return
        try:
            if not self._size:
                self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("ab") as stream:
                try:
                    stream.write(data)
                    stream.flush()
                except OSError:
                    # A full disk may have taken a part of it.
                    os.ftruncate(stream.fileno(), self._size)
                    raise
            if not self._size:
                _sync_name(self.file)
        except OSError:
            self._refused = True
            return
        self._size += len(data)

    def _sync_if_possible(self) -> None:
        """Sync before anything is added to what was gone back to; if it fails, nothing will be."""
        with contextlib.suppress(OSError):
            self.sync()

    def _apply(self, record: _Record) -> None:
        """Make the next state; a `KeyError` or so where the record lacks a field or has a wrong
        one."""
        at = len(self._states) - 1
        now = self._states[at]
        match record["role"]:
            case "_checkpoint":
                state = _State(at, None, True, now.checkpoints + 1, now.tokens)
            case "_usage":
                state = _State(at, None, False, now.checkpoints, int(record["token_count"]))
            case "_rewind":
                to = int(record["to"])
                if not 0 <= to <= at:
                    raise ValueError(f"a position that does not exist: {to}")
                back = self._states[to]
                state = _State(to, None, False, back.checkpoints, back.tokens)
            case "system" | "user" | "assistant" | "tool":
                tokens = now.tokens + estimate_tokens(record)
                state = _State(at, record, False, now.checkpoints, tokens)
            case other:
                raise ValueError(f"a record of unknown role {other!r}")
        self._states.append(state)

    def _load(self, file: Path, to: int | None) -> None:
        data = file.read_bytes()
        # What follows the last newline was never written whole.
        end = data.rfind(b"\n") + 1
        at = 0
        group = _Group(0, 0, 0)
        for number, line in enumerate(data[:end].split(b"\n"), 1):
            if line.strip():
                try:
                    record = _decode(line)
                    if more := int(record.get("with", 0)):
                        group = _Group(at, len(self._states), more + 1)
                    self._apply(record)
                except (ValueError, KeyError, TypeError, AttributeError) as error:
                    if to is None or self.position < to:
                        raise _not_a_record(f"{file}:{number}", error) from error
                    end = at
                    _keep_aside(file, end, data[end:])
                    break
                group = _Group(group.start, group.states, group.missing - 1)
            at += len(line) + 1
        if group.missing > 0:
            # Nor was what belongs together and is there in part only.
            end = group.start
            del self._states[group.states :]
        if end < len(data):
            with file.open("rb+") as stream:
                stream.truncate(end)
        self._size = self._synced = end
        if to is not None and to != self.position:
            if to > self.position:
                raise ContextError(
                    f"{file}: the conversation ends at record {self.position}, before record {to}, "
                    "to which the journal refers"
                )
            back: _Record = {"role": "_rewind", "to": to}
            self._write([back])
            self._sync_if_possible()
            self._apply(back)
        try:
            self._rebuild()
        except (ValueError, KeyError, TypeError) as error:
            # kosong looks a part's type up in a table, so an unknown one is a `KeyError`.
            raise _not_a_record(str(file), error) from error
        self._close_open_calls()

    def _close_open_calls(self) -> None:
        """Give each tool call that was in flight when the process died its result: interrupted."""
        answered: set[str] = set()
        for message in reversed(self._history):
            if message.role == "tool" and message.tool_call_id:
                answered.add(message.tool_call_id)
            elif message.role == "assistant":
                missing = [call.id for call in message.tool_calls or () if call.id not in answered]
                if missing:
                    self.append_message([interrupted_tool_message(call) for call in missing])
                return
            else:
                return


def copy_beginning(source: Path, target: Path, position: int) -> None:
    """Write a new file that holds the records of `source` up to `position`, byte for byte.

    So each position up to that one means the same in both. `source` is only read.

    Raises:
        FileExistsError: the target is there already.
        ContextError: the source holds fewer records.
        OSError: one of them cannot be read or written.
    """
    data = source.read_bytes() if position else b""
    end = found = 0
    while found < position:
        after = data.find(b"\n", end) + 1
        if not after:
            raise ContextError(f"{source}: there is no record {position}, only {found}")
        found += bool(data[end:after].strip())
        end = after
    with target.open("xb") as stream:
        stream.write(data[:end])
        stream.flush()
        os.fsync(stream.fileno())


type _Record = dict[str, Any]


def _dump(message: Message) -> _Record:
    return message.model_dump(exclude_none=True)


def _tell_checkpoint(number: int) -> Message:
    return system_message(f"CHECKPOINT {number}")


def _encode(records: Sequence[_Record]) -> bytes:
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return mend(text).encode()


def _decode(line: bytes) -> _Record:
    record: object = from_json(line)
    if not isinstance(record, dict):
        raise ValueError("not an object")
    return cast("_Record", record)


def _keep_aside(file: Path, offset: int, data: bytes) -> None:
    """Put what is cut off from a file at `offset` into one beside it."""
    aside = file.with_name(f"{file.name}.damaged-{offset}")
    with contextlib.suppress(OSError):
        aside.write_bytes(data)


def _sync_name(file: Path) -> None:
    """Return when the name of a new file is on disk."""
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _not_a_record(where: str, error: Exception) -> ContextError:
    reason = " ".join(str(error).split())[:200]
    return ContextError(f"{where}: not a record of a context: {reason}")
