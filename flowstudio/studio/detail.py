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
from flowstudio.studio.shown import Shown
from flowstudio.text import count, duration, first_line, harmless, shorten

if TYPE_CHECKING:
    from flowstudio.flow.model import FlowEdge, FlowNode
    from flowstudio.run.state import RunState, Visit
    from flowstudio.studio.waiting import Waiting

_LAST = 6
"""Visits whose branches are named."""


@dataclass(frozen=True, slots=True)
class NodeView:
    """What the pane shows: a node, its exits with the names of their targets, its past."""

    node: FlowNode
    exits: Sequence[tuple[FlowEdge, str]]
    forced: str | None = None
    """The branch that waits to be taken by hand."""
    is_current: bool = False
    run: RunState | None = None
    waiting: Waiting | None = None
    """Why the run waits here, and what each key does next."""
    then: Visit | None = None
    """The visit of it that is looked at, which is past."""


class DetailPane(VerticalScroll):
    """Shows one node in full; scrolls where the prompt is long."""

    DEFAULT_CSS = """
    DetailPane {
        padding: 0 1; scrollbar-size: 1 1; scrollbar-gutter: stable;
        & Static { width: 1fr; height: auto; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._title = ""
        self._shown = Shown()

    def compose(self) -> ComposeResult:
        """One text."""
        yield Static("", id="detail", markup=False)

    def show_nothing(self, hint: str) -> None:
        """No node is selected."""
        self._show("Node", Text(harmless(hint), style_of(self, "dim")))

    def show_node(self, view: NodeView) -> None:
        """Show a node."""
        node = view.node
        line = f" · line {node.span.line}" if node.span else ""
        title = f"{harmless(shorten(node.id, 30))}  {node.kind}{line}"
        text = self._head(view)
        if len(view.exits) > 1:
            text.append("\n")
            for number, (edge, target) in enumerate(view.exits, 1):
                self._append_branch(text, number, edge, target, view)
        elif view.exits:
            edge, target = view.exits[0]
            text.append(f"\n\n→ {harmless(target)}", style_of(self, "muted"))
        if view.waiting is not None:
            self._append_keys(text, view.waiting)
        if view.then is not None:
            self._append_answer(text, view.then)
        elif view.run is not None:
            self._append_past(text, node, view.run)
        self._show(escape(title), text)

    def _show(self, title: str, text: Text) -> None:
        if title != self._title:
            self.border_title = self._title = title
        self._shown.show(self.query_one("#detail", Static), text)

    def _head(self, view: NodeView) -> Text:
        """The prompt, as it is written, as it is about to be sent, or as it was sent then."""
        waiting, then = view.waiting, view.then
        if then is not None:
            text = Text(f"{GLYPHS['past']} visit {then.visit}, move {then.move}\n")
            text.stylize(style_of(self, "now") + style_of(self, "bold"))
            text.append(harmless((then.prompt or then.label).strip()), style_of(self, "text"))
            return text
        if waiting is None:
            return Text(harmless(view.node.text.strip()), style_of(self, "text"))
        text = Text(f"{GLYPHS['paused']} {harmless(waiting.why)}", style_of(self, "now"))
        if waiting.prompt is None:
            text.append(f"\n{harmless(view.node.text.strip())}", style_of(self, "text"))
            return text
        what = " · edited, about to be sent:" if waiting.is_edited else " · about to be sent:"
        text.append(what, style_of(self, "forced" if waiting.is_edited else "muted"))
        text.append(f"\n{harmless(waiting.prompt.strip())}", style_of(self, "text"))
        return text

    def _append_keys(self, text: Text, waiting: Waiting) -> None:
        """What each key does next."""
        text.append("\n")
        for key, what in waiting.keys:
            text.append(f" {key} ", style_of(self, "accent") + style_of(self, "bold"))
            text.append(f"{what}  ", style_of(self, "muted"))

    def _append_answer(self, text: Text, then: Visit) -> None:
        """What came of the visit that is looked at."""
        if then.branch is not None:
            glyph = GLYPHS["forced" if then.forced else "chosen"]
            by = "by hand" if then.forced else f"by the {then.by}"
            text.append(f"\n\n{glyph} {harmless(then.branch)} ", style_of(self, "done"))
            text.append(by, style_of(self, "forced" if then.forced else "muted"))
            if then.over is not None:
                text.append(f", over “{harmless(then.over)}”", style_of(self, "muted"))
        if then.jumped and then.to is not None:
            by_hand = f"\n\n{GLYPHS['forced']} {harmless(then.to)} by hand"
            text.append(by_hand, style_of(self, "forced"))
        if then.skipped:
            text.append(", nothing was sent here", style_of(self, "muted"))
        if then.answer:
            text.append(f"\n\n{harmless(then.answer.strip())[:8000]}", style_of(self, "muted"))
        elif not then.is_done:
            text.append("\n\nnot answered then", style_of(self, "dim"))

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
        past = [
            visit
            for visit in run.visits
            if visit.node == node.id and visit.is_done and not visit.skipped
        ]
        if not past or node.kind in ("begin", "end"):
            return
        branches = [visit.branch for visit in past[-_LAST:] if visit.branch]
        said = ", ".join(harmless(branch) for branch in branches)
        parts = [f"{len(past)}×" + (f": {said}" if said else "")]
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
