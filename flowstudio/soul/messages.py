"""Messages that are no one's words: notes of the system, tool results, interrupted answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from kosong.message import ContentPart, ImageURLPart, Message, TextPart, ThinkPart

if TYPE_CHECKING:
    from kosong.tooling import ToolResult

_OPEN = "<system>"
_CLOSE = "</system>"
INTERRUPTED = f"{_OPEN}The user interrupted this answer.{_CLOSE}"
TOOL_INTERRUPTED = "The call was interrupted before it was over; what it did so far may stand."
IMAGE_TOKENS = 1000
"""What a picture is taken to cost, where the server does not say."""


def system_note(text: str) -> str:
    """`text` as a note of the system inside a message."""
    return f"{_OPEN}{text}{_CLOSE}"


def system_message(text: str) -> Message:
    """A message of the system that the user does not see.

    Its role is `user`, with the text in a `<system>` tag: many servers accept a system message at
    the beginning only.
    """
    return Message(role="user", content=system_note(text))


def is_system_message(message: Message) -> bool:
    """True for what `system_message` made."""
    if message.role not in ("user", "system"):
        return False
    text = message.extract_text()
    return message.role == "system" or (text.startswith(_OPEN) and text.endswith(_CLOSE))


def mend(text: str) -> str:
    """`text` without lone surrogates, which no server and no file takes.

    They come from a JSON escape that a model cut in two, and from terminals. Two halves that belong
    together become the character that they are; any other becomes the replacement character.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def as_parts(content: str | list[ContentPart]) -> list[ContentPart]:
    """Content as a list of parts, with all text mended."""
    parts = [TextPart(text=content)] if isinstance(content, str) else list(content)
    return [mend_part(part) for part in parts]


def mend_part(part: ContentPart) -> ContentPart:
    """A part with its text mended."""
    match part:
        case TextPart(text=text) if (mended := mend(text)) != text:
            return TextPart(text=mended)
        case ThinkPart(think=think) if (mended := mend(think)) != think:
            return part.model_copy(update={"think": mended})
        case _:
            return part


def has_picture(content: str | list[ContentPart]) -> bool:
    """True where a model without sight would miss something."""
    return not isinstance(content, str) and any(isinstance(part, ImageURLPart) for part in content)


def tool_message(result: ToolResult) -> Message:
    """A tool's result as the message that the model reads. It is never empty: some servers refuse
    that."""
    value = result.return_value
    note = mend(value.message)
    if value.is_error:
        note = f"ERROR: {note or 'The tool failed.'}"
    parts = as_parts(value.output) if value.output else []
    if note:
        parts.insert(0, TextPart(text=system_note(note)))
    if not parts:
        parts.append(TextPart(text=system_note("The tool gave no output.")))
    return Message(role="tool", tool_call_id=result.tool_call_id, content=parts)


def interrupted_tool_message(call_id: str) -> Message:
    """The result of a tool call that never got one."""
    return Message(
        role="tool",
        tool_call_id=call_id,
        content=system_note(f"ERROR: {TOOL_INTERRUPTED}"),
    )


def with_note(message: Message, note: str) -> Message:
    """A copy of `message` with a note of the system at its end."""
    return message.model_copy(
        update={"content": [*message.content, TextPart(text=system_note(note))]}
    )


def interrupted_answer(text: str) -> Message:
    """As much of an answer as came before it was interrupted, marked."""
    return Message(role="assistant", content=f"{text}\n\n{INTERRUPTED}" if text else INTERRUPTED)


def estimate_tokens(record: Mapping[str, Any]) -> int:
    """About how many tokens a message takes: one per four bytes of UTF-8, a picture 1,000.

    Takes the message as `model_dump` gives it.
    """
    content: object = record.get("content")
    if isinstance(content, str):
        size = _size(content)
    else:
        size = 0
        for part in cast("list[dict[str, Any]]", content or []):
            text: object = part.get("text", part.get("think"))
            size += _size(text) if isinstance(text, str) else IMAGE_TOKENS * 4
    for call in cast("list[dict[str, Any]]", record.get("tool_calls") or []):
        function = call["function"]
        size += _size(function["name"]) + _size(function.get("arguments") or "")
    return size // 4 + 4


def _size(text: str) -> int:
    """Bytes of UTF-8, a quick look at plain ASCII first."""
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
