"""What a reader gives: everything that could be read, with the findings beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flowstudio.flow.diagnostics import Diagnostic
from flowstudio.flow.model import Direction, FlowEdge, FlowNode, Language


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart as read, valid flow or not.

    `nodes` (by id) and `edges` stand in source order: a node where it is first mentioned. Each
    node's kind follows from its label and exits alone (`find_kind`), so two BEGINs are possible.
    `diagnostics` are in order of place and hold the reader's findings and the validator's.
    """

    language: Language
    nodes: Mapping[str, FlowNode]
    edges: tuple[FlowEdge, ...]
    diagnostics: tuple[Diagnostic, ...]
    direction: Direction = "TD"
    title: str | None = None
    """The chart's own title (Mermaid front matter), where it has one."""

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The findings that keep the chart from being run."""
        return tuple(d for d in self.diagnostics if d.severity == "error")
