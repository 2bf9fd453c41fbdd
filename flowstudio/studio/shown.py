"""What a Static shows: it is painted anew only where that has changed, and the screen is laid out
anew only where it takes more rows or fewer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text
    from textual.widgets import Static

_LONG = 2_000
"""Signs of a text above which it is not folded only to know its rows."""


class Shown:
    """The text of one Static whose height follows its content."""

    def __init__(self) -> None:
        self._text: Text | None = None
        self._theme: str = ""
        self._rows: tuple[int, int] = (0, 0)
        """The width, and the rows that the text took in it; no rows where nobody counted."""

    def show(self, static: Static, text: Text) -> None:
        """Show a text."""
        before = self._text
        theme: str = static.app.theme
        is_same: bool = text == before and theme == self._theme
        if is_same and before is not None and text.style == before.style:
            return
        width: int = static.content_size.width
        rows = (width, _rows(static, text))
        needs_layout = rows[1] == 0 or rows != self._rows
        self._text, self._theme, self._rows = text, theme, rows
        static.update(text, layout=needs_layout)


def _rows(static: Static, text: Text) -> int:
    """The rows of a text in the width of its Static; 0 where it is not known yet, or too long."""
    width: int = static.content_size.width
    if width <= 0 or len(text) > _LONG:
        return 0
    return len(text.wrap(static.app.console, width))
