"""Keeps the terminal's title true, calls the user who looks elsewhere, and takes pictures.

The desk owns no widget. It writes to the terminal past the screen.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from flowstudio.studio.notify import AWAY, Means, call_user, calls_for_user
from flowstudio.studio.title import RESTORE, SAVE, has_title, set_title, title_for
from flowstudio.text import harmless

if TYPE_CHECKING:
    from textual.app import App
    from textual.screen import Screen

    from flowstudio.run.state import RunState
    from flowstudio.studio.run_desk import Handler


class NotifyDesk:
    """The studio's signs outside of its screen.

    Args:
        write: takes what goes to the terminal; by default the app's own driver does.
    """

    def __init__(
        self,
        screen: Screen[None],
        *,
        write: Callable[[str], object] | None = None,
        environ: Mapping[str, str] = os.environ,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._screen = screen
        self._write = write or self._write_to_driver
        self._environ = environ
        self._now = now
        self.means: Means = "auto"
        self.has_title = has_title(environ)
        self._title = ""
        self._waits = ""
        self._touched = now()

    @property
    def _app(self) -> App[Any]:
        return cast("App[Any]", self._screen.app)

    def commands(self) -> dict[str, Handler]:
        """The commands that the desk carries out, by the id in the table of commands."""
        return {"view.picture": self.take_picture}

    def touch(self) -> None:
        """The user pressed a key or clicked: they are here."""
        self._touched = self._now()

    def follow(self, state: RunState | None) -> None:
        """The run went on: say so in the title, and call the user if it waits for them."""
        title = title_for(state)
        if self.has_title and title != self._title:
            if not self._title:
                self._write(SAVE)
            self._title = title
            self._write(set_title(title))
        self._waits, new = calls_for_user(self._waits, state)
        if new and self._is_away:
            self._write(call_user(new, self.means, self._environ))

    def leave(self) -> None:
        """Give the terminal its title back."""
        if self._title:
            self._title = ""
            self._write(RESTORE)

    @property
    def _is_away(self) -> bool:
        return not self._app.app_focus or self._now() - self._touched >= AWAY

    def take_picture(self) -> None:
        """Save the screen as SVG, and say where."""
        from flowstudio import paths

        app = self._app
        folder = paths.data_dir() / "pictures"
        name = f"{datetime.now():%Y%m%d-%H%M%S-%f}.svg"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            made = app.save_screenshot(name, str(folder))
        except OSError as error:
            text = harmless(f"the picture could not be saved: {error}")
            app.notify(text, severity="error", markup=False)
            return
        app.notify(
            harmless(f"picture saved: {paths.show_path(Path(made))}"), markup=False, timeout=8
        )

    def _write_to_driver(self, text: str) -> None:
        driver = cast("Any", self._app)._driver
        if driver is not None:
            driver.write(text)
            driver.flush()
