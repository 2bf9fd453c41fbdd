"""The runs of a folder at a glance: which there are, how they stand, which one a name means.

A summary reads a journal by its lines' heads and decodes a handful of records, so a long list is
quick; a damaged run stays in the list and says what is wrong with it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from flowstudio.run.folder import Header, open_run
from flowstudio.run.journal import decode_line, find_heads
from flowstudio.run.lock import Holder, RunBusy, RunLock, find_holder
from flowstudio.wire import (
    Event,
    NodeEntered,
    NodeLeft,
    RunEnded,
    RunForked,
    RunPaused,
    RunReopened,
    RunResumed,
    RunStarted,
)

type Standing = Literal["running", "paused", "ended", "broken off", "forked", "damaged"]
"""`broken off`: its process is gone, it can be resumed; `forked`: made and not begun."""

_DECISIVE = frozenset(
    kind.type
    for kind in (
        RunStarted,
        NodeEntered,
        NodeLeft,
        RunPaused,
        RunResumed,
        RunReopened,
        RunForked,
        RunEnded,
    )
)
_TOKENS = re.compile(rb'"tokens": (\d+), "seconds": ')


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run in the list."""

    id: str
    path: Path
    standing: Standing
    header: Header | None = None
    """None where it cannot be read."""
    reason: str = ""
    """Why it ended or is held, by the event's name."""
    message: str = ""
    """The same as a sentence; what is wrong with a damaged run."""
    at: str | None = None
    """The node where it stands."""
    visits: int = 0
    """How many are done."""
    tokens: int = 0
    changed: float = 0.0
    """When its journal last grew, seconds since the epoch."""
    holder: Holder | None = None

    @property
    def can_resume(self) -> bool:
        """True where `resume` would go on with it."""
        if self.standing == "ended":
            return self.reason != "reached_end"
        return self.standing in ("broken off", "forked")

    def to_json(self) -> dict[str, Any]:
        """As one JSON object."""
        header = self.header
        return {
            "id": self.id,
            "flow": header.flow if header else None,
            "state": self.standing,
            "reason": self.reason,
            "message": self.message,
            "at": self.at,
            "visits": self.visits,
            "tokens": self.tokens,
            "created": header.created if header else None,
            "changed": datetime.fromtimestamp(self.changed, UTC).isoformat(timespec="seconds"),
            "model": header.model if header else None,
            "input": header.input if header else None,
            "parent": header.parent if header else None,
            "parent_move": header.parent_move if header else None,
            "can_resume": self.can_resume,
            "path": str(self.path),
        }


class NoSuchRun(Exception):
    """No run, or more than one, goes by the name; the message says which come near."""


def list_runs(root: Path) -> list[RunSummary]:
    """All runs of a folder, the latest first. Nothing in it makes this fail."""
    found = [summarise(path) for path in _folders(root)]
    found.sort(key=age_of, reverse=True)
    return found


def age_of(run: RunSummary) -> tuple[str, float, str]:
    """When it began, to the second; of one second's, the one whose journal grew last is later."""
    return run.header.created if run.header else "", run.changed, run.id


def summarise(path: Path) -> RunSummary:
    """How the run in a folder stands."""
    journal = path / "journal.jsonl"
    try:
        header = open_run(path).header
    except (OSError, ValueError) as error:
        return RunSummary(path.name, path, "damaged", message=f"{error}")
    try:
        data = journal.read_bytes()
        changed = journal.stat().st_mtime
    except FileNotFoundError:
        data, changed = b"", datetime.fromisoformat(header.created).timestamp()
    except OSError as error:
        return RunSummary(path.name, path, "damaged", header, message=f"{error}")
    last: dict[str, tuple[int, int]] = {}
    visits = tokens = 0
    for kind, start, end in find_heads(data):
        if kind in _DECISIVE:
            last[kind] = (start, end)
        if kind == NodeLeft.type:
            visits += 1
            match = _TOKENS.search(data, start, end)
            tokens += int(match[1]) if match else 0
    events: list[Event] = []
    for start, end in sorted(last.values()):
        event = decode_line(data[start:end])
        if event is not None:
            events.append(event)
    if data and not events:
        message = f"{journal}: no record can be read"
        return RunSummary(path.name, path, "damaged", header, message=message, changed=changed)
    holder = find_holder(path)
    standing, reason, message, at = _stand(events, is_held=holder is not None)
    return RunSummary(
        path.name, path, standing, header, reason, message, at, visits, tokens, changed, holder
    )


