"""The main screen: composes the panes and routes between them, the library and the driver."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from textual import work
from textual.app import ComposeResult, SuspendNotSupported, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.reactive import reactive
from textual.screen import Screen
from textual.widgets import Footer, OptionList
from textual.worker import Worker, WorkerState

from flowstudio.studio.chat_pane import ChatInput, ChatPane
from flowstudio.studio.commands import COMMANDS
from flowstudio.studio.driver import CommandRefused, Driver, StudioOptions
from flowstudio.studio.editor import edit
from flowstudio.studio.library import Library
from flowstudio.studio.marks import GLYPHS
from flowstudio.studio.pane_tabs import PaneTabs
from flowstudio.studio.sentences import sentence_for
from flowstudio.studio.skills_pane import SkillsPane
from flowstudio.studio.top_line import TopLine
from flowstudio.studio.workbench import Workbench
from flowstudio.text import harmless

if TYPE_CHECKING:
    from flowstudio.skill import Skill
    from flowstudio.soul.slash import SlashCommand
    from flowstudio.studio.chat_entries import ApprovalCard
    from flowstudio.studio.chat_feed import ChatFeed
    from flowstudio.wire import Event

type Pane = Literal["skills", "flow", "chat"]
_PANES: tuple[Pane, ...] = ("skills", "flow", "chat")


class StudioScreen(Screen[None]):
    """Skills, flow and chat, with the run's controls."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(command.binding() for command in COMMANDS),
        Binding("tab", "next_pane(1)", "Next pane", show=False),
        Binding("shift+tab", "next_pane(-1)", "Previous pane", show=False),
    ]

    pane: reactive[Pane] = reactive[Pane]("flow")
    """The pane that is in use; on a narrow terminal the only one that shows."""

    def __init__(self, options: StudioOptions) -> None:
        super().__init__()
        self.options = options
        self.driver = Driver(options, self._take_event)
        self.library = Library(options.path, options.skills_dirs)
        self._feed: ChatFeed | None = None
        self._has_news = False

    # Composition

    def compose(self) -> ComposeResult:
        """The frames of the panes: what is in them comes after the first paint."""
        yield TopLine(id="top")
        yield PaneTabs(id="tabs")
        with Horizontal(id="panes"):
            yield SkillsPane(id="skills-pane")
            yield Workbench(self.driver, id="middle")
            yield ChatPane(id="chat-pane")

    def on_mount(self) -> None:
        """Show the frame first; everything that costs time comes after it is painted."""
        self._bench.view.focus()
        self.call_after_refresh(self._begin)

    async def _begin(self) -> None:
        await self.mount(Footer(show_command_palette=False))
        # A footer that comes late shows no keys before it hears of them.
        self.call_after_refresh(self.refresh_bindings)
        for pane in (self._bench, self._skills, self._chat):
            await pane.furnish()
        self._load()
        self._open_session()

    @property
    def skill(self) -> Skill | None:
        """The skill that is shown."""
        return self._bench.skill

    @property
    def _bench(self) -> Workbench:
        return self.query_one(Workbench)

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
        return self.driver.is_ready and self._bench.pane.is_drawn

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
        await self.driver.open(loaded.config, self.library.work_dir)
        session = self.driver.session
        assert session is not None
        session.runtime.skills = self.library.skills
        session.add_commands(self._flow_commands)
        self._top.model = self.driver.model_name
        self._offer_commands()

    # Skills and their files

    def on_skills_pane_chosen(self, message: SkillsPane.Chosen) -> None:
        """Another skill is selected: show it."""
        self._show_skill(message.skill)

    def _show_skill(self, skill: Skill) -> None:
        self._top.subject = skill.name
        self._top.about = f"{GLYPHS['flow']} {skill.declared_type} · {skill.scope}"
        first = skill.errors[0] if skill.errors else None
        self._top.problem = (
            f"{skill.path.name}:{first.span.line}:{first.span.column} {first.message}"
            if first and not self.driver.is_running
            else ""
        )
        self._bench.pane.show_skill(skill)

    def _follow_disk(self, changed: set[Path]) -> None:
        """Files changed: the catalogue is new already; show what concerns us, the picture first."""
        catalogue = self.library.catalogue
        assert catalogue is not None
        shown = self.skill
        same = catalogue.at(shown.path) if shown else None
        if same is not None and same.path in changed:
            self._show_skill(same)
        run_skill = self.driver.skill
        if run_skill is not None and run_skill.path in changed:
            now = catalogue.at(run_skill.path)
            if now is not None and not now.errors:
                self.driver.reload(now)
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
                self._bench.enter(event.node)
            case "run_paused":
                self.app.bell()
            case _:
                pass
        if not self._has_news:
            self._has_news = True
            self.call_later(self._show_news)

    def _chat_feed(self) -> ChatFeed:
        if self._feed is None:
            from flowstudio.studio.chat_feed import ChatFeed

            self._feed = ChatFeed(self._chat.log_view)
        return self._feed

    def _show_news(self) -> None:
        self._has_news = False
        state = self.driver.state
        self._top.run_state = state
        self._bench.show_news()
        skill = self.driver.skill
        if skill is None or state is None or state.phase == "ended":
            self._skills.running = None
        else:
            self._skills.running = (skill.name, GLYPHS[state.phase])

    # Chat

    def on_chat_pane_typed(self, message: ChatPane.Typed) -> None:
        """A line was sent: an answer to a question, a command, or talk."""
        text = message.text
        try:
            if self.driver.answer_question(text) or not text:
                return
        except CommandRefused as refused:
            self._refuse(refused)
            return
        feed = self._chat_feed()
        if text in ("/clear", "/reset"):
            feed.forget()
        else:
            feed.say_user(text)
        self._talk(text)

    @work(group="talk", exit_on_error=False)
    async def _talk(self, text: str) -> None:
        await self._guard(self.driver.say(text))

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
        session = self.driver.session
        if session is not None:
            session.runtime.approval.answer(message.request, message.verdict)

    def _offer_commands(self) -> None:
        session = self.driver.session
        if session is not None:
            commands = session.soul.available_slash_commands
            self._chat.set_commands([(f"/{c.name}", c.description) for c in commands])

    def _flow_commands(self) -> Iterable[SlashCommand]:
        from flowstudio.studio.flow_commands import flow_commands

        return flow_commands(self.library.skills, self._select_and_run)

    def _select_and_run(self, asked: Skill | None, text: str) -> None:
        skill = asked or self.skill
        if skill is None:
            return
        self._skills.show_skills(self.library.skills, skill.name)
        self.call_after_refresh(self._run, skill, text, stepping=False)

    # Commands

    async def _guard(self, doing: Coroutine[Any, Any, object]) -> None:
        """Await something that may fail in ways that the user should read, not the log."""
        try:
            await doing
        except CommandRefused as refused:
            self._refuse(refused)
        except Exception as error:
            sentence = sentence_for(error)
            if sentence is None:
                raise
            self.notify(harmless(sentence), severity="error", markup=False, timeout=10)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A fault of our own ended some work: nobody else would say so."""
        error = event.worker.error
        if event.state is WorkerState.ERROR and error is not None:
            text = f"A fault in Flow Studio: {type(error).__name__}: {error}"
            self.notify(harmless(text), severity="error", markup=False, timeout=20)

    def _refuse(self, refused: CommandRefused) -> None:
        self.notify(harmless(str(refused)), severity="warning", markup=False, timeout=4)

    @work(group="run", exit_on_error=False)
    async def _run(self, skill: Skill, text: str, *, stepping: bool) -> None:
        await self._guard(self.driver.run(skill, text, stepping=stepping))
        self._show_news()

    def action_run_flow(self, stepping: bool = False) -> None:
        """Run the selected flow, asking for its input where it takes one."""
        skill = self.skill
        if skill is None or skill.flow is None:
            what = f"“{skill.name}” holds" if skill else "nothing is selected that holds"
            self._refuse(CommandRefused(f"{what} no flow that can be run"))
            return
        if self.driver.is_running:
            self._refuse(CommandRefused("a run is on already: s stops it"))
            return
        from flowstudio.run.prompts import takes_input

        if not takes_input(node.text for node in skill.flow.nodes.values()):
            self._run(skill, "", stepping=stepping)
            return

        def start(text: str | None) -> None:
            if text is not None:
                self._run(skill, text, stepping=stepping)

        from flowstudio.studio.dialogs import InputDialog

        self.app.push_screen(InputDialog(skill.name), start)

    def action_step(self) -> None:
        """Run one node; without a run, begin one that pauses at its first node."""
        control = self.driver.control
        if control is None:
            self.action_run_flow(stepping=True)
        elif self._may_go_on():
            control.step()
            self._show_news()

    def action_go_on(self) -> None:
        """Continue; without a run, run."""
        control = self.driver.control
        if control is None:
            self.action_run_flow()
        elif self._may_go_on():
            control.go_on()
            self._show_news()

    def _may_go_on(self) -> bool:
        session = self.driver.session
        if self.driver.is_talking:
            self._refuse(CommandRefused("the agent is still answering you; s stops it"))
            return False
        if session is not None and session.runtime.questions.pending:
            self._refuse(CommandRefused("you are the model here: press the number of a branch"))
            return False
        return True

    def action_pause(self) -> None:
        """Pause after this node."""
        self._with_control(lambda control: control.pause(), "the run will pause after this node")

    def action_stop(self) -> None:
        """Stop the run, or the answer that is coming."""
        if self.driver.is_talking and self.driver.control is None:
            self.workers.cancel_group(self, "talk")
            return
        self._with_control(lambda control: control.stop())

    def action_branch(self, number: int) -> None:
        """Take a branch by its number."""
        try:
            if said := self.driver.choose(number):
                self.notify(harmless(said), markup=False, timeout=3)
        except CommandRefused as refused:
            self._refuse(refused)
        self._bench.show_news()

    def action_breakpoint(self) -> None:
        """Set or clear a breakpoint before the selected node."""
        node = self._bench.selected
        if self.skill is None or node is None:
            self._refuse(CommandRefused("select a node first: click it, or use the arrow keys"))
            return
        is_set = self.driver.toggle_breakpoint(self.skill, node)
        self.notify(
            harmless(f"breakpoint {'set' if is_set else 'cleared'} before “{node}”"),
            markup=False,
            timeout=2,
        )
        self._bench.show_marks()

    def action_run_to(self) -> None:
        """Continue to the selected node."""
        node = self._bench.selected
        if node is None:
            self._refuse(CommandRefused("select a node first: click it, or use the arrow keys"))
        else:
            self._with_control(lambda control: control.run_to(node))

    def action_jump(self) -> None:
        """Go on from the selected node."""
        node = self._bench.selected
        if node is None:
            self._refuse(CommandRefused("select a node first: click it, or use the arrow keys"))
        else:
            self._with_control(lambda control: control.go_to(node))

    def action_again(self) -> None:
        """Run the node where the run stands again."""
        state = self.driver.state
        if state is not None and state.current is not None:
            node = state.current
            self._with_control(lambda control: control.go_to(node))

    def action_edit_prompt(self) -> None:
        """Edit the prompt about to be sent; it is used for this visit and not written back."""
        session, state = self.driver.session, self.driver.state
        control = self.driver.control
        if (
            control is None
            or control.state != "paused"
            or session is None
            or session.runner is None
            or state is None
            or state.current not in session.runner.flow.nodes
        ):
            self._refuse(CommandRefused("e edits a prompt before it is sent: pause first, with n"))
            return
        node = session.runner.flow.nodes[state.current]

        def use(text: str | None) -> None:
            if text is not None:
                control.replace_prompt(text)
                self.notify("the edited prompt will be sent: n sends it", timeout=4)

        from flowstudio.studio.dialogs import PromptDialog

        self.app.push_screen(PromptDialog(node.id, node.text), use)

    def _with_control(self, act: Callable[[Any], object], said: str = "") -> None:
        try:
            act(self.driver.require_control())
        except CommandRefused as refused:
            self._refuse(refused)
            return
        if said:
            self.notify(said, timeout=2)

    def action_edit_file(self) -> None:
        """Open the skill's file in the user's editor, the studio suspended meanwhile."""
        if self.skill is None:
            return
        try:
            with self.app.suspend():
                edit(self.skill.path)
        except (OSError, SuspendNotSupported) as error:
            self.notify(harmless(str(error)), severity="error", markup=False)
        self.refresh(layout=True)

    # Looking

    def action_zoom(self) -> None:
        """The next zoom level."""
        self._bench.pane.next_zoom()

    def action_follow(self) -> None:
        """Follow the current node, or leave the picture where it is."""
        self._bench.toggle_follow()

    def action_filter(self) -> None:
        """Filter the skills."""
        self._show_pane("skills")
        if self._skills.children:
            self._skills.focus_filter()

    def action_talk(self) -> None:
        """Go to the input line."""
        self._show_pane("chat")

    def action_help(self) -> None:
        """Show all keys."""
        from flowstudio.studio.dialogs import HelpDialog

        self.app.push_screen(HelpDialog())

    # Panes

    def action_next_pane(self, step: int) -> None:
        """Go to another pane; on a narrow terminal it takes the place of this one."""
        self._show_pane(_PANES[(_PANES.index(self.pane) + step) % len(_PANES)])

    def action_show_pane(self, pane: str) -> None:
        """A click on a tab."""
        self._show_pane(cast("Pane", pane))

    def _show_pane(self, pane: Pane) -> None:
        if not self._chat.children:
            return  # a key pressed before the panes are furnished
        self.pane = pane
        match pane:
            case "skills":
                self._skills.query_one("#skills", OptionList).focus()
            case "flow":
                self._bench.view.focus()
            case "chat":
                self._chat.query_one(ChatInput).focus()

    def on_descendant_focus(self) -> None:
        """The pane with the focus is the one in use."""
        for pane in _PANES:
            name = "#middle" if pane == "flow" else f"#{pane}-pane"
            if self.query_one(name).has_focus_within:
                self.pane = pane

    def watch_pane(self) -> None:
        """Narrow layouts show only what is in use."""
        for pane in _PANES:
            self.set_class(self.pane == pane, f"-on-{pane}")
        if self.is_mounted:
            self.query_one(PaneTabs).chosen = self.pane

    def palette_commands(self) -> list[SystemCommand]:
        """Every command by name, for the palette."""
        return [
            SystemCommand(
                f"{command.label.capitalize()}: {command.help}",
                f"key {command.key_display or command.key}",
                self._caller(command.action),
            )
            for command in COMMANDS
            if not command.id.startswith("run.branch")
        ]

    def _caller(self, action: str) -> Callable[[], Coroutine[Any, Any, object]]:
        async def call() -> object:
            return await self.run_action(action)

        return call
