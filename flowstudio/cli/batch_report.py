"""The summary of a batch for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from flowstudio.cli.output import can_show, say
from flowstudio.text import count, duration, shorten

if TYPE_CHECKING:
    from flowstudio.run.batch_summary import BatchSummary
    from flowstudio.run.heat import HeatMap

_PATHS = 10
_FAILURES = 20
_BAR = 24


def print_summary(flow: str, summary: BatchSummary, heat: HeatMap) -> None:
    """Print what the runs add up to, the drawing with its counts first."""
    plain = not can_show("─│┌▶×█")
    if summary.visits:
        say(heat.text(glyphs="ascii" if plain else "unicode"))
    rest = summary.planned - summary.done
    missing = f", {rest} of {summary.planned} not made" if rest else ""
    say(f"{flow}: {summary.done} runs in {duration(summary.elapsed)}{missing}")
    outcomes = ", ".join(f"{reason} {n}" for reason, n in summary.outcomes.most_common())
    say(f"  outcomes  {outcomes or 'none'}")
    time, tokens = summary.seconds, summary.tokens
    say(
        f"  time      median {duration(time.median)}, p90 {duration(time.p90)}, "
        f"longest {duration(time.most)}"
    )
    say(
        f"  tokens    {count(int(tokens.total))} in all, median {count(int(tokens.median))}, "
        f"p90 {count(int(tokens.p90))}"
    )
    if summary.branches:
        say("\nbranches")
        for node, counts in sorted(summary.branches.items()):
            print_split(node, counts, plain=plain)
    if summary.paths:
        _print_paths(summary)
    if failures := summary.failures:
        say("\nruns that did not reach END")
        for one in failures[:_FAILURES]:
            said = shorten(one.message, 160)
            say(f"  {one.run or '(no run)'}  line {one.job.line}  {one.reason}: {said}")
        if len(failures) > _FAILURES:
            say(f"  … and {len(failures) - _FAILURES} more; --json lists them all")


def print_split(title: str, counts: Mapping[str, int], *, plain: bool) -> None:
    """A bar for each branch, the most frequent first."""
    from rich.cells import cell_len

    total = sum(counts.values())
    width = max(map(cell_len, counts), default=0)
    say(f"  {title}")
    for branch, number in sorted(counts.items(), key=lambda pair: -pair[1]):
        share = number / total if total else 0.0
        strokes = ("#" if plain else "█") * round(share * _BAR)
        gap = " " * (width - cell_len(branch))
        say(f"    {branch}{gap}  {strokes:<{_BAR}}  {number:>5}  {share:>4.0%}")


def _print_paths(summary: BatchSummary) -> None:
    say("\npaths")
    for path, number in summary.paths.most_common(_PATHS):
        say(f"  {number:>5}  {shorten(' → '.join(path), 160)}")
    if len(summary.paths) > _PATHS:
        say(f"         … and {len(summary.paths) - _PATHS} more; --json lists them all")
