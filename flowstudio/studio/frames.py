"""The frames of the panes: only that of the pane with the focus is in colour.

Not done by `:focus-within`: with it Textual styles everything in both panes anew each time the
focus moves, which costs a tenth of a second beside a long chat.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.color import Color

if TYPE_CHECKING:
    from textual.screen import Screen
    from textual.widget import Widget

FRAMED = frozenset(
    f"{name}-pane" for name in ("skills", "flow", "detail", "timeline", "source", "chat")
)
"""The ids of the panes that have a frame."""
LIT = "-lit"
"""The class of the pane with the focus."""


class Frames:
    """Lights the frame of the pane with the focus."""

    def __init__(self) -> None:
        self._lit: Widget | None = None

    def follow(self, screen: Screen[Any]) -> None:
        """The focus of a screen has moved."""
        focused = screen.focused
        path = focused.ancestors_with_self if focused is not None else ()
        found = next((node for node in path if node.id in FRAMED), None)
        pane: Widget | None = found  # type: ignore[assignment]
        if pane is self._lit:
            return
        variables = screen.app.theme_variables
        for one, is_lit in ((self._lit, False), (pane, True)):
            if one is not None and one.is_attached:
                one.set_class(is_lit, LIT, update=False)
                # Known beforehand, or Textual paints everything in the pane for its title's sake.
                colour = variables.get("role-accent" if is_lit else "role-muted")
                if colour is not None:
                    one.styles.base.set_rule("border_title_color", Color.parse(colour))
                screen.app.stylesheet.apply(one)
        self._lit = pane
