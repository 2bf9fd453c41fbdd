"""The studio's themes: those of `flowstudio.theme` as Textual wants them.

The studio's styles name roles only (`$role-now`, `$role-done`, …).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from textual.theme import Theme

from flowstudio import paths
from flowstudio.theme import DARK, DEFAULT as DEFAULT, Colours, find_themes, read_colours

_TERMINAL = "ansi_default"


@dataclass(frozen=True, slots=True)
class Themes:
    """The themes that could be read, and a sentence for each file that could not."""

    themes: tuple[Theme, ...]
    problems: tuple[str, ...]


FEW_COLOURS = "sixteen"
"""The theme for terminals of 16 colours."""
SHOWN_ROLES = ("accent", "now", "done", "forced", "fault")
"""The roles by which a list of themes shows them."""


def default_theme() -> Theme:
    """The built-in default, the same as `themes/studio-dark.yaml`."""
    return make_theme(Colours(DEFAULT, DARK))


def load_themes(folders: Iterable[Path] | None = None, *, transparent: bool = False) -> Themes:
    """Every theme of the folders, later folders winning; a bad file is named and skipped.

    Args:
        folders: where they lie; the bundled and the user's own folder when left out.
        transparent: with the terminal's own background.
    """
    found = find_themes(folders)
    themes = tuple(make_theme(one, transparent=transparent) for one in found.themes)
    return Themes(themes, found.problems)


def one_theme(name: str) -> Theme | None:
    """One theme by its name, without a look at the others; None where it cannot be had so."""
    if not name or Path(name).name != name:
        return None
    for folder in (paths.config_dir() / "themes", paths.bundled("themes")):
        file = folder / f"{name}.yaml"
        if file.is_file():
            from yaml import YAMLError

            try:
                found = read_colours(file)
            except (OSError, ValueError, RecursionError, YAMLError):
                return None
            return make_theme(found) if found.name == name else None
    return None


def remembered_theme() -> str | None:
    """The theme that the user chose last; None where none is remembered."""
    try:
        kept: object = json.loads(paths.state_file().read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    name = cast("dict[str, object]", kept).get("theme") if isinstance(kept, dict) else None
    return name if isinstance(name, str) else None


def remember_theme(name: str) -> str:
    """Keep the user's choice for the next start; what went wrong as a sentence, else empty."""
    from flowstudio.studio.memory import load_memory, save_memory

    memory = load_memory()
    memory.theme = name
    return save_memory(memory)


def make_theme(theme: Colours, *, transparent: bool = False) -> Theme:
    """A theme as Textual wants it; `transparent` with the terminal's own background."""
    colours = dict(theme.roles)
    if transparent:
        # Only what covers something else keeps a background of its own.
        colours |= {"background": _TERMINAL, "surface": _TERMINAL}
    return Theme(
        name=theme.name,
        primary=colours["accent"],
        secondary=colours["forced"],
        accent=colours["accent"],
        warning=colours["now"],
        error=colours["fault"],
        success=colours["done"],
        foreground=colours["text"],
        background=colours["background"],
        surface=colours["surface"],
        panel=colours["panel"],
        dark=theme.dark,
        variables={
            **role_variables(theme.roles),
            "footer-background": colours["background"],
            "footer-key-foreground": colours["accent"],
            "footer-description-foreground": colours["muted"],
            "footer-item-background": colours["background"],
            "block-cursor-background": colours["accent"],
            "block-cursor-foreground": theme.roles["background"],
            "border": colours["accent"],
            "border-blurred": colours["line"],
            "scrollbar": colours["line"],
            "scrollbar-hover": colours["dim"],
            "scrollbar-active": colours["accent"],
            "scrollbar-background": colours["background"],
            "scrollbar-corner-color": colours["background"],
            "input-cursor-background": colours["text"],
        },
    )


def role_variables(colours: Mapping[str, str] = DARK) -> dict[str, str]:
    """The roles as style variables: `$role-now`, `$role-done`, …"""
    return {f"role-{role}": colour for role, colour in colours.items()}
