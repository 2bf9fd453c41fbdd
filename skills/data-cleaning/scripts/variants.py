"""Groups the values of one column that may be spellings of the same thing.

Usage: python variants.py FILE COLUMN [--delimiter CHARACTER]

Two kinds: `same but for dress` differ in case, width, accents, punctuation, blanks or the order of
words; `one slip apart` differ in one letter. Changes nothing. Ends with 0, or 1 if there are
groups, or 2 if the file cannot be read.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path

SHORTEST = 5
"""Shorter values are not compared letter by letter: codes such as A1 and A2 are no slips."""
LONGEST = 60


def read_column(path: Path, column: str, delimiter: str) -> Counter[str]:
    """How often each value stands in the column, as written. Raises ValueError."""
    encoding = "utf-8-sig"
    try:
        text = path.read_text(encoding=encoding)
    except UnicodeDecodeError:
        text = path.read_text(encoding="gb18030")
    first = text.partition("\n")[0]
    delimiter = delimiter or max(",;\t|", key=first.count)
    rows = csv.reader(text.splitlines(keepends=True), delimiter=delimiter)
    header = [name.strip() for name in next(rows, list[str]())]
    if column not in header:
        raise ValueError(f"{path.name} has no column {column}; it has {', '.join(header)}")
    place = header.index(column)
    return Counter(row[place] for row in rows if len(row) > place and row[place].strip())


def dress(value: str) -> str:
    """What is left without case, width, accents, punctuation, blanks and the order of words."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", value)).casefold()
    plain = "".join(one for one in plain if not unicodedata.combining(one))
    return " ".join(sorted(re.findall(r"\w+", plain.replace("_", " "))))


def slips(value: str) -> set[str]:
    """The value with any one letter left out: two values one slip apart share one of these."""
    return {value[:at] + value[at + 1 :] for at in range(len(value))} | {value}


def is_one_slip(one: str, other: str) -> bool:
    """True where a letter is missing, added, changed, or swapped with its neighbour."""
    if abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    a, b = one[start:], other[start:]
    return a[1:] == b or a == b[1:] or a[1:] == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])


def find_slips(keys: list[str]) -> list[tuple[str, str]]:
    """The pairs of keys that are one slip apart; figures that differ are no slip."""
    by_rest: dict[str, list[str]] = defaultdict(list)
    for key in keys:
        if SHORTEST <= len(key) <= LONGEST:
            for rest in slips(key):
                by_rest[rest].append(key)
    pairs = {
        (min(one, other), max(one, other))
        for group in by_rest.values()
        if len(group) < 50
        for at, one in enumerate(group)
        for other in group[at + 1 :]
        if one != other and is_one_slip(one, other)
    }
    return sorted(p for p in pairs if re.findall(r"\d+", p[0]) == re.findall(r"\d+", p[1]))


def find_groups(values: Counter[str]) -> list[str]:
    """The groups, one a line, the most frequent spelling first."""
    by_dress: dict[str, Counter[str]] = defaultdict(Counter)
    for value, count in values.items():
        by_dress[dress(value)][value] = count
    lines = [
        "same but for dress: " + ", ".join(f"{v!r} ({n})" for v, n in group.most_common())
        for key, group in sorted(by_dress.items())
        if key and len(group) > 1
    ]
    for one, other in find_slips(list(by_dress)):
        (first, n), (second, m) = (by_dress[key].most_common(1)[0] for key in (one, other))
        lines.append(f"one slip apart: {first!r} ({n}), {second!r} ({m})")
    return lines


def main(arguments: list[str]) -> int:
    """The command."""
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    parser = argparse.ArgumentParser(prog="variants.py")
    parser.add_argument("file", type=Path)
    parser.add_argument("column")
    parser.add_argument("--delimiter", default="")
    given = parser.parse_args(arguments)
    try:
        values = read_column(given.file, given.column, given.delimiter)
    except (OSError, ValueError, csv.Error) as error:
        print(error, file=sys.stderr)
        return 2
    groups = find_groups(values)
    print("\n".join([f"{given.column}: {len(values)} distinct, {len(groups)} groups", *groups]))
    return int(bool(groups))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
