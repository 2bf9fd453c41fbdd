"""The studio's screen as text: its characters, and below them a map of how each cell looks.

Colours are named by the roles of the theme in force (`now on surface`), so that a theme whose
colours change leaves the map as it is. A row of the map is a letter and a number for each stretch
of cells that look the same; the legend says what each letter means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from string import ascii_letters, digits
from typing import Any

from rich.cells import cell_len
from rich.color import Color
from rich.style import Style

from flowstudio.theme import ROLES

_LETTERS = ascii_letters + digits + "!$%&*+=?@~^"
_ORDER = ("text", "background", "surface", "panel", *ROLES)
"""Where two roles have one colour, the first of these names it."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One screen: its lines, the map of its styles, and what the map's letters mean."""

    lines: tuple[str, ...]
    looks: tuple[str, ...]
    legend: tuple[str, ...]

    def text(self) -> str:
        """The characters, as one text."""
        return "\n".join(self.lines)


def read_cells(app: Any) -> Picture:
    """What the app shows now."""
    names = _names(app.theme_variables)
    letters: dict[str, str] = {}
    lines: list[str] = []
    looks: list[str] = []
    for strip in app.screen._compositor.render_strips():
        segments = [one for one in strip if one.text]
        lines.append("".join(one.text for one in segments).rstrip())
        cells = [(_look(one.style, names), cell_len(one.text)) for one in segments]
        looks.append("".join(_stretches(cells, letters)))
    return Picture(tuple(lines), tuple(looks), tuple(f"{v} {k}" for k, v in letters.items()))


def _names(variables: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for role in _ORDER:
        if colour := variables.get(f"role-{role}"):
            found.setdefault(colour.lower(), role)
    return found


def _stretches(cells: list[tuple[str, int]], letters: dict[str, str]) -> Iterator[str]:
    for look, run in groupby(cells, key=lambda cell: cell[0]):
        if look not in letters:
            at = len(letters)
            letters[look] = _LETTERS[at] if at < len(_LETTERS) else f"<{at}>"
        yield f"{letters[look]}{sum(width for _, width in run)}"


def _look(style: Style | None, names: Mapping[str, str]) -> str:
    if style is None:
        return "plain"
    words = [
        word
        for word in ("bold", "dim", "italic", "underline", "reverse", "strike")
        if getattr(style, word)
    ]
    front, ground = _name(style.color, names), _name(style.bgcolor, names)
    return " ".join([front, *words, "on", ground])


def _name(colour: Color | None, names: Mapping[str, str]) -> str:
    if colour is None or colour.is_default:
        return "default"
    value = colour.get_truecolor().hex.lower()
    return names.get(value, value)


def write_scene(name: str, pictures: Mapping[tuple[str, str], Picture]) -> str:
    """The pictures of one scene, by size and theme: what is the same in all themes stands once."""
    parts = [f"# {name}"]
    for size, of_size in groupby(pictures.items(), key=lambda item: item[0][0]):
        themes = [(key[1], picture) for key, picture in of_size]
        lines = looks = None
        for theme, picture in themes:
            if picture.lines != lines:
                lines = picture.lines
                parts += [f"\n## {size}, {theme}", *lines]
            if picture.looks != looks:
                looks = picture.looks
                parts += [f"### {size}, {theme}: looks", *looks]
            parts += [f"### {size}, {theme}: letters", "; ".join(picture.legend)]
    return "\n".join(parts) + "\n"
