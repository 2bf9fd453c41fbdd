"""Other characters for terminals that have few: done once, on the finished lines of the screen.

Each sign is replaced by one of the same width, so nothing is laid out anew, and whatever draws,
ours or Textual's, need not know of it. Letters of any script stay as they are.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal, override

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

type Glyphs = Literal["unicode", "console", "ascii"]
"""All signs; those that the Linux console's font has; those of ASCII."""


def _table(*pairs: tuple[str, str]) -> dict[int, str]:
    table: dict[int, str] = {}
    for signs, stand_ins in pairs:
        whole = stand_ins * len(signs) if len(stand_ins) == 1 else stand_ins
        table.update(zip(map(ord, signs), whole, strict=True))
    return table


_CONSOLE = _table(
    ("╭╮╰╯", "┌┐└┘"),
    ("━╌╍╴╶╸╺▔▁", "─"),
    ("┃╎╏╵╷╹╻▏▕▎▍", "│"),
    ("┏┓┗┛", "┌┐└┘"),
    ("┣┫┳┻╋", "├┤┬┴┼"),
    ("┝┠┥┨┯┰┷┸┿╂", "├├┤┤┬┬┴┴┼┼"),
    ("╞╟╡╢╤╥╧╨╪╫", "├├┤┤┬┬┴┴┼┼"),
    ("▶▷►▸▹", ">"),
    ("◀◁◄◂◃‹", "<"),
    ("›", ">"),
    ("△▴", "▲"),
    ("▽▾", "▼"),
    ("✓✔", "√"),
    ("✗✘", "x"),
    ("⏸", "║"),
    ("⇢→", ">"),
    ("●◉■", "■"),
    ("○◇", "o"),
    ("◆", "♦"),
    ("⚙⌕", "*?"),
    ("↻", "@"),
    ("▰▱", "█░"),
    ("▌▐▊▋▉", "█"),
    ("▂▃▄▅▆▇", "▄"),
    ("▖▗▘▝", "░"),
    ("…×“”‘’–—", ".x\"\"''--"),
)
"""For the Linux console (`TERM=linux`), whose usual fonts have the 256 signs of code page 437."""
_ASCII = _table(
    ("─━═╌╍╴╶╸╺▔▁‾", "-"),
    ("│┃║╎╏╵╷╹╻▏▕▎▍", "|"),
    ("┌┐└┘┏┓┗┛╭╮╰╯╔╗╚╝", "+"),
    ("├┤┬┴┼┣┫┳┻╋┝┠┥┨┯┰┷┸┿╂╞╟╡╢╤╥╧╨╪╫╠╣╦╩╬", "+"),
    ("▶▷►▸▹›⇢→", ">"),
    ("◀◁◄◂◃‹←", "<"),
    ("▲△▴↑", "^"),
    ("▼▽▾↓", "v"),
    ("✓✔", "+"),
    ("✗✘", "x"),
    ("⏸", "="),
    ("●◉■", "@"),
    ("○◇◦·•", "o:..*"),
    ("◆", "*"),
    ("⚙⌕", "$?"),
    ("↻", "@"),
    ("▰▱", "#-"),
    ("█▉▊▋▌▐▇▆▅▄▃▂", "#"),
    ("░▒▓", ":"),
    ("√♦╳▪␤", "+*X*~"),
    ("▖▗▘▝▙▛▜▟▚▞▀", "#"),
    ("…×“”‘’–—", ".x\"\"''--"),
)
_TABLES: Mapping[Glyphs, Mapping[int, str]] = {
    "console": _CONSOLE,
    "ascii": {**_ASCII, **dict.fromkeys(range(0x2800, 0x2900), ":"), 0x2800: " "},
}


class GlyphFilter(LineFilter):
    """Replaces the signs that a terminal does not have."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(enabled=glyphs in _TABLES)
        self._table = _TABLES.get(glyphs, {})

    @override
    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same segments in other signs."""
        table = self._table
        return [
            segment
            if segment.text.isascii()
            else Segment(segment.text.translate(table), segment.style, segment.control)
            for segment in segments
        ]


def glyphs_for(wanted: str, environ: Mapping[str, str] | None = None) -> Glyphs:
    """The signs to use: as wanted, or with `auto` what the terminal is known to have."""
    if wanted in ("unicode", "console", "ascii"):
        return wanted
    env = os.environ if environ is None else environ
    if env.get("TERM") == "dumb":
        return "ascii"
    if env.get("LC_ALL") in ("C", "POSIX"):
        return "ascii"
    return "console" if env.get("TERM") == "linux" else "unicode"


def has_few_colours(environ: Mapping[str, str] | None = None) -> bool:
    """Whether the terminal says that it has 16 colours at most (Rich's own rule)."""
    env = os.environ if environ is None else environ
    if env.get("COLORTERM", "").strip().casefold() in ("truecolor", "24bit"):
        return False
    system = env.get("TEXTUAL_COLOR_SYSTEM", "auto")
    if system != "auto":
        return system == "standard"
    term = env.get("TERM", "")
    return bool(term) and term.rpartition("-")[2] not in ("256color", "kitty", "direct")
