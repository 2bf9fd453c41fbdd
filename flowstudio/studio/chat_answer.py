"""A model's answer in the chat: Markdown that grows, in pieces of a bounded length.

An answer is one thing to the reader and several entries to the log: what has come to its end is
never laid out again while the rest streams in, and what is not in view is not laid out at all.
"""

from __future__ import annotations

from typing import override

from flowstudio.studio.chat_entries import LONGEST, Entry
from flowstudio.studio.chat_lines import Line
from flowstudio.text import harmless

PIECE = 1_200
"""Characters from which on an answer goes on in another piece, where a block ends."""
_FORCED = 4_000
"""Characters at which a single block is parted, if it must be."""
_KEPT = 1_000_000
"""Characters of an answer that can be copied."""


class Whole:
    """The answer that pieces belong to, as it came."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self.shown = 0
        """Characters that its pieces hold."""

    def append(self, text: str) -> None:
        """More of it has come."""
        if self._length < _KEPT:
            self._parts.append(text[: _KEPT - self._length])
        self._length += len(text)

    @property
    def length(self) -> int:
        """Characters that came."""
        return self._length

    @property
    def text(self) -> str:
        """All of it; of a very long one the beginning."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""


class Answer(Entry):
    """A piece of an answer. `fence` is the first line of a block of code that began before it."""

    def __init__(
        self, text: str = "", *, whole: Whole | None = None, fence: str = "", above: int = 0
    ) -> None:
        super().__init__(above=above)
        self.whole = whole if whole is not None else Whole()
        if whole is None and text:
            self.whole.append(text)
        self._fence = fence
        self._parts: list[str] = [text] if text else []
        self._long_from = PIECE
        self.is_live = False

    @property
    def text(self) -> str:
        """The piece."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    @property
    @override
    def source(self) -> str:
        """The whole answer: that is what one wants to have of it."""
        return self.whole.text.strip()

    @property
    @override
    def plain(self) -> str:
        return harmless(self.text.strip("\n"))

    @property
    @override
    def length(self) -> int:
        return 2 * len(self.text)  # the piece, and its share of the whole

    def append(self, text: str) -> None:
        """Take in what came; what is more than a screen can use is only counted."""
        self.whole.append(text)
        room = LONGEST - self.whole.shown
        if room > 0:
            self._parts.append(text[:room])
            self.whole.shown += min(len(text), room)

    @override
    def lines(self, width: int) -> list[Line]:
        from flowstudio.studio.chat_markdown import markdown_lines

        text = harmless(self.text.strip("\n") if not self._fence else self.text.rstrip("\n"))
        if self._fence:
            text = f"{self._fence}\n{text}"
        lines = markdown_lines(text, width, is_live=self.is_live) if text.strip() else []
        missing = self.whole.length - LONGEST
        if missing > 0 and self.is_last:
            lines.append([(f"… {missing} more characters; the journal has them all", "dim")])
        return lines

    is_last = True
    """True for the last piece of its answer."""

    def split(self) -> Answer | None:
        """The piece in which the answer goes on, where this one has grown long; else None."""
        text = self.text
        if len(text) < self._long_from:
            return None
        found = self._cut_at(text)
        if found is None:
            self._long_from = len(text) + PIECE // 4
            return None
        at, fence, above = found
        self._parts = [text[:at]]
        self.is_last = False
        # A block of code has no lines between its parts.
        return Answer(text[at:], whole=self.whole, fence=fence, above=above)

    def _cut_at(self, text: str) -> tuple[int, str, int] | None:
        """Where the piece ends, the fence that is open there, and the rows between the two."""
        from flowstudio.studio.chat_markdown import last_block, open_fence

        # However much came at once, only its beginning is read for this.
        head = text[:_FORCED]
        head = head[: head.rfind("\n") + 1] if len(text) > _FORCED and "\n" in head else head
        whole = f"{self._fence}\n{head}" if self._fence else head
        shift = len(whole) - len(head)
        found = last_block(whole)
        if found is not None and found[0] > shift:
            return found[0] - shift, "", found[1]
        if len(text) < _FORCED:
            return None
        at = head.rfind("\n") + 1 or head.rfind(" ") + 1 or len(head)
        fence = open_fence(whole[: at + shift])
        return at, fence or "", 0
