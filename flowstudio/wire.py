"""The stream of events that every front end consumes.

What happens in a run is said once, as a frozen typed *body* (`PromptSent`, `ChoiceMade`, …), on a
`Wire`. The wire stamps it with run, time, node and visit and hands the `Event` to its consumers in
the order in which they subscribed: the journal first, so that nothing is shown before it is on
disk, then the screen, the printer, the JSON writer. None of them is special.

A *visit* is counted per node: visit 2 of `verdict` is the second time the run entered that node.
"""

from __future__ import annotations

import dataclasses
import functools
import time as clock
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar, Literal, cast

type Author = Literal["model", "user", "script", "seed", "replay", "only-exit"]
type CommandName = Literal[
    "step",
    "continue",
    "pause",
    "stop",
    "choose",
    "unforce",
    "go_to",
    "run_to",
    "again",
    "replace_prompt",
    "allow_more",
    "break",
    "unbreak",
]
type Verdict = Literal["allow", "session", "reject"]
type EndReason = Literal[
    "reached_end",
    "stopped",
    "max_moves",
    "max_iterations",
    "no_progress",
    "breakpoint",
    "choice_failed",
    "tool_rejected",
    "model_failed",
    "dead_end",
    "needs_user",
    "disk",
    "failed",
]
type PauseReason = Literal[
    "step",
    "pause",
    "breakpoint",
    "choice_failed",
    "model_failed",
    "node_gone",
    "max_moves",
    "flow_broken",
    "run_to",
    "answered",
    "tool_rejected",
    "dead_end",
    "no_progress",
    "needs_user",
    "disk",
]


@dataclass(frozen=True, slots=True)
class Body:
    """What an event says; `type` is its name in JSON and in the journal."""

    type: ClassVar[str] = ""


@dataclass(frozen=True, slots=True)
class RunStarted(Body):
    """A run begins: which flow, from which file, with which model and input."""

    type: ClassVar[str] = "run_started"
    flow: str
    path: str | None
    revision: int
    model: str
    input: str
    max_moves: int
    variables: Mapping[str, str] = dataclasses.field(default_factory=dict[str, str])
    """What fills `{{name}}`."""


@dataclass(frozen=True, slots=True)
class NodeEntered(Body):
    """The run stands on a node. `move` counts all nodes entered, from 1."""

    type: ClassVar[str] = "node_entered"
    move: int
    kind: str
    label: str
    revision: int


@dataclass(frozen=True, slots=True)
class PromptSent(Body):
    """A user message went to the model; `attempt` above 1 is a retry of a choice."""

    type: ClassVar[str] = "prompt_sent"
    prompt: str
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class StepBegan(Body):
    """One call to the model within a turn begins; steps count from 1 in each turn."""

    type: ClassVar[str] = "step_began"
    step: int


@dataclass(frozen=True, slots=True)
class StepInterrupted(Body):
    """The call to the model ended early, by an error or because the user stopped it."""

    type: ClassVar[str] = "step_interrupted"
    reason: str
    partial: str = ""
    """The answer as far as it had come; no visit counts it as an answer."""


@dataclass(frozen=True, slots=True)
class TokensUsed(Body):
    """A call to the model was answered: what the server counted for it, and what that cost.

    Not said where the server does not count, and not for a call that failed.
    """

    type: ClassVar[str] = "tokens_used"
    model: str
    """The server's own name of the model."""
    input: int
    """Tokens sent, those from the server's cache included."""
    cached: int
    """Tokens sent that the server had in its cache."""
    output: int
    """Tokens received, thinking included."""
    seconds: float
    cost: float | None = None
    """In the currency of the configuration; None where the model has no prices there."""
    purpose: Literal["step", "summary"] = "step"
    """A step of a turn, or the summary that makes room in the context."""
    finish: Literal["stop", "tool_calls"] = "stop"
    """Whether the answer ended the turn or called tools."""


@dataclass(frozen=True, slots=True)
class Text(Body):
    """A piece of the model's answer, as it comes."""

    type: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True, slots=True)
class Thinking(Body):
    """A piece of the model's thinking, as it comes."""

    type: ClassVar[str] = "thinking"
    text: str


@dataclass(frozen=True, slots=True)
class ToolCalled(Body):
    """The model called a tool; `arguments` is the JSON text as the model wrote it."""

    type: ClassVar[str] = "tool_called"
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolReturned(Body):
    """A tool call has its result. `brief` is a line for people, `output` what the model is
    shown."""

    type: ClassVar[str] = "tool_returned"
    id: str
    name: str
    ok: bool
    brief: str
    output: str
    seconds: float


@dataclass(frozen=True, slots=True)
class ApprovalAsked(Body):
    """A tool wants to change something and waits for the user's word."""

    type: ClassVar[str] = "approval_asked"
    id: str
    tool: str
    action: str
    """The kind of act, the unit of "allow for the session": `run shell command`, `write file` …"""
    description: str
    """What exactly will happen, for people; may be several lines (a command, a diff)."""
    diff: str = ""
    """The change to a file as a unified diff, where it is one that can be shown; bounded."""


