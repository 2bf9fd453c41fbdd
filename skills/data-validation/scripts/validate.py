"""Checks a CSV or TSV file against rules and says which line breaks which; changes nothing.

Usage: python validate.py FILE RULES.json [--most N]

RULES.json: {"key": [...], "rows": {"min", "max"}, "columns": {NAME: {"required", "pattern", "min",
"max", "one_of", "date", "not_before", "not_after", "exists_in": [FILE, COLUMN]}}}. Ends with 0, or
1 if a rule is broken, or 2 if file or rules cannot be read.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, cast

Check = Callable[[str], bool]
KNOWN = {"required", "pattern", "min", "max", "one_of", "date", "not_before", "not_after"} | {
    "exists_in"
}


class Report:
    """How often each rule was broken, and the first places."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.counts: Counter[str] = Counter()
        self.places: dict[str, list[str]] = {}

    def add(self, rule: str, place: str) -> None:
        """One line that breaks a rule."""
        self.counts[rule] += 1
        if self.counts[rule] <= self.most:
            self.places.setdefault(rule, []).append(place)

    def describe(self, rows: int) -> list[str]:
        """The rules, the most broken first."""
        lines: list[str] = []
        for rule, count in self.counts.most_common():
            lines.append(f"{rule}: {count} of {rows} rows")
            lines += [f"  {place}" for place in self.places[rule]]
        return lines


def read_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows with the line on which they end; the first is the header."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = file.readline()
        file.seek(0)
        reader = csv.reader(file, delimiter=max(",;\t|", key=first.count))
        for row in reader:
            if row:
                yield reader.line_num, row


def number(value: str) -> Decimal | None:
    """The value as a number; None for what is none."""
    try:
        found = Decimal(value)
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def day(value: str, form: str) -> date | None:
    """The value as a day; None for what is none."""
    try:
        return datetime.strptime(value, form).date()
    except ValueError:
        return None


def make_checks(name: str, rule: dict[str, Any], folder: Path) -> dict[str, Check]:
    """The checks of one column by what they are called. Raises ValueError for a rule unknown."""
    if unknown := set(rule) - KNOWN:
        raise ValueError(f"column {name}: no such rule: {', '.join(sorted(unknown))}")
    checks: dict[str, Check] = {}
    if "pattern" in rule:
        shape = re.compile(rule["pattern"])
        checks[f"looks like {rule['pattern']}"] = lambda v: shape.fullmatch(v) is not None
    for bound, fits in (("min", Decimal.__ge__), ("max", Decimal.__le__)):
        if bound in rule:
            edge = Decimal(str(rule[bound]))
            checks[f"{bound} {edge}"] = bounded(edge, fits)
    if "one_of" in rule:
        allowed = {str(one) for one in rule["one_of"]}
        checks[f"one of {', '.join(sorted(allowed))[:60]}"] = allowed.__contains__
    form = rule.get("date", "%Y-%m-%d")
    if "date" in rule:
        checks[f"date {form}"] = lambda v: day(v, form) is not None
    for bound, sign in (("not_before", -1), ("not_after", 1)):
        if bound in rule:
            edge = date.today() if rule[bound] == "today" else day(rule[bound], form)
            if edge is None:
                raise ValueError(f"column {name}: {bound} is no date as {form}")
            checks[f"{bound} {edge}"] = dated(edge, sign, form)
    if "exists_in" in rule:
        other, column = rule["exists_in"]
        rows = read_rows(folder / other)
        header = next(rows, (0, list[str]()))[1]
        if column not in header:
            raise ValueError(f"column {name}: {other} has no column {column}")
        place = header.index(column)
        known = {row[place].strip() for _, row in rows if len(row) > place}
        checks[f"exists in {other}, {column}"] = known.__contains__
    return checks


def bounded(edge: Decimal, fits: Callable[[Decimal, Decimal], bool]) -> Check:
    """A number on the right side of the edge."""

    def check(value: str) -> bool:
        found = number(value)
        return found is not None and fits(found, edge)

    return check


def dated(edge: date, sign: int, form: str) -> Check:
    """A day on the right side of the edge."""

    def check(value: str) -> bool:
        found = day(value, form)
        return found is not None and (found - edge).days * sign <= 0

    return check


def validate(path: Path, rules: dict[str, Any], folder: Path, most: int) -> tuple[Report, int]:
    """What was found, and the number of rows. Raises ValueError where a rule makes no sense."""
    report = Report(most)
    rows = read_rows(path)
    header = [name.strip() for name in next(rows, (0, list[str]()))[1]]
    columns: dict[str, dict[str, Any]] = rules.get("columns", {})
    checks = {name: make_checks(name, rule, folder) for name, rule in columns.items()}
    places = {name: at for at, name in enumerate(header)}
    key: list[str] = rules.get("key", [])
    for name in (*columns, *key):
        if name not in places:
            report.add(f"column {name} is there", "line 1")
    seen: dict[tuple[str, ...], int] = {}
    count = 0
    for line, row in rows:
        count += 1
        if len(row) != len(header):
            report.add("as many cells as the header", f"line {line}: {len(row)}")
        cells = {name: row[at].strip() if at < len(row) else "" for name, at in places.items()}
        for name, named in checks.items():
            value = cells.get(name)
            if value:
                for what, is_kept in named.items():
                    if not is_kept(value):
                        report.add(f"{name}: {what}", f"line {line}: {value[:40]!r}")
            elif value is not None and columns[name].get("required"):
                report.add(f"{name}: required", f"line {line}")
        mark = tuple(cells.get(name, "") for name in key)
        if key and seen.setdefault(mark, line) != line:
            report.add(f"key {', '.join(key)} is unique", f"line {line} as line {seen[mark]}")
    bounds: dict[str, int] = rules.get("rows", {})
    if not bounds.get("min", 0) <= count <= bounds.get("max", count):
        report.add("number of rows", f"{count}, but {json.dumps(bounds)} is wanted")
    return report, count


def main(arguments: list[str]) -> int:
    """The command."""
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    parser = argparse.ArgumentParser(prog="validate.py")
    parser.add_argument("file", type=Path)
    parser.add_argument("rules", type=Path)
    parser.add_argument("--most", type=int, default=5)
    given = parser.parse_args(arguments)
    try:
        rules: Any = json.loads(given.rules.read_text(encoding="utf-8-sig"))
        if not isinstance(rules, dict):
            raise ValueError(f"{given.rules.name} holds no object of rules")
        folder = given.rules.parent
        report, count = validate(given.file, cast("dict[str, Any]", rules), folder, given.most)
    except (OSError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
        print(f"cannot check: {error}", file=sys.stderr)
        return 2
    except (csv.Error, re.error) as error:
        print(f"cannot check: {error}", file=sys.stderr)
        return 2
    lines = report.describe(count) or ["every rule is kept"]
    print("\n".join([f"{given.file.name}: {count} rows", *lines]))
    return int(bool(report.counts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
