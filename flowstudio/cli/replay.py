"""`flowstudio replay` and `flowstudio diff`: earlier runs again, and beside each other."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio.cli.output import fail, print_json, say
from flowstudio.cli.resume import find
from flowstudio.text import first_line, shorten

if TYPE_CHECKING:
    from flowstudio.run.compare import Comparison, Difference
    from flowstudio.run.replay import Mismatch

_SHOWN = 40
"""Lines of a difference that are shown."""


def replay(args: argparse.Namespace) -> int:
    """Replay a run and give the exit status of its end; 1 where a strict replay differs."""
    from flowstudio.cli.run_output import STATUS, RunJson, RunPrinter
    from flowstudio.run.replay import replay as play_again
    from flowstudio.run.resume import ResumeRefused

    path = find(args.run)
    if path is None:
        return 2
    show = RunJson().show if args.json else RunPrinter().show
    try:
        outcome = asyncio.run(play_again(path, show, which=args.flow, strict=args.strict))
    except ResumeRefused as error:
        return fail(f"{path.name}: {error}", "")
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        return fail(str(error), "")
    if outcome.mismatch is not None:
        _print_mismatch(outcome.mismatch)
        return 1
    if outcome.reason is None:
        say("flowstudio: the recording breaks off here", file=sys.stderr)
        return 0
    return STATUS[outcome.reason]


def _print_mismatch(mismatch: Mismatch) -> None:
    say(f"flowstudio: {mismatch.message}", file=sys.stderr)
    lines = mismatch.diff
    for line in lines[:_SHOWN]:
        say(f"  {line}", file=sys.stderr)
    if len(lines) > _SHOWN:
        say(f"  … {len(lines) - _SHOWN} more lines", file=sys.stderr)


def diff(args: argparse.Namespace) -> int:
    """Show where two runs first differ; 1 where they do."""
    from flowstudio.run.compare import compare_runs
    from flowstudio.run.journal import read_journal

    paths: list[Path] = []
    for name in (args.one, args.other):
        path = find(name)
        if path is None:
            return 2
        paths.append(path)
    try:
        one, other = (read_journal(path / "journal.jsonl").events for path in paths)
    except (OSError, ValueError) as error:
        return fail(str(error), "")
    found = compare_runs(one, other)
    if args.json:
        print_json({"one": paths[0].name, "other": paths[1].name, **found.to_json()}, indent=2)
    else:
        _print_comparison(paths[0].name, paths[1].name, found)
    return 0 if found.is_same else 1


def _print_comparison(one: str, other: str, found: Comparison) -> None:
    for name, moves, end, sign in zip((one, other), found.moves, found.ends, "-+", strict=True):
        say(f"{sign} {name}  {moves} nodes, {end}")
    if found.is_same:
        say(f"the same path, prompts and answers, {found.common} visits")
        return
    say(f"the same in the first {found.common} visits; then:")
    for difference in found.differences:
        say()
        _print_difference(difference)


def _print_difference(difference: Difference) -> None:
    move = f"move {difference.move}"
    if difference.aspect == "path":
        say(f"path, {move}:")
        say(f"- {difference.one or '(it is over)'}")
        say(f"+ {difference.other or '(it is over)'}")
        return
    say(f"{difference.aspect}, {move}, visit {difference.visit} of {difference.node}:")
    if difference.one is None or difference.other is None:
        for sign, text in (("-", difference.one), ("+", difference.other)):
            shown = "(none)" if text is None else shorten(first_line(text), 90)
            say(f"{sign} {shown}")
        return
    lines = difference.diff
    for line in lines[:_SHOWN]:
        say(line)
    if len(lines) > _SHOWN:
        say(f"… {len(lines) - _SHOWN} more lines")
