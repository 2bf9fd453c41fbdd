"""The middle of the studio: the flow, the node under the lens, and the timeline, kept in step."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.app import ComposeResult
from textual.containers import Vertical

from flowstudio.studio.flow_pane import FlowPane
from flowstudio.text import harmless

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowstudio.flow.model import FlowNode
    from flowstudio.run.state import RunState
    from flowstudio.skill import Skill
    from flowstudio.studio.detail import DetailPane
    from flowstudio.studio.driver import Driver
    from flowstudio.studio.flow_view import FlowView
    from flowstudio.studio.timeline import Timeline
    from flowstudio.studio.waiting import Waiting


_NOTHING = "click a node, or use the arrow keys, to read its whole prompt"
_GONE = "“{}” is no longer in the flow: select the node to go on from, then press J"


class Workbench(Vertical):
    """Shows a skill's flow and, where the run is of this skill, what the run has made of it."""

    _driver: Driver
    """Given once the bench is furnished."""
    _awaited: str | None = None
    """The node to stand on once there is a picture."""

    def compose(self) -> ComposeResult:
        """The flow's frame; the rest is mounted once it is painted."""
        yield FlowPane(id="flow-pane")

    async def furnish(self, driver: Driver) -> None:
        """Mount the picture, the node under the lens and the timeline, which show what it runs."""
        from flowstudio.studio.detail import DetailPane
        from flowstudio.studio.timeline import Timeline

        self._driver = driver
        await self.pane.furnish()
        timeline = Vertical(Timeline(id="timeline"), id="timeline-pane")
        timeline.border_title = "Timeline"
        await self.mount(DetailPane(id="detail-pane"), timeline)
        self._detail.show_nothing(_NOTHING)

    @property
    def _detail(self) -> DetailPane:
        return cast("DetailPane", self.query_one("#detail-pane"))

    @property
    def pane(self) -> FlowPane:
        """The flow with its faults."""
        return self.query_one(FlowPane)

    @property
    def view(self) -> FlowView:
        """The picture of the flow."""
        return self.pane.view

    @property
    def skill(self) -> Skill | None:
        """The skill that is shown."""
        return self.pane.skill

    @property
    def selected(self) -> str | None:
        """The id of the selected node."""
        return self.view.selected

    @property
    def shows_run(self) -> bool:
        """True where the run that is on, or the last one, is of the skill that is shown."""
        run_skill, skill = self._driver.skill, self.skill
        return run_skill is not None and skill is not None and skill.path == run_skill.path

    @property
    def state(self) -> RunState | None:
        """The run as it is shown: at the moment that is looked at, else as it stands now."""
        look, skill = self._driver.look, self.skill
        if look is not None and skill is not None and look.skill.path == skill.path:
            return look.then
        return self._driver.state if self.shows_run and look is None else None

    @property
    def forced(self) -> Mapping[str, str]:
        """The branches that wait to be taken by hand, as far as they are shown."""
        return self._driver.forced() if self.shows_run and self._driver.look is None else {}

    def enter(self, node: str) -> None:
        """The run entered a node."""
        if not self.shows_run or self._driver.look is not None:
            return
        if self.view.drawing is None:
            self._awaited = node
        else:
            self.pane.stand_on(node)

    def toggle_follow(self) -> None:
        """Follow the current node, or leave the picture where it is."""
        self.pane.following = not self.pane.following
        state = self.state
        if self.pane.following and state is not None and state.current is not None:
            self.view.center_on(state.current)
        self.show_marks()

    def show_news(self) -> None:
        """Bring everything up to the run's state."""
        timeline, look = cast("Timeline", self.query_one("#timeline")), self._driver.look
        timeline.looked_at = look.index if look else None
        timeline.run_state = look.run if look else self._driver.state
        self.show_marks()
        self.show_node()

    def show_marks(self) -> None:
        """Lay the run's state over the picture."""
        skill = self.skill
        points = self._driver.points.of(skill).nodes if skill else frozenset[str]()
        self.pane.show_marks(self.state, points, self.forced)

    def show_node(self) -> None:
        """The selected node in the detail pane, else the current one."""
        from flowstudio.studio.detail import NodeView, title_of

        detail = self._detail
        state = self.state
        chart = self.skill.chart if self.skill else None
        current = state.current if state and state.phase in ("running", "paused") else None
        node_id = self.selected or current
        if chart is None or node_id is None or node_id not in chart.nodes:
            at = current if state and state.phase == "paused" else None
            is_there = chart is None or at is None or at in chart.nodes
            detail.show_nothing(_NOTHING if is_there else _GONE.format(harmless(at or "")))
            return
        exits = [
            (edge, title_of(chart.nodes.get(edge.dst), edge.dst))
            for edge in chart.edges
            if edge.src == node_id
        ]
        look, node = self._driver.look, chart.nodes[node_id]
        detail.show_node(
            NodeView(
                node,
                exits,
                forced=self.forced.get(node_id),
                is_current=node_id == current,
                run=state,
                waiting=self._explain(state, node, len(exits)) if look is None else None,
                then=look.visit if look and state and look.visit.node == node_id else None,
            )
        )

    def _explain(self, state: RunState | None, node: FlowNode, exits: int) -> Waiting | None:
        """Why the run waits at the node that is shown, and what each key does next."""
        from flowstudio.studio.waiting import explain

        if state is None:
            return None
        prompt, is_edited = self._driver.next_prompt(node)
        is_asked = node.kind in ("task", "decision")
        return explain(
            state,
            node,
            prompt if is_asked else None,
            is_edited=is_edited,
            has_branches=exits > 1,
        )

    def on_flow_pane_drawn(self) -> None:
        """The picture is new: lay over it what the run has done."""
        node, self._awaited = self._awaited, None
        if node is not None:
            self.stand_on(node)
        self.show_marks()
        self.show_node()

    def on_flow_view_selected(self) -> None:
        """Show the selected node's prompt."""
        self.show_node()

    def on_flow_view_panned(self) -> None:
        """Whoever pans by hand wants to look elsewhere."""
        if self.pane.following and self._driver.is_running:
            self.pane.following = False
            self.show_marks()

    def stand_on(self, node: str) -> None:
        """Select a node and bring it into view, whether the picture follows the run or not.

        Where the picture is still laid out, this is done once it is there.
        """
        drawing = self.view.drawing
        if drawing is None:
            self._awaited = node
        elif node in drawing.boxes:
            self.view.selected = node
            self.view.reveal(node)
