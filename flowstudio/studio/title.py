"""What the terminal's title says, and how it is said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from flowstudio.text import harmless, shorten

if TYPE_CHECKING:
    from flowstudio.run.state import RunState

NAME = "Flow Studio"
SAVE = "\x1b[22;2t"
"""Keeps the title that the terminal has."""
RESTORE = "\x1b[23;2t"
"""Gives it back."""
_LONGEST = 80
_WITHOUT = frozenset({"", "dumb", "linux"})
"""Values of TERM of terminals that have no title, or would show such a sequence as text."""


def has_title(environ: Mapping[str, str]) -> bool:
    """Whether the terminal has a title."""
    return environ.get("TERM", "") not in _WITHOUT


def title_for(state: RunState | None) -> str:
    """The title: what waits for the user comes first."""
    if state is None or not state.flow:
        return NAME
    flow = shorten(state.flow, 30)
    if state.waits_for:
        return shorten(f"? {flow}: {state.waits_for}", _LONGEST)
    match state.phase:
        case "paused":
            return shorten(f"⏸ {flow}: {state.why}", _LONGEST)
        case "running":
            return f"▶ {flow} · {NAME}"
        case "ended":
            sign = "✓" if state.reason == "reached_end" else "✗"
            return f"{sign} {flow} · {NAME}"
        case "idle":
            return NAME


def set_title(text: str) -> str:
    """The sequence that sets the title; no other sequence can hide in the text."""
    line = " ".join(harmless(text).split())
    return f"\x1b]2;{line}\x1b\\"
