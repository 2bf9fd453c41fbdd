"""Describes a CSV file without changing it or holding it in memory.

Usage: python look.py FILE

Prints encoding, delimiter, number of rows, rows of another length, and one line for each column.
Distinct values are counted up to a bound. Ends with 0, or 2 if the file cannot be read.
"""

from __future__ import annotations

import csv
import itertools
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

DELIMITERS = ",;\t|"
MOST_DISTINCT = 10_000
EMPTY = {"", "na", "n/a", "null", "none", "nan", "-"}
KINDS = (
    ("integer", re.compile(r"[+-]?(?:0|[1-9]\d*)")),
    ("number", re.compile(r"[+-]?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?(?:[eE][+-]?\d+)?")),
    ("date", re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[ T]\d\d?:\d\d.*)?")),
    ("date, day and month unsure", re.compile(r"\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}(?:[ T].*)?")),
)


@dataclass(slots=True)
class Column:
    """What has been seen of one column."""

    name: str
    empty: int = 0
    filled: int = 0
    kinds: Counter[str] = field(default_factory=Counter[str])
    values: Counter[str] = field(default_factory=Counter[str])
    is_cut: bool = False
    """True once there were more distinct values than are counted."""

    def add(self, cell: str) -> None:
        """Take in one cell."""
        value = cell.strip()
        if value.lower() in EMPTY:
            self.empty += 1
            return
        self.filled += 1
        self.kinds[kind_of(value)] += 1
        if value in self.values or len(self.values) < MOST_DISTINCT:
            self.values[value] += 1
        else:
            self.is_cut = True

    def describe(self) -> str:
        """One line for people."""
        total = self.empty + self.filled
        share = f"{self.empty / total:.1%} empty" if total else "no cells"
        kinds = ", ".join(f"{kind} {count}" for kind, count in self.kinds.most_common(3))
        distinct = f"{'over ' if self.is_cut else ''}{len(self.values)} distinct"
        most = ", ".join(f"{shorten(v)} ({n})" for v, n in self.values.most_common(3))
        return (
            f"{self.name}: {kinds or 'nothing'}; {share}; {distinct}; {self.range()}; most: {most}"
        )

    def range(self) -> str:
        """The smallest and the largest value, as numbers where nearly all of them are."""
        if not self.values:
            return "no range"
        numbers = [v for v in self.values if kind_of(v) in ("integer", "number")]
        if len(numbers) * 10 >= len(self.values) * 9:
            ordered = sorted(numbers, key=lambda value: float(value.replace(",", "")))
        else:
            ordered = sorted(self.values)
        return f"from {shorten(ordered[0])} to {shorten(ordered[-1])}"


def kind_of(value: str) -> str:
    """What a cell that is not empty looks like."""
    if re.fullmatch(r"0\d+", value):
        return "digits with leading zeros"
    return next((kind for kind, shape in KINDS if shape.fullmatch(value)), "text")


def shorten(value: str) -> str:
    """At most 30 characters, on one line."""
    line = " ".join(value.split())
    return line if len(line) <= 30 else line[:29] + "…"


def find_encoding(path: Path) -> str:
    """The first encoding that reads the whole file; latin-1 reads anything, so look twice then."""
    with path.open("rb") as file:
        marked = file.read(2) in (b"\xff\xfe", b"\xfe\xff")
    for encoding in ("utf-16",) if marked else ("utf-8-sig", "gb18030"):
        try:
            with path.open(encoding=encoding, newline="") as file:
                while file.read(1 << 20):
                    pass
        except UnicodeError:
            continue
        return encoding
    return "latin-1"


def find_delimiter(path: Path, encoding: str) -> str:
    """The delimiter that splits the first hundred rows most evenly into several cells."""
    best, best_score = ",", 0
    for delimiter in DELIMITERS:
        with path.open(encoding=encoding, newline="") as file:
            rows = itertools.islice(csv.reader(file, delimiter=delimiter), 100)
            widths = Counter(len(row) for row in rows if row)
        width, times = widths.most_common(1)[0] if widths else (1, 0)
        if width > 1 and times > best_score:
            best, best_score = delimiter, times
    return best


def look(path: Path) -> list[str]:
    """The description, line by line."""
    encoding = find_encoding(path)
    delimiter = find_delimiter(path, encoding)
    with path.open(encoding=encoding, newline="") as file:
        reader = csv.reader(file, delimiter=delimiter)
        header = next(reader, list[str]())
        columns = [Column(name.strip() or f"column {n}") for n, name in enumerate(header, 1)]
        odd: list[str] = []
        rows = odd_rows = 0
        for row in reader:
            if not row:
                continue
            rows += 1
            if len(row) != len(header):
                odd_rows += 1
                if len(odd) < 3:
                    odd.append(f"  ends in line {reader.line_num}: {len(row)} cells")
            for column, cell in zip(columns, row, strict=False):
                column.add(cell)
    name = {"\t": "tab"}.get(delimiter, delimiter)
    lines = [f"{path.name}: {encoding}, delimiter {name}, {rows} rows, {len(header)} columns"]
    lines.append(f"rows of another length: {odd_rows}")
    return [*lines, *odd, *(column.describe() for column in columns)]


def main(arguments: list[str]) -> int:
    """The command."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        print("\n".join(look(Path(arguments[0]))))
    except (OSError, csv.Error) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
