"""The frames of the panes: only that of the pane with the focus is in colour.

Not done by `:focus-within`: with it Textual styles everything in both panes anew each time the
focus moves, which costs a tenth of a second beside a long chat.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.color import Color
from textual.geometry import Region
from textual.widget import Widget

if TYPE_CHECKING:
    from textual.screen import Screen

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
        pane = next((one for one in path if isinstance(one, Widget) and one.id in FRAMED), None)
        if pane is self._lit:
            return
        for one, is_lit in ((self._lit, False), (pane, True)):
            if one is not None and one.is_attached:
                one.set_class(is_lit, LIT, update=False)
                _colour(one, is_lit=is_lit)
        self._lit = pane


def _colour(pane: Widget, *, is_lit: bool) -> None:
    """Give a frame the colours that the sheet has for it, and paint it alone anew: what the sheet
    does for a class, it does for all that lies in the pane."""
    variables, rules = pane.app.theme_variables, pane.styles.base
    line = variables.get("role-accent" if is_lit else "role-line")
    title = variables.get("role-accent" if is_lit else "role-muted")
    if line is None or title is None or pane.app.ansi_color:
        pane.app.stylesheet.apply(pane)
        return
    kind = pane.styles.border_top[0]
    if not kind:
        return  # a low terminal has no room for frames
    for side in ("border_top", "border_right", "border_bottom", "border_left"):
        rules.set_rule(side, (kind, Color.parse(line)))
    rules.set_rule("border_title_color", Color.parse(title))
    width, height = pane.outer_size
    cells = (
        Region(0, 0, width, 1),
        Region(0, height - 1, width, 1),
        Region(0, 0, 1, height),
        Region(width - 1, 0, 1, height),
    )
    shift = pane.content_offset
    pane.refresh(*(cell.translate((-shift.x, -shift.y)) for cell in cells))
