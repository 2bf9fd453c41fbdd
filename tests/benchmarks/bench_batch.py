"""A batch of 200 instant runs: one worker process against two.

    .venv-dev/bin/python tests/benchmarks/bench_batch.py [ROUNDS] [FOLDER]

A seeded walk answers at once, so what is measured is the runner, the run folders on FOLDER's disk
(a temporary one by default) and the spreading. Target: two workers do at least 1.7 times as much.
The time counts from the engine's start, the workers' own start (some 0.7 s) included, and, in the
second figure, from the first result to the last.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from flowstudio.config import Config
from flowstudio.run.answerers import Who
from flowstudio.run.jobs import Job, JobResult, Recipe
from flowstudio.run.workers import ProcessEngine
from flowstudio.skill import load_skill

RUNS = 200
TOUR = Path(__file__).parents[2] / "skills" / "tour"


def carry_out(workers: int, folder: Path) -> tuple[float, float]:
    """Seconds of the whole batch, and from its first result to its last."""
    skill = load_skill(TOUR)
    assert skill.flow is not None
    recipe = Recipe(
        skill.flow, skill.name, skill.path, skill.source, Who(seed=1), Config(), folder, folder
    )
    moments: list[float] = []

    def take(result: JobResult) -> None:
        assert result.is_good, result.message
        moments.append(time.perf_counter())

    jobs = [Job(number, 1, number) for number in range(1, RUNS + 1)]
    start = time.perf_counter()
    asyncio.run(ProcessEngine(workers).run(recipe, jobs, take))
    assert len(moments) == RUNS
    return time.perf_counter() - start, moments[-1] - moments[0]


def main(rounds: int, where: str | None) -> None:
    whole: dict[int, list[float]] = {1: [], 2: []}
    steady: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(rounds):
        for workers in (1, 2):
            with tempfile.TemporaryDirectory(dir=where) as folder:
                seconds, between = carry_out(workers, Path(folder))
            whole[workers].append(seconds)
            steady[workers].append(between)
    for name, figures in (("whole batch", whole), ("first to last result", steady)):
        ratios = [one / two for one, two in zip(figures[1], figures[2], strict=True)]
        print(
            f"{name:<21} one worker {statistics.median(figures[1]):6.2f} s, "
            f"two {statistics.median(figures[2]):6.2f} s, ratio median "
            f"{statistics.median(ratios):.2f}, best {max(ratios):.2f} (target 1.7)"
        )


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 3,
        sys.argv[2] if len(sys.argv) > 2 else None,
    )
