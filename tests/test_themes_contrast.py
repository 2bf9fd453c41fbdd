"""The bundled themes can be read, and their roles can be told apart, also by colour-blind eyes.

Contrast is that of WCAG 2 (1:1 to 21:1). Difference is the distance in CIE L*a*b* (1976), where
about 2 is the least that an eye sees side by side. Deuteranopia and protanopia are simulated with
the matrices of Machado, Oliveira and Fernandes (2009), severity 1.0.
"""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml

type Rgb = tuple[float, float, float]

THEMES = Path(__file__).parents[1] / "themes"
NAMES = (
    "studio-dark",
    "studio-light",
    "high-contrast-dark",
    "high-contrast-light",
    "colour-blind",
    "paper",
    "ember",
    "glacier",
    "sixteen",
)
ROLES = ("accent", "now", "done", "forced", "fault")
COLOURS = (*ROLES, "text", "muted", "dim", "line", "background", "surface", "panel")
BACKGROUNDS = ("background", "surface", "panel")

STUDIO_DARK = {
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
}

SIMULATION: dict[str, tuple[Rgb, Rgb, Rgb]] = {
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
}


def load(name: str) -> dict[str, Any]:
    return yaml.safe_load((THEMES / f"{name}.yaml").read_text(encoding="utf-8"))


def colour(name: str, role: str) -> Rgb:
    """Linear light, each channel 0 to 1."""
    written = load(name)["colours"][role]
    red, green, blue = (int(written[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return linear(red), linear(green), linear(blue)


def linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def luminance(rgb: Rgb) -> float:
    return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]


def contrast(one: Rgb, other: Rgb) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def lab(rgb: Rgb) -> Rgb:
    red, green, blue = rgb
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883
    fx, fy, fz = (v ** (1 / 3) if v > 216 / 24389 else (841 / 108) * v + 4 / 29 for v in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def difference(one: Rgb, other: Rgb) -> float:
    return sum((a - b) ** 2 for a, b in zip(lab(one), lab(other), strict=True)) ** 0.5


def seen_with(deficiency: str, rgb: Rgb) -> Rgb:
    red, green, blue = (
        min(1.0, max(0.0, sum(a * b for a, b in zip(row, rgb, strict=True))))
        for row in SIMULATION[deficiency]
    )
    return red, green, blue


def test_the_bundled_themes_are_there() -> None:
    assert {path.stem for path in THEMES.glob("*.yaml")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_theme_has_its_name_a_title_and_all_colours(name: str) -> None:
    theme = load(name)
    assert set(theme) == {"name", "title", "dark", "colours"}
    assert theme["name"] == name
    assert theme["title"]
    assert set(theme["colours"]) == set(COLOURS)
    assert all(re.fullmatch(r"#[0-9a-f]{6}", value) for value in theme["colours"].values())


@pytest.mark.parametrize("name", NAMES)
def test_a_theme_says_in_a_comment_what_it_is_for(name: str) -> None:
    first = (THEMES / f"{name}.yaml").read_text(encoding="utf-8").splitlines()[0]
    assert re.fullmatch(r"# .{20,}\.", first)


def test_the_default_is_the_palette_of_the_design() -> None:
    colours = load("studio-dark")["colours"]
    assert {role: colours[role] for role in STUDIO_DARK} == STUDIO_DARK


@pytest.mark.parametrize("name", NAMES)
def test_dark_means_that_the_text_is_lighter_than_the_background(name: str) -> None:
    lighter = luminance(colour(name, "text")) > luminance(colour(name, "background"))
    assert lighter is load(name)["dark"]


@pytest.mark.parametrize("name", NAMES)
def test_text_reads_on_every_background(name: str) -> None:
    least = 12 if name.startswith("high-contrast") else 7
    for background in BACKGROUNDS:
        assert contrast(colour(name, "text"), colour(name, background)) >= least, background


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("role", "least"), [*((role, 4.5) for role in ROLES), ("muted", 4.5), ("dim", 2.5)]
)
def test_a_colour_stands_out_from_the_background(name: str, role: str, least: float) -> None:
    if (name, role) == ("studio-dark", "dim"):
        least = 2.4  # the design's own palette, which stands as it is
    assert contrast(colour(name, role), colour(name, "background")) >= least


@pytest.mark.parametrize("name", NAMES)
def test_text_muted_dim_and_line_recede_in_this_order(name: str) -> None:
    background = colour(name, "background")
    weights = [
        contrast(colour(name, role), background) for role in ("text", "muted", "dim", "line")
    ]
    assert weights == sorted(weights, reverse=True)
    assert len(set(weights)) == len(weights)


@pytest.mark.parametrize("name", NAMES)
def test_roles_and_text_can_be_told_apart(name: str) -> None:
    for one, other in combinations((*ROLES, "text", "muted"), 2):
        assert difference(colour(name, one), colour(name, other)) >= 18, (one, other)


@pytest.mark.parametrize("deficiency", SIMULATION)
def test_roles_of_colour_blind_differ_for_colour_blind_eyes(deficiency: str) -> None:
    roles = (*ROLES, "text", "muted")
    seen = {role: seen_with(deficiency, colour("colour-blind", role)) for role in roles}
    for one, other in combinations(roles, 2):
        assert difference(seen[one], seen[other]) >= 18, (one, other)
