"""The conversation as it was at an earlier visit: what the model knew when it answered there."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio.studio.chat_answer import Answer
from flowstudio.studio.chat_entries import Entry, Fold, Said, note
from flowstudio.studio.chat_log import ChatLog
from flowstudio.studio.marks import GLYPHS
from flowstudio.text import count, shorten

if TYPE_CHECKING:
    from kosong.message import Message

    from flowstudio.studio.look import Look

_SHOWN = 60
"""Messages that are shown, the last ones."""


@dataclass(frozen=True, slots=True)
class Line:
    """One message."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation at one moment."""

    lines: Sequence[Line]
    """The last messages."""
    messages: int
    tokens: int


def read_talk(look: Look) -> Talk:
    """The conversation as the visit that is looked at left it; reads the disk, so use a thread.

    The run's folder is only read. Without one, or where it cannot be read, the conversation is put
    together from the visits' prompts and answers.
    """
    before = look.run.visits[: look.index + 1]
    position = next((one.context for one in reversed(before) if one.context is not None), None)
    found = _read_context(look.folder, position) if look.folder and position else None
    if found is not None:
        return found
    count = sum(bool(visit.prompt) + bool(visit.answer) for visit in before)
    lines: list[Line] = []
    for visit in reversed(before):
        if len(lines) >= _SHOWN:
            break
        if visit.answer:
            lines.append(Line("assistant", visit.answer))
        if visit.prompt:
            lines.append(Line("user", visit.prompt))
    return Talk(lines[:_SHOWN][::-1], count, sum(visit.tokens for visit in before))


def _read_context(folder: Path, position: int) -> Talk | None:
    from flowstudio.soul.context import Context, ContextError, copy_beginning

    try:
        with tempfile.TemporaryDirectory(prefix="flowstudio-") as place:
            # A context is for writing: it gets a copy, and the run's own file is left alone.
            copy = Path(place) / "context.jsonl"
            copy_beginning(folder / "context.jsonl", copy, position)
            context = Context(copy)
            shown = [_line_of(one) for one in context.history[-_SHOWN:]]
            return Talk(shown, len(context.history), context.token_count)
    except (OSError, ContextError):
        return None


def _line_of(message: Message) -> Line:
    parts = [message.extract_text()]
    parts += [f"{GLYPHS['tool']} {call.function.name}" for call in message.tool_calls or ()]
    return Line(message.role, "\n".join(part for part in parts if part))


class PastTalk(ChatLog):
    """Shows a conversation that is past, in the place of the one that goes on."""

    def show(self, talk: Talk, look: Look) -> None:
        """Show the conversation as it was."""
        visit = look.visit
        self.forget()
        what = f"{GLYPHS['past']} the context at visit {visit.visit} of “{visit.node}”: "
        size = f"{talk.messages} messages, {count(talk.tokens)} tokens"
        self.add(note(what + size, "now", bar="now"))
        hidden = talk.messages - len(talk.lines)
        if hidden > 0:
            self.add(note(f"… {hidden} earlier messages", "dim"))
        for line in talk.lines:
            entry: Entry | None = _entry_of(line)
            while entry is not None:
                after = entry.split() if isinstance(entry, Answer) else None
                self.add(entry)
                entry = after


def _entry_of(line: Line) -> Entry:
    text = line.text.strip()
    match line.role:
        case "user":
            return Said(text)
        case "assistant":
            return Answer(text, above=1)
        case "tool":
            gist = [(f"{GLYPHS['tool']} {shorten(text, 200)}", "dim")]
            return Fold(gist, body=text, copied=text)
        case _:
            return note(f"· {text}", "dim", above=1)
