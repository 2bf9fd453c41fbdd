"""Sorts the open tasks of a Markdown checklist by what needs attention.

Usage: python board.py FILE [--today YYYY-MM-DD] [--soon DAYS] [--long DAYS]

Reads lines such as `- [ ] write the notes @ann due:2026-03-06 wait:ops since:2026-02-25 next:...`.
Ends with 0; with 1 if something is overdue or waits for too long; with 2 if it cannot be read.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

TASK = re.compile(r"^\s*[-*+]\s+\[([ xX])\]\s+(.*\S)")
FIELD = re.compile(r"(?<!\S)(due|next|since|wait|done):(\S+)")
OWNER = re.compile(r"(?<!\S)@(\S+)")
SECTIONS = ("overdue", "waiting too long", "no next step", "due soon", "waiting", "in hand")
ALARMS = frozenset(SECTIONS[:2])


@dataclass(frozen=True, slots=True)
class Task:
    """One line of the list."""

    line: int
    text: str
    is_done: bool
    fields: dict[str, str]

    def day(self, name: str) -> date | None:
        """A field as a date; None where it is missing. Raises ValueError for what is no date."""
        value = self.fields.get(name)
        if value is None:
            return None
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise ValueError(f"line {self.line}: {name}:{value} is no date (YYYY-MM-DD)") from None

    def section(self, today: date, soon: timedelta, long: timedelta) -> str:
        """Where it belongs on the board: what is worst about it counts."""
        due, since, following = (self.day(name) for name in ("due", "since", "next"))
        waits = "wait" in self.fields
        if due and due < today:
            return "overdue"
        if waits and since and today - since > long:
            return "waiting too long"
        if not waits and (following is None or following < today):
            return "no next step"
        if due and due - today <= soon:
            return "due soon"
        return "waiting" if waits else "in hand"


def read_tasks(text: str) -> list[Task]:
    """The tasks of a list, in its order. What stands between fences is an example, no task."""
    tasks: list[Task] = []
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith(("```", "~~~")):
            is_code = not is_code
        found = TASK.match(line)
        if found and not is_code:
            tasks.append(Task(number, found[2], found[1] != " ", dict(FIELD.findall(found[2]))))
    return tasks


def show_board(tasks: list[Task], today: date, soon: timedelta, long: timedelta) -> list[str]:
    """The board, line by line; its first line counts."""
    done = sum(task.is_done for task in tasks)
    lines = [f"{len(tasks)} tasks, {done} done, {len(tasks) - done} open on {today}"]
    by_section: dict[str, list[Task]] = {name: [] for name in SECTIONS}
    for task in tasks:
        if not task.is_done:
            by_section[task.section(today, soon, long)].append(task)
    for name, listed in by_section.items():
        if listed:
            lines += ["", f"{name}: {len(listed)}"]
            lines += [f"  line {task.line}: {task.text}" for task in listed]
    nobodys = sum(not task.is_done and not OWNER.search(task.text) for task in tasks)
    if nobodys:
        lines += ["", f"without an owner: {nobodys}"]
    return lines


def main(arguments: list[str]) -> int:
    """The command."""
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    parser = argparse.ArgumentParser(prog="board.py")
    parser.add_argument("file", type=Path)
    parser.add_argument("--today", type=date.fromisoformat, default=date.today())
    parser.add_argument("--soon", type=int, default=3)
    parser.add_argument("--long", type=int, default=7)
    given = parser.parse_args(arguments)
    try:
        tasks = read_tasks(given.file.read_text(encoding="utf-8-sig"))
        soon, long = timedelta(days=given.soon), timedelta(days=given.long)
        lines = show_board(tasks, given.today, soon, long)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    print("\n".join(lines))
    return int(any(line.partition(":")[0] in ALARMS for line in lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
