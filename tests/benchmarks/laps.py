"""A provider that answers at once and leaves a loop after a number of laps. Needs kosong alone.

The same file serves Flow Studio and the peer that it is measured against.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Sequence
from typing import Any, Self

from kosong.chat_provider import StreamedMessagePart, ThinkingEffort, TokenUsage
from kosong.message import Message, TextPart
from kosong.tooling import Tool

CHART = """flowchart TD
    BEGIN --> a[do it]
    a --> b{again?}
    b -->|yes| a
    b -->|no| END
"""


class LapsProvider:
    """Says “Done.” to a task, and yes to a decision until the laps are used up."""

    name = "laps"

    def __init__(self, laps: int) -> None:
        self._left = laps
        self.calls = 0

    @property
    def model_name(self) -> str:
        return "laps"

    @property
    def thinking_effort(self) -> ThinkingEffort | None:
        return None

    async def generate(
        self, system_prompt: str, tools: Sequence[Tool], history: Sequence[Message], **_: Any
    ) -> Answer:
        self.calls += 1
        asked = next(one for one in reversed(history) if one.role == "user").extract_text()
        if "Available branches:" not in asked:
            return Answer("Done.")
        self._left -= 1
        return Answer(f"<choice>{'yes' if self._left > 0 else 'no'}</choice>")

    def with_thinking(self, effort: ThinkingEffort) -> Self:
        return copy.copy(self)


class Answer:
    """One answer, in one piece."""

    id: str | None = None
    usage: TokenUsage | None = None

    def __init__(self, text: str) -> None:
        self._text = text

    def __aiter__(self) -> AsyncIterator[StreamedMessagePart]:
        return self._stream()

    async def _stream(self) -> AsyncIterator[StreamedMessagePart]:
        yield TextPart(text=self._text)
