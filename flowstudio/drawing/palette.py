"""The colours of an exported drawing, by role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal, Self

from flowstudio.drawing.drawing import Run
from flowstudio.drawing.glyphs import ASCII, UNICODE
from flowstudio.drawing.marks import Look, Marks, is_break

type Ink = Literal[
    "background", "surface", "text", "muted", "dim", "accent", "now", "done", "forced", "fault"
]
"""The name of a colour, as in a theme."""

_INKS: Mapping[Look, Ink] = {
    "plain": "muted",
    "done": "done",
    "now": "now",
    "fault": "fault",
    "forced": "forced",
    "chosen": "forced",
    "muted": "dim",
}
_DECISION = frozenset({UNICODE.decision, ASCII.decision})


@dataclass(frozen=True, slots=True)
class Palette:
    """CSS colours, named by what they are for, as in a theme. The default is the dark theme's."""

    background: str = "#0f1117"
    surface: str = "#151823"
    """Inside of boxes."""
    text: str = "#d7dae3"
    muted: str = "#7a8094"
    """Outlines and lines without a state."""
    dim: str = "#4b5268"
    accent: str = "#8b7cf6"
    """Signs that are no state: the one of a decision, the count of hidden lines."""
    now: str = "#f5b83d"
    done: str = "#5fbf86"
    forced: str = "#e06ab8"
    fault: str = "#ef6a6a"

    @classmethod
    def of_roles(cls, roles: Mapping[str, str]) -> Self:
        """The palette of a theme's roles; other roles are ignored, missing ones the default."""
        return cls(**{one.name: roles[one.name] for one in fields(cls) if one.name in roles})

    def of(self, ink: Ink) -> str:
        """The colour of that name."""
        return getattr(self, ink)

    def items(self) -> list[tuple[str, str]]:
        """All names with their colours."""
        return [(one.name, getattr(self, one.name)) for one in fields(self)]


LIGHT = Palette(
    background="#fafbfc",
    surface="#f3f4f8",
    text="#1f2330",
    muted="#5d6478",
    dim="#8f96a8",
    accent="#5b45d6",
    now="#9a5b00",
    done="#1b7a43",
    forced="#b0258a",
    fault="#c22f2f",
)
"""For paper and light pages: the light theme's."""


def ink_of(look: Look) -> Ink:
    """The colour of a line or an outline in that state."""
    return _INKS[look]


def ink_of_run(run: Run, marks: Marks) -> Ink:
    """The colour of a stretch of cells."""
    look = marks.look_of(run.owner)
    match run.role:
        case "label":
            return "text"
        case "edge-label":
            return "text" if look == "plain" else _INKS[look]
        case "mark" if is_break(run.text):
            return "fault"
        case "mark" if look == "plain" or run.text in _DECISION or run.text.startswith("+"):
            return "accent"
        case _:
            return _INKS[look]
