"""Scroll bars as a thin line: a whole row in colour would be the loudest thing on the screen."""

from __future__ import annotations

from typing import Any, override

from rich.color import Color
from rich.segment import Segment, Segments
from rich.style import Style
from textual.scrollbar import ScrollBar, ScrollBarRender

_GRIP = "grab"
_NONE = Color.default()


class ThinBar(ScrollBarRender):
    """Textual's bar, drawn with strokes."""

    @override
    @classmethod
    def render_bar(
        cls,
        size: int = 25,
        virtual_size: float = 50,
        window_size: float = 20,
        position: float = 0,
        thickness: int = 1,
        vertical: bool = True,
        back_color: Color = _NONE,
        bar_color: Color = _NONE,
    ) -> Segments:
        """The bar's cells: where it can be taken, a stroke."""
        made: Any = super().render_bar(
            size, virtual_size, window_size, position, thickness, vertical, back_color, bar_color
        )
        stroke = ("┃" if vertical else "━") * (thickness if vertical else 1)
        cells: list[Segment] = []
        for cell in made.segments:
            style: Style | None = cell.style
            meta = style.meta if style else {}
            if style is not None and meta.get("@mouse.down") == _GRIP:
                line = Style(color=bar_color, bgcolor=back_color, meta=meta)
                cells.append(Segment(stroke, line))
            else:
                cells.append(cell)
        return Segments(cells, new_lines=vertical)


def use_thin_bars() -> None:
    """From now on every scroll bar is thin."""
    ScrollBar.renderer = ThinBar
