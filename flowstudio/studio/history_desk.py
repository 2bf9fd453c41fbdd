"""Earlier runs and earlier moments: looking at them, going on with them, forking them.

The desk owns no widget. It acts on the driver, and speaks to the user through the screen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowstudio.studio.chat_pane import ChatPane
from flowstudio.studio.driver import CommandRefused, Driver
from flowstudio.studio.keymap import key_of
from flowstudio.studio.look import Look, look_at
from flowstudio.text import harmless, shorten

if TYPE_CHECKING:
    from textual.timer import Timer

    from flowstudio.run.resume import ResumePlan, Which
    from flowstudio.skill import Skill
    from flowstudio.studio.earlier import Earlier
    from flowstudio.studio.history_screen import HistoryAct
    from flowstudio.studio.pick_dialogs import Rewind
    from flowstudio.studio.run_desk import Handler, RunDesk
    from flowstudio.studio.screen import StudioScreen

_PACE = 0.35
"""Seconds that a replay shows each visit."""


class HistoryDesk:
    """The history, the resume, the rewind, and the look back."""

    def __init__(self, screen: StudioScreen, driver: Driver, desk: RunDesk) -> None:
        self._screen = screen
        self._driver = driver
        self._desk = desk
        self._player: Timer | None = None
        self._is_offered = False

    def commands(self) -> dict[str, Handler]:
        """The commands that the desk carries out, by the id in the table of commands."""
        return {
            "run.history": self.open_history,
            "run.rewind": self.rewind,
            "view.earlier": partial(self.move, -1),
            "view.later": partial(self.move, 1),
            "view.now": self.leave,
        }

    def _work(self, doing: Coroutine[Any, Any, object]) -> None:
        work = self._guard(doing)
        self._screen.run_worker(work, group="history", exclusive=True, exit_on_error=False)

    async def _guard(self, doing: Coroutine[Any, Any, object]) -> None:
        """Await something whose failures the user should read."""
        from flowstudio.run.lock import RunBusy
        from flowstudio.run.resume import ResumeRefused
        from flowstudio.studio.earlier import Unreadable

        try:
            await self._desk.guard(doing)
        except (Unreadable, ResumeRefused, RunBusy, ValueError) as error:
            self._desk.refuse(CommandRefused(str(error)))

    # The history

    def open_history(self) -> None:
        """Show all runs."""
        from flowstudio import paths
        from flowstudio.studio.history_screen import HistoryScreen

        session = self._driver.session
        own = session.folder.path if session and session.is_running and session.folder else None
        self._screen.app.push_screen(HistoryScreen(paths.runs_dir(), own=own), self._act)

    def _act(self, act: HistoryAct | None) -> None:
        if act is None:
            return
        match act.what:
            case "open":
                self._work(self._open(act.path))
            case "resume":
                self._work(self.resume(act.path))
            case "attach":
                self._screen.attaching.attach(act.path)
            case "fork":
                self._work(self._fork_from(act.path))
            case "replay":
                self._work(self._replay(act.path))

    async def _read(self, path: Path) -> Earlier:
        from flowstudio.studio.earlier import read_earlier

        earlier = await asyncio.to_thread(read_earlier, path)
        if earlier.warning:
            self._screen.notify(harmless(earlier.warning), severity="warning", markup=False)
        return earlier

    async def _open(self, path: Path) -> None:
        """Look at a run on its flow, at its last visit."""
        session = self._driver.session
        if session is not None and session.folder is not None and session.folder.path == path:
            # It is the run that the studio has before it.
            self.back()
            if self._driver.skill is not None:
                self._screen.show_skill(self._driver.skill)
            return
        earlier = await self._read(path)
        if not earlier.state.visits:
            raise CommandRefused(f"{path.name} never began: there is nothing to look at")
        self._screen.show_skill(earlier.skill)
        last = len(earlier.state.visits) - 1
        self._look(look_at(earlier.state, earlier.skill, path, last))

    async def _replay(self, path: Path) -> None:
        """Walk a run again on its recorded answers, and show it visit by visit."""
        from flowstudio.run.replay import replay
        from flowstudio.run.state import RunState

        earlier = await self._read(path)
        state = RunState()
        outcome = await replay(path, state.apply, strict=True)
        if outcome.mismatch is not None:
            text = f"the replay differs: {outcome.mismatch.message}"
            self._screen.notify(harmless(text), severity="warning", markup=False, timeout=10)
        if not state.visits:
            raise CommandRefused(f"{path.name} never began: there is nothing to replay")
        self._screen.show_skill(earlier.skill)
        self._look(look_at(state, earlier.skill, path, 0))
        self._player = self._screen.set_interval(_PACE, self._play)

    def _play(self) -> None:
        """The next visit of a replay."""
        look = self._driver.look
        then = look.at(look.index + 1) if look is not None else None
        if then is None:
            self._stop_player()
        else:
            self._look(then, is_played=True)

    def _stop_player(self) -> None:
        if self._player is not None:
            self._player.stop()
            self._player = None

    # Looking back

    def move(self, step: int) -> None:
        """Look at the visit before or after the one that is looked at."""
        look = self._driver.look
        at = look.index if look else len(self._visits) - 1
        self.pick(at + step)

    @property
    def _visits(self) -> Sequence[object]:
        state = self._driver.state
        return state.visits if state is not None else ()

    def pick(self, index: int) -> None:
        """Look at a visit of the run that is shown, by its place; past the last: what is now."""
        look = self._driver.look
        if look is None:
            state, skill, session = self._driver.state, self._driver.skill, self._driver.session
            if state is None or skill is None or not state.visits:
                self._desk.refuse(
                    CommandRefused(f"no run yet: {key_of('run.history')} shows earlier ones")
                )
                return
            if index >= len(state.visits):
                return
            folder = session.folder.path if session and session.folder else None
            if not self._screen.bench.shows_run:
                self._screen.show_skill(skill)
            self._look(look_at(state, skill, folder, max(index, 0), is_live=True))
            return
        if index >= len(look.run.visits) and look.is_live:
            self.back()
            return
        then = look.at(min(max(index, 0), len(look.run.visits) - 1))
        if then is not None:
            self._look(then)

    def leave(self) -> None:
        """Escape: take back what was typed ahead of the run; else show what is now again."""
        if not self._desk.ahead.drop():
            self.back()

    def back(self) -> None:
        """Show what is now again."""
        self._stop_player()
        look = self._driver.look
        if look is None:
            return
        self._driver.look = None
        self._show_talk(None)
        state = self._driver.state
        if look.is_live and state is not None and state.current is not None:
            self._screen.bench.stand_on(state.current)
        self._screen.show_news()
        self._screen.refresh_bindings()

    def _look(self, look: Look, *, is_played: bool = False) -> None:
        if not is_played:
            self._stop_player()
        if self._driver.look is None:
            self._screen.call_later(self._screen.refresh_bindings)
        self._driver.look = look
        self._screen.bench.stand_on(look.visit.node)
        self._screen.show_news()
        self._show_talk(look)

    def _show_talk(self, look: Look | None) -> None:
        work = self._find_talk(look)
        self._screen.run_worker(work, group="past-talk", exclusive=True, exit_on_error=False)

    async def _find_talk(self, look: Look | None) -> None:
        """The conversation as it was then, in the place of the one that goes on."""
        from flowstudio.studio.past_talk import PastTalk, read_talk

        chat = self._screen.query_one(ChatPane)
        # One serves for all looks: what is removed stays in Textual's caches for long.
        past = next(iter(chat.query(PastTalk)), None)
        if look is None:
            chat.log_view.display = True
            if past is not None:
                past.display = False
                past.forget()
            return
        talk = await asyncio.to_thread(read_talk, look)
        if past is None:
            past = PastTalk()
            await chat.mount(past, before=chat.log_view)
        chat.log_view.display, past.display = False, True
        past.show(talk, look)

    # Going on

    async def offer_resume(self, skill: Skill) -> None:
        """Where the last run of this flow was broken off, ask whether to go on with it."""
        from flowstudio import paths
        from flowstudio.studio.earlier import find_unfinished
        from flowstudio.studio.memory import load_memory, save_memory
        from flowstudio.studio.pick_dialogs import ChoiceDialog

        run = await asyncio.to_thread(find_unfinished, paths.runs_dir(), skill.path)
        memory = load_memory()
        if run is None or run.id in memory.declined or self._driver.is_running:
            return
        where = f" at “{run.at}”" if run.at else ""
        many = f"{run.visits} visit{'s' if run.visits != 1 else ''}"
        what = "was broken off" if run.standing == "broken off" else "was forked and not begun"
        question = (
            f"The last run of “{skill.name}” {what}{where} after {many}. No finished visit is "
            "repeated when it goes on."
        )
        answers = {"y": "go on with it", "l": "look at it first"}
        later = f"not now; {key_of('run.history')} finds it"
        dialog = ChoiceDialog("An unfinished run", question, answers, cancel=later)
        answer = await self._screen.app.push_screen_wait(dialog)
        match answer:
            case "y":
                await self.resume(run.path)
            case "l":
                await self._open(run.path)
            case _:
                memory.declined.append(run.id)
                save_memory(memory)

    def offer(self) -> None:
        """The same in the background, once: for the flow that the studio opens with."""
        skill = self._screen.skill
        if not self._is_offered and skill is not None and self._driver.is_ready:
            self._is_offered = True
            self._work(self.offer_resume(skill))

    async def resume(self, path: Path, *, held: bool = False) -> None:
        """Go on with a run, asking which flow is meant where its file has changed."""
        from flowstudio.run.resume import resume_plan

        if self._driver.is_running:
            raise CommandRefused(f"a run is on already: {key_of('run.stop')} stops it")
        earlier = await self._read(path)
        plan = await asyncio.to_thread(resume_plan, path)
        if plan.holder is not None:
            raise CommandRefused(f"process {plan.holder.pid} writes this run: look at it instead")
        which: Which | None = None
        if plan.changed:
            which = await self._ask_which(plan)
            if which is None:
                return
        plan.start(plan.source(which))
        skill = self._skill_for(earlier, which)
        if not await self._desk.ask_trust(skill):
            return
        self.back()
        self._screen.show_skill(skill)
        self._desk.work(self._driver.resume(earlier, skill, which, held=held))

    def _skill_for(self, earlier: Earlier, which: Which | None) -> Skill:
        catalogue = self._screen.library.catalogue
        now = catalogue.at(earlier.skill.path) if catalogue else None
        return earlier.skill if now is None or which == "recorded" else now

    async def _ask_which(self, plan: ResumePlan) -> Which | None:
        from flowstudio.studio.pick_dialogs import ChoiceDialog

        current = plan.current
        assert current is not None
        text = "The flow's file has changed since the run used it."
        answers = {"r": "go on with the flow as it was recorded"}
        if current.flow is None:
            text += f" As it is now it cannot be run: {current.problem}"
        else:
            answers = {"c": "go on with the file as it is now", **answers}
            if plan.node_gone:
                text += f" “{plan.position.node}” is no longer in it: you will be asked where to go"
        dialog = ChoiceDialog("Which flow?", text, answers, cancel="leave the run as it is")
        answer = await self._screen.app.push_screen_wait(dialog)
        which: dict[str, Which] = {"c": "current", "r": "recorded"}
        return which.get(answer or "")

    # Forking

    def rewind(self) -> None:
        """Fork the run that is shown at an earlier visit, and go on from there."""
        look, session = self._driver.look, self._driver.session
        if look is not None:
            self._work(self._pick_and_fork(look.folder, look.skill, look.run.visits, look.index))
            return
        state, skill = self._driver.state, self._driver.skill
        if state is None or skill is None or session is None or len(state.visits) < 1:
            self._desk.refuse(
                CommandRefused(f"no run to rewind: {key_of('run.history')} shows earlier ones")
            )
            return
        folder = session.folder.path if session.folder else None
        at = max(len(state.visits) - 2, 0)
        self._work(self._pick_and_fork(folder, skill, state.visits, at))

    async def _fork_from(self, path: Path) -> None:
        earlier = await self._read(path)
        visits = earlier.state.visits
        if not visits:
            raise CommandRefused(f"{path.name} never began: there is nothing to fork")
        await self._pick_and_fork(path, earlier.skill, visits, len(visits) - 1)

    async def _pick_and_fork(
        self, folder: Path | None, skill: Skill, visits: Sequence[Any], at: int
    ) -> None:
        if folder is None:
            raise CommandRefused("this run is kept on no disk, so it cannot be forked")
        from flowstudio.studio.pick_dialogs import RewindDialog

        dialog = RewindDialog(visits, at, _exits(skill))
        rewind = await self._screen.app.push_screen_wait(dialog)
        if rewind is not None:
            await self.fork(folder, rewind)

    async def fork(self, folder: Path, rewind: Rewind) -> None:
        """Fork a run, stop the one that is on, and go on with the fork, held before its visit."""
        from flowstudio.run.fork import fork_run

        new = await asyncio.to_thread(fork_run, folder, rewind.move, branch=rewind.branch)
        was_running = self._driver.is_running
        await self._driver.stop_and_wait()
        keys = f"{key_of('run.step')} or {key_of('run.continue')}"
        said = f"forked as {new.id}, at move {rewind.move}: {keys} goes on"
        if was_running:
            said += f"; the other run was stopped, {key_of('run.history')} goes on with it"
        self._screen.notify(harmless(said), markup=False, timeout=6)
        await self.resume(new.path, held=True)

    def take_branch(self, number: int) -> None:
        """A digit while an earlier visit is looked at: fork there and take that branch."""
        look = self._driver.look
        assert look is not None
        exits = _exits(look.skill).get(look.visit.node, ())
        if not exits:
            self._desk.refuse(
                CommandRefused(f"“{look.visit.node}” has a single exit: nothing to choose")
            )
        elif number > len(exits):
            self._desk.refuse(CommandRefused(f"“{look.visit.node}” has {len(exits)} branches"))
        elif look.folder is None:
            self._desk.refuse(CommandRefused("this run is kept on no disk, so it cannot be forked"))
        else:
            self._work(self._confirm_fork(look, look.folder, exits[number - 1][0]))

    async def _confirm_fork(self, look: Look, folder: Path, branch: str) -> None:
        from flowstudio.studio.pick_dialogs import ChoiceDialog, Rewind

        visit = look.visit
        text = (
            f"You look at visit {visit.visit} of “{visit.node}”, which is past. Fork the run there "
            f"and take “{shorten(branch, 40)}”? This run stays as it is."
        )
        dialog = ChoiceDialog("Another branch", text, {"y": "fork there"})
        if await self._screen.app.push_screen_wait(dialog) == "y":
            await self.fork(folder, Rewind(visit.move, branch))


def _exits(skill: Skill) -> Mapping[str, Sequence[tuple[str, str]]]:
    """The branches of each node that has several: their labels and targets' names."""
    from flowstudio.studio.detail import title_of

    chart = skill.chart
    if chart is None:
        return {}
    found: dict[str, list[tuple[str, str]]] = {}
    for edge in chart.edges:
        target = title_of(chart.nodes.get(edge.dst), edge.dst)
        found.setdefault(edge.src, []).append((edge.label or "", target))
    return {node: exits for node, exits in found.items() if len(exits) > 1}
