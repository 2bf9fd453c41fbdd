"""A flow as a value: nodes, edges, the chart they were read from.

A `Chart` is whatever a reader could make of a text, right or wrong, with the findings beside it. A
`Flow` is a chart that passed validation and can be run. Both are made of the same `FlowNode` and
`FlowEdge` values, so everything that draws or lists a chart also draws or lists a flow.

Names and fields `id`, `label`, `kind`, `src`, `dst`, `nodes`, `outgoing`, `begin_id` and `end_id`
are those of the design document KLIP-10; the spans are ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from kosong.message import ContentPart

type FlowNodeKind = Literal["begin", "end", "task", "decision"]
type Language = Literal["mermaid", "d2"]
type Direction = Literal["TD", "BT", "LR", "RL"]


class Span(NamedTuple):
    """A stretch of source text, in lines and columns of the file that the author edits.

    All four numbers start at 1 and count characters (code points, a tab is one). The end is
    exclusive: `end_column` is the column just behind the last character.

    A tuple, since a big chart has tens of thousands, and a tuple is made in half the time.
    """

    line: int
    column: int
    end_line: int
    end_column: int

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of `other`."""
        return Span(self.line, self.column, other.end_line, other.end_column)


@dataclass(frozen=True, slots=True)
class FlowNode:
    """One box of the chart: one prompt.

    Spans do not take part in comparison: the same node written in Mermaid and in D2 is equal.
    """

    id: str
    label: str | list[ContentPart]
    kind: FlowNodeKind
    span: Span | None = field(default=None, compare=False)
    """Where the node is declared: the mention that gives the label that stands, else the first."""
    label_span: Span | None = field(default=None, compare=False)
    """The label's text as written, with its quotes, without its brackets; None if it has none."""

    @property
    def text(self) -> str:
        """The label as plain text; parts that are not text are named in brackets."""
        if isinstance(self.label, str):
            return self.label
        return "".join(getattr(part, "text", f"[{part.type}]") for part in self.label)


@dataclass(frozen=True, slots=True)
class FlowEdge:
    """One arrow. `label` is None where the author wrote none (an empty label counts as none)."""

    src: str
    dst: str
    label: str | None
    span: Span | None = field(default=None, compare=False)
    """From the start of the source's mention to the end of the target's (and of a D2 label)."""
    label_span: Span | None = field(default=None, compare=False)
    """The label's text as written, with its quotes; None if it has none."""


@dataclass(slots=True)
class Flow:
    """A validated flow: one BEGIN, one END that can be reached, branches that can be told apart.

    `nodes` and `outgoing` keep source order. `outgoing` has an entry for each node, empty at END.
    """

    nodes: dict[str, FlowNode]
    outgoing: dict[str, list[FlowEdge]]
    begin_id: str
    end_id: str
    direction: Direction = "TD"

    @property
    def edges(self) -> Iterator[FlowEdge]:
        """All edges, grouped by source node in source order."""
        for edges in self.outgoing.values():
            yield from edges


def find_kind(label: str, exits: int) -> FlowNodeKind:
    """What a node is, by its label and its number of out-edges (KLIP-10: shape means nothing)."""
    text = label.strip()
    if len(text) <= len("begin"):  # folding never makes a text shorter
        match text.casefold():
            case "begin":
                return "begin"
            case "end":
                return "end"
            case _:
                pass
    return "decision" if exits > 1 else "task"


def group_edges(
    nodes: Mapping[str, FlowNode], edges: Sequence[FlowEdge]
) -> dict[str, list[FlowEdge]]:
    """The out-edges of each node in source order; every node has an entry."""
    outgoing: dict[str, list[FlowEdge]] = {node_id: [] for node_id in nodes}
    for edge in edges:
        outgoing[edge.src].append(edge)
    return outgoing
