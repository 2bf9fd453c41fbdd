"""Tells which skills changed on the disk, as soon as they do.

Only folders in which something can matter are watched, each without what lies below it: the roots,
the skill folders in them, and the folders from which a root may still come into being. A home
folder or a `node_modules` therefore costs one watch at most. What changed is told by the files'
stamps and not by the system's events, so an editor's temporary files, a rename over the old file, a
folder that comes with its files already in it, and a link that is turned round all look the same: a
file in another state.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from flowstudio.skill.decode import take_stamp
from flowstudio.skill.discovery import Catalogue, skill_files
from flowstudio.skill.manifest import MANIFESTS
from flowstudio.skill.roots import Root, chain
from flowstudio.skill.skill import Stamp

if TYPE_CHECKING:
    from collections.abc import Iterable

DEBOUNCE = 50
"""Milliseconds for which changes are gathered after the first."""
STEP = 10
"""Milliseconds of quiet after which they are told."""
_PULSE = 1000
"""Milliseconds after which a waiting thread looks whether it is still wanted."""
_POLL = 1.0
"""Seconds between two looks where the system cannot watch (too many watches, odd file systems)."""
_MOST_FAILURES = 5
_DELETED = 3
"""How watchfiles numbers an event that took something away."""

_MANIFESTS = frozenset(name.lower() for name in MANIFESTS)


async def watch(
    catalogue: Catalogue, *, ready: asyncio.Event | None = None, force_polling: bool = False
) -> AsyncIterator[set[Path]]:
    """The files of skills that came, changed or went since `catalogue` was read, set after set.

    Endless: cancel the task, or close the iterator. What changed between the reading and the first
    `anext` is told first. `ready` is set when the watch stands. The paths are those of
    `Skill.path`.
    """
    known: Mapping[Path, Stamp] = catalogue.stamps
    failures = 0
    while True:
        plan = await asyncio.to_thread(_make_plan, catalogue)
        notifier: _Notifier | None = None
        if not force_polling and failures < _MOST_FAILURES:
            try:
                notifier = await asyncio.to_thread(_open, plan)
            except FileNotFoundError:  # a folder went since the plan was made
                failures += 1
                continue
            except (OSError, RuntimeError):  # no more watches to be had
                failures = _MOST_FAILURES
        try:
            while True:
                now = await asyncio.to_thread(_take_stamps, catalogue)
                if ready is not None:
                    ready.set()
                if changed := _differences(known, now):
                    known = now
                    yield changed
                if await asyncio.to_thread(_make_plan, catalogue) != plan:
                    break
                failures = 0 if notifier else failures
                if notifier is None:
                    await asyncio.sleep(_POLL)
                elif await _wait(notifier, plan):
                    break
        finally:
            if notifier is not None:
                notifier.close()


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is watched, and which events in it can matter."""

    folders: Mapping[str, tuple[int, int]]
    """Each with its device and inode: a folder made anew, or a link turned, is another folder."""
    ways: frozenset[str]
    """The roots and the folders on the way to them: what happens to these themselves matters."""
    roots: frozenset[str]
    """Anything right below these matters."""
    files: frozenset[str]
    """Single files, and files that links lead to."""

    def concerns(self, path: str) -> bool:
        """True where an event at `path` can mean that a skill changed."""
        folder, name = os.path.split(path)
        return (
            name.lower() in _MANIFESTS
            or folder in self.roots
            or path in self.ways
            or path in self.files
        )


class _Notifier(Protocol):
    def watch(
        self, debounce_ms: int, step_ms: int, timeout_ms: int, stop_event: threading.Event
    ) -> set[tuple[int, str]] | str: ...

    def close(self) -> None: ...


def _open(plan: _Plan) -> _Notifier:
    # The class behind `watchfiles.awatch`, documented as "Rust backend". `awatch` does not say when
    # its watch stands, and what happens before that would be lost.
    from watchfiles._rust_notify import RustNotify

    return RustNotify(
        list(plan.folders),
        debug=False,
        force_polling=False,
        poll_delay_ms=300,
        recursive=False,
        ignore_permission_denied=True,
    )


async def _wait(notifier: _Notifier, plan: _Plan) -> bool:
    """Return when something happened that can matter; True where the watch has to be set anew.

    A folder that went takes its watch along. One that is made in its place may have its very inode,
    so that nothing else tells the two apart.
    """
    stop = threading.Event()
    loop = asyncio.get_running_loop()
    while True:
        waiting = loop.run_in_executor(None, notifier.watch, DEBOUNCE, STEP, _PULSE, stop)
        try:
            told = await asyncio.shield(waiting)
        finally:
            # The thread holds the notifier until it has seen the sign.
            stop.set()
            if not waiting.done():
                # Whoever is cancelled a second time does not wait, and closes it under the thread.
                waiting.add_done_callback(_forget)
                await asyncio.wait({waiting})
            stop.clear()
        if isinstance(told, str):
            continue
        went = any(what == _DELETED and path in plan.folders for what, path in told)
        if went or any(plan.concerns(path) for _, path in told):
            return went


def _forget(waiting: asyncio.Future[set[tuple[int, str]] | str]) -> None:
    if not waiting.cancelled():
        waiting.exception()


def _make_plan(catalogue: Catalogue) -> _Plan:
    folders: dict[str, tuple[int, int]] = {}
    ways: set[str] = set()
    files: set[str] = set()
    for root in catalogue.roots:
        _plan_root(root, folders, ways)
    for path in skill_files(catalogue.roots, catalogue.files):
        if path.is_symlink():
            real = os.path.realpath(path)
            files.add(real)
            _add(Path(real).parent, folders)
    for path in catalogue.files:
        files.add(str(path))
        _add(path.parent, folders)
    roots = frozenset(str(root.path) for root in catalogue.roots)
    return _Plan(folders, frozenset(ways), roots, frozenset(files))


def _plan_root(root: Root, folders: dict[str, tuple[int, int]], ways: set[str]) -> None:
    for folder in chain(root):
        ways.add(str(folder))
        if not _add(folder, folders):
            # The next one may come into being; it is seen from the one before.
            break
    try:
        with os.scandir(root.path) as entries:
            for entry in entries:
                if not entry.name.startswith(".") and entry.name != "node_modules":
                    _add(Path(entry.path), folders)
    except OSError:
        return


def _add(folder: Path, folders: dict[str, tuple[int, int]]) -> bool:
    if str(folder) in folders:
        return True
    if not os.path.isdir(folder):  # noqa: PTH112 - `Path.is_dir` may raise
        return False
    try:
        status = folder.stat()
    except OSError:
        return False
    folders[str(folder)] = (status.st_dev, status.st_ino)
    return True


def _take_stamps(catalogue: Catalogue) -> dict[Path, Stamp]:
    return {path: take_stamp(path) for path in skill_files(catalogue.roots, catalogue.files)}


def _differences(before: Mapping[Path, Stamp], now: Mapping[Path, Stamp]) -> set[Path]:
    gone: Iterable[Path] = before.keys() - now.keys()
    return {*gone, *(path for path, stamp in now.items() if before.get(path, ()) != stamp)}
