"""What a run is given on the command line: its input and variables, and what is missing of them."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowstudio.flow import Flow
    from flowstudio.run.prompts import Missing

_NAME = re.compile(r"[^\W\d][\w.-]*")


class WrongValue(ValueError):
    """A value cannot be used; the message is fit to show."""


def as_text(argument: str) -> str:
    """An argument of the command line as text: bytes that are no UTF-8 are replaced."""
    return argument.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def read_input(argument: str, option: str = "--input") -> str:
    """The text of an option; `-` reads standard input, without its last line end.

    Raises:
        WrongValue: standard input cannot be read.
    """
    if argument != "-":
        return as_text(argument)
    if sys.stdin is None or sys.stdin.closed:  # pyright: ignore[reportUnnecessaryComparison]
        raise WrongValue(f"{option} -: there is no standard input")
    try:
        data = sys.stdin.buffer.read()
    except OSError as error:
        raise WrongValue(f"{option} -: standard input cannot be read: {error}") from error
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    return text.removesuffix("\n")


def read_variables(given: Sequence[str]) -> dict[str, str]:
    """The values of `--var NAME=VALUE`, by name.

    Raises:
        WrongValue: one is not of that form, or a name is given twice.
    """
    values: dict[str, str] = {}
    for one in map(as_text, given):
        name, sign, value = one.partition("=")
        if not sign or not _NAME.fullmatch(name):
            raise WrongValue(f"--var {one}: write --var NAME=VALUE, such as --var branch=main")
        if name in values:
            raise WrongValue(f"--var {name}: given twice")
        values[name] = value
    return values


def explain_missing(missing: Sequence[Missing], file: str) -> str:
    """A message that names each value that is missing, where it stands, and how to give it."""
    lines = ["the flow's prompts need a value that was not given:"]
    for one in missing:
        where = f"{file}:{one.line}:{one.column}" if one.line else file
        how = '--input "…"' if one.is_input else f'--var {one.name}="…"'
        lines.append(f"  {where}: {one.written} in “{one.node}”; give {how}")
    return "\n".join(lines)


def explain_unused(flow: Flow, values: Sequence[str]) -> list[str]:
    """A sentence for each variable that no prompt has a place for."""
    from flowstudio.run.prompts import variable_names

    names = variable_names(flow)
    found: list[str] = []
    for name in values:
        if name in names:
            continue
        near = get_close_matches(name, names, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        found.append(f"--var {name}: no prompt holds {{{{{name}}}}}{hint}")
    return found
