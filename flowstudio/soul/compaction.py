"""Making room: the older part of a conversation is replaced by a summary that the model writes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kosong.message import Message, TextPart

from flowstudio.soul.messages import is_system_message, system_message

if TYPE_CHECKING:
    from kosong.message import ContentPart

KEPT = 2
"""How many of the last user and assistant messages stay word for word."""
_TOOL_OUTPUT = 4000
"""How many characters of one tool's output the summary is made from."""

SYSTEM = (
    "You summarise a conversation between a user and an agent so that the agent can go on with it."
)
INSTRUCTION = """\
Summarise the conversation above for the agent, which will no longer see it. Keep, in this order:

1. What the user wants, with every condition that was set, in the user's own words where they
matter. 2. What is decided and why.
3. What was done: files read and changed (with paths), commands and what came out of them.
4. What is open: the next step, known errors, questions.

Keep names, numbers, paths and branch choices exactly. Leave out greetings and repeated output.
Write only the summary, in the language of the conversation."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """A conversation made shorter."""

    messages: tuple[Message, ...]
    """What the context holds from now on: the summary, then what was kept."""
    summary: str


class SimpleCompaction:
    """Keeps the last two user and assistant messages and has the model summarise the rest."""

    def split(self, history: Sequence[Message]) -> tuple[Sequence[Message], Sequence[Message]]:
        """What is summarised, and what is kept; the first is empty where there is nothing to
        gain."""
        said = [index for index, message in enumerate(history) if _is_said(message)]
        # A summary and notes of the system alone are not summarised again.
        if len(said) <= KEPT:
            return (), history
        first = said[-KEPT]
        return history[:first], history[first:]

    async def compact(
        self,
        history: Sequence[Message],
        summarise: Callable[[str, Sequence[Message]], Awaitable[str]],
    ) -> Compacted | None:
        """The conversation with a summary in place of its older part; None if it is too short.

        Args:
            summarise: asks the model, given a system prompt and messages.

        Raises:
            whatever `summarise` raises.
        """
        older, kept = self.split(history)
        if not older:
            return None
        parts: list[ContentPart] = [TextPart(text=_as_transcript(older))]
        parts.append(TextPart(text=f"\n\n---\n\n{INSTRUCTION}"))
        summary = (await summarise(SYSTEM, [Message(role="user", content=parts)])).strip()
        note = f"The conversation so far was summarised to make room:\n\n{summary}"
        return Compacted((system_message(note), *kept), summary)


def _is_said(message: Message) -> bool:
    """True for what the user or the agent said."""
    return message.role in ("user", "assistant") and not is_system_message(message)


def _as_transcript(messages: Sequence[Message]) -> str:
    """Messages as text. Sent as they are, their tool calls would ask for being answered."""
    blocks: list[str] = []
    for number, message in enumerate(messages, 1):
        text = message.extract_text()
        if message.role == "tool" and len(text) > _TOOL_OUTPUT:
            text = f"{text[:_TOOL_OUTPUT]}\n[{len(text) - _TOOL_OUTPUT} more characters]"
        calls = [
            f"(called {call.function.name} with {(call.function.arguments or '')[:_TOOL_OUTPUT]})"
            for call in message.tool_calls or ()
        ]
        blocks.append("\n".join([f"## {number}. {message.role}", text, *calls]))
    return "\n\n".join(blocks)
