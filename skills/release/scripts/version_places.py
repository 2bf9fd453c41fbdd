"""Lists every tracked line that holds a version number, so that none is forgotten at a release.

Usage: python version_places.py VERSION [FOLDER]

Prints `file:line: text` for each hit. `1.4.2` does not match inside `11.4.2` or `1.4.20`. Ends with
code 0 if there is a hit, 1 if there is none, 2 if it cannot look.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

MAX_BYTES = 2_000_000
"""Larger files are lock files or data; they are named and not read."""


def tracked_files(folder: Path) -> list[Path]:
    """The files that git knows in `folder`; raises CalledProcessError outside of a repository."""
    command = ["git", "-C", str(folder), "ls-files", "-z"]
    listed = subprocess.run(command, check=True, capture_output=True).stdout
    return [folder / name for name in listed.decode("utf-8", "surrogateescape").split("\0") if name]


def places(path: Path, version: str) -> list[tuple[int, str]]:
    """Line numbers (from 1) and lines of `path` that hold the version; none for binary files."""
    data = path.read_bytes()
    if b"\0" in data:
        return []
    whole = re.compile(rf"(?<![0-9.]){re.escape(version)}(?!\.?[0-9])")
    lines = data.decode("utf-8", "replace").splitlines()
    return [(number, line) for number, line in enumerate(lines, 1) if whole.search(line)]


def main(arguments: list[str]) -> int:
    """The command."""
    if len(arguments) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    version = arguments[0].removeprefix("v")
    folder = Path(arguments[1] if len(arguments) == 2 else ".")
    try:
        files = tracked_files(folder)
    except FileNotFoundError:
        print("git is not installed", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as error:
        print(error.stderr.decode("utf-8", "replace").strip(), file=sys.stderr)
        return 2
    found = 0
    for path in files:
        if path.is_symlink() or not path.is_file():
            continue
        name = path.relative_to(folder)
        if path.stat().st_size > MAX_BYTES:
            print(f"{name}: too large, not read", file=sys.stderr)
            continue
        for number, line in places(path, version):
            found += 1
            print(f"{name}:{number}: {line.strip()[:200]}")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
