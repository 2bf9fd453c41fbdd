"""The first minutes: when the welcome is shown, and the tour that it leads to.

The desk owns no widget but the tour's line. It acts through the screen and the driver.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from flowstudio.studio.driver import CommandRefused, Driver
from flowstudio.studio.keymap import key_of
from flowstudio.studio.tour import DECISION, FLOW, Tour

if TYPE_CHECKING:
    from flowstudio.models.llm import LLM
    from flowstudio.studio.run_desk import Handler, RunDesk
    from flowstudio.studio.screen import StudioScreen
    from flowstudio.studio.tour_bar import TourBar
    from flowstudio.studio.welcome import Wish


class WelcomeDesk:
    """Welcome and tour.

    Args:
        do: carries out a command of the table, by its id.
    """

    def __init__(
        self, screen: StudioScreen, driver: Driver, desk: RunDesk, do: Callable[[str], object]
    ) -> None:
        self._screen = screen
        self._driver = driver
        self._desk = desk
        self._do = do
        self._bar: TourBar | None = None
        self._llm: LLM | None = None
        """The model that answered before the tour."""

    def commands(self) -> dict[str, Handler]:
        """The commands that the desk carries out, by the id in the table of commands."""
        return {"view.welcome": self.welcome}

    def greet(self) -> None:
        """Show the welcome to who has nothing here yet: at the first start, and without a model."""
        from flowstudio.studio.welcome import was_welcomed

        options, session = self._screen.options, self._driver.session
        if not options.welcome or options.path is not None or options.attach is not None:
            return
        if any(skill.scope != "builtin" for skill in self._screen.library.skills):
            return
        llm = session.llm if session is not None else None
        has_model = llm is not None and llm.answers_as == "model"
        if not was_welcomed() or not has_model:
            self.welcome()

    def welcome(self) -> None:
        """Show the welcome; while a tour is on, leave the tour."""
        from flowstudio.studio.welcome import WelcomeScreen, keep_welcomed

        if self._bar is not None:
            self.leave_tour()
            return
        keep_welcomed()
        self._screen.app.push_screen(WelcomeScreen(), self._take_wish)

    def _take_wish(self, wish: Wish | None) -> None:
        match wish:
            case "tour":
                self.start_tour()
            case "new":
                self._do("edit.new")
            case "flows":
                self._do("view.filter")
            case _:
                pass

    def start_tour(self) -> None:
        """Begin the tour of the bundled flow, in rehearsal."""
        from flowstudio.studio.tour_bar import TourBar

        if self._driver.is_running:
            self._desk.refuse(
                CommandRefused(f"a run is on: {key_of('run.stop')} stops it, then take the tour")
            )
            return
        library = self._screen.library.skills
        # A copy of it in the folder has the name first, and will do as well.
        skill = next((one for one in library if one.name == FLOW), None)
        if skill is None or skill.flow is None or DECISION not in skill.flow.nodes:
            self._desk.refuse(
                CommandRefused("the bundled flow “tour” is not here, or another has its name")
            )
            return
        if self._bar is not None:
            self.leave_tour()
        rehearse = self._rehearse()
        self._screen.run_worker(rehearse, group="tour", exclusive=True, exit_on_error=False)
        self._driver.state = None
        self._screen.pick_skill(skill)
        self._bar = TourBar(Tour())
        self._screen.mount(self._bar)

    async def _rehearse(self) -> None:
        """The tour costs nothing, even where a model could answer."""
        from flowstudio.models.build import build_model
        from flowstudio.models.registry import rehearsal_option

        # Whoever is quicker than the session: a run waits for it too, and later than this does.
        await self._driver.ready.wait()
        session = self._driver.session
        if session is None or session.llm is None or session.llm.answers_as != "model":
            return
        if self._bar is None:
            return  # the tour was left meanwhile
        self._llm = session.llm
        rehearsal = await build_model(
            rehearsal_option(), session.runtime.config, answerer=self._driver.user_as_model()
        )
        session.set_model(rehearsal)
        self._screen.show_model(rehearsal.name)

    def hear(self) -> None:
        """Something changed: the guide goes on, if that was what it waited for."""
        if self._bar is None:
            return
        shown, run = self._screen.skill, self._driver.skill
        is_toured = run is not None and run.name == FLOW and shown is not None
        state = self._driver.state if is_toured else None
        self._bar.tour.hear(state, looks_back=self._driver.look is not None)
        if self._bar.is_mounted:
            self._bar.show()

    def leave_tour(self) -> None:
        """End the tour; a run that is on goes on."""
        if self._bar is not None:
            self._bar.remove()
            self._bar = None
        if self._llm is not None and self._driver.session is not None:
            self._driver.session.set_model(self._llm)
            self._screen.show_model(self._llm.name)
            self._llm = None
