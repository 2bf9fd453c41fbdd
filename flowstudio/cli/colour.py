"""Colour on a terminal: whether there may be any, and how a stretch of text gets it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from flowstudio.drawing.lines import Paint
    from flowstudio.drawing.palette import Ink, Palette

type When = Literal["auto", "always", "never"]

_NAMED = {
    "muted": "bright_black",
    "dim": "bright_black",
    "accent": "blue",
    "now": "yellow",
    "done": "green",
    "forced": "magenta",
    "fault": "red",
}
"""Where there are 16 colours, the terminal's own, which its user has chosen to be legible."""


def find_paint(when: When, palette: Palette, *, to_file: bool = False) -> Paint | None:
    """What colours text for standard output; None where there shall be no colour.

    `auto` colours on a terminal that can show it, and heeds `NO_COLOR` and `TERM=dumb`.
    """
    if when == "never" or (when == "auto" and (to_file or not sys.stdout.isatty())):
        return None
    from rich.color import Color, ColorSystem
    from rich.console import Console
    from rich.style import Style

    console = Console(file=sys.stdout, force_terminal=True)
    if when == "auto" and (console.no_color or console.color_system is None):
        return None
    system = {
        "standard": ColorSystem.STANDARD,
        "256": ColorSystem.EIGHT_BIT,
        "truecolor": ColorSystem.TRUECOLOR,
        "windows": ColorSystem.WINDOWS,
    }[console.color_system or "standard"]
    named = _NAMED if system is ColorSystem.STANDARD else {}
    styles = {
        name: Style(color=Color.parse(named.get(name, colour)), bold=name in ("now", "fault"))
        for name, colour in palette.items()
    }

    def paint(text: str, ink: Ink) -> str:
        # Labels keep the terminal's own colour: its background is not ours to know.
        return text if ink == "text" else styles[ink].render(text, color_system=system)

    return paint
