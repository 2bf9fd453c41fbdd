"""The parts of a batch as values: what all its runs share, one run's order, and what came of it.

They travel to other processes and machines, so they hold nothing that cannot be pickled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from flowstudio.run.runner import DEFAULT_MAX_MOVES
from flowstudio.wire import Author, EndReason

if TYPE_CHECKING:
    from flowstudio.config import Config
    from flowstudio.flow.model import Flow
    from flowstudio.run.answerers import Who
    from flowstudio.run.state import EdgeKey, RunState


@dataclass(frozen=True, slots=True)
class Recipe:
    """What all runs of a batch have in common."""

    flow: Flow
    name: str
    path: Path | None
    source: str
    who: Who
    config: Config
    work_dir: Path
    runs_dir: Path
    max_moves: int = DEFAULT_MAX_MOVES
    yolo: bool = False
    """Tools may act without asking; else they are refused, since nobody is there to ask."""
    skills_dirs: tuple[Path, ...] = ()
    """Folders of skills beside the usual ones."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a batch."""

    number: int
    """Its place in the batch, from 1."""
    line: int
    """The line of the inputs' file, from 1."""
    lap: int
    """Which run of that line it is, from 1."""
    input: str = ""
    variables: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Choice:
    """One decision of a run: the branch that was taken, and by whom."""

    node: str
    branch: str
    by: Author


@dataclass(frozen=True, slots=True)
class JobResult:
    """What came of one run."""

    job: Job
    run: str
    """The run's id; empty where it died before it had one."""
    reason: EndReason
    message: str
    path: tuple[str, ...] = ()
    """The nodes entered, in order."""
    choices: tuple[Choice, ...] = ()
    taken: Mapping[EdgeKey, int] = field(default_factory=dict["EdgeKey", int])
    """How often each edge was followed."""
    tokens: int = 0
    model_calls: int = 0
    retries: int = 0
    """How often a choice was asked for again."""
    seconds: float = 0.0

    @property
    def is_good(self) -> bool:
        """True where the run reached END."""
        return self.reason == "reached_end"

    def to_json(self) -> dict[str, Any]:
        """As one JSON object."""
        return {
            "number": self.job.number,
            "line": self.job.line,
            "lap": self.job.lap,
            "input": self.job.input,
            "vars": dict(self.job.variables),
            "run": self.run,
            "reason": self.reason,
            "message": self.message,
            "path": list(self.path),
            "choices": [[one.node, one.branch, one.by] for one in self.choices],
            "taken": [[*key, count] for key, count in self.taken.items()],
            "tokens": self.tokens,
            "model_calls": self.model_calls,
            "retries": self.retries,
            "seconds": self.seconds,
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> JobResult:
        """The result that `to_json` wrote; our own processes tell each other no other."""
        return cls(
            Job(record["number"], record["line"], record["lap"], record["input"], record["vars"]),
            record["run"],
            record["reason"],
            record["message"],
            tuple(record["path"]),
            tuple(Choice(*one) for one in record["choices"]),
            Counter({cast("EdgeKey", tuple(one[:3])): int(one[3]) for one in record["taken"]}),
            record["tokens"],
            record["model_calls"],
            record["retries"],
            record["seconds"],
        )


def make_result(job: Job, run: str, state: RunState, seconds: float) -> JobResult:
    """The result of a run that is over, from the state that its events added up to."""
    return JobResult(
        job,
        run,
        cast("EndReason", state.reason) if state.phase == "ended" else "failed",
        state.why or "the run broke off",
        path=tuple(visit.node for visit in state.visits),
        choices=tuple(
            Choice(visit.node, visit.branch, visit.by or "model")
            for visit in state.visits
            if visit.branch is not None
        ),
        taken=dict(state.taken),
        tokens=sum(visit.tokens for visit in state.visits),
        model_calls=state.model_calls,
        retries=sum(visit.retries for visit in state.visits),
        seconds=round(seconds, 3),
    )


def make_failure(job: Job, run: str, message: str) -> JobResult:
    """The result of a run that could not be carried out, or whose process died."""
    return JobResult(job, run, "failed", message)
