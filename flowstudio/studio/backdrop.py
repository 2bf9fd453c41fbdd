"""What a dialog stands on: the screen below it, dimmed."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.color import TRANSPARENT
from textual.renderables.background_screen import BackgroundScreen
from textual.strip import Strip
from textual.visual import Visual

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from textual.color import Color
    from textual.css.styles import RulesMap
    from textual.style import Style as VisualStyle
    from textual.visual import RenderOptions

type _Line = list[Segment]


class Backdrop(Visual):
    """A screen behind a dialog, looked at anew only when it says that it has changed; lines that
    look as they did keep their picture.

    Textual composes that screen and dims each stretch of it in each of the frames in which a dialog
    opens, which takes half of their time.
    """

    def __init__(self, console: Console) -> None:
        self.is_stale = True
        """The screen may look otherwise than in the picture."""
        self._console = console
        self._below: BackgroundScreen | None = None
        self._dimmed: dict[Style | None, Style | None] = {}
        """Styles as they look through `_colour`, over `_base`."""
        self._colour: Color = TRANSPARENT
        self._base: Style | None = None
        self._lines: list[_Line] = []
        self._strips: list[Strip] = []
        self._size: tuple[int, int | None] = (0, 0)

    def show(self, below: BackgroundScreen) -> None:
        """This is to be shown: a screen, and the colour through which it is seen."""
        if below.color != self._colour:
            self._colour = below.color
            self._forget()
        if self._below is None or self._below.screen is not below.screen:
            # Without a colour Textual gives the lines as they are.
            self._below = BackgroundScreen(below.screen, TRANSPARENT)
            self.is_stale = True

    def render_strips(
        self, width: int, height: int | None, style: VisualStyle, options: RenderOptions
    ) -> list[Strip]:
        """The picture."""
        if style.rich_style != self._base:
            self._base = style.rich_style
            self._forget()
        if not self.is_stale and self._size == (width, height):
            return self._strips
        self.is_stale, self._size = False, (width, height)
        lines = list(self._read(width, height))
        pairs = zip_longest(lines, self._lines, self._strips)
        self._strips = [
            strip if line == before and strip is not None else self._dim(line)
            for line, before, strip in pairs
            if line is not None
        ]
        self._lines = lines
        return self._strips

    def _forget(self) -> None:
        """Nothing looks as it did."""
        self._dimmed.clear()
        self._lines.clear()
        self.is_stale = True

    def _read(self, width: int, height: int | None) -> Iterator[_Line]:
        """The lines of the screen below."""
        if self._below is None:
            return
        how = self._console.options.update(highlight=False, width=width, height=height)
        line: _Line = []
        for segment in self._console.render(self._below, how):
            if segment.text == "\n":
                yield line
                line = []
            else:
                line.append(segment)

    def _dim(self, line: _Line) -> Strip:
        return Strip([Segment(text, self._look(style)) for text, style, _ in line])

    def _look(self, style: Style | None) -> Style | None:
        if style not in self._dimmed:
            dimmed = BackgroundScreen.process_segments([Segment(" ", style)], self._colour)
            (seen,) = Segment.apply_style(dimmed, self._base)
            self._dimmed[style] = seen.style
        return self._dimmed[style]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """All there is."""
        return container_width

    def get_height(self, rules: RulesMap, width: int) -> int:
        """As many lines as there are."""
        return len(self._lines)
