"""Patterns for paths and a walk through a folder, with bounds."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from threading import Event

SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"})
"""Folders that nobody means to search; a pattern that names one finds it all the same."""
MOST_VISITED = 200_000
"""Entries after which a walk gives up."""


def compile_glob(pattern: str) -> re.Pattern[str]:
    """A pattern for paths with `/`: `*` and `?` stay within a name, `**` spans folders, `[…]`,
    `{a,b}`.

    Raises:
        ValueError: it is absolute or climbs with `..`.
    """
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if pattern.startswith("/") or ".." in parts:
        raise ValueError("the pattern must be relative, without ..")
    out: list[str] = []
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part == "**":
            out.append("(?:.*)" if last else "(?:[^/]+/)*")
        else:
            out.append(_translate(part) + ("" if last else "/"))
    return re.compile("".join(out), re.DOTALL)


def _translate(part: str) -> str:
    out: list[str] = []
    at = 0
    while at < len(part):
        char = part[at]
        at += 1
        if char == "*":
            if not out or out[-1] != "[^/]*":
                out.append("[^/]*")
        elif char == "?":
            out.append("[^/]")
        elif char == "[" and (end := part.find("]", at + 1)) > 0:
            inner = part[at:end].replace("\\", "\\\\").replace("[", "\\[")
            out.append(f"[^{inner[1:]}]" if inner[0] in "!^" else f"[{inner}]")
            at = end + 1
        elif char == "{" and (end := part.find("}", at)) > 0:
            choices = "|".join(re.escape(one) for one in part[at:end].split(","))
            out.append(f"(?:{choices})")
            at = end + 1
        else:
            out.append(re.escape(char))
    return "".join(out)


def walk(root: str, stop: Event, *, skip: frozenset[str] = SKIPPED) -> Iterator[tuple[str, bool]]:
    """Each path below `root`, relative with `/`, and whether it is a folder; sorted within a
    folder.

    Links to folders are named and not followed. Ends when `stop` is set or too much was seen.
    """
    stack = [""]
    seen = 0
    while stack and not stop.is_set() and seen < MOST_VISITED:
        inside = stack.pop()
        try:
            with os.scandir(os.path.join(root, inside)) as entries:  # noqa: PTH118 - fast
                found = sorted((one.name, one.is_dir(follow_symlinks=False)) for one in entries)
        except OSError:
            continue
        below: list[str] = []
        for name, is_folder in found:
            seen += 1
            path = f"{inside}/{name}" if inside else name
            yield path, is_folder
            if is_folder and name not in skip:
                below.append(path)
        stack.extend(reversed(below))
