"""The inputs of a batch: a file with one JSON value a line (JSON Lines).

A line is a text, the flow's input, or an object with `input` and `vars`. All lines are checked
before any run starts, so that nobody pays for half a batch because of a comma.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from flowstudio.run.prompts import missing_values

if TYPE_CHECKING:
    from flowstudio.flow.model import Flow

_FIELDS = frozenset({"input", "vars"})


@dataclass(frozen=True, slots=True)
class BatchInput:
    """What one line gives to its runs."""

    line: int
    """From 1."""
    input: str | None = None
    """The flow's input; None where the line gives none."""
    variables: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class BadLine:
    """What is wrong with a line; line and column count from 1, the column in characters."""

    line: int
    column: int
    message: str


class _Wrong(Exception):
    """A value that has no place in a line, and the key at which it stands."""

    def __init__(self, message: str, key: str | None = None) -> None:
        super().__init__(message)
        self.key = key


def read_inputs(data: bytes) -> tuple[list[BatchInput], list[BadLine]]:
    """The inputs of a file, and what is wrong with those lines that cannot be read.

    Blank lines count as lines, but give no input.
    """
    inputs: list[BatchInput] = []
    bad: list[BadLine] = []
    for number, raw in enumerate(_lines(data), 1):
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            column = len(raw[: error.start].decode("utf-8", "replace")) + 1
            bad.append(BadLine(number, column, "this is not UTF-8"))
            continue
        if not line.strip():
            continue
        try:
            inputs.append(_read_line(number, json.loads(line)))
        except json.JSONDecodeError as error:
            bad.append(BadLine(number, error.colno, f"this is not JSON: {_lower(error.msg)}"))
        except RecursionError:
            bad.append(BadLine(number, 1, "this is nested too deeply"))
        except ValueError as error:  # a number with too many digits
            bad.append(BadLine(number, 1, f"this is not JSON: {_lower(str(error))}"))
        except _Wrong as error:
            bad.append(BadLine(number, _find_column(line, error.key), str(error)))
    return inputs, bad


def find_missing(
    inputs: Iterable[BatchInput], flow: Flow, *, needs_input: bool = True
) -> Iterator[BadLine]:
    """The lines that leave a place in a prompt empty.

    Args:
        needs_input: whether `$ARGUMENTS` has to be filled too; in a rehearsal nobody reads it.
    """
    for one in inputs:
        has_input = one.input is not None or not needs_input
        for missing in missing_values(flow, one.variables, has_input=has_input):
            what = '"input"' if missing.is_input else f'"{missing.name}" in "vars"'
            message = f"the prompt of “{missing.node}” holds {missing.written}: give {what}"
            yield BadLine(one.line, 1, message)


def _lines(data: bytes) -> Iterator[bytes]:
    data = data.removeprefix(b"\xef\xbb\xbf")
    for line in data.split(b"\n"):
        yield line.removesuffix(b"\r")


def _read_line(number: int, value: object) -> BatchInput:
    if isinstance(value, str):
        return BatchInput(number, value)
    if not isinstance(value, dict):
        raise _Wrong('a line is a text, or an object such as {"input": "...", "vars": {}}')
    record = cast("dict[str, object]", value)
    for key in record:
        if key not in _FIELDS:
            raise _Wrong(f'“{key}” is not known; a line has "input" and "vars"', key)
    text = record.get("input")
    if not isinstance(text, str) and "input" in record:
        raise _Wrong("“input” must be a text", "input")
    given = record.get("vars", {})
    if not isinstance(given, dict):
        raise _Wrong("“vars” must be an object with a text for each name", "vars")
    variables = dict(_read_variables(cast("dict[str, Any]", given)))
    return BatchInput(number, cast("str | None", text), variables)


def _read_variables(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in given.items():
        match value:
            case str():
                yield name, value
            case bool():
                yield name, "true" if value else "false"
            case int() | float():
                yield name, json.dumps(value)
            case _:
                raise _Wrong(f"the variable “{name}” must be a text or a number", name)


def _find_column(line: str, key: str | None) -> int:
    """Where the key stands in the line; the first sign of the line where it is spelt oddly."""
    spelt = (json.dumps(key, ensure_ascii=False), json.dumps(key)) if key is not None else ()
    for written in spelt:
        if found := re.search(re.escape(written) + r"\s*:", line):
            return found.start() + 1
    return len(line) - len(line.lstrip()) + 1


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]
