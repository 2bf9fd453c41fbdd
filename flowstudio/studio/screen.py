"""The main screen: composes the panes and routes between them and the desks."""

from __future__ import annotations

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, cast

from textual import work
from textual.app import ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.reactive import Reactive, reactive
from textual.screen import Screen
from textual.widget import Widget
from textual.worker import Worker, WorkerState

from flowstudio.studio.chat_pane import ChatPane
from flowstudio.studio.commands import bindings_of
from flowstudio.studio.frames import Frames
from flowstudio.studio.layout import PaneArea
from flowstudio.studio.marks import GLYPHS
from flowstudio.studio.pane_tabs import PaneTabs
from flowstudio.studio.skills_pane import SkillsPane
from flowstudio.studio.top_line import TopLine
from flowstudio.studio.workbench import Workbench
from flowstudio.text import harmless

if TYPE_CHECKING:
    from flowstudio.skill import Skill
    from flowstudio.studio.attach_desk import AttachDesk
    from flowstudio.studio.author_desk import AuthorDesk
    from flowstudio.studio.chat_card import ApprovalCard
    from flowstudio.studio.chat_input import ChatInput
    from flowstudio.studio.copy_desk import CopyDesk
    from flowstudio.studio.driver import Driver
    from flowstudio.studio.flow_view import FlowView
    from flowstudio.studio.history_desk import HistoryDesk
    from flowstudio.studio.library import Library
    from flowstudio.studio.library_desk import LibraryDesk
    from flowstudio.studio.meaning_desk import MeaningDesk
    from flowstudio.studio.notify_desk import NotifyDesk
    from flowstudio.studio.options import StudioOptions
    from flowstudio.studio.planning_desk import PlanningDesk
    from flowstudio.studio.run_desk import Handler, RunDesk
    from flowstudio.studio.source_pane import SourcePane
    from flowstudio.studio.talk_desk import TalkDesk
    from flowstudio.studio.timeline import Timeline
    from flowstudio.studio.view_desk import ViewDesk
    from flowstudio.studio.welcome_desk import WelcomeDesk
    from flowstudio.wire import Event

type Pane = Literal["skills", "flow", "source", "chat"]
_PANES: tuple[Pane, ...] = ("skills", "flow", "source", "chat")
_ROOM_FOR_ALL = 170
"""Columns from which source and chat stand side by side."""
_NOW = frozenset(
    f"run.{what}" for what in ("start", "step", "continue", "to", "jump", "again", "more")
) | {"edit.prompt"}
"""Commands that are about what is now: whoever gives one looks back no longer."""


