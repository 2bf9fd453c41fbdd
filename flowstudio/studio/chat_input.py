"""The line to type in: it grows to several lines, and knows what was sent before."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.binding import Binding, BindingType
from textual.keys import Keys
from textual.message import Message
from textual.widgets import TextArea

from flowstudio.studio.chat_paste import Pastes

if TYPE_CHECKING:
    from flowstudio.studio.chat_pane import ChatPane

_TALLEST = 6
"""Rows to which it grows."""
_REMEMBERED = 100
"""Lines that can be brought back."""
_NEW_LINE = ("ctrl+j", "shift+enter", "alt+enter")


def know_alt_enter() -> None:
    """Let alt+enter be told from enter in every terminal: most send an escape before the return,
    which Textual drops. Some send the same for shift+enter."""
    table = cast("dict[str, tuple[Keys, ...]]", ANSI_SEQUENCES_KEYS)
    table["\x1b\r"] = table["\x1b\n"] = (Keys.ControlJ,)


class ChatInput(TextArea):
    """Enter sends; up in the first row and down in the last go through what was sent before."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "earlier", "Earlier", show=False),
        Binding("down", "later", "Later", show=False),
        Binding("pageup", "scroll_log(-1)", "Scroll the chat", show=False),
        Binding("pagedown", "scroll_log(1)", "Scroll the chat", show=False),
        Binding("shift+tab", "read", "the chat", show=False),
        Binding(
            "tab", "complete", "complete", tooltip="Complete the command, or go to the next pane"
        ),
        Binding("escape", "leave", "back to the flow", tooltip="Leave the input line"),
    ]

    class Left(Message):
        """The user is done typing; `step` is 1 for the next pane, 0 for back to the flow."""

        def __init__(self, step: int = 0) -> None:
            super().__init__()
            self.step = step

    class Sent(Message):
        """Enter was pressed."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(
            id=id,
            compact=True,
            soft_wrap=True,
            show_line_numbers=False,
            tab_behavior="focus",
            highlight_cursor_line=False,
            max_checkpoints=50,
        )
        know_alt_enter()
        self._pastes = Pastes()
        self._sent: list[str] = []
        self._at = 0
        self._draft = ""

    # What stands in it

    @property
    def value(self) -> str:
        """What is typed; a large pasted text is a sign in it."""
        return self.text

    @value.setter
    def value(self, text: str) -> None:
        self.text = text
        self.move_cursor(self.document.end)

    def take(self) -> str:
        """What is to be sent, whole; it is remembered, and the line is empty again."""
        typed = self.text.strip()
        if typed and (not self._sent or self._sent[-1] != typed):
            self._sent = [*self._sent[1 - _REMEMBERED :], typed]
        self._at = len(self._sent)
        self._draft = ""
        self.text = ""
        self.history.clear()
        return self._pastes.expand(typed)

    def fit(self) -> None:
        """As many rows as the text takes, up to a bound."""
        rows = min(max(self.wrapped_document.height, 1), _TALLEST)
        height = self.styles.height
        if height is None or height.value != rows:
            self.styles.height = rows
            self.scroll_cursor_visible(animate=False)

    def on_text_area_changed(self) -> None:
        """It grows and shrinks with what is in it."""
        self.fit()

    def on_resize(self) -> None:
        """Lines are folded anew."""
        self.call_after_refresh(self.fit)

    # Keys

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.post_message(self.Sent())
        elif event.key in _NEW_LINE:
            event.stop()
            event.prevent_default()
            self.insert("\n")
            self.scroll_cursor_visible(animate=False)
        else:
            await super()._on_key(event)

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.insert(self._pastes.take(event.text))

    def action_earlier(self) -> None:
        """One row up; from the first one back to what was sent before."""
        if self._pane.move_in_completions(-1):
            return
        if not self._is_in_row(0):
            self.action_cursor_up()
            return
        self._go(-1)

    def action_later(self) -> None:
        """One row down; from the last one on to what was sent later."""
        if self._pane.move_in_completions(1):
            return
        if not self._is_in_row(self.wrapped_document.height - 1):
            self.action_cursor_down()
            return
        self._go(1)

    def _is_in_row(self, row: int) -> bool:
        return self.wrapped_document.location_to_offset(self.cursor_location).y == row

    def _go(self, step: int) -> None:
        at = min(max(self._at + step, 0), len(self._sent))
        if at == self._at:
            return
        if self._at == len(self._sent):
            self._draft = self.text
        self._at = at
        self.value = self._sent[at] if at < len(self._sent) else self._draft

    def action_complete(self) -> None:
        """Take the completion; without one, go to what is asked, or to the next pane."""
        if not self._pane.complete() and not self._pane.go_to_request():
            self.post_message(self.Left(step=1))

    def action_leave(self) -> None:
        """Back to the flow."""
        self.post_message(self.Left())

    def action_read(self) -> None:
        """To the log, whose entries can be chosen, opened and copied."""
        self._pane.log_view.focus()

    def action_scroll_log(self, step: int) -> None:
        """Read on in the log without leaving the line."""
        self._pane.log_view.action_turn(step)

    @property
    def _pane(self) -> ChatPane:
        from flowstudio.studio.chat_pane import ChatPane

        return self.query_ancestor(ChatPane)
