"""Collects what a reader finds and makes the `Chart`: the part that both languages share."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from flowstudio.flow import codes
from flowstudio.flow.chart import Chart
from flowstudio.flow.diagnostics import Diagnostic, finding
from flowstudio.flow.model import Direction, FlowEdge, FlowNode, Language, Span, find_kind
from flowstudio.flow.validate import validate_chart

_CHOICE = re.compile(r"<choice>([^<]*)</choice>", re.IGNORECASE)


@dataclass(slots=True)
class _Draft:
    """A node while the text is still being read."""

    span: Span
    name: str
    label: str | None = None
    label_span: Span | None = None


@dataclass(slots=True)
class ChartBuilder:
    """Nodes, edges and findings in the order in which the text brings them."""

    language: Language
    direction: Direction = "TD"
    title: str | None = None
    _nodes: dict[str, _Draft] = field(default_factory=dict[str, _Draft])
    _edges: list[FlowEdge] = field(default_factory=list[FlowEdge])
    _diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])

    def node(self, node_id: str, span: Span, name: str | None = None) -> None:
        """A mention of a node; the first one makes it.

        `name` is its label as long as none is given to it; its id, if the mention has no other.
        """
        self._nodes.setdefault(node_id, _Draft(span, node_id if name is None else name))

    def label(self, node_id: str, label: str, span: Span, label_span: Span) -> str | None:
        """Give a node its label, replacing an earlier one, which is returned (None: it had none).

        `span` is the whole declaration, `label_span` the label's text as written, quotes included.
        """
        draft = self._nodes.setdefault(node_id, _Draft(span, node_id))
        before = draft.label
        draft.label, draft.span, draft.label_span = label, span, label_span
        return before

    def edge(
        self,
        src: str,
        dst: str,
        label: str | None,
        span: Span,
        label_span: Span | None = None,
    ) -> None:
        """An edge between two nodes that have been mentioned.

        A label written as `<choice>x</choice>` is read as `x`, with a warning.
        """
        if label and "<" in label and (tagged := _CHOICE.fullmatch(label.strip())):
            label = tagged[1].strip()
            self.report(
                finding(
                    codes.CHOICE_TAG,
                    f'the label of the exit from "{src}" to "{dst}" is written as a <choice> tag',
                    label_span or span,
                    f"write only: {label}",
                )
            )
        self._edges.append(FlowEdge(src, dst, label or None, span, label_span))

    def ends(self) -> set[str]:
        """The nodes that an edge leaves or reaches."""
        return {end for edge in self._edges for end in (edge.src, edge.dst)}

    def report(self, diagnostic: Diagnostic) -> None:
        """Add a finding of the reader's."""
        self._diagnostics.append(diagnostic)

    def build(self) -> Chart:
        """The chart with the reader's and the validator's findings, in order of place."""
        exits: dict[str, int] = dict.fromkeys(self._nodes, 0)
        for edge in self._edges:
            exits[edge.src] += 1
        nodes: dict[str, FlowNode] = {}
        for node_id, draft in self._nodes.items():
            label = draft.name if draft.label is None else draft.label
            kind = find_kind(label, exits[node_id])
            nodes[node_id] = FlowNode(node_id, label, kind, draft.span, draft.label_span)
        chart = Chart(
            self.language,
            nodes,
            tuple(self._edges),
            tuple(self._diagnostics),
            self.direction,
            self.title,
        )
        found = sorted([*self._diagnostics, *validate_chart(chart)], key=lambda d: d.span)
        return replace(chart, diagnostics=tuple(found))
