"""Gathers the daily reviews of one week on one page and marks what came up on several days.

Usage: python week.py FOLDER [--week YYYY-Www]

Reads FOLDER/YYYY-MM-DD.md: lines such as `做成：...` or `Stuck: ...`, parts divided by `；` or `;`.
Without --week it is the week of the latest review. Ends with 0; with 2 if there is nothing to read.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from datetime import date, timedelta
from difflib import SequenceMatcher
from itertools import combinations
from pathlib import Path

NAME = re.compile(r"\d{4}-\d\d-\d\d")
LABELS = {
    "done": ("做成", "完成", "done", "finished"),
    "not done": ("没做", "未做", "not done", "open"),
    "stuck": ("卡住", "卡点", "stuck", "blocked", "waiting"),
    "learned": ("学到", "教训", "learned", "learnt"),
    "next": ("明天第一件", "tomorrow", "next", "first task"),
}
LINE = re.compile(r"^\s*(?:[-*]\s+)?([^:：]{1,20}?)\s*[:：]\s*(.*\S)")
LATIN = re.compile(r"[a-z][a-z0-9_.-]{3,}")
HAN = re.compile(r"[\u4e00-\u9fff]{3,}")
COMMON = frozenset({"with", "that", "this", "from", "still", "have", "what", "when", "about"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One part of one line of a day's review."""

    day: date
    label: str
    text: str


def read_day(day: date, text: str) -> list[Entry]:
    """The labelled parts of a review; other lines are left out."""
    by_word = {word: label for label, words in LABELS.items() for word in words}
    entries: list[Entry] = []
    for line in text.splitlines():
        found = LINE.match(line)
        label = by_word.get(found[1].lower()) if found else None
        if found and label:
            parts = re.split("[;；]", found[2])
            entries += [Entry(day, label, part.strip()) for part in parts if part.strip()]
    return entries


def pieces(entries: list[Entry]) -> set[str]:
    """What may come up again: Latin words of four letters and more, and the longest runs of three
    Han characters and more that two days share."""
    found = {word for entry in entries for word in LATIN.findall(entry.text.lower())} - COMMON
    runs = {(entry.day, run[:80]) for entry in entries for run in HAN.findall(entry.text)}
    for (day, run), (other, second) in combinations(sorted(runs)[:200], 2):
        if day != other:
            match = SequenceMatcher(None, run, second, autojunk=False).find_longest_match()
            if match.size > 2:
                found.add(run[match.a : match.a + match.size])
    return found


def find_repeated(entries: list[Entry]) -> list[str]:
    """Lines for what stands on two days and more among what was not done or stuck."""
    open_ones = [entry for entry in entries if entry.label in ("not done", "stuck")]
    days = {
        piece: sorted({entry.day for entry in open_ones if piece in entry.text.lower()})
        for piece in pieces(open_ones)
    }
    often = [piece for piece in days if len(days[piece]) > 1]
    often.sort(key=lambda piece: (-len(days[piece]), piece))
    return [f"- {piece}: {', '.join(f'{day:%a}' for day in days[piece])}" for piece in often[:12]]


def show_week(entries: list[Entry], there: list[date], monday: date) -> list[str]:
    """The page, line by line."""
    year, week, _ = monday.isocalendar()
    workdays = [monday + timedelta(days=n) for n in range(5)]
    missing = [f"{day:%a}" for day in workdays if day not in there]
    lines = [f"# {year}-W{week:02}: {len(there)} days with a review"]
    if missing:
        lines.append(f"no review: {', '.join(missing)}")
    for label in LABELS:
        listed = [entry for entry in entries if entry.label == label]
        if listed:
            lines += ["", f"## {label} ({len(listed)})"]
            lines += [f"- {entry.day:%a}: {entry.text}" for entry in listed]
    if repeated := find_repeated(entries):
        lines += ["", "## on several days", *repeated]
    return lines


def main(arguments: list[str]) -> int:
    """The command."""
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    parser = argparse.ArgumentParser(prog="week.py")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--week")
    given = parser.parse_args(arguments)
    try:
        names = [path.stem for path in given.folder.iterdir() if path.suffix == ".md"]
        days = sorted(date.fromisoformat(name) for name in names if NAME.fullmatch(name))
        if given.week:
            monday = parse_week(given.week)
        elif days:
            monday = days[-1] - timedelta(days=days[-1].weekday())
        else:
            raise ValueError(f"{given.folder} holds no file such as 2026-03-02.md")
        there = [day for day in days if monday <= day < monday + timedelta(days=7)]
        if not there:
            raise ValueError(f"{given.folder} holds no review of the week of {monday}")
        entries: list[Entry] = []
        for day in there:
            text = (given.folder / f"{day}.md").read_text(encoding="utf-8-sig")
            entries += read_day(day, text)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    print("\n".join(show_week(entries, there, monday)))
    return 0


def parse_week(text: str) -> date:
    """The Monday of a week such as 2026-W10. Raises ValueError for anything else."""
    found = re.fullmatch(r"(\d{4})-W(\d\d?)", text)
    if not found:
        raise ValueError(f"{text} is no week such as 2026-W10")
    return date.fromisocalendar(int(found[1]), int(found[2]), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
