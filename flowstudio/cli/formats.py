"""Diagnostics for other programs: GitHub's workflow commands, and SARIF."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from flowstudio import __version__
from flowstudio.flow import CODES, Diagnostic, Severity, Span

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning"}


def github_line(d: Diagnostic) -> str:
    """An annotation, as GitHub's runners read it from a job's output."""
    place = {
        "file": _relative(d.path or ""),
        "line": d.span.line,
        "endLine": d.span.end_line,
        "title": d.code,
    }
    if d.span.end_line == d.span.line:
        # GitHub takes columns only within one line, and the last one belongs to the span.
        place |= {"col": d.span.column, "endColumn": max(d.span.end_column - 1, d.span.column)}
    properties = ",".join(f"{key}={_property(str(value))}" for key, value in place.items())
    text = f"{d.message}\n{d.hint}" if d.hint else d.message
    return f"::{d.severity} {properties}::{_data(text)}"


def sarif_log(found: Iterable[Diagnostic]) -> dict[str, Any]:
    """A SARIF 2.1.0 log with one run; columns count Unicode code points, the end exclusive."""
    findings = list(found)
    rules = [
        {
            "id": code.name,
            "shortDescription": {"text": code.name.replace("-", " ")},
            "fullDescription": {"text": code.explanation},
            "defaultConfiguration": {"level": _LEVELS[code.severity]},
        }
        for code in sorted((CODES[d.code] for d in findings), key=lambda code: code.name)
    ]
    unique = list({rule["id"]: rule for rule in rules}.values())
    driver = {"name": "flowstudio", "version": __version__, "rules": unique}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(d) for d in findings],
    }
    return {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def _sarif_result(d: Diagnostic) -> dict[str, Any]:
    text = f"{d.message}. {d.hint}" if d.hint else d.message
    result: dict[str, Any] = {
        "ruleId": d.code,
        "level": _LEVELS[d.severity],
        "message": {"text": text},
        "locations": [_sarif_location(d.path, d.span)],
    }
    if d.related:
        result["relatedLocations"] = [
            {**_sarif_location(d.path, other.span), "message": {"text": other.message}}
            for other in d.related
        ]
    return result


def _sarif_location(path: str | None, span: Span) -> dict[str, Any]:
    region = {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(path or "")}, "region": region}}


def _uri(path: str) -> str:
    """A path as SARIF wants it: a URI, relative to this folder where the file lies below it."""
    relative = Path(_relative(path))
    return relative.as_uri() if relative.is_absolute() else quote(relative.as_posix())


def _relative(path: str) -> str:
    """Relative to this folder, as a repository's viewer wants it, where it lies below."""
    here = Path.cwd()
    full = Path(path).absolute()
    return str(full.relative_to(here)) if full.is_relative_to(here) else path


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
