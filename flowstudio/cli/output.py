"""Printing for people: plain text, and diagnostics with the line they are about.

What comes from a file or a model is data: no terminal escape in it reaches the terminal.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TextIO

from flowstudio.flow import Diagnostic, Span
from flowstudio.text import harmless, to_json


def say(text: str = "", *, end: str = "\n", file: TextIO | None = None) -> None:
    """Print text from files and models; what the terminal cannot show is replaced."""
    out = file or sys.stdout
    encoding = out.encoding or "utf-8"
    clean = harmless(text).encode(encoding, "replace").decode(encoding)
    print(clean, end=end, file=out)


def print_json(value: object, *, indent: int | None = None) -> None:
    """Print a value for programs, at once: on one line, or indented. Nothing in it is replaced."""
    text = to_json(value, indent=indent, encoding=sys.stdout.encoding or "utf-8")
    print(text, flush=True)


def can_show(text: str) -> bool:
    """Whether standard output has signs for all of `text`."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def fail(message: str, hint: str) -> int:
    """Say what is wrong with a call, and give the exit status 2."""
    say(f"flowstudio: {message}", file=sys.stderr)
    if hint:
        say(f"  {hint}", file=sys.stderr)
    return 2


def write_out(text: str, output: Path | None) -> int:
    """Print the text, or write it to the file that was asked for."""
    if output is None:
        say(text, end="")
        return 0
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        return fail(f"{output}: {error.strerror}", "give another FILE to -o")
    return 0


def print_diagnostics(
    found: Iterable[Diagnostic], sources: Mapping[Path, str], *, file: TextIO
) -> None:
    """Each finding with its place, the source line, a mark below the span, and the hint."""
    lines: dict[str, list[str]] = {}
    for path, source in sources.items():
        lines[str(path)] = _LINE_END.split(source)
    for d in found:
        where = f"{d.path}:{d.span.line}:{d.span.column}"
        say(f"{where}: {d.severity}: {d.message} [{d.code}]", file=file)
        source = lines.get(d.path or "", [])
        _quote(d.span, source, d.hint, file)
        for other in d.related:
            say(f"  line {other.span.line}: {other.message}", file=file)


_LINE_END = re.compile(r"\r\n|\r|\n")
"""What ends a line for the readers; `str.splitlines` knows more."""
_CONTEXT = 90
"""Characters of a source line that are shown around a finding."""


def _quote(span: Span, source: list[str], hint: str, file: TextIO) -> None:
    if not 1 <= span.line <= len(source):
        if hint:
            say(f"  {hint}", file=file)
        return
    line = source[span.line - 1]
    start = max(span.column - 1 - _CONTEXT // 2, 0) if len(line) > _CONTEXT else 0
    shown = line[start : start + _CONTEXT].replace("\t", " ")
    before = "…" if start else ""
    after = "…" if start + _CONTEXT < len(line) else ""
    end = span.end_column if span.end_line == span.line else len(line) + 1
    at = span.column - 1 - start
    from rich.cells import cell_len

    gap = cell_len(before + harmless(shown[:at]))
    width = max(cell_len(harmless(shown[at : at + max(end - span.column, 1)])), 1)
    say(f"  {span.line:>5} | {before}{shown}{after}", file=file)
    say(f"        | {' ' * gap}{'^' * width} {hint}".rstrip(), file=file)
