"""Appends a line with the time in UTC to an incident log.

Usage: python timeline.py LOG WHO WHAT

Each line reads `- 2026-03-02 09:14:07Z (+00:12) who: what`; the bracket holds hours and minutes
since the log's first line. Line ends within WHAT become spaces, so that one entry stays one line.
"""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from pathlib import Path

STAMP = re.compile(r"^- (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)Z ", re.MULTILINE)


def first_time(log: str) -> datetime | None:
    """The time of the log's first entry."""
    found = STAMP.search(log)
    return datetime.fromisoformat(found[1]).replace(tzinfo=UTC) if found else None


def entry(log: str, who: str, what: str, now: datetime) -> str:
    """The line to append to `log`."""
    minutes = int((now - (first_time(log) or now)).total_seconds() // 60)
    since = f"+{minutes // 60:02d}:{minutes % 60:02d}"
    stamp = now.strftime("%Y-%m-%d %H:%M:%S")
    return f"- {stamp}Z ({since}) {' '.join(who.split())}: {' '.join(what.split())}\n"


def main(arguments: list[str]) -> int:
    """The command."""
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    path = Path(arguments[0])
    log = path.read_text(encoding="utf-8") if path.exists() else ""
    line = entry(log, arguments[1], arguments[2], datetime.now(UTC))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(line if log.endswith("\n") or not log else "\n" + line)
    print(line, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
