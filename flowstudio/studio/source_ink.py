"""What each stretch of a SKILL.md is, for the eye: from the readers' own places, not from guesses.

Labels, nodes and edges are coloured where the reader found them; between them a line of the chart
has only ids, arrows, words of the language and comments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from flowstudio.flow.d2_words import RESERVED
from flowstudio.skill.fence import find_fences
from flowstudio.skill.front import find_front

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flowstudio.flow.model import FlowNode, Language, Span
    from flowstudio.skill import Skill

type Role = Literal[
    "field", "value", "heading", "fence", "id", "label", "branch", "arrow", "word", "comment"
]

_MERMAID_WORDS = frozenset(
    {"flowchart", "graph", "subgraph", "end", "style", "classDef", "class", "click", "linkStyle"}
    | {"direction", "TD", "TB", "BT", "LR", "RL"}
)
_TOKEN = re.compile(
    r"(?P<comment>%%.*|(?:^|(?<=\s))#.*)|(?P<arrow><?[-=.~]{2,}[>xo]?|<-+>?|-+>)"
    r"|(?P<name>[^\W]+(?:[-.]\w+)*)"
)
_FIELD = re.compile(r"[ \t]*(?:-[ \t]+)?(?P<key>[\w-]+)[ \t]*:(?P<value>.*)")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}(?:\s|$)")


class Ink(NamedTuple):
    """Columns `start` to `end` of a line (from 0) are of a kind."""

    start: int
    end: int
    role: Role


@dataclass(slots=True)
class Inked:
    """A text's lines with what they hold."""

    lines: list[str] = field(default_factory=list[str])
    inks: list[list[Ink]] = field(default_factory=list[list[Ink]])
    chart: range = field(default_factory=lambda: range(0))
    """The chart's lines, from 0."""
    language: Language | None = None
    nodes: list[FlowNode] = field(default_factory=list["FlowNode"])
    """The chart's nodes that have a place."""
    _by_text: dict[str, list[Ink]] | None = None

    def of(self, number: int, line: str) -> Sequence[Ink]:
        """The inks of a line; where the text has moved on since, those of a line that was the same,
        or of what is left of the line at both ends."""
        if number < len(self.lines) and self.lines[number] == line:
            return self.inks[number]
        if self._by_text is None:
            self._by_text = dict(zip(self.lines, self.inks, strict=True))
        if (same := self._by_text.get(line)) is not None:
            return same
        if number >= len(self.lines):
            return ()
        return _shift(self.lines[number], line, self.inks[number])

    def node_at(self, line: int, column: int) -> str | None:
        """The node that a place (both from 0) speaks of: by its id, else by its declaration."""
        if line not in self.chart or line >= len(self.lines):
            return None
        for ink in self.inks[line]:
            if ink.role == "id" and ink.start <= column <= ink.end:
                name = self.lines[line][ink.start : ink.end]
                for node in self.nodes:
                    if name in (node.id, node.id.rpartition(".")[2]):
                        return node.id
        best: tuple[int, str] | None = None
        for node in self.nodes:
            span = node.span
            if span is None or not span.line - 1 <= line <= span.end_line - 1:
                continue
            starts = (span.line - 1, span.column - 1) <= (line, column)
            if starts and (line, column) <= (span.end_line - 1, span.end_column - 1):
                size = (span.end_line - span.line) * 1000 + abs(span.end_column - span.column)
                if best is None or size < best[0]:
                    best = size, node.id
        return best[1] if best else None


def ink(skill: Skill, lines: Sequence[str]) -> Inked:
    """The inks of a skill's file, whose lines are given without their ends."""
    inks: list[list[Ink]] = [[] for _ in lines]
    result = Inked(list(lines), inks)
    text = "\n".join(lines)
    starts = _line_starts(lines)
    if skill.path.suffix.lower() in (".md", ".markdown"):
        body = _ink_front(text, lines, inks, starts)
        chart = _ink_markdown(text, body, lines, inks, starts, skill)
    else:
        is_yaml = skill.path.suffix.lower() in (".yaml", ".yml")
        chart = range(0) if is_yaml else range(len(lines))
        if is_yaml:
            for number, line in enumerate(lines):
                inks[number] += _field(line)
    if skill.chart is None:
        return result
    result.language = skill.chart.language
    result.chart = chart
    result.nodes = [node for node in skill.chart.nodes.values() if node.span]
    labels: dict[int, list[Ink]] = {}
    for node in skill.chart.nodes.values():
        _lay(labels, node.label_span, "label", lines)
    for edge in skill.chart.edges:
        _lay(labels, edge.label_span, "branch", lines)
    names = _names(skill.chart.nodes)
    words = _MERMAID_WORDS if skill.chart.language == "mermaid" else RESERVED
    for number in chart:
        inks[number] = _chart_line(lines[number], labels.get(number, []), names, words)
    return result


