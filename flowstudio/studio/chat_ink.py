"""Roles of the chat's pieces as styles of the theme in force."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from flowstudio.studio.chat_lines import Piece

_ATTRIBUTES = {
    "bold": Style(bold=True),
    "italic": Style(italic=True),
    "underline": Style(underline=True),
    "strike": Style(strike=True),
}
_MOST = 500
"""Styles that are remembered: each link is one of its own."""


class Ink:
    """Paints pieces. A role is words: one of a colour, `bold` and the like, `@panel` for a ground,
    `link=ADDRESS`."""

    def __init__(self, variables: Mapping[str, str], base: Style) -> None:
        self._variables = variables
        self.base = base
        """What stands where nothing else does."""
        self._known: dict[str, Style] = {}

    def style(self, role: str) -> Style:
        """The whole style of a role."""
        style = self._known.get(role)
        if style is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            style = self._known[role] = self._make(role)
        return style

    def strip(self, pieces: Iterable[Piece]) -> Strip:
        """A line."""
        return Strip([Segment(text, self.style(role)) for text, role in pieces if text])

    def _make(self, role: str) -> Style:
        style = self.base
        for word in role.split():
            if word in _ATTRIBUTES:
                style += _ATTRIBUTES[word]
            elif word.startswith("link="):
                style += Style(link=word.removeprefix("link="))
            elif word.startswith("@"):
                ground = self._variables.get(word[1:])
                if ground and not ground.startswith("ansi"):
                    style += Style(bgcolor=ground)
            elif colour := self._variables.get(f"role-{word}"):
                style += Style(color=colour)
        return style
