"""Finds the chart of a skill in its file and reads it, in lines and columns of that file."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flowstudio.flow.codes import CHART_MISSING, CHART_TYPE
from flowstudio.flow.diagnostics import Diagnostic, Related, finding
from flowstudio.flow.model import Span
from flowstudio.skill import codes
from flowstudio.skill.fence import Fence, find_fences, mask

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowstudio.flow.chart import Chart
    from flowstudio.flow.model import Language
    from flowstudio.flow.source import Source

_NO_FLOWCHART = frozenset({CHART_MISSING, CHART_TYPE})
# Possessive: what was once read as a comment is not tried another way.
_MERMAID = re.compile(
    r"\s*+(?:(?>%%[^\r\n]*\s*)|(?>---[ \t]*[\r\n].*?[\r\n]---[ \t]*[\r\n]\s*))*+"
    r"(?:flowchart|graph)\b",
    re.DOTALL,
)
_MOST_MASKED = 20
"""Blocks that are read at their place at once; masking costs what stands before them."""
_BEGIN = re.compile(r"\bBEGIN\b")
_END = re.compile(r"\bEND\b")


@dataclass(frozen=True, slots=True)
class FoundChart:
    """A chart, the text it was read from, and every finding about it."""

    chart: Chart | None
    text: str
    findings: tuple[Diagnostic, ...]


def read_chart(language: Language, text: str) -> Chart:
    """Read a chart's text. The reader of the language is loaded when it is first asked for."""
    if language == "d2":
        from flowstudio.flow.d2 import read_d2

        return read_d2(text)
    from flowstudio.flow.mermaid import read_mermaid

    return read_mermaid(text)


def guess_language(text: str) -> Language:
    """Mermaid where the first line that says something begins with `flowchart` or `graph`."""
    return "mermaid" if _MERMAID.match(text) else "d2"


def find_chart(text: str, start: int, source: Source, declared_at: Span) -> FoundChart:
    """The first code block below `start` that holds a flowchart.

    Where none does, the first block that should; where there is no such block, a finding at
    `declared_at`, the place where the author says that this is a flow.
    """
    untagged: Fence | None = None
    first: FoundChart | None = None
    skipped: list[Diagnostic] = []
    tried = 0
    for fence in find_fences(text, start):
        if fence.language is None:
            content = text[fence.start : fence.end]
            if untagged is None and not fence.info and _MERMAID.match(content):
                untagged = fence
            continue
        tried += 1
        if tried > _MOST_MASKED:
            content = read_chart(fence.language, text[fence.start : fence.end])
            if any(d.code in _NO_FLOWCHART for d in content.diagnostics):
                continue
        found = _read_fence(text, fence, source)
        missing = {d.code for d in found.findings} & _NO_FLOWCHART
        if not missing:
            return FoundChart(found.chart, found.text, (*skipped, *found.findings))
        first = first or found
        # A sequence diagram is meant to be one. A block without anything is more likely a slip.
        if CHART_MISSING in missing:
            skipped.append(
                finding(
                    codes.CHART_SKIPPED,
                    f"no flowchart was found in this {fence.info} block, so a later block is run",
                    source.span(fence.open, fence.open_end),
                    "begin it with `flowchart TD`, or tag it as something else",
                )
            )
    if first is not None:
        return first
    return FoundChart(None, "", (_no_block(untagged, source, declared_at),))


def looks_like_flow(text: str, start: int) -> bool:
    """True where a chart's block below `start` names a BEGIN and an END. Reads no chart."""
    if not _BEGIN.search(text, start):
        return False
    return any(
        _BEGIN.search(text, fence.start, fence.end) and _END.search(text, fence.start, fence.end)
        for fence in find_fences(text, start)
        if fence.language
    )


def _read_fence(text: str, fence: Fence, source: Source) -> FoundChart:
    masked = mask(text, fence.start, fence.end, quoted=fence.quoted)
    opening = source.span(fence.open, fence.open_end)
    chart = move_spans(
        read_chart(fence.language or "mermaid", masked),
        # What has no place in the chart, such as "there is none", is said of the block.
        lambda span: opening if span.line <= opening.line else span,
    )
    if fence.closed:
        return FoundChart(chart, masked, chart.diagnostics)
    related: list[Related] = []
    if fence.almost_closed is not None:
        place = source.span(fence.almost_closed, fence.almost_closed)
        related.append(Related(place, "this line does not close it"))
    fence_text = text[fence.open : fence.open_end]
    sign = fence_text[: len(fence_text) - len(fence_text.lstrip(fence_text[0]))]
    unclosed = finding(
        codes.FENCE_UNCLOSED,
        "the code block that holds the chart is never closed",
        opening,
        f"write a line {sign} below the chart",
        related,
    )
    return FoundChart(replace(chart, diagnostics=()), masked, (unclosed,))


def _no_block(untagged: Fence | None, source: Source, declared_at: Span) -> Diagnostic:
    message = "the skill is a flow, but holds no chart"
    if untagged is None:
        hint = "add a code block that begins with ```mermaid or ```d2, or remove type: flow"
        return finding(CHART_MISSING, message, declared_at, hint)
    place = source.span(untagged.open, untagged.open_end)
    related = (Related(place, "this block looks like a chart, but carries no tag"),)
    hint = f"write mermaid behind the fence in line {place.line}"
    return finding(CHART_MISSING, message, declared_at, hint, related)


def move_spans(chart: Chart, move: Callable[[Span], Span]) -> Chart:
    """The same chart with every place in it moved."""

    def maybe(span: Span | None) -> Span | None:
        return None if span is None else move(span)

    nodes = {
        key: replace(node, span=maybe(node.span), label_span=maybe(node.label_span))
        for key, node in chart.nodes.items()
    }
    edges = tuple(
        replace(edge, span=maybe(edge.span), label_span=maybe(edge.label_span))
        for edge in chart.edges
    )
    return replace(
        chart,
        nodes=nodes,
        edges=edges,
        diagnostics=tuple(move_finding(d, move) for d in chart.diagnostics),
    )


def move_finding(found: Diagnostic, move: Callable[[Span], Span]) -> Diagnostic:
    """The same finding with its places moved."""
    related = tuple(Related(move(other.span), other.message) for other in found.related)
    return replace(found, span=move(found.span), related=related)
