"""The app: themes, the palette and the main screen. It composes and routes; it owns no logic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App, SystemCommand
from textual.events import Event, Key, MouseDown
from textual.filter import LineFilter
from textual.screen import Screen

from flowstudio.studio.driver import StudioOptions
from flowstudio.studio.glyphs import GlyphFilter, glyphs_for, has_few_colours
from flowstudio.studio.hangup import INTERVAL, end_if_gone
from flowstudio.studio.keymap import Keymap, read_keymap
from flowstudio.studio.screen import StudioScreen
from flowstudio.studio.scroll_bars import use_thin_bars
from flowstudio.studio.theme import (
    DEFAULT,
    FEW_COLOURS,
    default_theme,
    load_themes,
    role_variables,
)
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
        use_thin_bars()
        self._glyphs = GlyphFilter("unicode" if self.is_headless else glyphs_for("auto"))
        self._transparent = False
        self.register_theme(default_theme())
        self.theme = DEFAULT

    def get_default_screen(self) -> Screen[None]:
        """The studio's screen."""
        return self._main

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Textual's, and the one for terminals with few signs, which comes last."""
        filters = super().get_line_filters()
        return [*filters, self._glyphs] if self._glyphs.enabled else filters

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The colour roles, for themes that do not know them (Textual's own)."""
        return role_variables()

    def on_mount(self) -> None:
        """Themes are read from the disk after the first paint, or at once if one is asked for."""
        if not self.is_headless:
            self.set_interval(INTERVAL, end_if_gone)
        if self.options.theme is not None:
            self.take_themes(self.options.theme)
        elif not self.is_headless and has_few_colours():
            self.take_themes(FEW_COLOURS)
        else:
            self.call_after_refresh(self.take_themes, None)

    def take_themes(self, wanted: str | None) -> None:
        """Register the themes of the bundled and the user's folder, and switch to `wanted`."""
        loaded = load_themes(transparent=self._transparent)
        for theme in loaded.themes:
            self.register_theme(theme)
        for problem in loaded.problems:
            text = harmless(f"theme not read: {problem}")
            self.notify(text, severity="warning", markup=False, timeout=8)
        if wanted is None:
            return
        if wanted in self.available_themes:
            is_same, self.theme = wanted == self.theme, wanted
            if is_same:
                # By the same name, but perhaps in other colours.
                self.mutate_reactive(App[None].theme)
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
        self._main.signs.means = config.notify
        self._main.signs.has_title &= config.title
        if config.glyphs != "auto":
            self._glyphs = GlyphFilter(glyphs_for(config.glyphs))
            self.refresh_css(animate=False)
        self._transparent = config.transparent
        if config.transparent:
            self.ansi_color = True
        wanted = config.theme if self.options.theme is None else None
        if wanted or config.transparent:
            self.take_themes(wanted or self.theme)

    def action_change_theme(self) -> None:
        """Choose a theme; each shows as it is looked at."""
        from flowstudio.studio.theme_dialog import ThemeDialog

        loaded = load_themes(transparent=self._transparent)
        self.push_screen(ThemeDialog([theme.name for theme in loaded.themes]), self._theme_taken)

    def _theme_taken(self, name: str | None) -> None:
        if name is not None:
            self.notify(f"theme: {harmless(name)} in the configuration keeps it", markup=False)

    async def on_event(self, event: Event) -> None:
        """Whoever presses keys or clicks is there, and need not be called."""
        if isinstance(event, Key | MouseDown):
            self._main.signs.touch()
        await super().on_event(event)

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
