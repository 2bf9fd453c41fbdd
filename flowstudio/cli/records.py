"""Diagnostics as JSON, for the commands that print them."""

from __future__ import annotations

from typing import Any

from flowstudio.flow import Diagnostic


def diagnostic_record(d: Diagnostic) -> dict[str, Any]:
    """A diagnostic as JSON; lines and columns from 1, the end exclusive."""
    return {
        "path": d.path,
        "line": d.span.line,
        "column": d.span.column,
        "end_line": d.span.end_line,
        "end_column": d.span.end_column,
        "severity": d.severity,
        "code": d.code,
        "message": d.message,
        "hint": d.hint,
    }
