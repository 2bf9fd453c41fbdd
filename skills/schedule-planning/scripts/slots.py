"""Checks the plan of one day: collisions, stretches without a break, free slots.

Usage: python slots.py FILE [--from HH:MM] [--to HH:MM]

Reads lines such as `09:00-10:30 write the report`; other lines are left alone. A line that ends
with `!` cannot be moved. Ends with 0; with 1 if slots collide; with 2 if the plan cannot be read.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

SLOT = re.compile(r"^\s*(?:[-*]\s+)?(\d{1,2}[:：]\d\d)\s*[-–—~～至]\s*(\d{1,2}[:：]\d\d)\s+(.*\S)")
LONGEST = 120
"""Minutes after which a break of at least `BREAK` is due."""
BREAK = 10
SHORTEST_FREE = 15
REST = re.compile(r"\b(?:break|lunch|rest|walk)\b|休息|午饭|歇|吃饭|散步", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Slot:
    """One line of the plan; minutes since midnight."""

    start: int
    end: int
    text: str

    def __str__(self) -> str:
        return f"{clock(self.start)}-{clock(self.end)} {self.text}"


def minutes(text: str) -> int:
    """Minutes since midnight. Raises ValueError for what no clock shows; 24:00 ends a day."""
    hour, minute = map(int, re.split("[:：]", text))
    if minute > 59 or hour * 60 + minute > 24 * 60:
        raise ValueError(f"{text} is no time of day")
    return hour * 60 + minute


def clock(minute: int) -> str:
    """The way a plan writes it."""
    return f"{minute // 60:02}:{minute % 60:02}"


def read_slots(text: str) -> list[Slot]:
    """The slots by their start. Raises ValueError for a slot that ends before it starts."""
    slots: list[Slot] = []
    for number, line in enumerate(text.splitlines(), 1):
        if found := SLOT.match(line):
            slot = Slot(minutes(found[1]), minutes(found[2]), found[3])
            if slot.end <= slot.start:
                raise ValueError(f"line {number}: ends before it starts; split it at midnight")
            slots.append(slot)
    return sorted(slots, key=lambda slot: (slot.start, slot.end))


def find_collisions(slots: list[Slot]) -> list[str]:
    """A line for each slot that starts before an earlier one has ended."""
    lines: list[str] = []
    running: Slot | None = None
    for slot in slots:
        if running and slot.start < running.end:
            fixed = sum(one.text.endswith("!") for one in (running, slot))
            note = ("either may move", "one may move", "neither may move: ask")[fixed]
            lines.append(f"collision: {running} / {slot} ({note})")
        if running is None or slot.end > running.end:
            running = slot
    return lines


def find_stretches(slots: list[Slot]) -> list[str]:
    """A line for each stretch longer than `LONGEST` minutes without a break."""
    lines: list[str] = []
    working = [slot for slot in slots if not REST.search(slot.text)]
    start = end = None
    for slot in [*working, Slot(24 * 60 + BREAK, 24 * 60 + BREAK + 1, "")]:
        if start is not None and end is not None and slot.start - end >= BREAK:
            if end - start > LONGEST:
                lines.append(f"no break: {clock(start)}-{clock(end)}, {end - start} minutes")
            start = end = None
        start = slot.start if start is None else start
        end = slot.end if end is None else max(end, slot.end)
    return lines


def find_free(slots: list[Slot], start: int, end: int) -> list[str]:
    """A line for each free slot of a quarter of an hour and more, and one for the sum."""
    marks = [(slot.start, slot.end) for slot in slots if slot.end > start and slot.start < end]
    merged = [(start, start)]
    for begin, finish in [*marks, (end, end)]:
        if begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(finish, merged[-1][1]))
        else:
            merged.append((begin, finish))
    free = [(before[1], after[0]) for before, after in pairwise(merged)]
    lines = [f"free: {clock(a)}-{clock(b)}" for a, b in free if b - a >= SHORTEST_FREE]
    total = end - start
    planned = total - sum(b - a for a, b in free)
    share = planned / total
    note = "; leave a fifth open" if share > 0.8 else ""
    return [*lines, f"planned: {planned} of {total} minutes ({share:.0%}){note}"]


def main(arguments: list[str]) -> int:
    """The command."""
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    parser = argparse.ArgumentParser(prog="slots.py")
    parser.add_argument("file", type=Path)
    parser.add_argument("--from", dest="start", default="09:00")
    parser.add_argument("--to", dest="end", default="18:00")
    given = parser.parse_args(arguments)
    try:
        start, end = minutes(given.start), minutes(given.end)
        slots = read_slots(given.file.read_text(encoding="utf-8-sig"))
        if start >= end:
            raise ValueError("--from must be before --to")
        if not slots:
            raise ValueError("no line looks like `09:00-10:30 something`")
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    collisions = find_collisions(slots)
    print("\n".join([*collisions, *find_stretches(slots), *find_free(slots, start, end)]))
    return int(bool(collisions))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
