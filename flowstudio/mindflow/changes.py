"""A change to the library: files with their text before and after, shown as a diff, undone whole.

Nothing here decides whether a change may be made: see `queue`.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from flowstudio.mindflow.risk import ChangeKind, Reach, find_risk

LONGEST_TEXT = 1_000_000
"""Characters of one file that a change may hold."""


class ChangeError(Exception):
    """A change cannot be made or undone; the message says why. Nothing was written then."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file of a change."""

    path: Path
    """Absolute."""
    root: Path
    """The folder of skills that it lies in; no link leads out of it."""
    before: str | None
    """None where there is no file yet."""
    after: str | None
    """None where the file is removed."""


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be changed, and why."""

    kind: ChangeKind
    reach: Reach
    title: str
    """In a few words, for people."""
    why: str
    """What it comes from."""
    files: tuple[FileChange, ...]
    topic: str = ""
    """Two changes of the same topic are the same proposal, whatever their files hold by now; empty
    where the files tell. Not kept on record."""

    @property
    def risk(self) -> float:
        """0 to 1."""
        return find_risk(self.kind, self.reach)

    @property
    def fingerprint(self) -> str:
        """The same for the same change, whenever it is proposed."""
        digest = hashlib.sha256(f"{self.kind}\n{self.topic}\n".encode(errors="replace"))
        if self.topic:
            return digest.hexdigest()
        for file in self.files:
            digest.update(repr((str(file.path), file.before, file.after)).encode(errors="replace"))
        return digest.hexdigest()

    def diff(self, show: Callable[[Path], str] = str) -> str:
        """All of it as a unified diff; `show` says how files are named in it."""
        return "".join(_diff(file, show(file.path)) for file in self.files)

    def apply(self) -> None:
        """Write it: all files, or none.

        Raises:
            ChangeError: a file is not what it was when the change was proposed, or the disk
                refuses.
        """
        _write([(file, file.before, file.after) for file in self.files])

    def undo(self) -> None:
        """Take it back: all files, or none.

        Raises:
            ChangeError: a file was changed since, or the disk refuses.
        """
        _write([(file, file.after, file.before) for file in reversed(self.files)])

    def stands(self) -> bool | None:
        """True where the files are as after the change, False where as before, else None."""
        try:
            now = [_read(file.path) for file in self.files]
        except ChangeError:
            return None
        if now == [file.after for file in self.files]:
            return True
        return False if now == [file.before for file in self.files] else None


def _diff(file: FileChange, shown: str) -> str:
    before = [] if file.before is None else file.before.splitlines(keepends=True)
    after = [] if file.after is None else file.after.splitlines(keepends=True)
    lines = difflib.unified_diff(
        before,
        after,
        "/dev/null" if file.before is None else shown,
        "/dev/null" if file.after is None else shown,
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _write(steps: Sequence[tuple[FileChange, str | None, str | None]]) -> None:
    for file, expected, _ in steps:
        _check_place(file)
        if _read(file.path) != expected:
            raise ChangeError(f"{file.path} was changed meanwhile; nothing was written")
    done: list[tuple[FileChange, str | None]] = []
    try:
        for file, expected, wanted in steps:
            _put(file, wanted)
            done.append((file, expected))
    except OSError as error:
        for file, former in reversed(done):
            with suppress(OSError):
                _put(file, former)
        reason = error.strerror or str(error)
        raise ChangeError(f"the change cannot be written: {reason}") from error


def _check_place(file: FileChange) -> None:
    """Refuse a path that leads out of its folder of skills, by its parts or over a link."""
    root = Path(os.path.realpath(file.root))
    place = Path(os.path.realpath(file.path))
    if place == root or not place.is_relative_to(root):
        raise ChangeError(f"{file.path} does not lie in {file.root}; nothing was written")
    text = file.after or ""
    if len(text) > LONGEST_TEXT:
        raise ChangeError(f"{file.path} would be too long; nothing was written")


def _read(path: Path) -> str | None:
    try:
        # Without translation of line ends: what is put back must be what was there.
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ChangeError(f"{path} cannot be read: {error}") from error


def _put(file: FileChange, text: str | None) -> None:
    target = Path(os.path.realpath(file.path))
    if text is None:
        target.unlink()
        _remove_empty(target.parent, Path(os.path.realpath(file.root)))
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = target.stat().st_mode & 0o7777 if target.exists() else 0o644
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode())
            stream.flush()
            os.fsync(stream.fileno())
        new = Path(name)
        new.chmod(mode)
        new.replace(target)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def _remove_empty(folder: Path, root: Path) -> None:
    """Folders that were made for a file go with it, as far as nothing else is in them."""
    while folder != root and folder.is_relative_to(root):
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
