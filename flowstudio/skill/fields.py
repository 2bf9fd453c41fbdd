"""The fields that every skill has: its name, what it is good for, and its type."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flowstudio.flow.diagnostics import Diagnostic, finding
from flowstudio.skill import codes

if TYPE_CHECKING:
    from flowstudio.flow.model import Span
    from flowstudio.flow.source import Source
    from flowstudio.skill.document import Document
    from flowstudio.skill.skill import SkillType

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Fields:
    """What the author says of the skill, and what is odd about how it is said."""

    name: str
    description: str
    type: SkillType
    type_span: Span | None
    """Where the type stands; None where none is given."""
    findings: tuple[Diagnostic, ...]


def take_fields(document: Document, source: Source, top: Span, stand_in: str) -> Fields:
    """The fields of `document`. `top` is where a missing one is said to be missing.

    `stand_in` is the name of a skill that gives none: that of its folder or its flat file.
    """
    findings = list(document.findings)
    # Where the YAML cannot be read, nobody knows what is missing.
    is_whole = all(d.severity != "error" for d in findings)
    name = _take_text("name", document, source, findings)
    if not name:
        name = stand_in
        if is_whole and _is_missing(document.values.get("name")):
            message = f'the skill has no name; that of its place stands in: "{name}"'
            findings.append(finding(codes.NAME_MISSING, message, top, f"add name: {name}"))
    description = _take_text("description", document, source, findings)
    if is_whole and _is_missing(document.values.get("description")):
        hint = "add description: what it does and when to use it"
        message = "the skill has no description"
        findings.append(finding(codes.DESCRIPTION_MISSING, message, top, hint))
    declared, where = _take_type(document, source, top, findings)
    return Fields(name, description, declared, where, tuple(findings))


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _take_text(key: str, document: Document, source: Source, findings: list[Diagnostic]) -> str:
    value = document.values.get(key)
    if isinstance(value, str):
        return _clean(value)
    place = document.places.get((key,))
    if value is None or place is None:
        return ""
    written = _clean(place.raw) if place.is_scalar else ""
    stands = f'it is taken as written: "{written}"' if written else "it is not used"
    said = finding(
        codes.NAME_TYPE,
        f"the {key} is not text for YAML but {_kind(value)}; {stands}",
        source.span(place.start, place.end),
        f'put it into quotes: {key}: "{written or "..."}"',
    )
    findings.append(said)
    return written


def _clean(text: str) -> str:
    """The text as one line that a terminal can show: no control characters, such as escapes."""
    return " ".join(_CONTROL.sub(" ", text).split())


def _kind(value: object) -> str:
    match value:
        case bool():
            return "a truth value"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case dict():
            return "a mapping"
        case _:
            return "a date" if hasattr(value, "year") else "something else"


def _take_type(
    document: Document, source: Source, top: Span, findings: list[Diagnostic]
) -> tuple[SkillType, Span | None]:
    value = document.values.get("type")
    if value is None:
        return "standard", None
    place = document.places.get(("type",))
    where = source.span(place.start, place.end) if place else top
    match value.strip().casefold() if isinstance(value, str) else None:
        case "flow":
            return "flow", where
        case "standard":
            return "standard", where
        case _:
            written = _clean(place.raw) if place and place.is_scalar else _kind(value)
            said = finding(
                codes.TYPE_UNKNOWN,
                f'the type "{written}" is not known; the skill works as a standard one',
                where,
                "write type: flow or type: standard",
            )
            findings.append(said)
            return "standard", where
