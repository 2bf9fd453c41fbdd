"""Attaching the studio to a run that another process makes, and leaving it.

The desk owns no widget. It acts on the driver, and speaks to the user through the screen.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio.studio.driver import CommandRefused, Driver
from flowstudio.studio.keymap import key_of
from flowstudio.text import harmless

if TYPE_CHECKING:
    from flowstudio.studio.run_desk import Handler, RunDesk
    from flowstudio.studio.screen import StudioScreen


class AttachDesk:
    """Attach and detach."""

    def __init__(self, screen: StudioScreen, driver: Driver, desk: RunDesk) -> None:
        self._screen = screen
        self._driver = driver
        self._desk = desk

    def commands(self) -> dict[str, Handler]:
        """The commands that the desk carries out, by the id in the table of commands."""
        return {"run.detach": self.detach}

    def attach(self, path: Path) -> None:
        """Watch and steer the run in a folder, which another process makes."""
        self._desk.work(self._attach(path), is_new=False)

    async def _attach(self, path: Path) -> None:
        from flowstudio.run.attach_client import AttachRefused
        from flowstudio.studio.attached import open_attached
        from flowstudio.studio.earlier import Unreadable

        if self._driver.is_running:
            raise CommandRefused(f"a run is on already: {key_of('run.stop')} stops it")
        try:
            remote, earlier = await open_attached(path)
        except (AttachRefused, Unreadable) as error:
            raise CommandRefused(str(error)) from error
        self._screen.show_skill(earlier.skill)
        if earlier.state.current is not None:
            self._screen.bench.stand_on(earlier.state.current)
        name = f"{remote.folder.header.model}, attached"
        self._screen.show_model(name)
        self._screen.call_after_refresh(self._screen.show_news)
        await self._driver.ready.wait()
        self._screen.show_model(name)  # the session, once it stands, tells of its own
        await self._driver.attach(remote, earlier)
        self._screen.show_model(self._driver.model_name)
        if not remote.is_over:
            self._tell(f"detached from {path.name}: the run goes on without this studio")

    def detach(self) -> None:
        """Leave the run of the other process, which goes on."""
        if self._driver.remote is None:
            self._desk.refuse(CommandRefused("this studio is attached to no other process's run"))
            return
        self._driver.remote.detach()

    def _tell(self, text: str) -> None:
        self._screen.notify(harmless(text), markup=False, timeout=8)
