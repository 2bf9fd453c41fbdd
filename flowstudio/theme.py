"""Colour themes: YAML files in the bundled `themes` folder and in the user's own.

A theme gives each colour a role (`now`, `done`, `forced`, …); whatever shows something names roles
only. The studio and the exports read the same files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from flowstudio import paths

DEFAULT = "studio-dark"

DARK: Mapping[str, str] = {
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

ROLES = tuple(DARK)
_HEX = re.compile(r"#[0-9a-fA-F]{6}")


@dataclass(frozen=True, slots=True)
class Colours:
    """One theme: its name, and a colour `#rrggbb` for each of `ROLES`."""

    name: str
    roles: Mapping[str, str]
    dark: bool = True


@dataclass(frozen=True, slots=True)
class Found:
    """The themes that could be read, and a sentence for each file that could not."""

    themes: tuple[Colours, ...]
    problems: tuple[str, ...]

    def named(self, name: str) -> Colours | None:
        """The theme of that name."""
        return next((theme for theme in self.themes if theme.name == name), None)


def find_themes(folders: Iterable[Path] | None = None) -> Found:
    """Every theme of the folders, later folders winning; a bad file is named and skipped."""
    import yaml

    chosen = folders or (paths.bundled("themes"), paths.config_dir() / "themes")
    found: dict[str, Colours] = {}
    problems: list[str] = []
    for folder in chosen:
        for file in sorted(folder.glob("*.y*ml")):
            try:
                theme = read_colours(file)
            except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
                problems.append(f"{file.name}: {' '.join(str(error).split())}")
            else:
                found[theme.name] = theme
    return Found(tuple(found.values()), tuple(problems))


def read_colours(file: Path) -> Colours:
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
    merged = {role: str(table.get(role, DARK[role])) for role in ROLES}
    for role, colour in merged.items():
        if not _HEX.fullmatch(colour):
            raise ValueError(f"{role}: {colour!r} is not a colour like #8b7cf6")
    if unknown := sorted(map(str, set(table) - set(ROLES))):
        raise ValueError(f"unknown colour {unknown[0]!r}; the roles are {', '.join(ROLES)}")
    return Colours(name, merged, dark=bool(values.get("dark", True)))