class StudioScreen(Screen[None]):
    """Skills, flow and chat, with the run's controls."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("studio"),
        Binding("tab", "next_pane(1)", "Next pane", show=False),
        Binding("shift+tab", "next_pane(-1)", "Previous pane", show=False),
    ]

    pane: reactive[Pane] = reactive[Pane]("flow", repaint=False)
    """The pane that is in use; on a narrow terminal the only one that shows."""
    focused: Reactive[Widget | None] = Reactive[Widget | None](None, repaint=False)
    """As in Textual, which paints the whole screen anew whenever it changes."""

    # The library and the desks are made once the frame is painted: see `desks.set_up`.
    library: Library
    stock: LibraryDesk
    desk: RunDesk
    past: HistoryDesk
    attaching: AttachDesk
    signs: NotifyDesk
    first: WelcomeDesk
    author: AuthorDesk
    meaning: MeaningDesk
    planning: PlanningDesk
    talk: TalkDesk
    looking: ViewDesk
    copying: CopyDesk

    def __init__(self, options: StudioOptions) -> None:
        super().__init__()
        self.options = options
        self.furnished = asyncio.Event()
        """Set once the desks are made and the panes are filled."""
        self.drawn = asyncio.Event()
        """Set once the first flow is drawn, or there is none to draw."""
        self._early: list[str] = []
        """Commands that were given before they could be carried out."""
        self._commands: dict[str, Handler] = {}
        self._has_news = False
        self._frames = Frames()

    @cached_property
    def driver(self) -> Driver:
        """The session, and the run that it is in."""
        from flowstudio.studio.driver import Driver

        return Driver(self.options, self._take_event)

    # Composition

    def compose(self) -> ComposeResult:
        """The frames of the panes: what is in them comes after the first paint."""
        yield TopLine(id="top")
        yield PaneTabs(id="tabs")
        with PaneArea(id="panes"):
            yield SkillsPane(id="skills-pane")
            yield Workbench(id="middle")
            yield ChatPane(id="chat-pane")

    def on_mount(self) -> None:
        """Show the frame first; everything that costs time comes after it is painted."""
        self.call_after_refresh(self._furnish)

    async def _furnish(self) -> None:
        from flowstudio.studio.desks import set_up
        from flowstudio.studio.key_line import KeyLine
        from flowstudio.studio.source_pane import SourcePane

        set_up(self)
        await self.bench.furnish(self.driver)
        self.bench.view.focus()
        await self.area.mount(SourcePane(id="source-pane"), before=self.chat_pane)
        await self.mount(KeyLine(id="keys"))
        # A line of keys that comes late shows none before it hears of them.
        self.call_after_refresh(self.refresh_bindings)
        await self.browser.furnish()
        await self.chat_pane.furnish()
        self.area.remember()
        self.furnished.set()
        self.app.theme_changed_signal.subscribe(
            self, lambda _: self.call_after_refresh(self._recolour)
        )
        self.stock.open()
        self.talk.open()
        self._carry_out_early()

    def _recolour(self) -> None:
        """The theme is another one: texts hold colours, so they are written anew."""
        self.browser.recolour()
        self.show_news()

    @property
    def skill(self) -> Skill | None:
        """The skill that is shown."""
        return self.bench.skill

    @property
    def top(self) -> TopLine:
        """The first line: what is shown, in which state, with which model, at what cost."""
        return self.query_one(TopLine)

    @property
    def browser(self) -> SkillsPane:
        """The list of skills."""
        return self.query_one(SkillsPane)

    @property
    def bench(self) -> Workbench:
        """The middle of the screen: the flow, the node under the lens, the timeline."""
        return self.query_one(Workbench)

    @property
    def source(self) -> SourcePane:
        """The text of the skill that is shown."""
        return cast("SourcePane", self.query_one("#source-pane"))

    @property
    def chat_pane(self) -> ChatPane:
        """What is said."""
        return self.query_one(ChatPane)

    @property
    def area(self) -> PaneArea:
        """The panes, and how they share the screen."""
        return self.query_one(PaneArea)

    @property
    def is_settled(self) -> bool:
        """True once the flow is drawn and the session stands."""
        is_there = self.furnished.is_set() and self.driver.is_ready
        return is_there and self.bench.pane.is_drawn

    @property
    def waits_for_user(self) -> bool:
        """True while a run is paused, asks something, or is over."""
        state = self.driver.state
        if state is None or self._has_news:
            return False
        return state.phase in ("paused", "ended") or bool(state.waits_for)

    async def on_unmount(self) -> None:
        """The studio ends: so do the servers of tools that it started."""
        if self.furnished.is_set():
            self.signs.leave()
            self.meaning.leave()
            self.author.keep_copies()
            await self.driver.close()

    # Skills and their files

    def on_skills_pane_chosen(self, message: SkillsPane.Chosen) -> None:
        """Another skill is selected."""
        self.stock.choose(message.skill)

    def on_skills_pane_asked(self, message: SkillsPane.Asked) -> None:
        """A sentence in the filter: find by meaning."""
        self.meaning.ask(message.text)

    def on_skills_pane_taken(self, message: SkillsPane.Taken) -> None:
        """A skill that was found is opened."""
        self.meaning.take(message.skill.name, is_choice=message.is_choice)
        self.show_pane("flow")

    def on_source_pane_read(self, message: SourcePane.Read) -> None:
        """The source was edited: the drawing follows."""
        if self.skill is not None and self.skill.path == message.skill.path:
            self.show_skill(message.skill)

    def on_source_pane_node_met(self, message: SourcePane.NodeMet) -> None:
        """The cursor stands on a node: select it in the drawing."""
        self.bench.view.select(message.node)

    def on_source_pane_left(self, message: SourcePane.Left) -> None:
        """Escape or tab in the source."""
        self._leave_text(message.step)

    def on_flow_view_selected(self, message: FlowView.Selected) -> None:
        """A node was selected in the drawing: the source shows its place."""
        self.author.selected(message.node)

    def on_flow_pane_drawn(self) -> None:
        """A picture is shown."""
        self.be_drawn()

    def be_drawn(self) -> None:
        """The first flow is drawn, or there is none: what else takes its time may begin."""
        if not self.drawn.is_set():
            self.drawn.set()
            self._carry_out_early()

    def on_tour_bar_left(self) -> None:
        """The user wants no more of the tour."""
        self.first.leave_tour()

    def pick_skill(self, skill: Skill) -> None:
        """Select a skill in the list, and show it."""
        self.stock.pick(skill)

    def show_model(self, name: str) -> None:
        """Say in the top line who answers."""
        self.top.model = name

    def show_skill(self, skill: Skill) -> None:
        """Show a skill's flow."""
        top = self.top
        top.subject = skill.name
        top.about = f"{GLYPHS['flow']} {skill.declared_type} · {skill.scope}"
        first = skill.errors[0] if skill.errors else None
        top.problem = (
            f"{skill.path.name}:{first.span.line}:{first.span.column} {first.message}"
            if first and not self.driver.is_running
            else ""
        )
        self.bench.pane.show_skill(skill)
        self.past.offer()

    # The run

    def _take_event(self, event: Event) -> None:
        """One event of the wire: the chat shows it, the rest is brought up to date."""
        self.talk.hear(event)
        self.desk.ahead.hear(event)
        match event.type:
            case "text" | "thinking":
                return
            case "node_entered" if event.node:
                self.bench.enter(event.node)
            case "notice" | "run_ended":
                self.looking.tell_changes()
            case _:
                pass
        if not self._has_news:
            self._has_news = True
            self.call_later(self.show_news)

    def show_news(self) -> None:
        """Bring everything up to the run's state, or to the moment that is looked at."""
        self._has_news = False
        state, look = self.driver.state, self.driver.look
        self.signs.follow(state)
        self.first.hear()
        self.top.run_state = look.then if look else state
        self.bench.show_news()
        skill = self.driver.skill
        if skill is None or state is None or state.phase == "ended":
            self.browser.running = None
        else:
            self.browser.running = (skill.name, GLYPHS[state.phase])

    def on_timeline_visit_picked(self, message: Timeline.VisitPicked) -> None:
        """A visit was picked: look at it."""
        self.past.pick(message.index)

    # Chat

    def on_chat_pane_typed(self, message: ChatPane.Typed) -> None:
        """A line was sent."""
        self.talk.take(message.text)

    def on_chat_input_left(self, message: ChatInput.Left) -> None:
        """Escape or tab in the input line."""
        self._leave_text(message.step)

    def on_chat_log_settled(self) -> None:
        """A tool's request was answered where it was asked."""
        self.show_pane("flow")

    def on_approval_card_answered(self, message: ApprovalCard.Answered) -> None:
        """The user's word on a tool's request."""
        self.driver.approve(message.request, message.verdict)

    # Commands

    async def action_command(self, command: str) -> None:
        """Carry out a command of the table, by its id; one that comes too early waits."""
        if not self._is_ready_for(command):
            self._early.append(command)
            return
        self._follow_focus()
        if self.driver.look is not None:
            if command.startswith("run.branch"):
                self.past.take_branch(int(command[-1]))
                return
            if command in _NOW:
                self.past.back()
        self._commands = self._commands or self._make_commands()
        outcome = self._commands[command]()
        if outcome is not None:
            await outcome

    def give(self, command: str) -> None:
        """Carry out a command of the table next."""
        self.call_later(self.action_command, command)

    def _is_ready_for(self, command: str) -> bool:
        if not self.furnished.is_set():
            return False
        # The first skill is about to be shown: whoever presses a key means that.
        is_about_skill = command.startswith(("run.", "edit."))
        return self.skill is not None or self.drawn.is_set() or not is_about_skill

    def _carry_out_early(self) -> None:
        early, self._early = self._early, []
        for command in early:
            self.give(command)

    def _make_commands(self) -> dict[str, Handler]:
        """What carries out each command; every id of the table is here, a test says."""
        return {
            **self.desk.commands(),
            **self.past.commands(),
            **self.attaching.commands(),
            **self.planning.commands(),
            **self.author.commands(),
            **self.meaning.commands(),
            **self.looking.commands(),
            **self.copying.commands(),
            **self.signs.commands(),
            **self.first.commands(),
            **self.area.commands(),
        }

    def palette_commands(self) -> tuple[SystemCommand, ...]:
        """Every command by name, for the palette."""
        return tuple(self.looking.palette_commands()) if self.furnished.is_set() else ()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A fault of our own ended some work: nobody else would say so."""
        error = event.worker.error
        if event.state is WorkerState.ERROR and error is not None:
            text = f"A fault in Flow Studio: {type(error).__name__}: {error}"
            self.notify(harmless(text), severity="error", markup=False, timeout=20)

    @property
    def place_in_use(self) -> str:
        """Where the user is, for the keys that are named: a pane, or `past`."""
        if self.pane == "flow" and self.driver.look is not None:
            return "past"
        return self.pane

    # Panes

    def action_next_pane(self, step: int) -> None:
        """Go to another pane; on a narrow terminal it takes the place of this one."""
        has_source = self.has_class("-with-source")
        panes: list[Pane] = [pane for pane in _PANES if pane != "source" or has_source]
        at = panes.index(self.pane) if self.pane in panes else 0
        self.show_pane(panes[(at + step) % len(panes)])

    def action_show_pane(self, pane: str) -> None:
        """A click on a tab."""
        self.show_pane(cast("Pane", pane))

    def _leave_text(self, step: int) -> None:
        if step:
            self.action_next_pane(step)
        else:
            self.show_pane("flow")

    def show_pane(self, pane: Pane) -> None:
        """Go to a pane, unfolded; before the panes are furnished there is none to go to.

        The focus goes there at once: what is typed right behind is the pane's already.
        """
        if not self.furnished.is_set():
            return
        self.pane = pane
        self.area.unfold(pane)
        match pane:
            case "skills":
                self.set_focus(self.browser.query_one("#skills"))
            case "flow":
                self.set_focus(self.bench.view)
            case "source":
                self._open_source()
            case "chat":
                self.set_class(self.size.width >= _ROOM_FOR_ALL, "-with-both")
                if not self.has_class("-with-both"):
                    self.remove_class("-with-source")
                self.set_focus(self.chat_pane.input)

    def toggle_source(self) -> None:
        """Show the source and go there; where it shows already beside the flow, put it away."""
        if self.has_class("-with-source") and not self.has_class("-narrow"):
            self.remove_class("-with-source", "-with-both")
            self.show_pane("flow")
        else:
            self.show_pane("source")

    @work(group="source-pane", exclusive=True, exit_on_error=False)
    async def _open_source(self) -> None:
        await self.source.furnish()
        self.set_class(self.size.width >= _ROOM_FOR_ALL, "-with-both")
        self.add_class("-with-source")
        self.source.area.focus()
        self.author.selected(self.bench.selected)

    def watch_focused(self) -> None:
        """The frames follow at once, so that they are painted with the rest."""
        self._frames.follow(self)

    def on_descendant_focus(self) -> None:
        """The pane with the focus is the one in use."""
        self._follow_focus()

    def _follow_focus(self) -> None:
        for pane in _PANES:
            name = "#middle" if pane == "flow" else f"#{pane}-pane"
            # The source comes after the first paint.
            if any(one.has_focus_within for one in self.query(name)):
                self.pane = pane

    def watch_pane(self) -> None:
        """Narrow layouts show only what is in use."""
        for pane in _PANES:
            self.set_class(self.pane == pane, f"-on-{pane}", update=False)
        if not self.has_class("-wide"):
            # A wide layout shows all panes; to restyle the whole screen costs tens of milliseconds.
            self.update_node_styles()
        if self.is_mounted:
            self.query_one(PaneTabs).chosen = self.pane
            self.refresh_bindings()
