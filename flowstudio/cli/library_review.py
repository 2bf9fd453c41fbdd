"""`flowstudio library review`: the changes that wait for an answer, and the answers."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from flowstudio.cli.output import fail, print_json, say
from flowstudio.mindflow.database import Database, DatabaseError
from flowstudio.mindflow.learning import learn
from flowstudio.mindflow.library import read_library
from flowstudio.mindflow.queue import Queued, QueueError, ReviewQueue, describe_due
from flowstudio.paths import show_path
from flowstudio.skill import configured_dirs, discover

_SAID = {
    "approved": "written",
    "rejected": "dropped; it is not proposed again",
    "undone": "taken back",
}


def review(args: argparse.Namespace) -> int:
    """`flowstudio library review`"""
    try:
        with Database() as database:
            if database.repaired:
                say(f"flowstudio: {database.repaired}", file=sys.stderr)
            queue = ReviewQueue(database)
            settled = queue.settle()
            try:
                if args.approve is not None:
                    return _answer(args, queue.approve(args.approve))
                if args.reject is not None:
                    return _answer(args, queue.reject(args.reject))
                if args.undo is not None:
                    return _answer(args, queue.undo(args.undo))
            except QueueError as error:
                return fail(str(error), "flowstudio library review --all lists them")
            catalogue = discover(Path.cwd(), extra_dirs=configured_dirs(args.skills_dir))
            learn(database, read_library(catalogue), queue)
            listed = queue.listed() if args.all else queue.pending()
    except DatabaseError as error:
        return fail(str(error), "")
    if args.json:
        record = {"changes": [_record(one) for one in listed]}
        print_json({**record, "settled": [_record(one) for one in settled]}, indent=2)
        return 0
    for one in settled:
        say(f"change {one.id} approved itself: {one.change.title} ({_outcome(one)})")
    if not listed:
        say("no change waits" if not args.all else "no change is on record")
    for one in listed:
        state = describe_due(one, time.time()) if one.state == "open" else _outcome(one)
        say(f"\n{one.id:>3}. {one.change.title}   risk {one.change.risk:.2f}, {state}")
        if one.change.why:
            say(f"     {one.change.why}")
        if one.state == "open":
            diff = one.change.diff(lambda path: show_path(path, Path.cwd()))
            say("".join(f"     {line}\n" for line in diff.splitlines()), end="")
    if any(one.state == "open" for one in listed):
        say("\n--approve ID writes a change, --reject ID drops it; a written one: --undo ID")
    return 0


def _answer(args: argparse.Namespace, one: Queued) -> int:
    if args.json:
        print_json(_record(one), indent=2)
    else:
        say(f"{one.change.title}: {_outcome(one)}")
    return 1 if one.state == "conflict" else 0


def _outcome(one: Queued) -> str:
    if one.state == "conflict":
        return f"not written: {one.note}"
    return _SAID.get(one.state, one.state)


def _record(one: Queued) -> dict[str, Any]:
    change = one.change
    return {
        "id": one.id,
        "kind": change.kind,
        "reach": change.reach,
        "title": change.title,
        "why": change.why,
        "risk": change.risk,
        "state": one.state,
        "must_answer": one.must_answer,
        "proposed": round(one.time, 3),
        "due": one.due,
        "decided": one.decided,
        "decided_by": one.decided_by,
        "note": one.note,
        "files": [str(file.path) for file in change.files],
        "diff": change.diff(),
    }
