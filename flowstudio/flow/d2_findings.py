"""What the parts of the D2 reader find wrong, by character offset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowstudio.flow import d2_codes
from flowstudio.flow.diagnostics import CODES, Diagnostic, Related, Severity, finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowstudio.flow.source import Source

_MOST = 200


class Findings:
    """Diagnostics of one text. Past the first 200 of a severity they are only counted."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._found: list[Diagnostic] = []
        self._count: dict[Severity, int] = {"error": 0, "warning": 0}
        self._last = 0

    def add(
        self,
        code: str,
        message: str,
        start: int,
        end: int,
        hint: str = "",
        related: Sequence[tuple[int, int, str]] = (),
    ) -> None:
        """Report `text[start:end]`; `related` are further stretches with a few words on each."""
        severity = CODES[code].severity
        self._count[severity] += 1
        if self._count[severity] > _MOST:
            self._last = start
            return
        span = self.source.span
        notes = [Related(span(at, to), note) for at, to, note in related]
        self._found.append(finding(code, message, span(start, end), hint, notes))

    @property
    def has_errors(self) -> bool:
        """True where something that keeps the chart from being run was reported."""
        return self._count["error"] > 0

    def all(self) -> list[Diagnostic]:
        """Everything that was reported, and how much was not listed."""
        codes = {"error": d2_codes.TOO_MANY_FAULTS, "warning": d2_codes.TOO_MANY_WARNINGS}
        here = self.source.span(self._last, self._last)
        return self._found + [
            finding(codes[severity], f"{count - _MOST} more {severity}s are not listed", here)
            for severity, count in self._count.items()
            if count > _MOST
        ]
