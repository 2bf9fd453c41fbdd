"""The app: themes, the palette and the main screen. It composes and routes; it owns no logic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App, SystemCommand
from textual.events import Event, Key, MouseDown, Paste
from textual.filter import LineFilter
from textual.screen import Screen

from flowstudio.studio.glyphs import GlyphFilter, glyphs_for, has_few_colours
from flowstudio.studio.hangup import INTERVAL, end_if_gone
from flowstudio.studio.housekeeping import Housekeeping
from flowstudio.studio.key_order import Arrived, KeyOrder
from flowstudio.studio.keymap import Keymap, read_keymap, use_keymap
from flowstudio.studio.options import StudioOptions
from flowstudio.studio.screen import StudioScreen
from flowstudio.studio.scroll_bars import use_thin_bars
from flowstudio.studio.theme import (
    DEFAULT,
    FEW_COLOURS,
    default_theme,
    load_themes,
    one_theme,
    remember_theme,
    remembered_theme,
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
        use_keymap(self.keymap)
        use_thin_bars()
        self._house = Housekeeping()
        self._keys = KeyOrder(self, super().on_event)
        is_free = self.is_headless and options.glyphs is None
        self._glyphs = GlyphFilter(glyphs_for("unicode" if is_free else options.glyphs or "auto"))
        self._transparent = False
        self._configured_theme: str | None = None
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
            self.call_after_refresh(self._house.begin)
        if self.options.theme is not None:
            self.take_themes(self.options.theme)
        elif not self.is_headless and has_few_colours():
            self.take_themes(FEW_COLOURS)
        else:
            if (chosen := one_theme(remembered_theme() or "")) is not None:
                self.register_theme(chosen)
                self.theme = chosen.name
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
            use_keymap(self.keymap)
            self.set_keymap(dict(self.keymap.changes))
            for problem in self.keymap.problems:
                self.notify(harmless(problem), severity="warning", markup=False, timeout=10)
        self._main.signs.means = config.notify
        self._main.signs.has_title &= config.title
        if config.glyphs != "auto" and self.options.glyphs is None:
            self._glyphs = GlyphFilter(glyphs_for(config.glyphs))
            self.refresh_css(animate=False)
        self._transparent = config.transparent
        if config.transparent:
            self.ansi_color = True
        self._configured_theme = config.theme
        wanted = config.theme if self.options.theme is None else None
        if wanted or config.transparent:
            self.take_themes(wanted or self.theme)

    def action_change_theme(self) -> None:
        """Choose a theme; each shows as it is looked at."""
        from flowstudio.studio.theme_dialog import ThemeDialog

        loaded = load_themes(transparent=self._transparent)
        self.push_screen(ThemeDialog([theme.name for theme in loaded.themes]), self._theme_taken)

    def _theme_taken(self, name: str | None) -> None:
        if name is None:
            return
        said = remember_theme(name) or f"{name} is remembered for the next start"
        if self._configured_theme is not None:
            said = f"{name} until the end: the configuration says theme: {self._configured_theme}"
        self.notify(harmless(said), markup=False)

    async def on_event(self, event: Event) -> None:
        """Whoever presses keys or clicks is there, and need not be called."""
        if isinstance(event, Key | MouseDown):
            if self._main.furnished.is_set():
                self._main.signs.touch()
            self._house.touch()
        if not isinstance(event, Key | Paste):
            await super().on_event(event)
        elif not event.is_forwarded:
            await self._keys.press(event)
        else:
            await super().on_event(event)
            await self._keys.arrived(event)

    async def on_keys_arrived(self, message: Arrived) -> None:
        """Whoever had the focus has dealt with a key."""
        await self._keys.arrived(message.key)

    def on_unmount(self) -> None:
        """Whoever started the app has its own way with the collector."""
        self._house.end()

    async def action_quit(self) -> None:
        """Quit, once it is said what becomes of what is not saved."""
        if self._main.furnished.is_set():
            self._main.author.leave(self.exit)
        else:
            self.exit()

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Textual's commands that serve here, and all of ours."""
        ours: Callable[[], Iterable[SystemCommand]] | None
        if (ours := getattr(screen, "palette_commands", None)) is not None:
            yield from ours()
        for command in super().get_system_commands(screen):
            if command.title in ("Theme", "Quit", "Screenshot"):
                yield command
