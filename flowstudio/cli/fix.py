"""`flowstudio check --fix`: repairs what can mean only one thing, shown as a diff first."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from flowstudio.cli.output import say
from flowstudio.flow import Diagnostic, Span, read_d2, read_mermaid
from flowstudio.flow.codes import CHOICE_TAG, LOOSE_SYNTAX
from flowstudio.flow.edit import replace_label
from flowstudio.flow.source import Source
from flowstudio.skill import Skill

_TAG = re.compile(r"<choice>\s*([^<]*?)\s*</choice>")


def fixed_text(skill: Skill) -> str:
    """The skill's file with its safe repairs, or as it is where there are none.

    Unwraps `<choice>` tags in the labels of exits and quotes node labels that Mermaid itself would
    refuse. A repair that would change what is read is not made.
    """
    chart = skill.chart
    if chart is None or not _is_same_text(skill):
        return skill.source
    text = skill.source
    for d in _from_the_end(skill.diagnostics, CHOICE_TAG):
        text = _replace(text, d.span, lambda label: _TAG.sub(r"\1", label))
    if chart.language == "mermaid":
        spans = [d.span for d in skill.diagnostics if d.code == LOOSE_SYNTAX]
        nodes = [
            node
            for node in chart.nodes.values()
            if node.label_span is not None
            and any(span.line == node.label_span.line for span in spans)
            and any(_overlap(span, node.label_span) for span in spans)
        ]
        for node in sorted(nodes, key=lambda node: node.span or Span(1, 1, 1, 1), reverse=True):
            quoted = replace_label(text, chart, node.id, node.text)
            text = quoted if _reads_alike(skill, quoted) else text
    return text if _reads_alike(skill, text) else skill.source


def show_diff(path: Path, before: str, after: str) -> None:
    """Print what a repair changes."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), str(path), f"{path} (fixed)", lineterm="", n=1
    )
    for line in lines:
        say(line)


def _is_same_text(skill: Skill) -> bool:
    """True where the chart's lines and columns are the file's own."""
    return skill.chart_text != "" and len(skill.chart_text) <= len(skill.source)


def _reads_alike(skill: Skill, text: str) -> bool:
    assert skill.chart is not None
    reader = read_mermaid if skill.chart.language == "mermaid" else read_d2
    # The chart is read where it stands: everything around it is blank in `chart_text`.
    old = skill.chart_text.splitlines()
    new = "\n".join(
        line if at < len(old) and old[at].strip() else ""
        for at, line in enumerate(text.splitlines())
    )
    now = reader(new)
    return {n.id: n.text for n in now.nodes.values()} == {
        n.id: n.text for n in skill.chart.nodes.values()
    } and now.edges == skill.chart.edges


def _from_the_end(found: Iterable[Diagnostic], code: str) -> list[Diagnostic]:
    """In an order in which one repair doesn't move the next one's place."""
    return sorted((d for d in found if d.code == code), key=lambda d: d.span, reverse=True)


def _replace(text: str, span: Span, change: Callable[[str], str]) -> str:
    source = Source(text)
    start = source.offset(span.line, span.column)
    end = source.offset(span.end_line, span.end_column)
    return text[:start] + change(text[start:end]) + text[end:]


def _overlap(one: Span, other: Span) -> bool:
    return (one.line, one.column) < (other.end_line, other.end_column) and (
        other.line,
        other.column,
    ) < (one.end_line, one.end_column)
