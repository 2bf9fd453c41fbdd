"""Changes one label in a D2 text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flowstudio.flow.d2 import read_d2
from flowstudio.flow.d2_findings import Findings
from flowstudio.flow.d2_parser import parse
from flowstudio.flow.d2_syntax import Map, Statement
from flowstudio.flow.d2_write import (
    find_style,
    rewrite_block,
    write_bare,
    write_block,
    write_double,
    write_single,
)
from flowstudio.flow.source import Source

if TYPE_CHECKING:
    from flowstudio.flow.chart import Chart
    from flowstudio.flow.model import Span


def replace_label_d2(text: str, chart: Chart, node_id: str, new_label: str) -> str:
    """`text` with the label of one node exchanged, in the manner in which it is written.

    `chart` is what reading this very text gave. A bare label gets quotes where it needs them, a
    quoted one keeps its quotes, a block its fence and indentation. A node without a label gets one
    on a line of its own behind the statement that first mentions it. Raises `KeyError` where the
    chart has no such node, `ValueError` where no way of writing gives the label back.
    """
    label = new_label.strip().replace("\r\n", "\n").replace("\r", "\n")
    if chart.nodes[node_id].text == label:
        return text
    edit = _Edit(text, chart, node_id, label)
    for candidate in edit.candidates():
        if edit.gives_label_back(candidate):
            return candidate
    raise ValueError(f'the label of "{node_id}" cannot be written into this text')


@dataclass(slots=True)
class _Place:
    """Where a new statement can stand: behind `end`, in the same map as its neighbour."""

    start: int
    end: int
    is_inline: bool
    """True where the map closes on the same line."""


class _Edit:
    def __init__(self, text: str, chart: Chart, node_id: str, label: str) -> None:
        self._text = text
        self._chart = chart
        self._id = node_id
        self._label = label
        self._source = Source(text)
        self._newline = "\r\n" if "\r\n" in text else "\n"

    def candidates(self) -> Iterator[str]:
        """The text with the new label, in the order in which an author would prefer it."""
        node = self._chart.nodes[self._id]
        if node.label_span is not None:
            yield from self._exchange(node.label_span)
        elif node.span is not None:
            yield from self._insert(node.span)

    def gives_label_back(self, candidate: str) -> bool:
        """True where reading `candidate` gives this chart with the new label."""
        chart = read_d2(candidate)
        labels = {node.id: node.text for node in self._chart.nodes.values()}
        labels[self._id] = self._label
        found = {node.id: node.text for node in chart.nodes.values()}
        found[self._id] = found.get(self._id, "").strip()
        return labels == found and self._chart.edges == chart.edges

    # ---- a label that stands there --------------------------------------------------------------

    def _exchange(self, span: Span) -> Iterator[str]:
        start = self._source.offset(span.line, span.column)
        end = self._source.offset(span.end_line, span.end_column)
        before, literal, behind = self._text[:start], self._text[start:end], self._text[end:]
        for written in self._write_like(literal, start):
            yield before + written + behind

    def _write_like(self, literal: str, start: int) -> Iterator[str]:
        match find_style(literal):
            case "bare":
                written = write_bare(self._label)
            case "single":
                written = write_single(self._label)
            case "block":
                plain = literal.replace("\r\n", "\n")
                indent = self._indent_at(start)
                written = rewrite_block(plain, self._label, indent, self._newline)
            case _:
                written = None
        if written is not None:
            yield written
        yield write_double(self._label)

    # ---- a new label ----------------------------------------------------------------------------

    def _insert(self, span: Span) -> Iterator[str]:
        start = self._source.offset(span.line, span.column)
        end = self._source.offset(span.end_line, span.end_column)
        places = self._find_places(start)
        mention = self._text[start:end]
        for place in reversed(places):
            keys = [mention] if mention == self._id else [mention, self._id]
            for key in keys:
                yield self._put(place, key)
                yield self._put(place, f"{key}.label")

    def _find_places(self, mention: int) -> list[_Place]:
        """Behind each statement around the mention, the outermost first."""
        places: list[_Place] = []
        body: Map | None = parse(self._text, Findings(self._source))
        while body is not None:
            inner: Map | None = None
            statements = [item for item in body.items if isinstance(item, Statement)]
            for at, item in enumerate(statements):
                if not item.start <= mention < max(item.end, item.start + 1):
                    continue
                places.append(self._place_behind(statements[at:], body))
                if isinstance(item.value, Map) and item.value.start < mention:
                    inner = item.value
                break
            body = inner
        return places

    def _place_behind(self, statements: list[Statement], body: Map) -> _Place:
        """Behind the first statement and whatever follows it on its last line."""
        first = statements[0]
        end = first.end
        for following in statements[1:]:
            if "\n" in self._text[end : following.start]:
                break
            end = following.end
        is_inline = body.end < len(self._text) and "\n" not in self._text[end : body.end]
        return _Place(first.start, first.end if is_inline else end, is_inline)

    def _put(self, place: _Place, key: str) -> str:
        text = self._text
        if place.is_inline:
            return f"{text[: place.end]}; {key}: {write_double(self._label)}{text[place.end :]}"
        indent = self._indent_at(place.start)
        if "\n" in self._label:
            literal = write_block(self._label, indent, self._newline)
        else:
            literal = write_double(self._label)
        line_end = text.find("\n", place.end)
        line = f"{indent}{key}: {literal}"
        if line_end < 0:
            return f"{text}{self._newline}{line}"
        return f"{text[: line_end + 1]}{line}{self._newline}{text[line_end + 1 :]}"

    def _indent_at(self, offset: int) -> str:
        """The space at the beginning of the line that holds `offset`."""
        start = self._text.rfind("\n", 0, offset) + 1
        line = self._text[start:offset]
        return line[: len(line) - len(line.lstrip())]
