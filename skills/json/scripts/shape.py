"""Outlines a JSON or JSON Lines document: its paths, their types, how often they are there.

Usage: python shape.py FILE

Lists are written `[]`, so `users[].email` is the email of each user. Values that look like secrets
are not shown. Ends with 0; with 1 if the document is broken; with 2 if it cannot be read.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

MOST_PATHS = 2_000
SECRET = re.compile(r"pass(word|wd)?$|secret|token|api_?key|authorization|cookie", re.IGNORECASE)
TYPES: dict[type[Any], str] = {
    bool: "true/false",
    int: "integer",
    float: "number",
    str: "text",
    type(None): "null",
}


@dataclass(slots=True)
class Seen:
    """What stands at one path."""

    types: Counter[str] = field(default_factory=Counter[str])
    sample: str = ""
    lengths: list[int] = field(default_factory=list[int])

    @property
    def count(self) -> int:
        """How many values stand there."""
        return self.types.total()


class Outline:
    """All paths of a document, walked without recursion: depth is bounded by the parser alone."""

    def __init__(self) -> None:
        self.paths: dict[str, Seen] = {}
        self.twice: Counter[str] = Counter()
        self.is_cut = False

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """For the parser: an object, with a note of keys that stand in it twice."""
        made = dict(pairs)
        if len(made) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            self.twice.update(key for key, count in counts.items() if count > 1)
        return made

    def add(self, document: Any, root: str = "$") -> None:
        """Take in one document."""
        waiting: list[tuple[str, Any]] = [(root, document)]
        while waiting:
            path, value = waiting.pop()
            if path not in self.paths and len(self.paths) >= MOST_PATHS:
                self.is_cut = True
                continue
            seen = self.paths.setdefault(path, Seen())
            if isinstance(value, dict):
                seen.types["object"] += 1
                pairs = cast("dict[str, Any]", value).items()
                waiting += reversed([(join(path, key), one) for key, one in pairs])
            elif isinstance(value, list):
                seen.types["list"] += 1
                listed = cast("list[Any]", value)
                seen.lengths.append(len(listed))
                waiting += [(path + "[]", one) for one in reversed(listed)]
            else:
                seen.types[kind_of(value)] += 1
                seen.sample = seen.sample or show(path, value)

    def describe(self) -> list[str]:
        """One line for each path."""
        lines: list[str] = []
        for path, seen in self.paths.items():
            parts = ", ".join(f"{kind} {count}" for kind, count in seen.types.most_common())
            above = self.paths.get(parent(path))
            possible = above.types["object"] if above and not path.endswith("[]") else 0
            if possible > seen.count:
                parts += f"; missing {possible - seen.count} of {possible}"
            if seen.lengths:
                parts += f"; {min(seen.lengths)} to {max(seen.lengths)} entries"
            lines.append(f"{path}: {parts}" + (f"; such as {seen.sample}" if seen.sample else ""))
        lines += [f"key twice in one object: {key} ({n}x)" for key, n in self.twice.most_common(20)]
        if self.is_cut:
            lines.append(f"more than {MOST_PATHS} paths; are keys used as data?")
        return lines


def join(path: str, key: str) -> str:
    """The path of a key; what is no plain word stands in quotes."""
    if re.fullmatch(r"[\w-]+", key):
        return f"{path}.{key}"
    return f"{path}[{json.dumps(key, ensure_ascii=False)}]"


def parent(path: str) -> str:
    """The path of the object that holds this one."""
    found = re.match(r"(?s)(.*)(?:\.[\w-]+|\[\".*\"\])$", path)
    return found[1] if found else ""


def kind_of(value: Any) -> str:
    """The type for people; integers that a double cannot hold are told apart."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53:
        return "integer above 2^53"
    if value == "":
        return "empty text"
    return TYPES.get(cast("type[Any]", type(value)), "?")


def show(path: str, value: Any) -> str:
    """A short sample on one line; nothing of what may be secret."""
    if value is None or value == "":
        return ""
    if SECRET.search(path.rpartition(".")[2]):
        return "(hidden)"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:39] + "…"


def read(text: str) -> tuple[Outline, str]:
    """The outline and what kind of document it is. Raises JSONDecodeError."""
    outline = Outline()
    try:
        outline.add(json.loads(text, object_pairs_hook=outline.pairs))
        return outline, "JSON"
    except json.JSONDecodeError as whole:
        lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
        by_line = Outline()
        for place, (number, line) in enumerate(lines):
            try:
                by_line.add(json.loads(line, object_pairs_hook=by_line.pairs), "$")
            except json.JSONDecodeError as error:
                if place == 0:
                    raise whole from None
                where = sum(len(before) + 1 for before in text.split("\n")[: number - 1])
                raise json.JSONDecodeError(error.msg, text, where + error.pos) from None
        if len(lines) < 2:
            raise
        return by_line, f"JSON Lines, {len(lines)} documents"


def explain(error: json.JSONDecodeError) -> list[str]:
    """Where it is broken, with the line above and a mark below."""
    lines = error.doc.split("\n")
    shown = [f"{error.lineno - 1:>6} | {lines[error.lineno - 2][:100]}"] if error.lineno > 1 else []
    start = max(0, error.colno - 60)
    shown.append(f"{error.lineno:>6} | {lines[error.lineno - 1][start : start + 100]}")
    shown.append(" " * (9 + error.colno - 1 - start) + "^")
    if error.pos >= len(error.doc.rstrip()):
        shown.append("The text ends here: it may have been cut off.")
    return [f"line {error.lineno}, column {error.colno}: {error.msg}", *shown]


def main(arguments: list[str]) -> int:
    """The command."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        data = Path(arguments[0]).read_bytes()
        text = data.decode(json.detect_encoding(data))
        outline, kind = read(text)
    except json.JSONDecodeError as error:
        print("\n".join(explain(error)))
        return 1
    except RecursionError:
        print("nested too deeply to be read", file=sys.stderr)
        return 2
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    print("\n".join([f"{Path(arguments[0]).name}: {kind}", *outline.describe()]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
