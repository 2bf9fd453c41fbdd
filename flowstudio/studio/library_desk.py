"""The skills of the studio: reads them, follows the disk, and shows the one that is chosen.

The desk owns no widget. It acts on the panes, and speaks to the user through the screen.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio.studio.driver import Driver
from flowstudio.text import harmless

if TYPE_CHECKING:
    from flowstudio.skill import Skill
    from flowstudio.studio.screen import StudioScreen


class LibraryDesk:
    """Keeps what is listed and what is drawn in step with the disk."""

    def __init__(self, screen: StudioScreen, driver: Driver) -> None:
        self._screen = screen
        self._driver = driver

    def open(self) -> None:
        """Read the skills, then follow the disk for as long as the studio is open."""
        self._screen.run_worker(self._open(), group="library", exit_on_error=False)

    async def _open(self) -> None:
        from flowstudio.skill import SkillError

        screen, library = self._screen, self._screen.library
        try:
            catalogue = await library.load()
        except SkillError as error:
            screen.app.exit(return_code=2, message=f"flowstudio: {harmless(str(error))}")
            return
        selected = library.selected
        first = catalogue.at(selected) if selected else None
        pane = screen.browser
        pane.work_dir = library.work_dir
        pane.show_skills(catalogue.skills, first.name if first else self._first_flow())
        if not catalogue.skills:
            screen.be_drawn()  # there is nothing to wait for
        for problem in catalogue.findings:
            screen.notify(harmless(str(problem)), severity="warning", markup=False)
        async for changed in library.changes():
            self.follow_disk(changed)

    def _first_flow(self) -> str | None:
        """The user's own flow before a bundled one, and one that can be run before a broken one."""
        flows = [skill for skill in self._screen.library.skills if skill.declared_type == "flow"]
        flows.sort(key=lambda skill: (skill.scope == "builtin", skill.flow is None))
        return flows[0].name if flows else None

    def choose(self, skill: Skill) -> None:
        """Another skill is selected in the list: show it, as its author has it."""
        self._screen.show_skill(self._screen.author.show(skill))

    def pick(self, skill: Skill) -> None:
        """Select a skill in the list, and show it."""
        self.select(skill)
        self._screen.show_skill(skill)
        self._screen.show_pane("flow")

    def select(self, skill: Skill) -> None:
        """Select a skill in the list."""
        self._screen.browser.show_skills(self._screen.library.skills, skill.name)

    def follow_disk(self, changed: set[Path]) -> None:
        """Files changed: the catalogue is new already; show what concerns us, the picture first."""
        screen = self._screen
        catalogue, author = screen.library.catalogue, screen.author
        assert catalogue is not None
        shown = screen.skill
        same = catalogue.at(shown.path) if shown else None
        author.follow(changed, catalogue.at)
        if same is not None and same.path in changed:
            screen.show_skill(author.shown_now(same))
        run_skill = self._driver.skill
        if run_skill is not None and run_skill.path in changed:
            now = catalogue.at(run_skill.path)
            if now is not None and not now.errors:
                self._driver.reload(now)
        if wanted := author.take_wanted(catalogue.at):
            if same is not None:
                screen.call_after_refresh(screen.show_pane, "source")
            else:  # its folder was renamed, and the list still has its name
                screen.show_skill(author.show(wanted))
            same = wanted
        same = author.take_lost(catalogue.at) or same
        screen.browser.show_skills(catalogue.skills, same.name if same else None)
        if self._driver.session is not None:
            self._driver.session.runtime.skills = catalogue.skills
            self._driver.session.soul.rebuild_slash_commands()
            screen.talk.offer_commands()
