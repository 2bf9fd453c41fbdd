"""Looking: zoom, map, search, help, palette, and the changes that wait to be looked at.

The desk owns no widget. It acts on the panes, and speaks to the user through the screen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported, SystemCommand

from flowstudio.studio.keymap import key_of
from flowstudio.studio.scoped import palette_of, show_help
from flowstudio.text import harmless

if TYPE_CHECKING:
    from flowstudio.studio.run_desk import Handler
    from flowstudio.studio.screen import StudioScreen


class ViewDesk:
    """Commands that change what is seen, not what is."""

    def __init__(self, screen: StudioScreen) -> None:
        self._screen = screen
        self._waiting_changes = 0
        """Changes to the library that the user was told of."""

    def commands(self) -> dict[str, Handler]:
        """The commands that the desk carries out, by the id in the table of commands."""
        pane = self._screen.bench.pane
        return {
            "view.zoom": pane.next_zoom,
            "view.zoom_in": partial(pane.zoom_by, 1),
            "view.zoom_out": partial(pane.zoom_by, -1),
            "view.fit": pane.fit,
            "view.map": self.toggle_map,
            "view.follow": self._screen.bench.toggle_follow,
            "view.find": self.find,
            "view.next": partial(pane.find_next, 1),
            "view.previous": partial(pane.find_next, -1),
            "view.filter": self.filter,
            "view.review": self.review,
            "view.talk": partial(self._screen.show_pane, "chat"),
            "edit.file": self.edit_file,
            "help": self.help,
        }

    def toggle_map(self) -> None:
        """Show or hide the map."""
        if said := self._screen.bench.pane.toggle_map():
            self._screen.notify(said, timeout=2)

    def find(self) -> None:
        """Look for something in the pane in use: a node, or a skill."""
        if self._screen.pane == "skills":
            self.filter()
        else:
            self._screen.show_pane("flow")
            self._screen.bench.pane.find()

    def filter(self) -> None:
        """Filter the skills."""
        self._screen.show_pane("skills")
        self._screen.browser.focus_filter()

    def edit_file(self) -> None:
        """Open the skill's file in the user's editor, the studio suspended meanwhile."""
        screen = self._screen
        if screen.skill is None:
            return
        from flowstudio.studio.editor import edit

        try:
            with screen.app.suspend():
                edit(screen.skill.path)
        except (OSError, SuspendNotSupported) as error:
            screen.notify(harmless(str(error)), severity="error", markup=False)
        screen.refresh(layout=True)

    # The changes to the library

    def review(self) -> None:
        """Show the changes to the library that wait for an answer."""
        from flowstudio.studio.review_dialog import ReviewDialog

        self._screen.app.push_screen(ReviewDialog(self._screen.library.work_dir))

    def tell_changes(self) -> None:
        """The end of a task may have proposed changes: say so once, with the key."""
        self._screen.run_worker(
            self._count_changes(), group="changes", exclusive=True, exit_on_error=False
        )

    async def _count_changes(self) -> None:
        from flowstudio.studio.review_dialog import count_waiting

        count = await asyncio.to_thread(count_waiting)
        if count > self._waiting_changes:
            what = "change waits" if count == 1 else "changes wait"
            key = key_of("view.review")
            self._screen.notify(f"{count} {what} for the library: {key} shows them", markup=False)
        self._waiting_changes = count

    # Keys by name

    def help(self) -> None:
        """Show all keys."""
        show_help(self._screen, self._screen.place_in_use, self._screen.action_command)

    def palette_commands(self) -> Iterable[SystemCommand]:
        """Every command by name, for the palette."""
        return palette_of(self._screen, "studio", self._screen.action_command)