@dataclass(frozen=True, slots=True)
class ApprovalGiven(Body):
    """The answer to an `ApprovalAsked`."""

    type: ClassVar[str] = "approval_given"
    id: str
    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True, slots=True)
class UserAsked(Body):
    """The agent asks the user a question and waits; `options` are answers that it suggests."""

    type: ClassVar[str] = "user_asked"
    id: str
    question: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UserAnswered(Body):
    """The answer to a `UserAsked`."""

    type: ClassVar[str] = "user_answered"
    id: str
    answer: str


@dataclass(frozen=True, slots=True)
class Retried(Body):
    """A call to the model failed and is made again after `wait` seconds.

    What came of its answer since `step_began` is void: the next answer begins from nothing.
    """

    type: ClassVar[str] = "retried"
    reason: str
    wait: float
    attempt: int
    attempts: int


@dataclass(frozen=True, slots=True)
class ChoiceRejected(Body):
    """The model's answer names no branch. `got` is what stood in its last choice tag, if any."""

    type: ClassVar[str] = "choice_rejected"
    got: str | None
    attempt: int
    attempts: int
    branches: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChoiceMade(Body):
    """A branch is taken. `over` is what the model had answered where the user chose otherwise."""

    type: ClassVar[str] = "choice_made"
    branch: str
    by: Author
    over: str | None = None
    forced: bool = False
    """True where the user took it by hand. Who answers in a rehearsal chooses, but forces nothing.
    """


@dataclass(frozen=True, slots=True)
class NodeLeft(Body):
    """The visit is over: its answer, the branch taken and the next node, as one record."""

    type: ClassVar[str] = "node_left"
    to: str | None
    """The node that comes next; None where the run ends: at END, and where nothing leads on."""
    branch: str | None
    by: Author
    answer: str
    tokens: int
    seconds: float
    revision: int = 1
    """The flow's revision whose prompt was sent: it may have been edited since the node was
    entered.
    """
    cut: bool = False
    """True where a command cut the answer: `answer` is what had come of it."""
    context: int | None = None
    """The context's position: the conversation as the visit left it. None in older journals."""


@dataclass(frozen=True, slots=True)
class Compacted(Body):
    """The context was summarised to make room; token counts before and after."""

    type: ClassVar[str] = "compacted"
    before: int
    after: int
    summary: str
    kept: tuple[str, ...] = ()
    """The messages that stay word for word, each as who said it and how it begins."""


@dataclass(frozen=True, slots=True)
class DmailSent(Body):
    """The agent sent a D-Mail from one checkpoint back to an earlier one."""

    type: ClassVar[str] = "dmail_sent"
    message: str
    origin: int
    checkpoint: int


@dataclass(frozen=True, slots=True)
class FlowReloaded(Body):
    """The flow's file changed and its new revision is in force from the next move on."""

    type: ClassVar[str] = "flow_reloaded"
    revision: int
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    renamed: tuple[str, ...] = ()
    """The old and the new id of the node that was renamed; empty where none was."""


@dataclass(frozen=True, slots=True)
class CommandGiven(Body):
    """Somebody steers the run. Said before the command takes effect."""

    type: ClassVar[str] = "command_given"
    command: CommandName
    target: str | None
    """The node that the command is about; None where it is about none, or about whichever is next.
    """
    value: str | None
    """The branch for `choose`, the prompt for `replace_prompt`, how many for `allow_more`, and the
    breakpoint as it is written for `break`.
    """
    by: Author


@dataclass(frozen=True, slots=True)
class RunPaused(Body):
    """The run waits for a command; `message` is a sentence that says why."""

    type: ClassVar[str] = "run_paused"
    why: PauseReason
    message: str


@dataclass(frozen=True, slots=True)
class RunResumed(Body):
    """The run goes on after a pause, by this command: `step`, `continue`, `run_to`, `choose`,
    `go_to`, `again`, `allow_more`.
    """

    type: ClassVar[str] = "run_resumed"
    command: str


@dataclass(frozen=True, slots=True)
class RunEnded(Body):
    """The run is over; `message` is a sentence that says why."""

    type: ClassVar[str] = "run_ended"
    reason: EndReason
    message: str
    moves: int


@dataclass(frozen=True, slots=True)
class RunReopened(Body):
    """A run that was broken off or stopped goes on, in its own folder.

    What was said of the visit in flight is void: the visit begins again, under the same number.
    """

    type: ClassVar[str] = "run_reopened"
    to: str
    """The node that comes next."""
    moves: int
    """How many moves were made so far."""
    model: str
    revision: int
    max_moves: int
    """Moves that may still be made."""


@dataclass(frozen=True, slots=True)
class RunForked(Body):
    """A run begins as the copy of another one's beginning; everything before this is the other's.

    `branch` and `prompt` are meant for the visit that comes next, by whoever forked.
    """

    type: ClassVar[str] = "run_forked"
    parent: str
    move: int
    """The move at which the two part: the first one that is the new run's own."""
    branch: str | None = None
    prompt: str | None = None


@dataclass(frozen=True, slots=True)
class TalkHeld(Body):
    """The user talked with the agent while the run waited; the run goes on behind that talk."""

    type: ClassVar[str] = "talk_held"
    said: str
    context: int
    """The context's position behind the talk."""


