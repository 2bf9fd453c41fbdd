"""Compares two tables cell by cell: CSV, TSV, a JSON list of objects, or JSON Lines.

Usage: python compare_tables.py BEFORE AFTER [--key COLUMN] [--as-numbers] [--most N]

Rows belong together by their key, without one by their place. With --as-numbers, 1 and 1.0 are the
same. Ends with 0 if the tables say the same, 1 if they do not, 2 if one cannot be read.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections import Counter
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, cast

Row = dict[str, str]


def read_table(path: Path) -> list[Row]:
    """The rows, all cells as text. Raises ValueError for what is no table."""
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix.lower() in (".json", ".jsonl", ".ndjson"):
        if path.suffix.lower() == ".json":
            found = json.loads(text, parse_float=Decimal)
        else:
            lines = [line for line in text.split("\n") if line.strip()]
            found = [json.loads(line, parse_float=Decimal) for line in lines]
        if not isinstance(found, list):
            raise ValueError(f"{path.name} holds no list of objects")
        listed = cast("list[Any]", found)
        if not all(isinstance(one, dict) for one in listed):
            raise ValueError(f"{path.name} holds entries that are no objects")
        return [{key: as_text(one[key]) for key in one} for one in listed]
    first = text.partition("\n")[0]
    reader = csv.reader(text.splitlines(keepends=True), delimiter=max(",;\t|", key=first.count))
    header = [name.strip() for name in next(reader, list[str]())]
    if twice := [name for name, times in Counter(header).items() if times > 1]:
        raise ValueError(f"{path.name} has two columns {twice[0]}")
    return [dict(zip(header, row, strict=False)) for row in reader if row]


def as_text(value: Any) -> str:
    """The way a table without types would hold it; null is an empty cell."""
    match value:
        case None:
            return ""
        case str():
            return value
        case bool() | list() | dict():
            return json.dumps(value, ensure_ascii=False, default=str)
        case _:
            return str(value)


def is_same(one: str, other: str, as_numbers: bool) -> bool:
    """Whether two cells say the same."""
    if one == other or not as_numbers:
        return one == other
    try:
        return Decimal(one) == Decimal(other)
    except InvalidOperation:
        return False


def by_key(rows: list[Row], key: str, name: str) -> dict[str, Row]:
    """The rows by their key, or by place. Raises ValueError for a key that stands twice."""
    if not key:
        return {f"row {place}": row for place, row in enumerate(rows, 1)}
    made: dict[str, Row] = {}
    for row in rows:
        if key not in row:
            raise ValueError(f"{name} has a row without {key}")
        if row[key] in made:
            raise ValueError(f"{name} has {key} {row[key]} twice")
        made[row[key]] = row
    return made


def compare(before: dict[str, Row], after: dict[str, Row], as_numbers: bool) -> list[str]:
    """A line for each difference."""
    columns = [list(dict.fromkeys(c for r in t.values() for c in r)) for t in (before, after)]
    lines = [f"column only before: {name}" for name in columns[0] if name not in columns[1]]
    lines += [f"column only after: {name}" for name in columns[1] if name not in columns[0]]
    lines += [f"only before: {name}" for name in before if name not in after]
    lines += [f"only after: {name}" for name in after if name not in before]
    both = [name for name in columns[0] if name in columns[1]]
    for name, row in before.items():
        for column in both if name in after else ():
            one, other = row.get(column, ""), after[name].get(column, "")
            if not is_same(one, other, as_numbers):
                lines.append(f"{name}, {column}: {one[:40]!r} became {other[:40]!r}")
    return lines


def main(arguments: list[str]) -> int:
    """The command."""
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    parser = argparse.ArgumentParser(prog="compare_tables.py")
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--key", default="")
    parser.add_argument("--as-numbers", action="store_true")
    parser.add_argument("--most", type=int, default=50)
    given = parser.parse_args(arguments)
    try:
        before, after = (
            by_key(read_table(path), given.key, path.name) for path in (given.before, given.after)
        )
    except (OSError, ValueError, csv.Error, RecursionError) as error:
        print(error, file=sys.stderr)
        return 2
    lines = compare(before, after, given.as_numbers)
    print(f"{len(before)} rows before, {len(after)} after, {len(lines)} differences")
    print("\n".join(lines[: given.most]), end="\n" if lines else "")
    if len(lines) > given.most:
        print(f"and {len(lines) - given.most} more")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
