"""Opens the library and the planner, and does what the user chose there."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio.studio.driver import CommandRefused
from flowstudio.studio.keymap import key_of

if TYPE_CHECKING:
    from flowstudio.models.llm import LLM
    from flowstudio.skill import Catalogue, Skill
    from flowstudio.studio.library_screen import LibraryAct
    from flowstudio.studio.plan_screen import PlanAct
    from flowstudio.studio.planner import Planned
    from flowstudio.studio.run_desk import Handler
    from flowstudio.studio.screen import StudioScreen

_MOST_UNSAVED = 20
"""Plans that were run or opened without being saved, and are kept."""
_READING = "the skills are still being read"


class PlanningDesk:
    """The screens of the library and of plans. The desk owns no widget."""

    def __init__(self, screen: StudioScreen) -> None:
        self._screen = screen
        self._last: tuple[Catalogue, Planned] | None = None
        """The plan that was shown last, and the skills that it was made of."""

    def commands(self) -> dict[str, Handler]:
        """The commands that the desk carries out, by the id in the table of commands."""
        return {"view.library": self.open_library, "run.plan": self.open_plan}

    @property
    def _catalogue(self) -> Catalogue | None:
        """The skills in force; where they are still being read, the user is told."""
        catalogue = self._screen.library.catalogue
        if catalogue is None:
            self._screen.desk.refuse(CommandRefused(_READING))
        return catalogue

    # The library

    def open_library(self) -> None:
        """The library around the skill that is shown."""
        catalogue = self._catalogue
        if catalogue is None:
            return
        from flowstudio.studio.library_screen import LibraryScreen

        shown = self._screen.skill
        known = catalogue.get(shown.name) if shown else None
        name = known.name if known and shown and known.path == shown.path else None
        screen = LibraryScreen(catalogue, self._screen.library.work_dir, name)
        self._screen.app.push_screen(screen, self._leave_library)

    def _leave_library(self, act: LibraryAct | None) -> None:
        if act is None:
            return
        if act.what == "plan":
            self.open_plan(act.subject)
            return
        catalogue = self._screen.library.catalogue
        skill = catalogue.get(act.subject) if catalogue else None
        if skill is not None:
            self._screen.pick_skill(skill)

    # Plans

    @property
    def _llm(self) -> LLM | None:
        """The model that reads goals; None where the user, a script or chance plays the model."""
        session = self._screen.driver.session
        llm = session.llm if session else None
        return llm if llm is not None and llm.answers_as == "model" else None

    def open_plan(self, goal: str = "") -> None:
        """From a goal to a flow of skills; without a goal, the last plan is shown again."""
        catalogue = self._catalogue
        if catalogue is None:
            return
        from flowstudio.studio.plan_screen import PlanScreen
        from flowstudio.studio.planner import Planner, Wish

        planner = Planner(catalogue, self._screen.library.work_dir, self._llm)
        wish, last = (Wish(goal) if goal else None), None
        if wish is None and self._last is not None:
            made_of, planned = self._last
            if made_of is catalogue:
                last = planned
            elif not planner.llm:
                wish = planned.wish
        screen = PlanScreen(planner, wish, last=last, why_not_run=self._why_not_run)

        def leave(act: PlanAct | None) -> None:
            if screen.planned is not None:
                self._last = (catalogue, screen.planned)
            if act is not None:
                self._carry_out(act)

        self._screen.app.push_screen(screen, leave)

    def _why_not_run(self) -> str:
        if self._screen.driver.session is None:
            return "the studio is still being set up"
        return "a run is on already: stop it first" if self._screen.driver.is_running else ""

    def _carry_out(self, act: PlanAct) -> None:
        from flowstudio.skill import SkillError

        try:
            skill = self._take(act)
        except CommandRefused as refused:
            self._screen.desk.refuse(refused)
            return
        except (SkillError, OSError) as error:
            self._screen.desk.refuse(CommandRefused(f"the plan cannot be opened: {error}"))
            return
        self._screen.show_skill(self._screen.author.show(skill))
        self._screen.action_show_pane("flow")
        if act.what == "run":
            self._screen.desk.work(self._run(skill, act))
        elif act.saved is None:
            again, save = key_of("run.plan"), key_of("plan.save")
            says = f"the plan is not saved: {again}, then {save} saves it as a skill"
            self._screen.notify(says, timeout=6)

    def _take(self, act: PlanAct) -> Skill:
        """The plan as a skill: as it was saved, else from a file of the studio's own.

        Raises:
            CommandRefused: the state of trust cannot be read.
            OSError: that file cannot be written.
            SkillError: it cannot be read.
        """
        from flowstudio import paths
        from flowstudio.skill import load_skill

        if act.saved is not None:
            return load_skill(act.saved, "project")
        planned = act.planned.skill
        assert planned is not None
        path = paths.state_file().parent / "plans" / planned.name / "SKILL.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(planned.text, encoding="utf-8")
        _keep_newest(path.parents[1], _MOST_UNSAVED)
        skill = load_skill(path, "extra")
        if not self._foreign(act):
            self._screen.driver.vouch(skill)
        return skill

    def _foreign(self, act: PlanAct) -> list[Skill]:
        """The skills of a plan whose folder the user has not trusted: its prompts quote them.

        Raises:
            CommandRefused: the state of trust cannot be read.
        """
        from flowstudio.studio.planner import parts_of

        catalogue = self._screen.library.catalogue
        found = [catalogue.at(path) for path in parts_of(act.planned)] if catalogue else []
        asks = self._screen.driver.folder_to_trust
        return [skill for skill in found if skill is not None and asks(skill) is not None]

    async def _run(self, skill: Skill, act: PlanAct) -> None:
        """Run a plan, once the folders that its skills came with are trusted."""
        desk = self._screen.desk
        for part in self._foreign(act):
            if not await desk.ask_trust(part):
                return
        if act.saved is None:
            self._screen.driver.vouch(skill)
        if await desk.ask_trust(skill):
            await self._screen.driver.run(skill, "", stepping=False)


def _keep_newest(folder: Path, count: int) -> None:
    """Remove plans that were never saved but for the newest; runs keep flows of their own."""
    plans = sorted(folder.glob("*/SKILL.md"), key=lambda file: file.stat().st_mtime, reverse=True)
    for old in plans[count:]:
        with contextlib.suppress(OSError):
            old.unlink()
            old.parent.rmdir()