def find_run(root: Path, name: str) -> Path:
    """The folder of the run that `name` means: an id, its beginning or end, `last`, or a folder.

    Raises:
        NoSuchRun: none is meant, or several.
    """
    folders = [path.name for path in _folders(root)]
    if name == "last":
        if not folders:
            raise NoSuchRun("there is no run yet: flowstudio run makes one")
        return max((root / one for one in folders), key=lambda one: (_created(one), one.name))
    if name in folders:
        return root / name
    as_path = Path(name)
    if (as_path / "run.json").is_file():
        return as_path
    found = [one for one in folders if name and (one.startswith(name) or one.endswith(name))]
    if len(found) == 1:
        return root / found[0]
    if found:
        some = ", ".join(sorted(found)[:5])
        raise NoSuchRun(f"{len(found)} runs go by “{name}”: {some}{' …' * (len(found) > 5)}")
    raise NoSuchRun(f"there is no run “{name}”: flowstudio runs lists them")


def choose_old(
    runs: Iterable[RunSummary],
    *,
    keep: int | None = None,
    older_than: timedelta | None = None,
    standing: str | None = None,
    now: datetime | None = None,
) -> list[RunSummary]:
    """The runs that may go: all conditions hold, and nobody writes them.

    Args:
        keep: all but so many of the latest.
        older_than: their journal last grew longer ago.
        standing: those that stand so, or that ended for such a reason.
    """
    moment = (now or datetime.now(UTC)).timestamp()
    latest = sorted(runs, key=lambda one: (one.changed, one.id), reverse=True)
    chosen = latest[keep:] if keep is not None else latest
    if older_than is not None:
        chosen = [one for one in chosen if moment - one.changed > older_than.total_seconds()]
    if standing is not None:
        chosen = [one for one in chosen if standing in (one.standing, one.reason)]
    return [one for one in chosen if one.holder is None]


def delete_run(run: RunSummary) -> None:
    """Delete a run's folder.

    Raises:
        RunBusy: somebody writes it.
        OSError: it cannot be deleted.
    """
    if run.header is None:
        shutil.rmtree(run.path)
        return
    with RunLock(run.path):
        # Gone for everybody at once, whatever becomes of the deletion.
        grave = run.path.with_name(f".{run.path.name}.deleted")
        run.path.rename(grave)
    shutil.rmtree(grave)


def _folders(root: Path) -> list[Path]:
    try:
        return [
            path
            for path in sorted(root.iterdir())
            if not path.name.startswith(".") and path.is_dir() and not path.is_symlink()
        ]
    except OSError:
        return []


def _created(path: Path) -> str:
    try:
        return open_run(path).header.created
    except (OSError, ValueError):
        return ""


def _stand(events: list[Event], *, is_held: bool) -> tuple[Standing, str, str, str | None]:
    standing: Standing = "running" if is_held else "broken off"
    reason, message = "", ""
    at: str | None = None
    for event in events:
        match event.body:
            case NodeEntered():
                at = event.node
            case NodeLeft(to=to):
                at = to or event.node
            case RunEnded(reason=reason, message=message):
                standing = "ended"
            case RunPaused(why=reason, message=message) if is_held:
                standing = "paused"
            case RunReopened() | RunResumed() as body:
                standing = "running" if is_held else "broken off"
                reason = message = ""
                if isinstance(body, RunReopened):
                    at = body.to
            case RunForked():
                standing, reason, message = "forked", "", ""
            case RunStarted():
                standing = "running" if is_held else "broken off"
            case _:
                pass
    if standing == "forked" and is_held:
        standing = "running"
    return standing, reason, message, at


__all__ = [
    "Holder",
    "NoSuchRun",
    "RunBusy",
    "RunSummary",
    "choose_old",
    "delete_run",
    "find_run",
    "list_runs",
    "summarise",
]
