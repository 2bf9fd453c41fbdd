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
