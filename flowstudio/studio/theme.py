"""Colour themes: YAML files in the bundled `themes` folder and in the user's own.

A theme gives each colour a role (`now`, `done`, `forced`, …); the studio's styles name roles only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from textual.theme import Theme

from flowstudio import paths

DEFAULT = "studio-dark"

_DARK = {
    "accent": "#8b7cf6",
    "now": "#f5b83d",
    "done": "#5fbf86",
    "forced": "#e06ab8",
    "fault": "#ef6a6a",
    "text": "#d7dae3",
    "muted": "#7a8094",
    "dim": "#4b5268",
    "line": "#2a3042",
    "background": "#0f1117",
    "surface": "#151823",
    "panel": "#1b1f2d",
}
"""The default theme, known without reading a file so that the first paint waits for no disk."""

ROLES = tuple(_DARK)
_HEX = re.compile(r"#[0-9a-fA-F]{6}")


@dataclass(frozen=True, slots=True)
class Themes:
    """The themes that could be read, and a sentence for each file that could not."""

    themes: tuple[Theme, ...]
    problems: tuple[str, ...]


def default_theme() -> Theme:
    """The built-in default, the same as `themes/studio-dark.yaml`."""
    return _make(DEFAULT, _DARK, dark=True)


def load_themes(folders: Iterable[Path] | None = None) -> Themes:
    """Every theme of the folders, later folders winning; a bad file is named and skipped."""
    import yaml

    chosen = folders or (paths.bundled("themes"), paths.config_dir() / "themes")
    found: dict[str, Theme] = {}
    problems: list[str] = []
    for folder in chosen:
        for file in sorted(folder.glob("*.y*ml")):
            try:
                theme = read_theme(file)
            except (OSError, ValueError, yaml.YAMLError) as error:
                problems.append(f"{file.name}: {' '.join(str(error).split())}")
            else:
                found[theme.name] = theme
    return Themes(tuple(found.values()), tuple(problems))


def read_theme(file: Path) -> Theme:
    """Read one theme.

    Raises:
        OSError, yaml.YAMLError: the file cannot be read.
        ValueError: a colour is missing or is no `#rrggbb`.
    """
    import yaml

    raw: object = yaml.safe_load(file.read_text(encoding="utf-8"))
    if not isinstance(raw, dict):
        raise ValueError("a theme is a mapping with name, dark and colours")
    values = cast("dict[str, Any]", raw)
    name = values.get("name", file.stem)
    colours: object = values.get("colours")
    if not isinstance(name, str) or not isinstance(colours, dict):
        raise ValueError("a theme needs a name and a mapping of colours")
    table = cast("dict[str, object]", colours)
    # What a user's theme leaves out, it takes from the default.
    merged = {role: str(table.get(role, _DARK[role])) for role in ROLES}
    for role, colour in merged.items():
        if not _HEX.fullmatch(colour):
            raise ValueError(f"{role}: {colour!r} is not a colour like #8b7cf6")
    if unknown := sorted(set(table) - set(ROLES)):
        raise ValueError(f"unknown colour {unknown[0]!r}; the roles are {', '.join(ROLES)}")
    return _make(name, merged, dark=bool(values.get("dark", True)))


def _make(name: str, colours: dict[str, str], *, dark: bool) -> Theme:
    return Theme(
        name=name,
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
        dark=dark,
        variables={
            **role_variables(colours),
            "footer-background": colours["background"],
            "footer-key-foreground": colours["accent"],
            "footer-description-foreground": colours["muted"],
            "footer-item-background": colours["background"],
            "block-cursor-background": colours["accent"],
            "block-cursor-foreground": colours["background"],
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


def role_variables(colours: dict[str, str] = _DARK) -> dict[str, str]:
    """The roles as style variables: `$role-now`, `$role-done`, …"""
    return {f"role-{role}": colour for role, colour in colours.items()}
