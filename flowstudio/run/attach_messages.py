"""What an attached studio and the process that runs a flow say to each other.

One JSON object a line, in UTF-8. The server speaks first:

    {"say": "hello", "version": 1, "run": "…", "journal": 5120, "paused": null, …}

The journal up to that byte is what happened so far; from then on each event comes as
`{"say": "event", "event": {…}}`, in the form of the journal. A message of the other side that
cannot be followed is answered with `{"say": "refused", "why": "…"}` and changes nothing.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from flowstudio.text import to_json
from flowstudio.wire import CommandName, PauseReason, Verdict

VERSION = 1
"""Of the protocol; raised when an older program could misunderstand."""
LONGEST = 4 * 1024 * 1024
"""Bytes of a line at most."""


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


# From the attached studio


class Attach(_Message):
    """Who wants to watch and steer; the first message."""

    do: Literal["attach"] = "attach"
    version: int
    pid: int = 0


class Command(_Message):
    """A command to the run, as `command_given` says it in the journal."""

    do: Literal["command"] = "command"
    command: CommandName
    target: str | None = None
    value: str | None = None


class Approve(_Message):
    """The user's word on a tool's request."""

    do: Literal["approve"] = "approve"
    id: str
    verdict: Verdict
    reason: str = ""


class Reply(_Message):
    """The user's answer to a question."""

    do: Literal["reply"] = "reply"
    id: str
    text: str


type FromStudio = Attach | Command | Approve | Reply


# From the process that runs the flow


class Paused(_Message):
    """Where the run waits and why."""

    why: PauseReason
    message: str
    node: str | None


class Hello(_Message):
    """The run, and how it stands."""

    say: Literal["hello"] = "hello"
    version: int
    program: str = ""
    run: str
    journal: int = Field(ge=0)
    """Bytes of the journal that tell what happened before this."""
    revision: int = 1
    paused: Paused | None = None
    mode: Literal["run", "step"] = "run"
    breakpoints: list[tuple[str, str]] = Field(default_factory=list[tuple[str, str]])
    """Node and text of each."""


class Happened(_Message):
    """An event of the run."""

    say: Literal["event"] = "event"
    event: dict[str, Any]


class Refused(_Message):
    """A message was not followed."""

    say: Literal["refused"] = "refused"
    why: str


class Bye(_Message):
    """The process lets go: the run is over."""

    say: Literal["bye"] = "bye"


type FromRun = Hello | Happened | Refused | Bye

_FROM_STUDIO: TypeAdapter[FromStudio] = TypeAdapter(
    Annotated[Attach | Command | Approve | Reply, Field(discriminator="do")]
)
_FROM_RUN: TypeAdapter[FromRun] = TypeAdapter(
    Annotated[Hello | Happened | Refused | Bye, Field(discriminator="say")]
)


class NotUnderstood(ValueError):
    """A line that is no message of this protocol; the text says what is wrong with it."""


def write_message(message: _Message) -> bytes:
    """The line of a message."""
    return to_json(message.model_dump()).encode() + b"\n"


def read_from_studio(line: bytes) -> FromStudio:
    """The message in a line.

    Raises:
        NotUnderstood: it is none.
    """
    return _read(_FROM_STUDIO, line)


def read_from_run(line: bytes) -> FromRun:
    """The message in a line.

    Raises:
        NotUnderstood: it is none.
    """
    return _read(_FROM_RUN, line)


def _read[T](kind: TypeAdapter[T], line: bytes) -> T:
    try:
        # pydantic's own reader of JSON refuses halves of surrogate pairs, which models do send.
        return kind.validate_python(json.loads(line))
    except RecursionError as error:
        raise NotUnderstood("nested too deeply") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise NotUnderstood(f"{where}: {first['msg']}" if where else first["msg"]) from error
    except ValueError as error:
        raise NotUnderstood(f"not JSON: {error}") from error
