"""What stands in the chat: one widget per finished thing, told apart by its sign and colour."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import ClassVar, cast, override

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Button, Static

from flowstudio.studio.marks import GLYPHS, style_of
from flowstudio.text import first_line, harmless
from flowstudio.wire import Verdict

LIVE_TAIL = 4_000
"""Characters of a growing entry that are shown while it streams, counted from its end."""
PIECE = 2_000
"""Characters after which an answer goes on in an entry of its own, so that each stays quick."""
LONGEST = 60_000
"""Characters of a finished answer that are shown; the journal has the rest."""

_MARKS = re.compile(
    r"(?P<fence>^\s*(?:```|~~~).*$)|(?P<head>^#{1,6} .*$)|(?P<choice><choice>[^<]*</choice>)"
    r"|(?P<code>`[^`\n]+`)|(?P<bold>\*\*[^*\n]+\*\*)|(?P<bullet>^\s*(?:[-*+]|\d+\.)(?= ))",
    re.MULTILINE,
)


class Entry(Static):
    """One thing in the chat. Its text is data: no markup in it counts."""

    DEFAULT_CSS = """
    Entry { width: 1fr; height: auto; padding: 0 1; }
    """

    def __init__(self, content: Text | str = "", *, classes: str | None = None) -> None:
        super().__init__(content, classes=classes, markup=False)

    def keep(self) -> Callable[[], Entry]:
        """What makes the entry again, once it has gone from the screen."""
        return partial(Entry, cast("Text", self.content), classes=" ".join(self.classes))


class Fold(Entry):
    """A line that opens to show more: a prompt, a tool's output, the model's thinking."""

    DEFAULT_CSS = """
    Fold { text-wrap: nowrap; text-overflow: ellipsis; &.-open { text-wrap: wrap; } }
    """

    def __init__(self, title: Text, body: str, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.summary = title
        self.body = body
        self.is_open = False

    @override
    def keep(self) -> Callable[[], Entry]:
        """What makes it again, folded."""
        classes = " ".join(set(self.classes) - {"-open"})
        return partial(Fold, self.summary, self.body, classes=classes)

    def on_mount(self) -> None:
        """Show the folded line."""
        self.redraw()

    def redraw(self) -> None:
        """Show the line, and what is below it if it is open."""
        text = self.summary.copy()
        if self.body and self.is_open:
            text.append("\n" + cap(harmless(self.body)), style_of(self, "muted"))
        self.update(text)

    def on_click(self) -> None:
        """Open or close."""
        self.is_open = not self.is_open
        self.set_class(self.is_open, "-open")
        self.redraw()


class Answer(Entry):
    """The model's words: they stream in, and stay as plain text with light colours."""

    def __init__(
        self, text: str = "", *, is_thinking: bool = False, classes: str | None = None
    ) -> None:
        super().__init__(classes=classes or ("thinking" if is_thinking else "answer"))
        self.is_thinking = is_thinking
        self._parts: list[str] = [text] if text else []
        self._length = len(text)
        self.is_kept = False
        """True where it was finished before it was made."""

    @override
    def keep(self) -> Callable[[], Entry]:
        """What makes the finished answer again."""
        return partial(_answer_again, self.source, self.is_thinking, " ".join(self.classes))

    def on_mount(self) -> None:
        """Show a finished answer that comes back."""
        if self.is_kept:
            self.finish()

    @property
    def source(self) -> str:
        """All that came so far."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    def append(self, text: str) -> None:
        """Take in a piece; `refresh_live` shows it."""
        self._parts.append(text)
        self._length += len(text)

    def split(self) -> Answer | None:
        """The entry in which the answer goes on, where this one has grown long; else None.

        It ends at a blank line, else at the end of a line.
        """
        if self.is_thinking or self._length < PIECE:
            return None
        text = self.source
        at = text.rfind("\n\n", PIECE // 2)
        if at < 0 and self._length >= 2 * PIECE:
            at = text.rfind("\n", PIECE // 2)
        if at < 0:
            return None
        head, rest = text[:at], text[at:]
        self._parts, self._length = [head], len(head)
        after = " -after" if rest.startswith("\n\n") and head.strip() else ""
        return Answer(rest.lstrip("\n"), classes=f"answer{after}")

    def refresh_live(self) -> None:
        """Show the end of what has come."""
        text = self.source
        shown = text if len(text) <= LIVE_TAIL else "…" + text[-LIVE_TAIL:]
        self.update(self._styled(shown.strip("\n")))

    def finish(self) -> None:
        """Show it whole; thinking folds to a line."""
        text = self.source.strip()
        if self.is_thinking:
            line = f"… thought for {len(text)} characters (click)"
            self.update(Text(line, style_of(self, "dim")))
        else:
            self.update(self._styled(cap(text)))

    def on_click(self) -> None:
        """Show what was thought."""
        if self.is_thinking:
            self.update(self._styled(cap(self.source.strip())))

    def _styled(self, text: str) -> Text:
        clean = harmless(text)
        if self.is_thinking:
            return Text(clean, style_of(self, "dim"))
        styled = Text(clean, style_of(self, "text"))
        for found in _MARKS.finditer(clean):
            match found.lastgroup:
                case "choice" | "fence":
                    style = style_of(self, "dim")
                case "bullet":
                    style = style_of(self, "muted")
                case "code":
                    style = style_of(self, "done")
                case _:
                    style = style_of(self, "bold")
            styled.stylize(style, *found.span())
        return styled


def _answer_again(text: str, is_thinking: bool, classes: str) -> Answer:
    answer = Answer(text, is_thinking=is_thinking, classes=classes)
    answer.is_kept = True
    return answer


class ApprovalCard(Vertical, can_focus=True):
    """A tool asks for leave, in place: what it wants to do, and the three answers."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer('allow')", "Allow once", id="approval.allow"),
        Binding("a", "answer('session')", "Allow for the session", id="approval.session"),
        Binding("x", "answer('reject')", "Reject", id="approval.reject"),
    ]

    DEFAULT_CSS = """
    ApprovalCard {
        height: auto; margin: 1 1; padding: 0 1; border: round $role-now;
        border-title-color: $role-now;
        & Horizontal { height: 1; margin-top: 1; }
        & Button { margin-right: 2; min-width: 8; }
        &:focus { border: heavy $role-now; }
    }
    """

    class Answered(Message):
        """The user's word."""

        def __init__(self, request: str, verdict: Verdict) -> None:
            super().__init__()
            self.request = request
            self.verdict: Verdict = verdict

    def __init__(
        self, request: str, tool: str, action: str, description: str, diff: str = ""
    ) -> None:
        super().__init__()
        self.request = request
        self.border_title = f"{GLYPHS['waiting']} {harmless(tool)} wants to {harmless(action)}"
        self._description = harmless(description)
        self._diff = harmless(diff)

    def compose(self) -> ComposeResult:
        """The act in full, a change with its lines in colour, and the answers."""
        if self._diff:
            yield Static(self._styled_diff(), markup=False)
        else:
            yield Static(cap(self._description), markup=False)
        with Horizontal():
            yield Button("y allow", compact=True, id="allow")
            yield Button("a allow always", compact=True, id="session")
            yield Button("x reject", compact=True, id="reject")

    def _styled_diff(self) -> Text:
        text = Text(first_line(self._description), style_of(self, "bold"))
        roles = {"+": "done", "-": "fault", "@": "dim"}
        # The first two lines name the file, which the title line has said.
        for line in cap(self._diff).split("\n")[2:]:
            text.append("\n" + line, style_of(self, roles.get(line[:1], "text")))
        return text

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """A click on an answer."""
        event.stop()
        match event.button.id:
            case "allow" | "session" | "reject" as verdict:
                self.action_answer(verdict)
            case _:
                pass

    def action_answer(self, verdict: Verdict) -> None:
        """Give the answer."""
        self.post_message(self.Answered(self.request, verdict))


def cap(text: str) -> str:
    """The text, cut where it is longer than a screen can use."""
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}\n… {len(text) - LONGEST} more characters; the journal has them all"