def _names(ids: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    for one in ids:
        found.add(one)
        found.update(one.split("."))
    return frozenset(found)


def _line_starts(lines: Sequence[str]) -> list[int]:
    starts, at = [0], 0
    for line in lines:
        at += len(line) + 1
        starts.append(at)
    return starts


def _lay(labels: dict[int, list[Ink]], span: Span | None, role: Role, lines: Sequence[str]) -> None:
    if span is None:
        return
    for number in range(span.line - 1, min(span.end_line, len(lines))):
        start = span.column - 1 if number == span.line - 1 else 0
        end = span.end_column - 1 if number == span.end_line - 1 else len(lines[number])
        if start < end:
            labels.setdefault(number, []).append(Ink(start, end, role))


def _chart_line(
    line: str, labels: list[Ink], names: frozenset[str], words: frozenset[str]
) -> list[Ink]:
    labels = sorted(set(labels))
    free: list[tuple[int, int]] = []
    at = 0
    for label in labels:
        if label.start > at:
            free.append((at, label.start))
        at = max(at, label.end)
    free.append((at, len(line)))
    found = labels
    for start, end in free:
        for token in _TOKEN.finditer(line, start, end):
            if token.lastgroup == "name":
                name = token["name"]
                if name in names:
                    found.append(Ink(*token.span(), "id"))
                elif name in words:
                    found.append(Ink(*token.span(), "word"))
            elif token.lastgroup == "comment":
                found.append(Ink(*token.span(), "comment"))
            else:
                found.append(Ink(*token.span(), "arrow"))
    return sorted(found)


def _ink_front(
    text: str, lines: Sequence[str], inks: list[list[Ink]], starts: Sequence[int]
) -> int:
    """Ink the front matter; gives the offset behind it."""
    front = find_front(text)
    if front is None:
        return 0
    for number, line in enumerate(lines):
        at = starts[number]
        if at >= front.body:
            break
        if front.start <= at < front.end:
            inks[number] = _field(line)
        elif line.strip() in ("---", "..."):
            inks[number] = [Ink(0, len(line), "fence")]
    return front.body


def _field(line: str) -> list[Ink]:
    found = _FIELD.match(line)
    if found is None:
        is_comment = line.lstrip().startswith("#")
        return [Ink(0, len(line), "comment" if is_comment else "value")] if line else []
    inks = [Ink(*found.span("key"), "field")]
    if found["value"].strip():
        inks.append(Ink(*found.span("value"), "value"))
    return inks


def _ink_markdown(
    text: str,
    body: int,
    lines: Sequence[str],
    inks: list[list[Ink]],
    starts: Sequence[int],
    skill: Skill,
) -> range:
    """Ink headings and fences; gives the lines of the chart."""
    from bisect import bisect_right

    first = bisect_right(starts, body) - 1
    chart = range(0)
    place = _first_place(skill)
    code: set[int] = set()
    for fence in find_fences(text, body):
        opening = bisect_right(starts, fence.open) - 1
        last = min(bisect_right(starts, fence.end) - 1, len(lines) - 1)
        inks[opening] = [Ink(0, len(lines[opening]), "fence")]
        stop = last if fence.closed else last + 1
        if fence.closed:
            inks[last] = [Ink(0, len(lines[last]), "fence")]
        code.update(range(opening, last + 1))
        if fence.language and (not chart or (place is not None and opening < place <= last)):
            chart = range(opening + 1, stop)
    for number in range(first, len(lines)):
        if number not in code and _HEADING.match(lines[number]):
            inks[number] = [Ink(0, len(lines[number]), "heading")]
    return chart


def _first_place(skill: Skill) -> int | None:
    """The line, from 0, of the chart's first node."""
    if skill.chart is None:
        return None
    return next((node.span.line - 1 for node in skill.chart.nodes.values() if node.span), None)


def _shift(old: str, new: str, inks: Sequence[Ink]) -> list[Ink]:
    """The inks that lie wholly before or behind what changed in the line."""
    shortest, head = min(len(old), len(new)), 0
    while head < shortest and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    by = len(new) - len(old)
    kept: list[Ink] = []
    for one in inks:
        if one.end <= head:
            kept.append(one)
        elif one.start >= len(old) - tail:
            kept.append(Ink(one.start + by, one.end + by, one.role))
        elif one.start <= head and one.end >= len(old) - tail:
            kept.append(Ink(one.start, one.end + by, one.role))
    return kept
