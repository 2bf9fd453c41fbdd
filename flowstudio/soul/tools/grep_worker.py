"""Searches files for a regular expression, as a process of its own that the tool Grep can end.

A pattern can take exponential time, and Python cannot interrupt it: in the studio's process it
would freeze the screen for good. Only the standard library is used, so that it starts fast, and the
path rules come from the file `globbing.py` beside it.

Reads one JSON object from its argument: pattern, root, paths (a glob, or null), ignore_case, mode
(`content`, `files`, `count`), context, most. Writes lines to standard output.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import stat
import sys
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

_SNIFFED = 8192
_MOST_BYTES = 20_000_000
_MOST_LINE = 500


def _list_files(place: str, paths: str | None) -> Iterator[tuple[str, Callable[[], int]]]:
    """The shown path of each file to search, and how to open it: no link on the way is followed."""
    globbing = _load_globbing()
    try:
        root = globbing.open_folder(place)
    except NotADirectoryError:
        yield Path(place).name, lambda: globbing.open_file(place)
        return
    fits = globbing.compile_glob(paths if "/" in paths else f"**/{paths}") if paths else None
    for path, is_folder in globbing.walk(root, Event()):
        if not is_folder and (fits is None or fits.fullmatch(path)):
            yield path, lambda path=path: globbing.open_file(path, below=root)


def _load_globbing() -> Any:
    """The module beside this file; its folder must not be on the path, it has names of Python's
    own."""
    place = Path(__file__).with_name("globbing.py")
    spec = importlib.util.spec_from_file_location("globbing", place)
    if spec is None or spec.loader is None:
        raise ImportError(str(place))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _read_lines(opened: Callable[[], int]) -> list[str]:
    try:
        with os.fdopen(opened(), "rb") as stream:
            facts = os.fstat(stream.fileno())
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > _MOST_BYTES:
                return []
            data = stream.read(_MOST_BYTES)
    except OSError:
        return []
    if b"\0" in data[:_SNIFFED]:
        return []
    return data.decode("utf-8", "replace").split("\n")


def _search(spec: dict[str, Any]) -> Iterator[str]:
    pattern = re.compile(spec["pattern"], re.IGNORECASE if spec["ignore_case"] else 0)
    around = int(spec["context"])
    for shown, opened in _list_files(spec["root"], spec["paths"]):
        lines = _read_lines(opened)
        hits = [number for number, line in enumerate(lines) if pattern.search(line.rstrip("\r"))]
        if not hits:
            continue
        match spec["mode"]:
            case "files":
                yield shown
            case "count":
                yield f"{shown}: {len(hits)}"
            case _:
                yield from _show(shown, lines, hits, around)


def _show(shown: str, lines: list[str], hits: list[int], around: int) -> Iterator[str]:
    wanted = deque(hits)
    hit = set(hits)
    last = -1
    while wanted:
        number = wanted.popleft()
        first = max(number - around, last + 1)
        if around and last >= 0 and first > last + 1:
            yield "--"
        for at in range(first, min(number + around, len(lines) - 1) + 1):
            mark = ":" if at in hit else "-"
            yield f"{shown}{mark}{at + 1}{mark}{lines[at].rstrip(chr(13))[:_MOST_LINE]}"
            last = at


def main() -> int:
    """Exit code 2 and a line on standard error where the pattern is wrong."""
    spec = json.loads(sys.argv[1])
    try:
        for number, line in enumerate(_search(spec)):
            if number == spec["most"]:
                print("\x1f")
                break
            print(line)
    except (re.error, ValueError, OSError) as error:
        print(error)
        return 2
    return 0


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # pyright: ignore
    sys.exit(main())
