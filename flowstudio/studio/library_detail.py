"""What is known of one node of the library, in words: for the pane beside the drawing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.text import Text

from flowstudio.mindflow.graph import Edge, Node
from flowstudio.studio.keymap import key_of
from flowstudio.studio.marks import GLYPHS, style_of
from flowstudio.text import harmless, shorten

if TYPE_CHECKING:
    from textual.widget import Widget

    from flowstudio.mindflow.model import LibrarySkill
    from flowstudio.studio.library_graph import LibraryGraph

_LONGEST = 600
"""Characters of a description that are shown."""
_MOST = 12
"""Names in one list."""


class NodeText:
    """Writes about nodes in the colours of a widget's theme."""

    def __init__(self, widget: Widget, graph: LibraryGraph) -> None:
        self._widget = widget
        self._graph = graph
        self._text = Text()

    def about(self, node: Node) -> Text:
        """Everything that is known of a node."""
        self._text = Text()
        match node.kind:
            case "skill":
                self._skill(node)
            case "state":
                self._state(node)
            case "methodology":
                self._methodology(node)
            case "artifact":
                self._artifact(node)
        return self._text

    # Kinds

    def _skill(self, node: Node) -> None:
        skill = self._graph.skill_of(node)
        if skill is None:
            return
        own = skill.skill
        if own is not None:
            what = f"{GLYPHS['flow']} flow" if own.flow else f"{GLYPHS['standard']} standard"
            self._head(skill.name, f"{what} · {own.scope} · score {self._graph.score(skill):.2f}")
        else:
            self._head(skill.name, f"score {self._graph.score(skill):.2f}")
        self._say(shorten(skill.description, _LONGEST), "text")
        self._findings(skill)
        self._states("needs", skill.preconditions)
        self._states("brings about", skill.effects)
        edges = self._edges(node)
        self._names("calls", (one.dst.id for one in edges if _is(one, "calls", src=node)))
        self._names("called by", (one.src.id for one in edges if _is(one, "calls", dst=node)))
        self._names("yields", skill.artifacts)
        known = self._graph.library.methodologies
        scores = sorted(skill.methodology_scores.items(), key=lambda pair: -pair[1])
        self._names(
            "keeps to",
            (f"{known[one].name or one} {share:g}" for one, share in scores if one in known),
        )
        if (history := self._graph.histories.get(skill.name)) is not None:
            times = "once" if history.usage_count == 1 else f"{history.usage_count} times"
            self._row("used", f"{times}, {history.success_rate:.0%} of it well")
        if not (skill.preconditions or skill.effects or skill.called_skills):
            self._say("It says nothing of what it needs, brings about or calls:", "muted", gap=True)
            self._say("preconditions, effects and called_skills in its SKILL.md do.", "muted")

    def _state(self, node: Node) -> None:
        self._head(node.id, "state")
        meaning = self._graph.library.states.get(node.id, "")
        self._say(meaning or "nobody says what it means: states.yaml beside the skills can", "text")
        edges = self._edges(node)
        makers = [one.src.id for one in edges if one.kind == "produces"]
        self._names("brought about by", makers)
        if not makers:
            self._say("no skill brings it about: it must be there to begin with", "muted", gap=True)
        self._names("needed by", (one.src.id for one in edges if one.kind == "requires"))

    def _methodology(self, node: Node) -> None:
        known = self._graph.library.methodologies[node.id]
        self._head(known.name or known.id, f"methodology · weight {known.weight:g}")
        self._say(shorten(known.description, _LONGEST), "text")
        if known.evaluation_rule:
            self._say(shorten(known.evaluation_rule, _LONGEST), "muted", gap=True)
        edges = sorted(self._edges(node), key=lambda one: (-one.weight, one.src.id))
        self._names("scores", (f"{one.src.id} {one.weight:g}" for one in edges))

    def _artifact(self, node: Node) -> None:
        skill, _, path = node.id.partition("/")
        self._head(path or node.id, "artifact")
        self._row("of", skill)

    def _findings(self, skill: LibrarySkill) -> None:
        own = skill.skill
        if own is None:
            return
        path = str(own.path)
        planning = [one for one in self._graph.library.findings if one.path == path]
        for found in [*own.errors, *planning][:5]:
            line = f"{GLYPHS['fault']} line {found.span.line}: {found.message}"
            self._say(line, "fault", gap=True)
            if found.hint:
                self._say(found.hint, "muted")
        if own.errors:
            opens, source = key_of("library.open"), key_of("edit.source")
            self._say(f"{opens} opens it, {source} then shows its source", "muted")

    # Lines

    def _edges(self, node: Node) -> list[Edge]:
        return [one for one in self._graph.whole.edges if node in (one.src, one.dst)]

    def _head(self, name: str, about: str) -> None:
        self._text.append(harmless(name), style_of(self._widget, "bold"))
        self._text.append(f"  {harmless(about)}\n", style_of(self._widget, "muted"))

    def _say(self, text: str, role: str, *, gap: bool = False) -> None:
        if text:
            lead = "\n" if gap else ""
            self._text.append(f"{lead}{harmless(text)}\n", style_of(self._widget, role))

    def _states(self, title: str, states: Iterable[str]) -> None:
        for at, state in enumerate(states):
            if not at:
                self._text.append(f"\n{title}\n", style_of(self._widget, "muted"))
            self._text.append(f"  {harmless(state)}", style_of(self._widget, "text"))
            if meaning := self._graph.library.states.get(state):
                said = f"  {shorten(harmless(meaning), 90)}"
                self._text.append(said, style_of(self._widget, "muted"))
            self._text.append("\n")

    def _names(self, title: str, names: Iterable[str]) -> None:
        found = list(names)
        if found:
            more = f" … and {len(found) - _MOST} more" if len(found) > _MOST else ""
            self._row(title, ", ".join(found[:_MOST]) + more)

    def _row(self, title: str, text: str) -> None:
        self._text.append(f"\n{title}  ", style_of(self._widget, "muted"))
        self._text.append(f"{harmless(text)}\n", style_of(self._widget, "text"))


def _is(edge: Edge, kind: str, src: Node | None = None, dst: Node | None = None) -> bool:
    return edge.kind == kind and src in (None, edge.src) and dst in (None, edge.dst)
