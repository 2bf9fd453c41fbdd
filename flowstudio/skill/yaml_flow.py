"""The flow of a skill.yaml: a chart in a YAML scalar, read with its places in the file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flowstudio.flow.diagnostics import finding
from flowstudio.flow.model import Span
from flowstudio.skill import codes
from flowstudio.skill.chart import FoundChart, guess_language, move_spans, read_chart
from flowstudio.skill.fence import LANGUAGES, mask

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowstudio.flow.model import Language
    from flowstudio.flow.source import Source
    from flowstudio.skill.document import Document, Place

_LINE_END = re.compile(r"\r\n|\r|\n")
_MOST_MISSES = 100
"""Lines that are looked for in vain before the rest is not looked for any more: keeps it linear."""


def read_yaml_flow(document: Document, source: Source, declared_at: Span) -> FoundChart:
    """The chart below `flow:` of a skill.yaml that says that it is a flow."""
    content = document.places.get(("flow", "content"))
    if content is None or not content.is_scalar or not content.raw.strip():
        flow = content or document.places.get(("flow",))
        said = finding(
            codes.FLOW_CONTENT,
            "the skill is a flow, but holds no chart",
            source.span(flow.start, flow.start) if flow else declared_at,
            "write below flow: format: mermaid (or d2), then content: | with the chart below it",
        )
        return FoundChart(None, "", (said,))
    written = document.places.get(("flow", "format"))
    if written is None:
        language = guess_language(content.raw)
        said = finding(
            codes.FLOW_FORMAT_GUESSED,
            f"the flow has no format; it is read as {language}",
            source.span(content.start, content.start),
            f"add format: {language}",
        )
        found = read_scalar(source, content, language)
        return FoundChart(found.chart, found.text, (said, *found.findings))
    language = LANGUAGES.get(written.raw.strip().casefold())
    if language is None:
        said = finding(
            codes.FLOW_FORMAT,
            f'the format "{written.raw}" is not known',
            source.span(written.start, written.end),
            "write format: mermaid or format: d2",
        )
        return FoundChart(None, "", (said,))
    return read_scalar(source, content, language)


def read_scalar(source: Source, place: Place, language: Language) -> FoundChart:
    """Read the chart of the scalar at `place`.

    In a literal block (`content: |`) every character keeps its place. In the other styles YAML
    joins and unescapes lines, so a line's place is known only where it stands in the file as it is
    read; everything else is said to stand where the scalar begins.
    """
    text = source.text
    if place.style == "|":
        header_end = _LINE_END.search(text, place.start, place.end)
        start = header_end.end() if header_end else place.end
        masked = mask(text, start, place.end)
        first = source.span(place.start, place.start)
        chart = move_spans(
            read_chart(language, masked), lambda span: span if span.line > first.line else first
        )
        return FoundChart(chart, masked, chart.diagnostics)
    chart = move_spans(read_chart(language, place.raw), _mover(source, place))
    return FoundChart(chart, place.raw, chart.diagnostics)


def _mover(source: Source, place: Place) -> Callable[[Span], Span]:
    whole = source.span(place.start, place.end)
    offsets = _line_offsets(source.text, place)

    def move(span: Span) -> Span:
        start = _offset(span.line, span.column)
        end = _offset(span.end_line, span.end_column)
        return whole if start is None or end is None else source.span(start, end)

    def _offset(line: int, column: int) -> int | None:
        if line > len(offsets) or (begin := offsets[line - 1]) is None:
            return None
        return min(max(begin + column - 1, place.start), place.end)

    return move


def _line_offsets(text: str, place: Place) -> list[int | None]:
    """Where each line of the value would begin in the file; None where it does not stand there."""
    offsets: list[int | None] = []
    at = place.start
    misses = 0
    for line in place.raw.split("\n"):
        words = line.strip()
        found = text.find(words, at, place.end) if misses < _MOST_MISSES else -1
        if found < 0:
            misses += 1
            offsets.append(None)
            continue
        offsets.append(found - (len(line) - len(line.lstrip())))
        at = found + len(words)
    return offsets
