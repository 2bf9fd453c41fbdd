"""The progress bar of long commands, on standard error. Imported only where a terminal shows it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from flowstudio.text import harmless, shorten

if TYPE_CHECKING:
    from flowstudio.run.batch_summary import BatchSummary
    from flowstudio.run.jobs import JobResult


@contextlib.contextmanager
def bar(summary: BatchSummary) -> Generator[Callable[[JobResult], None]]:
    """A bar for a batch; call what it gives after each run. Failures stay above it, a line each."""
    console = Console(stderr=True, highlight=False)
    columns = (
        TextColumn("runs"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[outcomes]}", markup=False),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("runs", total=summary.planned, outcomes="")

        def show(result: JobResult) -> None:
            if not result.is_good:
                name = result.run or f"line {result.job.line}"
                line = shorten(f"✗ {name}  {result.reason}: {result.message}", 200)
                progress.console.print(Text(harmless(line)))
            bad = summary.done - summary.outcomes["reached_end"]
            told = f"✓ {summary.outcomes['reached_end']}" + (f" ✗ {bad}" if bad else "")
            progress.update(task, completed=summary.done, outcomes=told)

        yield show
