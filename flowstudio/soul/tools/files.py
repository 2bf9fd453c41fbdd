"""What the file tools share: reading text, showing a change, replacing a file in one go."""

from __future__ import annotations

import contextlib
import difflib
import itertools
import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

from flowstudio.soul.tools.toolbox import ToolFailure, shorten_lines

MOST_EDITED = 10_000_000
"""Bytes of the largest file that is edited."""
_MOST_DIFF = 400
"""Lines of a change that are shown when leave is asked."""
_MOST_COMPARED = 20_000
"""Lines up to which a change is shown as a diff: finding one takes quadratic time at worst."""


def require_file(place: Path, shown: str) -> os.stat_result:
    """The facts of a regular file.

    Raises:
        ToolFailure: there is none; a device or a pipe would never end.
    """
    try:
        facts = place.stat()
    except FileNotFoundError:
        raise ToolFailure(f"There is no file {shown}.", "no such file") from None
    except OSError as error:
        raise ToolFailure(f"{shown} cannot be read: {error.strerror}.") from error
    if stat.S_ISDIR(facts.st_mode):
        raise ToolFailure(f"{shown} is a folder. List it with Glob.", "a folder")
    if not stat.S_ISREG(facts.st_mode):
        raise ToolFailure(f"{shown} is no regular file.", "no regular file")
    return facts


def read_text(place: Path, shown: str) -> str:
    """A file's whole text, line ends as they are.

    Raises:
        ToolFailure: it is no text, too large or cannot be read.
    """
    if require_file(place, shown).st_size > MOST_EDITED:
        raise ToolFailure(f"{shown} is larger than {MOST_EDITED} bytes. Change it with Shell.")
    try:
        return place.read_bytes().decode()
    except UnicodeDecodeError:
        raise ToolFailure(f"{shown} is no UTF-8 text. Change it with Shell.", "no text") from None
    except OSError as error:
        raise ToolFailure(f"{shown} cannot be read: {error.strerror}.") from error


def replace_file(place: Path, shown: str, text: str) -> None:
    """Write a file in one go: who reads it meanwhile gets the old or the new text, never a part.

    Raises:
        ToolFailure: it cannot be written.
    """
    temporary = ""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{place.name[:40]}.", dir=place.parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode(errors="surrogatepass"))
        os.chmod(temporary, _find_mode(place))  # noqa: PTH101 - a name from mkstemp
        Path(temporary).replace(place)
    except OSError as error:
        if temporary:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
        raise ToolFailure(f"{shown} cannot be written: {error.strerror or error}.") from error


def _find_mode(place: Path) -> int:
    """The mode of the file, or of a new one."""
    with contextlib.suppress(OSError):
        return stat.S_IMODE(place.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


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
