"""The run's controls: what each key that drives a run does, and what it says when it cannot.

The desk owns no widget. It acts on the driver, and speaks to the user through the screen.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.widgets import Input, TextArea

from flowstudio.paths import show_path
from flowstudio.studio.ahead import Ahead, waits
from flowstudio.studio.driver import CommandRefused, Driver
from flowstudio.studio.keymap import key_of
from flowstudio.studio.sentences import sentence_for
from flowstudio.text import harmless

if TYPE_CHECKING:
    from flowstudio.run.breakpoints import Breakpoint
    from flowstudio.run.control import RunControl
    from flowstudio.skill import Skill
    from flowstudio.studio.screen import StudioScreen

type Handler = Callable[[], Awaitable[object] | None]
"""Carries out one command."""

_GROUP = "run"
"""The workers that last as long as a run."""
_ROUNDS = 10
"""Of a loop for which no number is given or configured."""
_NO_NODE = "select a node first: click it, or use the arrow keys"


class RunDesk:
    """Starts, steps, bends and stops the run of the skill that is shown."""

    def __init__(
        self, screen: StudioScreen, driver: Driver, show_news: Callable[[], object]
    ) -> None:
        self._screen = screen
        self._driver = driver
        self._show_news = show_news
        self.ahead = Ahead(lambda: driver.control, self._show_ahead)
        """What is typed before the run can take it."""

    def _show_ahead(self, text: str) -> None:
        self._screen.top.ahead = text

    def commands(self) -> dict[str, Handler]:
        """The commands that the desk carries out, by the id in the table of commands."""
        branches: dict[str, Handler] = {
            f"run.branch{number}": partial(self.take_branch, number) for number in range(1, 10)
        }
        return branches | {
            "run.start": self.start,
            "run.step": self.step,
            "run.continue": self.go_on,
            "run.pause": self.pause,
            "run.stop": self.stop,
            "run.breakpoint": self.toggle_breakpoint,
            "run.condition": self.edit_breakpoint,
            "run.points": self.list_breakpoints,
            "run.more": self.allow_more,
            "run.to": self.run_to,
            "run.jump": self.jump,
            "run.again": self.again,
            "edit.prompt": self.edit_prompt,
        }

    # What all of them need

    async def guard(self, doing: Coroutine[Any, Any, object]) -> None:
        """Await something that may fail in ways that the user should read, not the log."""
        try:
            await doing
        except CommandRefused as refused:
            self.refuse(refused)
        except Exception as error:
            sentence = sentence_for(error)
            if sentence is None:
                raise
            self._screen.notify(harmless(sentence), severity="error", markup=False, timeout=10)

    def refuse(self, refused: CommandRefused) -> None:
        """Say why a command makes no sense now."""
        self._screen.notify(harmless(str(refused)), severity="warning", markup=False, timeout=4)

    def _with_control(self, act: Callable[[RunControl], object], said: str = "") -> None:
        try:
            act(self._driver.require_control())
        except CommandRefused as refused:
            self.refuse(refused)
            return
        if said:
            self._screen.notify(said, timeout=2)

    def _selected(self) -> str | None:
        """The selected node; without one the user is told how to select."""
        node = self._screen.bench.selected
        if node is None:
            self.refuse(CommandRefused(_NO_NODE))
        return node

    # Starting and going on

    def run(
        self,
        skill: Skill,
        text: str,
        *,
        stepping: bool,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """Run a skill's flow in the background, where the user sees it."""
        self._come_to_flow()
        self.work(self._run_trusted(skill, text, stepping=stepping, variables=variables))

    async def _run_trusted(
        self, skill: Skill, text: str, *, stepping: bool, variables: Mapping[str, str] | None
    ) -> None:
        if await self.ask_trust(skill):
            await self._driver.run(skill, text, stepping=stepping, variables=variables)

    async def ask_trust(self, skill: Skill) -> bool:
        """Whether the folder that a skill came with is trusted; asked once. Call it in a worker.

        Raises:
            CommandRefused: the state of trust cannot be read or written.
        """
        folder = self._driver.folder_to_trust(skill)
        if folder is None:
            return True
        from flowstudio.skill.trust import TrustError, TrustStore
        from flowstudio.studio.dialogs import TrustDialog

        dialog = TrustDialog(skill.name, show_path(folder))
        if not await self._screen.app.push_screen_wait(dialog):
            return False
        try:
            TrustStore.of_user().trust(folder)
        except TrustError as error:
            raise CommandRefused(str(error)) from error
        return True

    def run_loop(self, prompt: str, rounds: int) -> None:
        """Run a plain prompt as a Ralph loop in the background, drawn like any flow."""
        request, skill = self._driver.make_loop(prompt, rounds)
        self._screen.show_skill(skill)
        self.work(self._driver.run_request(skill, request, stepping=False))

    def ask_loop(self, text: str) -> None:
        """`/ralph [rounds] prompt`: run the prompt as a loop, at most so many rounds."""
        from flowstudio.run.ralph import split_rounds

        rounds, prompt = split_rounds(text)
        if self._driver.is_running:
            self.refuse(CommandRefused(f"a run is on already: {key_of('run.stop')} stops it"))
        elif not prompt:
            self.refuse(CommandRefused("/ralph [rounds] prompt: /ralph 5 Make the tests pass"))
        else:
            configured = self._driver.rounds
            self.run_loop(prompt, rounds if rounds is not None else configured or _ROUNDS)

    def _come_to_flow(self) -> None:
        """On a narrow terminal the list of skills would hide the run; who types is left alone."""
        screen = self._screen
        is_typing = isinstance(screen.focused, Input | TextArea)
        if screen.has_class("-narrow") and screen.pane == "skills" and not is_typing:
            screen.show_pane("flow")

    def work(self, doing: Coroutine[Any, Any, object], *, is_new: bool = True) -> None:
        """Run in the background what lasts as long as a run; one that is not `is_new` is on."""
        if is_new:
            self.ahead.begin()
        self._screen.run_worker(self._run(doing), group=_GROUP, exit_on_error=False)

    async def _run(self, doing: Coroutine[Any, Any, object]) -> None:
        try:
            await self.guard(doing)
        finally:
            self.ahead.end()
        self._show_news()

    def start(self, *, stepping: bool = False) -> None:
        """Run the selected flow, asking for its input where it takes one."""
        skill = self._screen.skill
        if skill is None or skill.flow is None:
            what = f"“{skill.name}” holds" if skill else "nothing is selected that holds"
            self.refuse(CommandRefused(f"{what} no flow that can be run"))
            return
        if self._driver.is_running or self.ahead.is_starting:
            self.refuse(CommandRefused(f"a run is on already: {key_of('run.stop')} stops it"))
            return
        self.ask_and_run(skill, None, stepping=stepping)

    def ask_and_run(self, skill: Skill, text: str | None, *, stepping: bool) -> None:
        """Run a skill's flow, asking first for the values that its prompts lack.

        `text` is its input; None where it was not given.
        """
        from flowstudio.run.prompts import ARGUMENTS, missing_values

        missing = missing_values(skill.flow, {}, has_input=text is not None) if skill.flow else ()
        if not missing:
            self.run(skill, text or "", stepping=stepping)
            return

        def begin(values: Mapping[str, str] | None) -> None:
            if values is not None:
                variables = {name: values[name] for name in values if name != ARGUMENTS}
                given = values.get(ARGUMENTS, text or "")
                self.run(skill, given, stepping=stepping, variables=variables)

        if all(one.is_input for one in missing):
            from flowstudio.studio.dialogs import InputDialog

            self._screen.app.push_screen(
                InputDialog(skill.name),
                lambda given: begin(None if given is None else {ARGUMENTS: given}),
            )
            return
        from flowstudio.studio.values_dialog import ValuesDialog

        self._screen.app.push_screen(ValuesDialog(skill.name, missing), begin)

    def step(self) -> None:
        """Run one node; without a run, begin one that pauses at its first node.

        While a node is run, the step is kept until it is done.
        """
        control = self._driver.control
        if control is None and self.ahead.is_starting:
            self.ahead.keep("step")
        elif control is None:
            self.start(stepping=True)
        elif not self._may_go_on():
            return
        elif control.mode == "step" and not waits(control):
            self.ahead.keep("step")
        else:
            self.ahead.drop()
            control.step()
            self._show_news()

    def go_on(self) -> None:
        """Continue; without a run, run."""
        control = self._driver.control
        if control is None and self.ahead.is_starting:
            self.ahead.keep("continue")
        elif control is None:
            self.start()
        elif self._may_go_on():
            self.ahead.drop()
            control.go_on()
            self._show_news()

    def _may_go_on(self) -> bool:
        questions = self._driver.questions
        if self._driver.is_talking:
            self.refuse(
                CommandRefused(f"the agent is still answering you; {key_of('run.stop')} stops it")
            )
            return False
        if questions is not None and questions.pending:
            self.refuse(CommandRefused("you are the model here: press the number of a branch"))
            return False
        return True

    def pause(self) -> None:
        """Pause after this node."""
        self.ahead.drop()
        if self.ahead.is_starting:
            self.ahead.keep("pause")
            return
        control = self._driver.control
        if control is not None and waits(control):
            on, step = key_of("run.continue"), key_of("run.step")
            self.refuse(CommandRefused(f"the run is paused: {step} steps, {on} continues"))
            return
        self._with_control(lambda control: control.pause(), "the run will pause after this node")
        self.ahead.tell()

    def stop(self) -> None:
        """Stop the run, or the answer that is coming; one that is about to start does not."""
        self.ahead.drop()
        if self.ahead.is_starting:
            self._screen.workers.cancel_group(self._screen, _GROUP)
            self.ahead.end()
            self._screen.notify("the run was not started", timeout=2)
            return
        if self._driver.is_talking and self._driver.control is None:
            self._screen.workers.cancel_group(self._screen, "talk")
            return
        self._with_control(lambda control: control.stop())

    # Bending it

    def take_branch(self, number: int) -> None:
        """Take a branch by its number."""
        try:
            if said := self._driver.choose(number):
                self._screen.notify(harmless(said), markup=False, timeout=3)
        except CommandRefused as refused:
            self.refuse(refused)
        self._screen.bench.show_news()

    def toggle_breakpoint(self) -> None:
        """Set or clear a breakpoint before the selected node."""
        node, skill = self._selected(), self._screen.skill
        if node is None or skill is None:
            return
        is_set = self._driver.points.toggle(skill, node)
        self._screen.notify(
            harmless(f"breakpoint {'set' if is_set else 'cleared'} before “{node}”"),
            markup=False,
            timeout=2,
        )
        self._screen.bench.show_marks()

    def edit_breakpoint(self) -> None:
        """Type a breakpoint at the selected node, with when and on what condition it holds."""
        node, skill = self._selected(), self._screen.skill
        if node is not None and skill is not None:
            self._edit_at(skill, node)

    def _edit_at(self, skill: Skill, node: str) -> None:
        def use(point: Breakpoint | str | None) -> None:
            if point is None:
                return
            if isinstance(point, str):
                self._driver.points.clear(skill, node)
            else:
                self._driver.points.set(skill, point)
            self._screen.bench.show_marks()

        from flowstudio.studio.break_dialog import BreakDialog

        points = self._driver.points.of(skill).at(node)
        self._screen.app.push_screen(BreakDialog(node, points), use)

    def list_breakpoints(self) -> None:
        """List the breakpoints of the flow that is shown, to be looked at, changed, cleared."""
        skill = self._screen.skill
        if skill is None:
            return
        from flowstudio.studio.pick_dialogs import Aim, PointsDialog

        points = list(self._driver.points.of(skill))
        chart, gone = skill.chart, "  (no such node in the flow)"
        lines = [
            f"{one.node}  {one.text}{'' if chart and one.node in chart.nodes else gone}"
            for one in points
        ]

        def use(aim: Aim | None) -> None:
            if aim is None:
                return
            what, at = aim
            point = points[at]
            match what:
                case "go":
                    self._screen.bench.stand_on(point.node)
                    self._screen.bench.show_node()
                case "set":
                    self._edit_at(skill, point.node)
                case "clear":
                    self._driver.points.clear(skill, point.node, point.when)
                    self._screen.bench.show_marks()
                    self.list_breakpoints()

        self._screen.app.push_screen(PointsDialog(lines), use)

    def allow_more(self) -> None:
        """Allow the run more moves than it may make; where it waits for that, it goes on."""
        try:
            control = self._driver.require_control()
        except CommandRefused as refused:
            self.refuse(refused)
            return
        from flowstudio.studio.pick_dialogs import NumberDialog

        def use(more: int | None) -> None:
            if more is not None:
                control.allow_more(more)
                self._screen.notify(f"{more} more moves allowed", timeout=3)
                self._show_news()

        text = "A run may make a bounded number of moves. How many more is it allowed?"
        self._screen.app.push_screen(NumberDialog("More moves", text, 100), use)

    def run_to(self) -> None:
        """Continue to the selected node."""
        if (node := self._selected()) is not None:
            self.ahead.drop()
            self._with_control(lambda control: control.run_to(node))

    def jump(self) -> None:
        """Go on from the selected node."""
        if (node := self._selected()) is not None:
            self.ahead.drop()
            self._with_control(lambda control: control.go_to(node))

    def again(self) -> None:
        """Run the node where the run stands again."""
        self.ahead.drop()
        self._with_control(lambda control: control.again())

    def edit_prompt(self) -> None:
        """Edit the prompt about to be sent; it is used for this visit and not written back."""
        session, state = self._driver.session, self._driver.state
        control = self._driver.control
        if (
            control is None
            or control.state != "paused"
            or session is None
            or session.runner is None
            or state is None
            or state.current not in session.runner.flow.nodes
        ):
            edit, step = key_of("edit.prompt"), key_of("run.step")
            self.refuse(
                CommandRefused(f"{edit} edits a prompt before it is sent: pause first, with {step}")
            )
            return
        node = session.runner.flow.nodes[state.current]

        def use(text: str | None) -> None:
            if text is not None:
                control.replace_prompt(text)
                self._screen.bench.show_node()
                if (skill := self._driver.skill) is not None:
                    self._screen.author.remember_prompt(skill, node.id, text)
                send, back = key_of("run.step"), key_of("edit.back")
                said = f"the edited prompt will be sent: {send} sends it, {back} writes it back"
                self._screen.notify(said, timeout=4)

        from flowstudio.studio.dialogs import PromptDialog

        written = control.waiting_prompt(node.id)
        text = node.text if written is None else written
        self._screen.app.push_screen(PromptDialog(node.id, text), use)
