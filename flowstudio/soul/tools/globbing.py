"""Patterns for paths and a walk through a folder, with bounds, that no link leads elsewhere."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from threading import Event

SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"})
"""Folders that nobody means to search; a pattern that names one finds it all the same."""
MOST_VISITED = 200_000
"""Entries after which a walk gives up."""


def compile_glob(pattern: str) -> re.Pattern[str]:
    """A pattern for paths: `*` and `?` stay within a name, `**` spans folders; `[…]` and `{a,b}`.

    Each stretch between two stars is taken where it first fits and never tried elsewhere (an atomic
    group): for such patterns that loses no match, and matching takes no exponential time.

    Raises:
        ValueError: it is absolute or climbs with `..`.
        re.error: a range in brackets is the wrong way round.
    """
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if pattern.startswith("/") or ".." in parts:
        raise ValueError("the pattern must be relative, without ..")
    # The parts between two `**`, each a run of whole names.
    runs: list[list[str]] = [[]]
    for part in parts:
        if part == "**":
            runs.append([])
        else:
            runs[-1].append(_translate_name(part))
    first, *others = runs
    out = "/".join(first)
    for index, run in enumerate(others):
        if first or index:
            out += "/"
        names = "/".join(run)
        if index == len(others) - 1:
            out += f"(?:[^/]+/)*{names}" if run else ".+"
        elif run:
            out += f"(?>(?:[^/]+/)*?{names})"
        else:
            # `**` beside `**` is one `**`.
            out = out.removesuffix("/")
    return re.compile(out, re.DOTALL)


def _translate_name(part: str) -> str:
    """The expression for one name of a pattern."""
    fixed = [""]
    at = 0
    while at < len(part):
        char = part[at]
        at += 1
        if char == "*":
            fixed.append("")
        elif char == "?":
            fixed[-1] += "[^/]"
        elif char == "[" and (end := part.find("]", at + 1)) > 0:
            inner = part[at:end].replace("\\", "\\\\").replace("[", "\\[")
            fixed[-1] += f"[^{inner[1:]}]" if inner[0] in "!^" else f"[{inner}]"
            at = end + 1
        elif char == "{" and (end := part.find("}", at)) > 0:
            choices = "|".join(re.escape(one) for one in part[at:end].split(","))
            fixed[-1] += f"(?:{choices})"
            at = end + 1
        else:
            fixed[-1] += re.escape(char)
    if len(fixed) == 1:
        return fixed[0]
    start, *middle, end_part = fixed
    steps = "".join(f"(?>[^/]*?{one})" for one in middle if one)
    return f"{start}{steps}[^/]*{end_part}"


def open_folder(path: str, *, below: int | None = None, create: bool = False) -> int:
    """A descriptor of a folder, none of whose parts may be a link: who swaps one in gets an error.

    Args:
        path: absolute; relative to the folder `below` where that is given.
        create: make the parts that are missing.

    Raises:
        OSError: a part is missing, is no folder, or is a link.
    """
    flags = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_RDONLY
    at = os.open(".", flags, dir_fd=below) if below is not None else os.open("/", flags)
    try:
        for part in path.split("/"):
            if part in ("", "."):
                continue
            if create:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=at)
            below_it = _open_part(part, flags, at)
            os.close(at)
            at = below_it
    except BaseException:
        os.close(at)
        raise
    return at


def _open_part(part: str, flags: int, at: int) -> int:
    try:
        return os.open(part, flags, dir_fd=at)
    except PermissionError:
        # A folder that may be passed through but not listed.
        if not hasattr(os, "O_PATH"):
            raise
        return os.open(part, flags | os.O_PATH, dir_fd=at)


def open_file(path: str, *, below: int | None = None) -> int:
    """A descriptor of a file to read, none of whose parts may be a link. A pipe is not waited for.

    Raises:
        OSError: it is missing, may not be read, or a part is a link.
    """
    folder, _, name = path.rpartition("/")
    at = open_folder(folder, below=below)
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        return os.open(name, flags, dir_fd=at)
    finally:
        os.close(at)


def walk(root: int, stop: Event, *, skip: frozenset[str] = SKIPPED) -> Iterator[tuple[str, bool]]:
    """Each path below the folder `root` (a descriptor), relative with `/`, and whether it is a
    folder; sorted within a folder.

    Links are named and not followed. Ends when `stop` is set or too much was seen.
    """
    stack = [""]
    seen = 0
    while stack and not stop.is_set() and seen < MOST_VISITED:
        inside = stack.pop()
        try:
            at = open_folder(inside, below=root)
        except OSError:
            continue
        try:
            with os.scandir(at) as entries:
                found = sorted((one.name, one.is_dir(follow_symlinks=False)) for one in entries)
        except OSError:
            continue
        finally:
            os.close(at)
        below: list[str] = []
        for name, is_folder in found:
            seen += 1
            path = f"{inside}/{name}" if inside else name
            yield path, is_folder
            if is_folder and name not in skip:
                below.append(path)
        stack.extend(reversed(below))
