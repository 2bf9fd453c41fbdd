"""What is pasted into the input line: a large text is a short sign there until it is sent."""

from __future__ import annotations

from collections import OrderedDict

LARGE = 4_000
"""Characters from which on a pasted text is shown by a sign only."""
_MANY_LINES = 40
_KEPT = 10
"""Pasted texts that are kept, for what is brought back with the up key."""


class Pastes:
    """The large texts that were pasted, by the signs that stand for them."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._count = 0

    def take(self, text: str) -> str:
        """What to put into the line for a text that was pasted: itself, or a sign."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if len(text) < LARGE and text.count("\n") < _MANY_LINES:
            return text
        self._count += 1
        number = f" #{self._count}" if self._count > 1 else ""
        sign = f"[pasted {_size(text)}{number}]"
        self._texts[sign] = text
        while len(self._texts) > _KEPT:
            self._texts.popitem(last=False)
        return sign

    def expand(self, line: str) -> str:
        """The line with the texts in the places of their signs."""
        for sign, text in self._texts.items():
            line = line.replace(sign, text)
        return line


def _size(text: str) -> str:
    """A size for people: 12 kB, 1.0 MB; small texts of many lines by their lines."""
    size = len(text.encode("utf-8", "replace"))
    if size < LARGE:
        return f"{text.count(chr(10)) + 1} lines"
    return f"{size / 1_000_000:.1f} MB" if size >= 1_000_000 else f"{max(size // 1000, 1)} kB"
