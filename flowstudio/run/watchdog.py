"""The watchdog: notices a loop that gets nowhere before it costs a fortune.

A visit makes no progress where its node gives nearly the answer that it gave last time and nothing
in the work folder has changed meanwhile. Any other visit is progress, and the counting begins anew
for all nodes: a check that says "no" each time is no fault as long as what it checks is worked on.
"""

from __future__ import annotations

import difflib
import os
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

LIKENESS = 0.9
"""Answers that are this much alike (`difflib`'s ratio, 0…1) count as the same."""
_LONGEST = 300
"""Words of an answer that are compared: half from its beginning, half from its end."""
_LONG_WORD = 20
"""Where words are longer than this on the whole, as in Chinese, characters are compared."""
_MOST_FILES = 20_000
"""Files and folders that a look at the work folder takes in."""
_NOT_WORK = frozenset(
    {
        "__pycache__",
        "node_modules",
        ".git",
        ".hg",
        ".svn",
        ".venv",
        "venv",
        ".tox",
        ".cache",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
    }
)
_COMMITS = Path(".git", "logs", "HEAD")
"""A commit changes nothing else that is looked at, and is progress."""


@dataclass(slots=True)
class Watchdog:
    """Watches the visits of one run.

    Args:
        rounds: after how many visits of a node without progress it barks; 0 never.
        folder: the work folder.
        ignore: folders in it whose changes are none of the agent's, such as that of the runs.
    """

    rounds: int
    folder: Path
    ignore: tuple[Path, ...] = ()
    _last: dict[str, str] = field(default_factory=dict[str, str])
    _idle: dict[str, int] = field(default_factory=dict[str, int])
    _stamp: int | None = None

    def look(self, node: str, answer: str) -> str | None:
        """Take in a visit; a sentence where the run gets nowhere, else None.

        Looks at the disk where the answers are alike: to be called in a thread.
        """
        if not self.rounds:
            return None
        if self._stamp is None:
            self._stamp = stamp_folder(self.folder, self.ignore)
        before = self._last.get(node)
        self._last[node] = answer
        if before is None or not is_alike(before, answer) or self._has_changed():
            self._idle.clear()
            return None
        self._idle[node] = self._idle.get(node, 1) + 1
        count = self._idle[node]
        if count < self.rounds:
            return None
        self._idle.clear()
        return (
            f"“{node}” gave nearly the same answer {count} times in a row and nothing changed in "
            "the work folder: the loop gets nowhere"
        )

    def _has_changed(self) -> bool:
        before, self._stamp = self._stamp, stamp_folder(self.folder, self.ignore)
        return before != self._stamp


def is_alike(one: str, other: str) -> bool:
    """Whether two answers say nearly the same, word by word. Long ones by their ends."""
    if one == other:
        return True
    words = _words(one), _words(other)
    matcher = difflib.SequenceMatcher(None, *words, autojunk=False)
    return (
        matcher.real_quick_ratio() >= LIKENESS
        and matcher.quick_ratio() >= LIKENESS
        and matcher.ratio() >= LIKENESS
    )


def stamp_folder(folder: Path, ignore: Iterable[Path] = ()) -> int:
    """A number that changes with the names, sizes and times of the files below `folder`.

    The first 20,000 entries count, folder by folder in the order of their names. Caches and the
    insides of version control do not; a commit does.
    """
    stamp = _stamp_file(0, folder / _COMMITS)
    left = _MOST_FILES
    apart = {str(path.absolute()) for path in ignore}
    folders = [str(folder.absolute())]
    for place in folders:  # grows while it is walked through
        try:
            with os.scandir(place) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.name in _NOT_WORK or entry.path in apart:
                continue
            if not left:
                return stamp
            left -= 1
            try:
                state = entry.stat(follow_symlinks=False)
                is_folder = entry.is_dir(follow_symlinks=False)
            except OSError:
                continue
            if is_folder:
                folders.append(entry.path)
                said = entry.path
            else:
                said = f"{entry.path}\0{state.st_size}\0{state.st_mtime_ns}"
            stamp = zlib.crc32(said.encode("utf-8", "surrogateescape"), stamp)
    return stamp


def _stamp_file(stamp: int, path: Path) -> int:
    try:
        state = path.stat()
    except OSError:
        return stamp
    return zlib.crc32(f"{state.st_size}\0{state.st_mtime_ns}".encode(), stamp)


def _words(text: str) -> list[str]:
    # The ends of a text that is far too long hold more words than are compared.
    end = _LONG_WORD * _LONGEST
    if len(text) > 2 * end:
        text = f"{text[:end]} {text[-end:]}"
    words = text.split()
    if len(words) < 8 or len(text) > _LONG_WORD * len(words):
        words = list(text)
    half = _LONGEST // 2
    return words if len(words) <= _LONGEST else words[:half] + words[-half:]
