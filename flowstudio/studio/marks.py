"""Glyphs and colours that all panes share: one meaning, one sign."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style

if TYPE_CHECKING:
    from textual.widget import Widget

GLYPHS = {
    "flow": "◆",
    "standard": "◇",
    "fault": "▲",
    "running": "▶",
    "paused": "⏸",
    "done": "✓",
    "failed": "✗",
    "forced": "⇢",
    "chosen": "→",
    "breakpoint": "●",
    "tool": "⚙",
    "retry": "↻",
    "waiting": "?",
    "past": "◂",
}
"""One sign per state; a colour never carries a state alone."""


def style_of(widget: Widget, role: str) -> Style:
    """The Rich style of a colour role (`now`, `done`, `muted`, …) in the theme in force."""
    if role == "bold":
        return Style(bold=True)
    colour = widget.app.theme_variables.get(f"role-{role}")
    return Style(color=colour) if colour else Style()
