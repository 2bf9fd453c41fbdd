"""The node under the lens: its whole prompt, its branches with their targets, and its visits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from flowstudio.studio.marks import GLYPHS, style_of
from flowstudio.text import count, duration, first_line, harmless, shorten

if TYPE_CHECKING:
    from flowstudio.flow.model import FlowEdge, FlowNode
    from flowstudio.run.state import RunState


@dataclass(frozen=True, slots=True)
class NodeView:
    """What the pane shows: a node, its exits with the names of their targets, its past."""

    node: FlowNode
    exits: Sequence[tuple[FlowEdge, str]]
    forced: str | None = None
    """The branch that waits to be taken by hand."""
    is_current: bool = False
    run: RunState | None = None


class DetailPane(VerticalScroll):
    """Shows one node in full; scrolls where the prompt is long."""

    DEFAULT_CSS = """
    DetailPane {
        padding: 0 1; scrollbar-size: 1 1;
        & Static { width: 1fr; height: auto; }
    }
    """

    def compose(self) -> ComposeResult:
        """One text."""
        yield Static("", id="detail", markup=False)

    def show_nothing(self, hint: str) -> None:
        """No node is selected."""
        self.border_title = "Node"
        self.query_one("#detail", Static).update(Text(harmless(hint), style_of(self, "dim")))

    def show_node(self, view: NodeView) -> None:
        """Show a node."""
        node = view.node
        line = f" · line {node.span.line}" if node.span else ""
        title = f"{harmless(shorten(node.id, 30))}  {node.kind}{line}"
        self.border_title = escape(title)
        text = Text(harmless(node.text.strip()), style_of(self, "text"))
        if len(view.exits) > 1:
            text.append("\n")
            for number, (edge, target) in enumerate(view.exits, 1):
                self._append_branch(text, number, edge, target, view)
        elif view.exits:
            edge, target = view.exits[0]
            text.append(f"\n\n→ {harmless(target)}", style_of(self, "muted"))
        if view.run is not None:
            self._append_past(text, node, view.run)
        self.query_one("#detail", Static).update(text)

    def _append_branch(
        self, text: Text, number: int, edge: FlowEdge, target: str, view: NodeView
    ) -> None:
        forced = view.forced is not None and view.forced == edge.label
        key = str(number) if number <= 9 and view.is_current else "·"
        text.append(f"\n{key} ", style_of(self, "accent") + style_of(self, "bold"))
        role = "forced" if forced else "text"
        text.append(harmless(edge.label or "(no label)"), style_of(self, role))
        text.append(f"  → {harmless(target)}", style_of(self, "muted"))
        if forced:
            text.append(f"  {GLYPHS['forced']} by hand", style_of(self, "forced"))

    def _append_past(self, text: Text, node: FlowNode, run: RunState) -> None:
        past = [visit for visit in run.visits if visit.node == node.id and visit.is_done]
        if not past or node.kind in ("begin", "end"):
            return
        answers = [harmless(visit.branch) for visit in past if visit.branch]
        parts = [f"{len(past)}×" + (f": {', '.join(answers[-6:])}" if answers else "")]
        if retries := sum(visit.retries for visit in past):
            parts.append(f"{retries} retries")
        if tokens := sum(visit.tokens for visit in past):
            parts.append(f"{count(tokens)} tokens")
        parts.append(duration(sum(visit.seconds or 0 for visit in past)))
        text.append(f"\n\n{GLYPHS['done']} {' · '.join(parts)}", style_of(self, "muted"))
        last = past[-1].answer
        if last:
            text.append(f"\n{harmless(last.strip())[:4000]}", style_of(self, "dim"))


def title_of(node: FlowNode | None, node_id: str) -> str:
    """A node in a few words: its label's first line, or its id."""
    if node is None:
        return node_id
    return shorten(first_line(node.text) or node_id, 40)
