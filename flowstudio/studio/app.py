"""The app: themes, the palette and the main screen. It composes and routes; it owns no logic."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App, SystemCommand
from textual.screen import Screen

from flowstudio.studio.driver import StudioOptions
from flowstudio.studio.hangup import INTERVAL, end_if_gone
from flowstudio.studio.keymap import Keymap, read_keymap
from flowstudio.studio.screen import StudioScreen
from flowstudio.studio.theme import DEFAULT, default_theme, load_themes, role_variables
from flowstudio.text import harmless

if TYPE_CHECKING:
    from flowstudio.config import Config


class StudioApp(App[None]):
    """Flow Studio."""

    TITLE = "Flow Studio"
    CSS_PATH = Path(__file__).parent / "screen.tcss"
    ENABLE_COMMAND_PALETTE = True
    HORIZONTAL_BREAKPOINTS: list[tuple[int, str]] | None = [  # noqa: RUF012
        (0, "-narrow"),
        (81, "-middle"),
        (120, "-wide"),
    ]
    VERTICAL_BREAKPOINTS: list[tuple[int, str]] | None = [  # noqa: RUF012
        (0, "-flat"),
        (14, "-low"),
        (30, "-tall"),
    ]

    def __init__(self, options: StudioOptions) -> None:
        super().__init__()
        self.options = options
        self._main = StudioScreen(options)
        self.keymap = Keymap()
        """The keys in force, where they are not those of the table of commands."""
        self.register_theme(default_theme())
        self.theme = DEFAULT

    def get_default_screen(self) -> Screen[None]:
        """The studio's screen."""
        return self._main

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The colour roles, for themes that do not know them (Textual's own)."""
        return role_variables()

    def on_mount(self) -> None:
        """Themes are read from the disk after the first paint, or at once if one is asked for."""
        if not self.is_headless:
            self.set_interval(INTERVAL, end_if_gone)
        if self.options.theme is not None:
            self.take_themes(self.options.theme)
        else:
            self.call_after_refresh(self.take_themes, None)

    def take_themes(self, wanted: str | None) -> None:
        """Register the themes of the bundled and the user's folder, and switch to `wanted`."""
        loaded = load_themes()
        for theme in loaded.themes:
            self.register_theme(theme)
        for problem in loaded.problems:
            text = harmless(f"theme not read: {problem}")
            self.notify(text, severity="warning", markup=False, timeout=8)
        if wanted is None:
            return
        if wanted in self.available_themes:
            self.theme = wanted
        else:
            names = ", ".join(sorted(theme.name for theme in loaded.themes))
            text = harmless(f"there is no theme “{wanted}”; there are {names}")
            self.notify(text, severity="warning", markup=False, timeout=8)

    def take_config(self, config: Config) -> None:
        """Settings are read once the screen stands: the theme and the keys are among them."""
        if config.keys:
            self.keymap = read_keymap(config.keys)
            self.set_keymap(dict(self.keymap.changes))
            for problem in self.keymap.problems:
                self.notify(harmless(problem), severity="warning", markup=False, timeout=10)
        if config.theme and self.options.theme is None:
            self.take_themes(config.theme)

    async def action_quit(self) -> None:
        """Quit, once it is said what becomes of what is not saved."""
        self._main.author.leave(self.exit)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Textual's commands that serve here, and all of ours."""
        if isinstance(screen, StudioScreen):
            yield from screen.palette_commands()
        for command in super().get_system_commands(screen):
            if command.title in ("Theme", "Quit", "Screenshot"):
                yield command
