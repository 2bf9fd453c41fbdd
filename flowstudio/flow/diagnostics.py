"""Findings about a chart, and the errors that carry them.

Every code is declared here once, with the severity it has and the paragraph that `explain` prints.
Codes are stable: tools and people may filter by them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from flowstudio.flow.model import Span

_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
"""Control signs, line separators, and those that turn the writing direction."""

type Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that helps to understand a finding, with a few words on why."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: what is wrong, where, and what to write instead."""

    code: str
    severity: Severity
    message: str
    """One sentence that says what is wrong, naming the things by the author's own names."""
    hint: str
    """What to write or do instead; may be empty where there is nothing to do."""
    span: Span
    related: tuple[Related, ...] = ()
    path: str | None = None
    """The file, filled in by whoever knows it (the readers know only text)."""

    def at(self, path: str) -> Diagnostic:
        """The same finding in the file `path`."""
        return replace(self, path=path)

    def __str__(self) -> str:
        where = f"{self.path}:" if self.path else ""
        return f"{where}{self.span.line}:{self.span.column}: {self.message}"


class FlowError(ValueError):
    """A chart that cannot be run. `diagnostics` holds every finding, in order of place.

    The message begins `Line N:` with the line of the first error.
    """

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        first = next((d for d in self.diagnostics if d.severity == "error"), None)
        message = f"Line {first.span.line}: {first.message}" if first else "the chart cannot be run"
        super().__init__(message)


class FlowParseError(FlowError):
    """The text is not a flowchart, or breaks its language's syntax."""


class FlowValidationError(FlowError):
    """The chart was read, but is not a flow that can be run."""


@dataclass(frozen=True, slots=True)
class Code:
    """One kind of finding: its stable name, how bad it is, and what `explain` says about it."""

    name: str
    severity: Severity
    parse: bool
    """True where the fault is in the text (FlowParseError), False where it is in the graph."""
    explanation: str


CODES: dict[str, Code] = {}


def declare(name: str, severity: Severity, explanation: str, *, parse: bool = False) -> str:
    """Register a code and give its name back, so that modules can hold it in a constant."""
    if name in CODES:
        raise ValueError(f"diagnostic code {name!r} is declared twice")
    CODES[name] = Code(name, severity, parse, " ".join(explanation.split()))
    return name


def finding(
    code: str, message: str, span: Span, hint: str = "", related: Sequence[Related] = ()
) -> Diagnostic:
    """A diagnostic with the severity that its code was declared with.

    Messages quote the author's text; signs that could steer a terminal are made harmless.
    """
    shown = tuple(Related(other.span, _tame(other.message)) for other in related)
    return Diagnostic(code, CODES[code].severity, _tame(message), _tame(hint), span, shown)


def _tame(message: str) -> str:
    return message if message.isprintable() else _UNSAFE.sub("\ufffd", message)
