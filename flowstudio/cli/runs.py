"""`flowstudio runs`: the runs that are kept, and how they stand; `runs prune` deletes some."""

from __future__ import annotations

import argparse
import re
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from flowstudio import paths
from flowstudio.cli.output import fail, print_json, say
from flowstudio.text import count, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowstudio.run.history import RunSummary

_AGE = re.compile(r"(\d+)\s*([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def show_runs(args: argparse.Namespace) -> int:
    """List the runs, or delete some of them."""
    from flowstudio.run.history import list_runs

    runs = list_runs(paths.runs_dir())
    if args.flow is not None:
        runs = [run for run in runs if run.header and run.header.flow == args.flow]
    if args.what == "prune":
        return _prune(args, runs)
    if args.keep is not None or args.older_than or args.state or args.dry_run or args.yes:
        return fail("these options go with prune", "flowstudio runs prune --help")
    if args.json:
        print_json([run.to_json() for run in runs], indent=2)
        return 0
    if not runs:
        say("no run is kept yet: flowstudio run makes one", file=sys.stderr)
    _print(runs)
    return 0


def _prune(args: argparse.Namespace, runs: Sequence[RunSummary]) -> int:
    from flowstudio.run.history import RunBusy, choose_old, delete_run

    age: timedelta | None = None
    if args.older_than is not None:
        match = _AGE.fullmatch(args.older_than.strip())
        if match is None:
            return fail(f"--older-than {args.older_than}: not an age", "such as 30d, 12h or 2w")
        try:
            age = timedelta(**{_UNITS[match[2]]: int(match[1])})
        except OverflowError:
            return fail(f"--older-than {args.older_than}: longer than time goes back", "")
    if args.keep is not None and args.keep < 0:
        return fail("--keep must be at least 0", "")
    if args.keep is None and age is None and args.state is None:
        return fail("say which runs may go", "--keep N, --older-than 30d or --state STATE")
    standing = args.state.replace("-", " ") if args.state == "broken-off" else args.state
    chosen = choose_old(runs, keep=args.keep, older_than=age, standing=standing)
    if args.json:
        print_json([run.to_json() for run in chosen], indent=2)
    elif chosen:
        _print(chosen)
    if args.dry_run or not chosen:
        say(f"{len(chosen)} of {len(runs)} runs would be deleted", file=sys.stderr)
        return 0
    if not args.yes and not _ask(len(chosen)):
        return 2
    failed = 0
    for run in chosen:
        try:
            delete_run(run)
        except (OSError, RunBusy) as error:
            failed += 1
            say(f"flowstudio: {run.id}: {error}", file=sys.stderr)
    say(f"{len(chosen) - failed} of {len(runs)} runs deleted", file=sys.stderr)
    return 1 if failed else 0


def _ask(number: int) -> bool:
    if not sys.stdin.isatty():
        what = "a run" if number == 1 else f"{number} runs"
        fail(f"{what} would be deleted, and nobody is here to say so", "--yes deletes")
        return False
    say(
        f"Delete {number} {'run' if number == 1 else 'runs'} for good? [y/N] ",
        end="",
        file=sys.stderr,
    )
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _print(runs: Sequence[RunSummary]) -> None:
    """A table: id, when, flow, state, visits, tokens, where it stands."""
    now = datetime.now(UTC).timestamp()
    rows = [("ID", "WHEN", "FLOW", "STATE", "VISITS", "TOKENS", "AT")] if runs else []
    for run in runs:
        state: str = run.standing
        if run.reason and run.standing in ("ended", "paused"):
            state = run.reason if run.standing == "ended" else f"paused: {run.reason}"
        rows.append(
            (
                run.id,
                _ago(now - run.changed) if run.changed else "",
                shorten(run.header.flow if run.header else "?", 24),
                state,
                str(run.visits),
                count(run.tokens),
                shorten(run.message if run.standing == "damaged" else run.at or "", 60),
            )
        )
    from rich.cells import cell_len

    widths = [max((cell_len(row[column]) for row in rows), default=0) for column in range(7)]
    for row in rows:
        cells = [
            " " * (width - cell_len(cell)) + cell
            if column in (4, 5)
            else cell + " " * (width - cell_len(cell))
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        say("  ".join(cells).rstrip())


def _ago(seconds: float) -> str:
    """How long ago, for people."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{int(seconds // length)} {unit} ago"
    return "just now"
