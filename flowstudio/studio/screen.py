"""The main screen: composes the panes and routes between them, the library and the driver."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from textual import work
from textual.app import ComposeResult, SuspendNotSupported, SystemCommand
from textual.binding import Binding, BindingType
from textual.reactive import reactive
from textual.screen import Screen
from textual.widgets import OptionList
from textual.worker import Worker, WorkerState

from flowstudio.studio.attach_desk import AttachDesk
from flowstudio.studio.author_desk import AuthorDesk
from flowstudio.studio.chat_pane import ChatInput, ChatPane
from flowstudio.studio.commands import bindings_of, commands_of
from flowstudio.studio.driver import CommandRefused, Driver, StudioOptions
from flowstudio.studio.editor import edit
from flowstudio.studio.frames import Frames
from flowstudio.studio.history_desk import HistoryDesk
from flowstudio.studio.layout import PaneArea
from flowstudio.studio.library import Library
from flowstudio.studio.marks import GLYPHS
from flowstudio.studio.meaning_desk import MeaningDesk
from flowstudio.studio.notify_desk import NotifyDesk
from flowstudio.studio.pane_tabs import PaneTabs
from flowstudio.studio.run_desk import Handler, RunDesk
from flowstudio.studio.skills_pane import SkillsPane
from flowstudio.studio.top_line import TopLine
from flowstudio.studio.welcome_desk import WelcomeDesk
from flowstudio.studio.workbench import Workbench
from flowstudio.text import harmless

if TYPE_CHECKING:
    from flowstudio.skill import Skill
    from flowstudio.soul.slash import SlashCommand
    from flowstudio.studio.chat_entries import ApprovalCard
    from flowstudio.studio.chat_feed import ChatFeed
    from flowstudio.studio.earlier import Earlier
    from flowstudio.studio.flow_view import FlowView
    from flowstudio.studio.keymap import Keymap
    from flowstudio.studio.source_pane import SourcePane
    from flowstudio.studio.timeline import Timeline
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

    def __init__(self, options: StudioOptions) -> None:
        super().__init__()
        self.options = options
        self.driver = Driver(options, self._take_event)
        self.library = Library(options.path, options.skills_dirs)
        self.desk = RunDesk(self, self.driver, self.show_news)
        self.past = HistoryDesk(self, self.driver, self.desk)
        self.attaching = AttachDesk(self, self.driver, self.desk)
        self.signs = NotifyDesk(self)
        self.first = WelcomeDesk(self, self.driver, self.desk, lambda do: self._commands[do]())
        self.driver.on_earlier = self._show_earlier
        self.author = AuthorDesk(self, self.driver)
        self.meaning = MeaningDesk(self, lambda: self._skills)
        self.driver.on_loop = lambda text, rounds: self.call_later(self.desk.run_loop, text, rounds)
        self._commands: dict[str, Handler] = {}
        self._feed: ChatFeed | None = None
        self._has_news = False
        self._waiting_changes = 0
        """Changes to the library that the user was told of."""
        self._frames = Frames()

    # Composition

    def compose(self) -> ComposeResult:
        """The frames of the panes: what is in them comes after the first paint."""
        yield TopLine(id="top")
        yield PaneTabs(id="tabs")
        with PaneArea(id="panes"):
            yield SkillsPane(id="skills-pane")
            yield Workbench(self.driver, id="middle")
            yield ChatPane(id="chat-pane")

    def on_mount(self) -> None:
        """Show the frame first; everything that costs time comes after it is painted."""
        self.bench.view.focus()
        self.call_after_refresh(self._begin)

    async def _begin(self) -> None:
        from flowstudio.studio.key_line import KeyLine
        from flowstudio.studio.source_pane import SourcePane

        await self.area.mount(SourcePane(id="source-pane"), before=self._chat)
        await self.mount(KeyLine(id="keys"))
        # A line of keys that comes late shows none before it hears of them.
        self.call_after_refresh(self.refresh_bindings)
        for pane in (self.bench, self._skills, self._chat):
            await pane.furnish()
        self.area.remember()
        self._load()
        self._open_session()

    @property
    def skill(self) -> Skill | None:
        """The skill that is shown."""
        return self.bench.skill

    @property
    def bench(self) -> Workbench:
        """The middle of the screen: the flow, the node under the lens, the timeline."""
        return self.query_one(Workbench)

    @property
    def source(self) -> SourcePane:
        """The text of the skill that is shown."""
        return cast("SourcePane", self.query_one("#source-pane"))

    @property
    def area(self) -> PaneArea:
        """The panes, and how they share the screen."""
        return self.query_one(PaneArea)

    @property
    def _chat(self) -> ChatPane:
        return self.query_one(ChatPane)

    @property
    def _skills(self) -> SkillsPane:
        return self.query_one(SkillsPane)

    @property
    def _top(self) -> TopLine:
        return self.query_one(TopLine)

    @property
    def is_settled(self) -> bool:
        """True once the flow is drawn and the session stands."""
        return self.driver.is_ready and self.bench.pane.is_drawn

    @property
    def waits_for_user(self) -> bool:
        """True while a run is paused, asks something, or is over."""
        state = self.driver.state
        if state is None or self._has_news:
            return False
        return state.phase in ("paused", "ended") or bool(state.waits_for)

    # Start

    @work(group="library", exit_on_error=False)
    async def _load(self) -> None:
        """Read the skills, then follow the disk for as long as the studio is open."""
        from flowstudio.skill import SkillError

        try:
            catalogue = await self.library.load()
        except SkillError as error:
            self.app.exit(return_code=2, message=f"flowstudio: {harmless(str(error))}")
            return
        selected = self.library.selected
        first = catalogue.at(selected) if selected else None
        self._skills.work_dir = self.library.work_dir
        self._skills.show_skills(catalogue.skills, first.name if first else self._first_flow())
        for problem in catalogue.findings:
            self.notify(harmless(str(problem)), severity="warning", markup=False)
        async for changed in self.library.changes():
            self._follow_disk(changed)

    def _first_flow(self) -> str | None:
        """The user's own flow before a bundled one, and one that can be run before a broken one."""
        flows = [skill for skill in self.library.skills if skill.declared_type == "flow"]
        flows.sort(key=lambda skill: (skill.scope == "builtin", skill.flow is None))
        return flows[0].name if flows else None

    @work(group="session", exit_on_error=False)
    async def _open_session(self) -> None:
        from flowstudio.config import load_config

        loaded = await asyncio.to_thread(load_config)
        for problem in loaded.problems:
            self.notify(harmless(problem), severity="warning", markup=False, timeout=10)
        cast("Any", self.app).take_config(loaded.config)
        # The imports take the longest; they go on while the skills are read.
        await asyncio.to_thread(importlib.import_module, "flowstudio.studio.setup")
        await self.library.found.wait()
        await self.driver.open(loaded.config, self.library.work_dir, self.library.skills)
        session = self.driver.session
        assert session is not None
        session.runtime.skills = self.library.skills
        session.add_commands(self._flow_commands)
        self._top.model = self.driver.model_name
        self._top.currency = loaded.config.currency
        self._offer_commands()
        self.past.offer()
        self.first.greet()
        if self.options.attach is not None:
            self.attaching.attach(self.options.attach)

    async def on_unmount(self) -> None:
        """The studio ends: so do the servers of tools that it started."""
        self.signs.leave()
        self.meaning.leave()
        self.author.keep_copies()
        await self.driver.close()

    # Skills and their files

    def on_skills_pane_chosen(self, message: SkillsPane.Chosen) -> None:
        """Another skill is selected: show it, as its author has it."""
        self.show_skill(self.author.show(message.skill))

    def on_skills_pane_asked(self, message: SkillsPane.Asked) -> None:
        """A sentence in the filter: find by meaning."""
        self.meaning.ask(message.text)

    def on_skills_pane_taken(self, message: SkillsPane.Taken) -> None:
        """A skill that was found is opened."""
        self.meaning.take(message.skill.name, is_choice=message.is_choice)
        self._show_pane("flow")

    def on_source_pane_read(self, message: SourcePane.Read) -> None:
        """The source was edited: the drawing follows."""
        if self.skill is not None and self.skill.path == message.skill.path:
            self.show_skill(message.skill)

    def on_source_pane_node_met(self, message: SourcePane.NodeMet) -> None:
        """The cursor stands on a node: select it in the drawing."""
        self.bench.view.select(message.node)

    def on_source_pane_left(self, message: SourcePane.Left) -> None:
        """Escape or tab in the source."""
        if message.step:
            self.action_next_pane(message.step)
        else:
            self._show_pane("flow")

    def on_flow_view_selected(self, message: FlowView.Selected) -> None:
        """A node was selected in the drawing: the source shows its place."""
        self.author.selected(message.node)

    def on_tour_bar_left(self) -> None:
        """The user wants no more of the tour."""
        self.first.leave_tour()

    def pick_skill(self, skill: Skill) -> None:
        """Select a skill in the list, and show it."""
        self._skills.show_skills(self.library.skills, skill.name)
        self.show_skill(skill)
        self._show_pane("flow")

    def show_model(self, name: str) -> None:
        """Say in the top line who answers."""
        self._top.model = name

    def show_skill(self, skill: Skill) -> None:
        """Show a skill's flow."""
        self._top.subject = skill.name
        self._top.about = f"{GLYPHS['flow']} {skill.declared_type} · {skill.scope}"
        first = skill.errors[0] if skill.errors else None
        self._top.problem = (
            f"{skill.path.name}:{first.span.line}:{first.span.column} {first.message}"
            if first and not self.driver.is_running
            else ""
        )
        self.bench.pane.show_skill(skill)
        self.past.offer()

    def _follow_disk(self, changed: set[Path]) -> None:
        """Files changed: the catalogue is new already; show what concerns us, the picture first."""
        catalogue = self.library.catalogue
        assert catalogue is not None
        shown = self.skill
        same = catalogue.at(shown.path) if shown else None
        self.author.follow(changed, catalogue.at)
        if same is not None and same.path in changed:
            self.show_skill(self.author.shown_now(same))
        run_skill = self.driver.skill
        if run_skill is not None and run_skill.path in changed:
            now = catalogue.at(run_skill.path)
            if now is not None and not now.errors:
                self.driver.reload(now)
        if wanted := self.author.take_wanted(catalogue.at):
            if same is not None:
                self.call_after_refresh(self._show_pane, "source")
            else:  # its folder was renamed, and the list still has its name
                self.show_skill(self.author.show(wanted))
            same = wanted
        self._skills.show_skills(catalogue.skills, same.name if same else None)
        if self.driver.session is not None:
            self.driver.session.runtime.skills = catalogue.skills
            self.driver.session.soul.rebuild_slash_commands()
            self._offer_commands()

    # Events of the run

    def _take_event(self, event: Event) -> None:
        """One event of the wire: the chat shows it, the rest is brought up to date."""
        self._chat_feed().consume(event)
        match event.type:
            case "text" | "thinking":
                return
            case "node_entered" if event.node:
                self.bench.enter(event.node)
            case "notice" | "run_ended":
                self._count_changes()
            case _:
                pass
        if not self._has_news:
            self._has_news = True
            self.call_later(self.show_news)

    def _chat_feed(self) -> ChatFeed:
        if self._feed is None:
            from flowstudio.studio.chat_feed import ChatFeed

            self._feed = ChatFeed(self._chat.log_view)
        return self._feed

    def show_news(self) -> None:
        """Bring everything up to the run's state, or to the moment that is looked at."""
        self._has_news = False
        state, look = self.driver.state, self.driver.look
        self.signs.follow(state)
        self.first.hear()
        self._top.run_state = look.then if look else state
        self.bench.show_news()
        skill = self.driver.skill
        if skill is None or state is None or state.phase == "ended":
            self._skills.running = None
        else:
            self._skills.running = (skill.name, GLYPHS[state.phase])

    def _show_earlier(self, earlier: Earlier) -> None:
        """A run goes on: show the end of what it has done so far."""
        from flowstudio.studio.retelling import retell

        feed = self._chat_feed()
        feed.forget()
        for event in retell(earlier.events):
            feed.consume(event)

    def on_timeline_visit_picked(self, message: Timeline.VisitPicked) -> None:
        """A visit was picked: look at it."""
        self.past.pick(message.index)

    # Chat

    def on_chat_pane_typed(self, message: ChatPane.Typed) -> None:
        """A line was sent: an answer to a question, a command, or talk."""
        text = message.text
        try:
            if self.driver.answer_question(text) or not text:
                return
        except CommandRefused as refused:
            self.desk.refuse(refused)
            return
        feed = self._chat_feed()
        if text in ("/clear", "/reset"):
            feed.forget()
        else:
            feed.say_user(text)
        self._talk(text)

    @work(group="talk", exit_on_error=False)
    async def _talk(self, text: str) -> None:
        await self.desk.guard(self.driver.say(text))

    def on_chat_input_left(self, message: ChatInput.Left) -> None:
        """Escape or tab in the input line."""
        if message.step:
            self.action_next_pane(message.step)
        else:
            self._show_pane("flow")

    def on_chat_log_settled(self) -> None:
        """A tool's request was answered where it was asked."""
        self._show_pane("flow")

    def on_approval_card_answered(self, message: ApprovalCard.Answered) -> None:
        """The user's word on a tool's request."""
        self.driver.approve(message.request, message.verdict)

    def _offer_commands(self) -> None:
        session = self.driver.session
        if session is not None:
            commands = session.soul.available_slash_commands
            self._chat.set_commands([(f"/{c.name}", c.description) for c in commands])

    def _flow_commands(self) -> Iterable[SlashCommand]:
        from flowstudio.studio.flow_commands import flow_commands

        return flow_commands(self.library.skills, self._select_and_run, self._loop)

    def _select_and_run(self, asked: Skill | None, text: str) -> None:
        skill = asked or self.skill
        if skill is None:
            return
        self._skills.show_skills(self.library.skills, skill.name)
        self.call_after_refresh(self.desk.ask_and_run, skill, text or None, stepping=False)

    def _loop(self, text: str) -> None:
        # Once the command is over: the agent counts as busy until then.
        self.call_after_refresh(self.desk.ask_loop, text)

    # Commands

    async def action_command(self, command: str) -> None:
        """Carry out a command of the table, by its id."""
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

    def _make_commands(self) -> dict[str, Handler]:
        """What carries out each command; every id of the table is here, a test says."""
        return {
            **self.desk.commands(),
            **self.past.commands(),
            "run.detach": self.attaching.detach,
            "view.picture": self.signs.take_picture,
            "view.welcome": self.first.welcome,
            **self.author.commands(),
            "edit.file": self._edit_file,
            "view.zoom": lambda: self.bench.pane.next_zoom(),
            "view.zoom_in": lambda: self.bench.pane.zoom_by(1),
            "view.zoom_out": lambda: self.bench.pane.zoom_by(-1),
            "view.fit": lambda: self.bench.pane.fit(),
            "view.map": self._toggle_map,
            "view.follow": lambda: self.bench.toggle_follow(),
            "view.find": self._find,
            "view.next": lambda: self.bench.pane.find_next(1),
            "view.previous": lambda: self.bench.pane.find_next(-1),
            "view.filter": self._filter,
            "view.not_this": self.meaning.reject,
            "view.review": self._review,
            "view.talk": lambda: self._show_pane("chat"),
            **self.area.commands(),
            "help": self._help,
        }

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A fault of our own ended some work: nobody else would say so."""
        error = event.worker.error
        if event.state is WorkerState.ERROR and error is not None:
            text = f"A fault in Flow Studio: {type(error).__name__}: {error}"
            self.notify(harmless(text), severity="error", markup=False, timeout=20)

    def _edit_file(self) -> None:
        """Open the skill's file in the user's editor, the studio suspended meanwhile."""
        if self.skill is None:
            return
        try:
            with self.app.suspend():
                edit(self.skill.path)
        except (OSError, SuspendNotSupported) as error:
            self.notify(harmless(str(error)), severity="error", markup=False)
        self.refresh(layout=True)

    def _toggle_map(self) -> None:
        """Show or hide the map."""
        if said := self.bench.pane.toggle_map():
            self.notify(said, timeout=2)

    def _find(self) -> None:
        """Look for something in the pane in use: a node, or a skill."""
        if self.pane == "skills":
            self._filter()
        else:
            self._show_pane("flow")
            self.bench.pane.find()

    def _filter(self) -> None:
        """Filter the skills."""
        self._show_pane("skills")
        if self._skills.children:
            self._skills.focus_filter()

    def _review(self) -> None:
        """Show the changes to the library that wait for an answer."""
        from flowstudio.studio.review_dialog import ReviewDialog

        self.app.push_screen(ReviewDialog())

    @work(group="changes", exclusive=True, exit_on_error=False)
    async def _count_changes(self) -> None:
        """The end of a task may have proposed changes: say so once, with the key."""
        from flowstudio.studio.help_dialog import shown_keys
        from flowstudio.studio.review_dialog import count_waiting

        count = await asyncio.to_thread(count_waiting)
        if count > self._waiting_changes:
            command = next(one for one in commands_of("studio") if one.id == "view.review")
            what = "change waits" if count == 1 else "changes wait"
            key = shown_keys(command, self._keymap)
            self.notify(f"{count} {what} for the library: {key} shows them", markup=False)
        self._waiting_changes = count

    def _help(self) -> None:
        """Show all keys."""
        from flowstudio.studio.help_dialog import HelpDialog

        def give(command: str | None) -> None:
            if command is not None:
                self.call_later(self.action_command, command)

        self.app.push_screen(HelpDialog(self.place_in_use, self._keymap), give)

    @property
    def _keymap(self) -> Keymap:
        return cast("Any", self.app).keymap

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
        self._show_pane(panes[(at + step) % len(panes)])

    def action_show_pane(self, pane: str) -> None:
        """A click on a tab."""
        self._show_pane(cast("Pane", pane))

    def _show_pane(self, pane: Pane) -> None:
        if not self._chat.children:
            return  # a key pressed before the panes are furnished
        self.pane = pane
        self.area.unfold(pane)
        match pane:
            case "skills":
                self._skills.query_one("#skills", OptionList).focus()
            case "flow":
                self.bench.view.focus()
            case "source":
                self._open_source()
            case "chat":
                self.set_class(self.size.width >= _ROOM_FOR_ALL, "-with-both")
                if not self.has_class("-with-both"):
                    self.remove_class("-with-source")
                self._chat.query_one(ChatInput).focus()

    def toggle_source(self) -> None:
        """Show the source and go there; where it shows already beside the flow, put it away."""
        if self.has_class("-with-source") and not self.has_class("-narrow"):
            self.remove_class("-with-source", "-with-both")
            self._show_pane("flow")
        else:
            self._show_pane("source")

    @work(group="source-pane", exclusive=True, exit_on_error=False)
    async def _open_source(self) -> None:
        await self.source.furnish()
        self.set_class(self.size.width >= _ROOM_FOR_ALL, "-with-both")
        self.add_class("-with-source")
        self.source.area.focus()
        self.author.selected(self.bench.selected)

    def on_descendant_focus(self) -> None:
        """The pane with the focus is the one in use."""
        self._frames.follow(self)
        for pane in _PANES:
            name = "#middle" if pane == "flow" else f"#{pane}-pane"
            # The source comes after the first paint.
            if any(one.has_focus_within for one in self.query(name)):
                self.pane = pane

    def on_descendant_blur(self) -> None:
        """Where nothing has the focus, no frame shines."""
        if self.focused is None:
            self._frames.follow(self)

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

    def palette_commands(self) -> list[SystemCommand]:
        """Every command by name, for the palette."""
        from flowstudio.studio.help_dialog import shown_keys

        return [
            SystemCommand(
                f"{command.label.capitalize()}: {command.help}",
                f"key {shown_keys(command, self._keymap)}",
                partial(self.action_command, command.id),
            )
            for command in commands_of("studio")
            if not command.id.startswith("run.branch")
        ]
