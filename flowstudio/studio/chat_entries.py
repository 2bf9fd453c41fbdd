"""What stands in the chat: values that lay themselves out, told apart by their sign and colour.

None of them is a widget: `ChatLog` paints those that are in view. Their texts are data from models,
files and shells, made harmless when they are laid out.
"""

from __future__ import annotations

from typing import override

from flowstudio.studio.chat_code import diff_lines
from flowstudio.studio.chat_lines import Line, Piece, cut, plain_lines, width_of, wrap
from flowstudio.text import harmless

LONGEST = 60_000
"""Characters of one text that are shown; the journal has the rest."""
_FOLDED_ROWS = 8
"""Rows of what the user said that show while it is folded."""


class Entry:
    """A few lines of pieces. `bar` is the role of the bar at its left, empty for none; `above` the
    empty rows before it."""

    can_open = False
    """Whether enter and a click show more of it, or less."""

    def __init__(self, *lines: Line, bar: str = "", above: int = 0, copied: str = "") -> None:
        self.head = [[(harmless(text), role) for text, role in line] for line in lines]
        self.bar = bar
        self.above = above
        self.is_open = False
        self.is_gone = False
        """True once it is withdrawn: a pause that is over."""
        self._copied = copied

    @property
    def source(self) -> str:
        """What is copied of it."""
        return self._copied or self.plain

    @property
    def plain(self) -> str:
        """What it says now, without folds of lines."""
        return "\n".join("".join(text for text, _ in line) for line in self.head)

    @property
    def length(self) -> int:
        """Characters that it holds in memory, about."""
        return sum(len(text) for line in self.head for text, _ in line) + len(self._copied)

    def lines(self, width: int) -> list[Line]:
        """It, in lines of at most `width` cells."""
        return [line for whole in self.head for line in _wrap_lines(whole, width)]

    def estimate(self, width: int) -> int:
        """About how many lines it takes: for what is not in view."""
        return sum(len(text) // max(width, 1) + 1 for text in self.plain.split("\n"))

    def toggle(self) -> None:
        """Show more, or less."""
        self.is_open = not self.is_open


def note(text: str, role: str, *, bar: str = "", above: int = 0) -> Entry:
    """A text of one role."""
    return Entry(*([(line, role)] for line in cap(text).split("\n")), bar=bar, above=above)


class Fold(Entry):
    """A line that opens to show more: a prompt, a tool's output. The first line is cut to the
    width while it is folded, the others stay."""

    can_open = True

    def __init__(
        self, *lines: Line, body: str = "", bar: str = "", above: int = 0, copied: str = ""
    ) -> None:
        super().__init__(*lines, bar=bar, above=above, copied=copied)
        self.body = body
        self.diff = ""
        """A change to a file that belongs to it, as a unified diff."""

    def fill(self, body: str) -> None:
        """Another text stands behind the line, and is what one copies."""
        self.body = self._copied = body

    @property
    @override
    def plain(self) -> str:
        """The line, and the body where it is open."""
        return super().plain + (f"\n{harmless(self.body)}" if self.is_open and self.body else "")

    @property
    @override
    def length(self) -> int:
        return super().length + len(self.body) + len(self.diff)

    @override
    def lines(self, width: int) -> list[Line]:
        if not self.is_open:
            return [cut(line, width) for line in self.head]
        lines = super().lines(width)
        if self.diff:
            lines += _moved_in(diff_lines(harmless(cap(self.diff)), max(width - 2, 1)))
        if self.body:
            body = harmless(cap(self.body.strip("\n")))
            lines += _moved_in(plain_lines(body, "muted", max(width - 2, 1)))
        return lines


class Said(Entry):
    """What the user typed; a long text is folded."""

    can_open = True

    def __init__(self, text: str) -> None:
        super().__init__(bar="muted", above=1, copied=text)
        self._text = text

    @property
    @override
    def plain(self) -> str:
        return harmless(cap(self._text))

    @override
    def lines(self, width: int) -> list[Line]:
        lines = plain_lines(self.plain if self.is_open else self.plain[:4000], "text bold", width)
        if self.is_open or len(lines) <= _FOLDED_ROWS + 1:
            return lines
        size = f"{self._text.count('\n') + 1} lines, {len(self._text)} characters"
        return [*lines[:_FOLDED_ROWS], [(f"… {size} (enter or a click opens)", "dim")]]

    @override
    def estimate(self, width: int) -> int:
        return min(super().estimate(width), _FOLDED_ROWS + 1)


class Thinking(Entry):
    """The model's thinking: its end while it streams, then a line that opens."""

    can_open = True
    _LIVE_ROWS = 3

    def __init__(self, text: str = "", *, is_live: bool = False) -> None:
        super().__init__()
        self._parts = [text]
        self.is_live = is_live

    def append(self, text: str) -> None:
        """More of it has come."""
        self._parts.append(text)

    @property
    @override
    def source(self) -> str:
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0]

    @property
    @override
    def plain(self) -> str:
        if self.is_live or self.is_open:
            return harmless(cap(self.source.strip()))
        return f"… thought for {len(self.source.strip())} characters"

    @property
    @override
    def length(self) -> int:
        return len(self.source)

    @override
    def lines(self, width: int) -> list[Line]:
        if self.is_live and not self.is_open:
            text = harmless(self.source.strip()[-self._LIVE_ROWS * width :])
            return plain_lines(text, "dim italic", width)[-self._LIVE_ROWS :]
        sign = "▾" if self.is_open else "▸"
        count = len(self.source.strip())
        head: list[Line] = [[(f"{sign} thought for {count} characters", "dim")]]
        if not self.is_open:
            return head
        return head + _moved_in(plain_lines(self.plain, "dim", max(width - 2, 1)))

    @override
    def estimate(self, width: int) -> int:
        return 1


def cap(text: str) -> str:
    """The text, cut where it is longer than a screen can use."""
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}\n… {len(text) - LONGEST} more characters; the journal has them all"


def _wrap_lines(line: Line, width: int) -> list[Line]:
    """A line that begins with blanks is a key and its meaning: the meaning stays in its column."""
    if not line:
        return [[]]
    (first, role), *rest = line
    if not rest or not first.startswith(" "):
        return wrap(line, width)
    hang = min(width_of(first), width // 2)
    top, *more = wrap(rest, width - hang)
    gap: Piece = (" " * hang, "text")
    return [[(first, role), *top], *([gap, *one] for one in more)]


def _moved_in(lines: list[Line]) -> list[Line]:
    gap: Piece = ("  ", "text")
    return [[gap, *line] if line else [] for line in lines]
