"""What the runs of a batch add up to: paths, branches, outcomes, tokens, time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any

from flowstudio.run.jobs import JobResult

if TYPE_CHECKING:
    from flowstudio.run.state import EdgeKey


@dataclass(frozen=True, slots=True)
class Spread:
    """A quantity over all runs; zeros where there was none."""

    total: float
    median: float
    p90: float
    most: float


@dataclass(slots=True)
class BatchSummary:
    """The results so far. Cheap to add to: a progress display may ask after each run."""

    planned: int
    """How many runs there were to be."""
    results: list[JobResult] = field(default_factory=list[JobResult])
    outcomes: Counter[str] = field(default_factory=Counter[str])
    """How often each reason ended a run."""
    paths: Counter[tuple[str, ...]] = field(default_factory=Counter[tuple[str, ...]])
    branches: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])
    """For each decision, how often each branch was taken in all runs together."""
    taken: Counter[EdgeKey] = field(default_factory=Counter["EdgeKey"])
    """How often each edge was followed in all runs together."""
    visits: Counter[str] = field(default_factory=Counter[str])
    """How often each node was entered in all runs together."""
    elapsed: float = 0.0
    """Seconds that the batch took as a whole."""

    def add(self, result: JobResult) -> None:
        """Take in one result."""
        self.results.append(result)
        self.outcomes[result.reason] += 1
        if result.path:
            self.paths[result.path] += 1
        for choice in result.choices:
            self.branches.setdefault(choice.node, Counter())[choice.branch] += 1
        self.taken.update(result.taken)
        self.visits.update(result.path)

    @property
    def done(self) -> int:
        """How many runs are over."""
        return len(self.results)

    @property
    def is_good(self) -> bool:
        """True where all runs that were planned reached END."""
        return self.outcomes["reached_end"] == self.planned

    @property
    def failures(self) -> list[JobResult]:
        """The runs that did not reach END, in the batch's order."""
        bad = (result for result in self.results if not result.is_good)
        return sorted(bad, key=lambda result: result.job.number)

    @property
    def seconds(self) -> Spread:
        """Time of a run, of those that got anywhere."""
        return spread(result.seconds for result in self.results if result.path)

    @property
    def tokens(self) -> Spread:
        """Tokens of a run, as the servers counted them."""
        return spread(result.tokens for result in self.results if result.path)

    def to_json(self, flow: str) -> dict[str, Any]:
        """As one JSON object; `flow` is the flow's name. The runs come in the batch's order."""
        by_number = sorted(self.results, key=lambda result: result.job.number)
        return {
            "flow": flow,
            "planned": self.planned,
            "done": self.done,
            "elapsed": round(self.elapsed, 3),
            "outcomes": dict(self.outcomes.most_common()),
            "seconds": _round(self.seconds),
            "tokens": _round(self.tokens),
            "model_calls": sum(result.model_calls for result in self.results),
            "retries": sum(result.retries for result in self.results),
            "branches": {node: _shares(counts) for node, counts in sorted(self.branches.items())},
            "paths": [
                {"count": count, "path": list(path)} for path, count in self.paths.most_common()
            ],
            "edges": [
                {"src": src, "dst": dst, "label": label, "count": count}
                for (src, dst, label), count in self.taken.most_common()
            ],
            "visits": dict(self.visits.most_common()),
            "failures": [
                {
                    "run": result.run,
                    "line": result.job.line,
                    "reason": result.reason,
                    "message": result.message,
                }
                for result in self.failures
            ],
            "runs": [result.to_json() for result in by_number],
        }


def spread(values: Iterable[float]) -> Spread:
    """Total, median, 90th percentile (nearest rank) and maximum."""
    ordered = sorted(values)
    if not ordered:
        return Spread(0, 0, 0, 0)
    return Spread(sum(ordered), _rank(ordered, 0.5), _rank(ordered, 0.9), ordered[-1])


def _rank(ordered: Sequence[float], share: float) -> float:
    return ordered[max(ceil(share * len(ordered)) - 1, 0)]


def _round(one: Spread) -> dict[str, float]:
    return {
        "total": round(one.total, 3),
        "median": round(one.median, 3),
        "p90": round(one.p90, 3),
        "max": round(one.most, 3),
    }


def _shares(counts: Mapping[str, int]) -> dict[str, dict[str, float]]:
    total = sum(counts.values())
    most_first = sorted(counts.items(), key=lambda pair: -pair[1])
    return {
        branch: {"count": count, "share": round(count / total, 4)} for branch, count in most_first
    }
