"""What the file tools share: reading text, showing a change, replacing a file in one go."""

from __future__ import annotations

import contextlib
import difflib
import errno
import itertools
import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from flowstudio.soul.tools.globbing import open_file, open_folder
from flowstudio.soul.tools.toolbox import ToolFailure, shorten_lines

MOST_EDITED = 10_000_000
"""Bytes of the largest file that is edited."""
_MOST_DIFF = 400
"""Lines of a change that are shown when leave is asked."""
_MOST_COMPARED = 20_000
"""Lines up to which a change is shown as a diff: finding one takes quadratic time at worst."""


def open_text(place: Path, shown: str) -> BinaryIO:
    """A regular file, open to be read. `place` is resolved: no part of it may be a link any more.

    Raises:
        ToolFailure: there is none; a device or a pipe would never end.
    """
    try:
        if stat.S_ISDIR(place.lstat().st_mode):
            raise ToolFailure(f"{shown} is a folder. List it with Glob.", "a folder")
        stream = os.fdopen(open_file(str(place)), "rb")
    except FileNotFoundError:
        raise ToolFailure(f"There is no file {shown}.", "no such file") from None
    except (OSError, ValueError) as error:
        raise ToolFailure(f"{shown} cannot be read: {_say(error)}.") from error
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise ToolFailure(f"{shown} is no regular file.", "no regular file")
    return stream


def read_text(place: Path, shown: str) -> str:
    """A file's whole text, line ends as they are.

    Raises:
        ToolFailure: it is no text, too large or cannot be read.
    """
    with open_text(place, shown) as stream:
        if os.fstat(stream.fileno()).st_size > MOST_EDITED:
            raise ToolFailure(f"{shown} is larger than {MOST_EDITED} bytes. Change it with Shell.")
        try:
            return stream.read(MOST_EDITED + 1).decode()
        except UnicodeDecodeError:
            message = f"{shown} is no UTF-8 text. Change it with Shell."
            raise ToolFailure(message, "no text") from None
        except OSError as error:
            raise ToolFailure(f"{shown} cannot be read: {_say(error)}.") from error


def read_if_there(place: Path, shown: str) -> str | None:
    """`read_text`, or None where nothing stands at `place`.

    Raises:
        ToolFailure: what stands there cannot be read.
    """
    return read_text(place, shown) if os.path.lexists(place) else None


def replace_file(place: Path, shown: str, data: bytes, mode: int | None = None) -> None:
    """Write a file in one go: who reads it meanwhile gets the old or the new text, never a part.

    Folders are made as needed. A link that was put on the way since `place` was resolved is not
    followed.

    Args:
        mode: the file's; left out, that of the file that is replaced, or a new file's usual one.

    Raises:
        ToolFailure: it cannot be written.
    """
    temporary = f".{place.name[:40]}.{secrets.token_hex(6)}"
    try:
        folder = open_folder(str(place.parent), create=True)
    except OSError as error:
        raise ToolFailure(f"{shown} cannot be written: {_say(error)}.") from error
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(temporary, flags, 0o600, dir_fd=folder)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
                os.fchmod(stream.fileno(), _find_mode(place.name, folder) if mode is None else mode)
            os.replace(temporary, place.name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise
    except OSError as error:
        raise ToolFailure(f"{shown} cannot be written: {_say(error)}.") from error
    finally:
        os.close(folder)


def remove_file(place: Path) -> None:
    """Remove a file, no link on its way followed.

    Raises:
        OSError: it cannot be removed.
    """
    folder = open_folder(str(place.parent))
    try:
        os.unlink(place.name, dir_fd=folder)
    finally:
        os.close(folder)


def encode(text: str) -> bytes:
    """A text as it is written to a file."""
    return text.encode(errors="surrogatepass")


def _say(error: OSError | ValueError) -> str:
    number = getattr(error, "errno", None)
    if number in (errno.ELOOP, errno.ENOTDIR):
        return "a part of its path is no folder, or has become a link"
    return getattr(error, "strerror", None) or str(error)


def _find_mode(name: str, folder: int) -> int:
    """The mode of the file, or of a new one."""
    with contextlib.suppress(OSError):
        facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISREG(facts.st_mode):
            return stat.S_IMODE(facts.st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def make_diff(shown: str, before: str | None, after: str) -> str:
    """A change as a unified diff, bounded; empty where the texts are too long to be compared."""
    old, new = (before or "").splitlines(), after.splitlines()
    if before is not None and len(old) + len(new) > _MOST_COMPARED:
        return ""
    origin = "/dev/null" if before is None else shown
    return "\n".join(_cut(difflib.unified_diff(old, new, origin, shown, lineterm="")))


def show_change(shown: str, before: str | None, after: str) -> str:
    """A change for people: a diff, or the beginning of a new file."""
    new = after.splitlines()
    if before is None:
        return "\n".join([f"Create {shown} ({len(new)} lines)", *_cut(f"+{line}" for line in new)])
    old = before.splitlines()
    if len(old) + len(new) > _MOST_COMPARED:
        return f"Change {shown} ({len(old)} lines become {len(new)})"
    diff = difflib.unified_diff(old, new, "before", "after", lineterm="")
    return "\n".join([f"Change {shown}", *_cut(itertools.islice(diff, 2, None))])


def _cut(lines: Iterable[str]) -> list[str]:
    shown = shorten_lines(itertools.islice(lines, _MOST_DIFF + 1))
    return [*shown[:_MOST_DIFF], "[…]"] if len(shown) > _MOST_DIFF else shown