@dataclass(frozen=True, slots=True)
class StatusChanged(Body):
    """Tokens in the context, and the share of the model's window that they fill (0…1)."""

    type: ClassVar[str] = "status_changed"
    tokens: int
    context_usage: float


@dataclass(frozen=True, slots=True)
class Notice(Body):
    """Something a person should read that is no model's answer: a slash command's output, a
    warning.
    """

    type: ClassVar[str] = "notice"
    text: str
    severity: Literal["information", "warning", "error"] = "information"


@dataclass(frozen=True, slots=True)
class CalledFlowSaid(Body):
    """A called skill that is itself a flow, run by a tool of the present visit, says something.

    The event's own node and visit are the caller's.
    """

    type: ClassVar[str] = "called_flow_said"
    call: str
    """The same for all that one call says; a call within a call is `OUTER/INNER`."""
    flow: str
    """The called skill's name."""
    depth: int
    """1 where the run's own flow called it, 2 where that one called this one, and so on."""
    said: str
    """The name of what it says: `node_entered`, `node_left`, `run_ended` …"""
    at: str | None
    """The called flow's node, None where it says something of itself."""
    at_visit: int | None
    fields: Mapping[str, Any]
    """The fields of what it says."""

    @classmethod
    def of(cls, event: Event, call: str, flow: str) -> CalledFlowSaid:
        """An event of the called flow, as its caller's wire has it."""
        fields = {name: getattr(event.body, name) for name in _names_of(type(event.body))}
        return cls(call, flow, 1, event.type, event.node, event.visit, fields)

    @property
    def body(self) -> Body:
        """What it says.

        Raises:
            ValueError: it says what is not known here, or a field is missing.
        """
        record = {**self.fields, "type": self.said, "run": "", "time": "1970-01-01T00:00:00Z"}
        return Event.from_json(record).body


BODIES: Mapping[str, type[Body]] = {cls.type: cls for cls in Body.__subclasses__()}
"""Every kind of event by its name."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened: the body, and where and when."""

    body: Body
    run: str
    time: float
    """Seconds since the epoch, to the millisecond."""
    node: str | None = None
    visit: int | None = None

    @property
    def type(self) -> str:
        """The body's name, as in JSON."""
        return self.body.type

    def to_json(self) -> dict[str, Any]:
        """The event as one flat JSON object: `type, run, time[, node, visit]` and the body's
        fields.
        """
        stamp = datetime.fromtimestamp(self.time, UTC).isoformat(timespec="milliseconds")
        record: dict[str, Any] = {"type": self.body.type, "run": self.run}
        record["time"] = stamp.replace("+00:00", "Z")
        if self.node is not None:
            record["node"] = self.node
        if self.visit is not None:
            record["visit"] = self.visit
        for name in _names_of(type(self.body)):
            record[name] = getattr(self.body, name)
        return record

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Event:
        """The event that `to_json` wrote. Unknown fields are ignored, so newer journals open.

        Raises:
            ValueError: the record is not an event, or a field is missing.
        """
        try:
            kind = BODIES[record["type"]]
            names = _names_of(kind)
            values: dict[str, Any] = {
                key: tuple(cast("list[Any]", value)) if isinstance(value, list) else value
                for key, value in record.items()
                if key in names
            }
            moment = datetime.fromisoformat(record["time"]).timestamp()
            return cls(
                kind(**values), record["run"], moment, record.get("node"), record.get("visit")
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not an event: {error}") from error


@functools.cache
def _names_of(kind: type[Body]) -> tuple[str, ...]:
    """The fields of a body, in order."""
    return tuple(field.name for field in dataclasses.fields(kind))


type Consumer = Callable[[Event], None]


class Wire:
    """Stamps bodies and hands them to the consumers, in one thread, without buffering.

    An exception that a consumer raises reaches whoever emitted: a journal that cannot write stops
    the run instead of losing a record.
    """

    def __init__(self, run: str = "", *, now: Callable[[], float] = clock.time) -> None:
        self.run = run
        self._now = now
        self._consumers: list[Consumer] = []
        self._node: str | None = None
        self._visit: int | None = None

    def subscribe(self, consumer: Consumer, *, first: bool = False) -> Callable[[], None]:
        """Add a consumer behind the present ones, or before them; call what comes back to take it
        off again."""
        self._consumers.insert(0 if first else len(self._consumers), consumer)

        def leave() -> None:
            if consumer in self._consumers:
                self._consumers.remove(consumer)

        return leave

    def emit(self, body: Body) -> Event:
        """Say that something happened, now, at the node and visit in force."""
        # To the millisecond, as it is written down: read back, an event is the same event.
        event = Event(body, self.run, round(self._now(), 3), self._node, self._visit)
        for consumer in tuple(self._consumers):
            consumer(event)
        return event

    @contextmanager
    def visiting(self, node: str, visit: int) -> Generator[None]:
        """Stamp everything said meanwhile with this node and visit."""
        before = (self._node, self._visit)
        self._node, self._visit = node, visit
        try:
            yield
        finally:
            self._node, self._visit = before
