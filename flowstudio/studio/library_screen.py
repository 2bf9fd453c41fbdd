"""The library around a skill, drawn: what it calls, needs, brings about and yields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.text import Text
from textual import events, work
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from flowstudio.mindflow.graph import MOST_HOPS, GraphDown, Node, NodeKind
from flowstudio.studio.aside import aside
from flowstudio.studio.commands import bindings_of
from flowstudio.studio.drawn_screen import DrawnScreen, Handler
from flowstudio.studio.find_bar import FindBar
from flowstudio.studio.keymap import key_of
from flowstudio.studio.library_detail import NodeText
from flowstudio.studio.library_graph import LibraryGraph, draw_up, mark_kinds, name_of
from flowstudio.studio.marks import GLYPHS, style_of
from flowstudio.text import harmless

if TYPE_CHECKING:
    from flowstudio.flow.chart import Chart
    from flowstudio.skill import Catalogue
    from flowstudio.studio.commands import Scope
    from flowstudio.studio.flow_view import FlowView

_MOST = 300
"""Things in one drawing: more take many seconds, and nobody reads thousands of rows."""
_NOTHING = "the arrow keys or a click select something: what is known of it stands here"


@dataclass(frozen=True, slots=True)
class LibraryAct:
    """What the user wants to be done, once the library is closed."""

    what: Literal["open", "plan"]
    subject: str
    """The name of a skill to open, or the goal of a plan."""


@dataclass(frozen=True, slots=True)
class _Place:
    """What is drawn: around what, how far. Without a centre it is the whole library."""

    centre: Node | None
    hops: int = 1


class LibraryScreen(DrawnScreen["LibraryAct | None"]):
    """Walks through the library; gives a skill to open, or a goal to plan for."""

    SCOPE: ClassVar[Scope] = "library"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("library")]

    def __init__(self, catalogue: Catalogue, work_dir: Path, skill: str | None = None) -> None:
        """`skill` is the name of the one to begin with; without it the whole library is drawn."""
        super().__init__(classes="-beside")
        self._catalogue = catalogue
        self._work_dir = work_dir
        self._graph: LibraryGraph | None = None
        self._place = _Place(Node("skill", skill) if skill else None)
        self._before: list[_Place] = []
        self._known: Mapping[str, Node] = {}
        self._chart: Chart | None = None
        self._shows_scores = False

    @property
    def centre(self) -> Node | None:
        """What the library is drawn around; None for all of it."""
        return self._place.centre

    @property
    def hops(self) -> int:
        """How far it is drawn."""
        return self._place.hops

    @property
    def selected(self) -> Node | None:
        """The selected node, else the one in the middle."""
        name = self.view.selected
        return self._known.get(name) if name else self._place.centre

    def on_unmount(self) -> None:
        """Let go of the store, which may be on a server, without waiting for it."""
        if (graph := self._graph) is not None:
            self.app.run_worker(aside(graph.close), exit_on_error=False)

    # Reading and drawing

    def begin(self) -> None:
        """Read the library, then draw it."""
        self.pane.border_title = "Library"
        self.pane.zoom = "full"  # a name that is cut says little
        self.query_one("#said").border_title = "What is known"
        self.query_one("#about", Static).update(Text(_NOTHING, style_of(self, "dim")))
        self._open()

    @work(group="library", exclusive=True, exit_on_error=False)
    async def _open(self) -> None:
        if not self._catalogue.skills:
            self.say_title("Library · no skill")
            new = key_of("edit.new")
            self.pane.show_chart(
                None,
                f"there is no skill yet\n\nin the studio {new} makes one;"
                "\nflowstudio library add FOLDER brings one in",
            )
            return
        self.show_work("reading the library")
        try:
            graph = await aside(lambda: LibraryGraph(self._catalogue, self._work_dir))
        except GraphDown as error:
            self._fail(error)
            return
        self._graph = graph
        for note in graph.notes:
            self.warn(note)
        if self._place.centre not in (None, *graph.whole.nodes):
            self._place = _Place(None)
        self._draw("new")

    @work(group="library", exclusive=True, exit_on_error=False)
    async def _draw(self, change: Literal["new", "edit"] = "edit") -> None:
        graph, place = self._graph, self._place
        if graph is None:
            return
        hidden: tuple[NodeKind, ...] = () if self._shows_scores else ("methodology",)
        if place.centre is None and not self._shows_scores:
            hidden = ("methodology", "artifact")
        self.show_work("looking around")
        try:
            around = await aside(lambda: graph.around(place.centre, place.hops, hidden))
            many = len(around.distances)
            if many > _MOST:
                self._step_back(graph, many)
                return
            self._chart, self._known = await aside(lambda: draw_up(around))
        except GraphDown as error:
            self._fail(error)
            return
        self.show_work(f"drawing {many} things")
        self.pane.show_chart(self._chart, "nothing is there", change=change)

    def _step_back(self, graph: LibraryGraph, many: int) -> None:
        """Nobody can read a drawing of so much: draw what can be read."""
        self.warn(f"{many} things are too many for one drawing (at most {_MOST})")
        place = self._place
        if place.centre is not None and place.hops > 1:
            self._place = _Place(place.centre, place.hops - 1)
        elif self._before:
            self._place = self._before.pop()
        else:
            self._place = _Place(place.centre or graph.whole.nodes[0], 0 if place.centre else 1)
        self._draw("edit" if self.view.drawing else "new")

    def _fail(self, error: GraphDown) -> None:
        self.end_work()
        self.say_title("Library · its graph cannot be asked")
        text = f"{error}\n\nsearch.graph: memory in the configuration does without a server"
        self.pane.show_chart(None, harmless(text))

    def _title(self, graph: LibraryGraph) -> Text:
        place = self._place
        text = Text("Library", style_of(self, "bold"), no_wrap=True, overflow="ellipsis")
        middle = harmless(place.centre.id) if place.centre else "all of it"
        text.append(f" · {middle}", style_of(self, "now" if place.centre else "text"))
        if place.centre:
            text.append(f" · {place.hops} hop{'s' if place.hops != 1 else ''}")
        many = len(graph.library.skills)
        text.append(f" · {len(self._known)} shown, {many} skills in all", style_of(self, "muted"))
        odd = sum(bool(skill.errors) for skill in self._catalogue.skills)
        odd += len({one.path for one in graph.library.findings})
        if odd:
            text.append(f" · {GLYPHS['fault']}{odd} with findings", style_of(self, "fault"))
        return text

    def drawn(self) -> None:
        """Let the middle stand out, and select it where nothing is."""
        graph, chart, drawing = self._graph, self._chart, self.view.drawing
        if graph is None or chart is None or drawing is None:
            return
        if drawing.boxes.keys() != chart.nodes.keys():
            return  # the picture before, at another zoom: the next one is on its way
        self.end_work()
        self.say_title(self._title(graph))
        self.view.show_marks(mark_kinds(chart, self._known, self._place.centre))
        if self.view.selected is None and self._place.centre is not None:
            self.view.select(name_of(self._place.centre))

    def on_flow_view_selected(self, message: FlowView.Selected) -> None:
        """Say what is known of a node."""
        node = self._known.get(message.node) if message.node else self._place.centre
        about = Text(_NOTHING, style_of(self, "dim"))
        if node is not None and self._graph is not None:
            about = NodeText(self, self._graph).about(node)
        self.query_one("#about", Static).update(about)
        self.query_one("#said", VerticalScroll).scroll_home(animate=False)

    # Going about

    def commands(self) -> dict[str, Handler]:
        """Those of all drawings, and the ways through the library."""
        return {
            **super().commands(),
            "go": self._go,
            "open": self._open_skill,
            "more": lambda: self._reach(1),
            "fewer": lambda: self._reach(-1),
            "back": self._go_back,
            "all": self._toggle_all,
            "scores": self._toggle_scores,
            "plan": self._plan,
        }

    def on_click(self, event: events.Click) -> None:
        """A double click goes there."""
        # The drawing holds the mouse, so that the click comes from the screen.
        in_view = self.view.region.contains(event.screen_x, event.screen_y)
        if event.chain == 2 and in_view and self.view.selected is not None:
            self._go()

    def _go(self) -> None:
        node = self.selected
        if node is None:
            self.say("select something first: the arrow keys or a click do")
        elif node == self._place.centre:
            self._open_skill()
        else:
            self._move(_Place(node, max(self._place.hops, 1)))

    def _move(self, place: _Place) -> None:
        self._before.append(self._place)
        self._place = place
        self.view.selected = None
        self._draw()

    def _go_back(self) -> None:
        if not self._before:
            self.say("this is where you began")
            return
        self._place = self._before.pop()
        self.view.selected = None
        self._draw()

    def _reach(self, step: int) -> None:
        place = self._place
        if place.centre is None:
            self.say("all of the library is shown")
            return
        hops = min(max(place.hops + step, 0), MOST_HOPS)
        if hops != place.hops:
            self._place = _Place(place.centre, hops)
            self._draw()

    def _toggle_all(self) -> None:
        if self._place.centre is not None:
            self._move(_Place(None))
        elif self._before:
            self._go_back()
        else:
            self.say("enter on a node draws what lies around it")

    def _toggle_scores(self) -> None:
        self._shows_scores = not self._shows_scores
        self._draw()

    def _open_skill(self) -> None:
        node = self.selected
        if node is None or node.kind != "skill":
            what = f"{node.id} is no skill" if node else "no skill is selected"
            self.warn(f"{what}: only skills are opened in the studio")
            return
        self.dismiss(LibraryAct("open", node.id))

    def _plan(self) -> None:
        """A plan for a state; for a skill: for all that it brings about."""
        node, graph = self.selected, self._graph
        if node is None or graph is None:
            return
        skill = graph.skill_of(node)
        goals = skill.effects if skill else (node.id,) if node.kind == "state" else ()
        if not goals:
            self.warn(f"{node.id} brings no state about: select a state to plan for it")
            return
        self.dismiss(LibraryAct("plan", " ".join(goals)))

    # Finding

    def on_find_bar_asked(self, message: FindBar.Asked) -> None:
        """What is not drawn is looked for in the whole library; enter goes there."""
        wanted = message.text.strip().casefold()
        graph = self._graph
        if graph is None or not wanted:
            return
        if any(wanted in node.id.casefold() for node in self._known.values()):
            return  # the drawing's own search shows it
        found = [node for node in graph.whole.nodes if wanted in node.id.casefold()]
        found.sort(key=lambda node: (node.kind != "skill", len(node.id), node.id))
        if not found:
            return
        if message.step:
            self.query_one(FindBar).action_leave()
            self._move(_Place(found[0]))
            return
        self.query_one(FindBar).say(f"not here: enter goes to {harmless(found[0].id)}")
