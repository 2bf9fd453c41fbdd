"""The conversation as it was at an earlier visit: what the model knew when it answered there."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from flowstudio.studio.marks import GLYPHS, style_of
from flowstudio.text import count, harmless

if TYPE_CHECKING:
    from kosong.message import Message

    from flowstudio.studio.look import Look

_SHOWN = 60
"""Messages that are shown, the last ones."""
_LONGEST = 4_000
"""Characters that are shown of one."""


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
    lines: list[Line] = []
    for visit in before:
        if visit.prompt:
            lines.append(Line("user", visit.prompt))
        if visit.answer:
            lines.append(Line("assistant", visit.answer))
    return Talk(lines[-_SHOWN:], len(lines), sum(visit.tokens for visit in before))


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


class PastTalk(VerticalScroll):
    """Shows a conversation that is past, in the place of the one that goes on."""

    DEFAULT_CSS = """
    PastTalk {
        padding: 0 1; scrollbar-size: 1 1; height: 1fr; background: $background;
        & Static { width: 1fr; height: auto; }
    }
    """

    def compose(self) -> ComposeResult:
        """One text."""
        yield Static("", id="past-talk", markup=False)

    def show(self, talk: Talk, look: Look) -> None:
        """Show the conversation as it was."""
        visit = look.visit
        text = Text(
            f"{GLYPHS['past']} the context at visit {visit.visit} of “{harmless(visit.node)}”: "
            f"{talk.messages} messages, {count(talk.tokens)} tokens\n",
            style_of(self, "now"),
        )
        hidden = talk.messages - len(talk.lines)
        if hidden > 0:
            text.append(f"… {hidden} earlier messages\n", style_of(self, "dim"))
        for line in talk.lines:
            mine = line.role == "user"
            sign = {"user": "› ", "assistant": "  ", "tool": f"{GLYPHS['tool']} "}.get(line.role)
            said = harmless(line.text.strip())
            said = said if len(said) <= _LONGEST else said[:_LONGEST] + " …"
            role = "text" if line.role == "assistant" else "accent" if mine else "dim"
            text.append(f"\n{sign or '· '}{said}\n", style_of(self, role))
        self.query_one("#past-talk", Static).update(text)
        self.call_after_refresh(self.scroll_end, animate=False)
