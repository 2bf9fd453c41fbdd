"""`flowstudio check --fix`: repairs what can mean only one thing, shown as a diff first."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from flowstudio.cli.output import say
from flowstudio.flow import FlowEdge, FlowNode, Span
from flowstudio.flow.codes import CHOICE_TAG, LOOSE_SYNTAX
from flowstudio.flow.edit_mermaid import write_quoted
from flowstudio.flow.source import Source
from flowstudio.skill import Skill, reread

_TAG = re.compile(r"<choice>\s*([^<]*?)\s*</choice>", re.IGNORECASE)
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_MOST_SINGLY = 100
"""Repairs that are tried one by one where all of them together would change the flow."""


@dataclass(frozen=True, slots=True, order=True)
class _Edit:
    """Put `new` in place of `source[start:end]`."""

    start: int
    end: int
    new: str


def fixed_text(skill: Skill) -> str:
    """The skill's file with its safe repairs, or as it is where there are none.

    Unwraps `<choice>` tags in the labels of exits, and puts labels that Mermaid itself would refuse
    into quotes. A repair after which anything else would be read, or more be found, is not made.
    """
    edits = _find_edits(skill)
    if not edits:
        return skill.source
    text = _apply(skill.source, edits)
    if _is_better(skill, text):
        return text
    safe = [e for e in edits[:_MOST_SINGLY] if _is_better(skill, _apply(skill.source, [e]))]
    text = _apply(skill.source, safe)
    return text if _is_better(skill, text) else skill.source


def show_diff(path: Path, before: str, after: str, file: TextIO) -> None:
    """Print what a repair changes."""
    lines = difflib.unified_diff(
        _split(before), _split(after), str(path), f"{path} (fixed)", lineterm="", n=1
    )
    for line in lines:
        say(line, file=file)


def _split(text: str) -> list[str]:
    return [line.rstrip("\r\n") for line in _LINE.findall(text)]


def _find_edits(skill: Skill) -> list[_Edit]:
    """The repairs in order of place; none overlaps another."""
    chart = skill.chart
    if chart is None:
        return []
    source = Source(skill.source)
    found: list[_Edit] = []
    for d in skill.diagnostics:
        if d.code == CHOICE_TAG:
            start, end = _offsets(source, d.span)
            written = skill.source[start:end]
            found.append(_Edit(start, end, _TAG.sub(r"\1", written)))
    if chart.language == "mermaid":
        loose = [d.span for d in skill.diagnostics if d.code == LOOSE_SYNTAX]
        items = (*chart.nodes.values(), *chart.edges)
        found += [_quote(source, item) for item in _find_touched(items, loose)]
    edits: list[_Edit] = []
    for edit in sorted(set(found)):
        if not edits or edit.start >= edits[-1].end:
            edits.append(edit)
    return edits


def _find_touched(
    items: Iterable[FlowNode | FlowEdge], loose: Sequence[Span]
) -> Iterable[FlowNode | FlowEdge]:
    """The nodes and edges in whose label something stands that Mermaid refuses."""
    by_line: dict[int, list[Span]] = {}
    for span in loose:
        by_line.setdefault(span.line, []).append(span)
    for item in items:
        label = item.label_span
        if label and any(_overlap(span, label) for span in by_line.get(label.line, ())):
            yield item


def _quote(source: Source, item: FlowNode | FlowEdge) -> _Edit:
    """The label in double quotes, without the blanks around it, which Mermaid forbids there."""
    assert item.label_span is not None
    text = source.text
    start, end = _offsets(source, item.label_span)
    label = write_quoted((item.text if isinstance(item, FlowNode) else item.label) or " ")
    before = text[:start].rstrip(" \t")
    if before.endswith((":", "--", "==", "-.")):
        # A property, where a backslash is YAML's sign for something else; or a link's own text.
        return _Edit(start, end, label.replace("\\", "#92;"))
    behind = len(text) - len(text[end:].lstrip(" \t"))
    return _Edit(len(before), behind, label)


def _offsets(source: Source, span: Span) -> tuple[int, int]:
    return source.offset(span.line, span.column), source.offset(span.end_line, span.end_column)


def _apply(text: str, edits: Sequence[_Edit]) -> str:
    pieces: list[str] = []
    at = 0
    for edit in edits:
        pieces += [text[at : edit.start], edit.new]
        at = edit.end
    return "".join([*pieces, text[at:]])


def _is_better(skill: Skill, text: str) -> bool:
    """True where the same flow is read from `text`, and less is to be said about it."""
    now = reread(skill, text)
    if skill.chart is None or now.chart is None:
        return False
    old, new = skill.chart, now.chart
    return (
        old.nodes == new.nodes
        and list(old.nodes) == list(new.nodes)
        and old.edges == new.edges
        and old.direction == new.direction
        and _other_fields(skill) == _other_fields(now)
        and len(now.diagnostics) < len(skill.diagnostics)
    )


def _other_fields(skill: Skill) -> dict[str, object]:
    return {name: value for name, value in skill.meta.items() if name != "flow"}


def _overlap(one: Span, other: Span) -> bool:
    return (one.line, one.column) < (other.end_line, other.end_column) and (
        other.line,
        other.column,
    ) < (one.end_line, one.end_column)
