"""The chat: the log of the conversation, and the line to talk to the agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from flowstudio.studio.marks import style_of
from flowstudio.text import harmless, shorten

if TYPE_CHECKING:
    from flowstudio.studio.chat_log import ChatLog


class ChatInput(Input):
    """The line to type in; up and down go through what was typed before."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "earlier", "Earlier", show=False),
        Binding("down", "later", "Later", show=False),
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

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(compact=True, id=id)
        self._typed: list[str] = []
        self._at = 0

    def remember(self, text: str) -> None:
        """Keep a line for `up`."""
        if text and (not self._typed or self._typed[-1] != text):
            self._typed.append(text)
        self._at = len(self._typed)

    def action_earlier(self) -> None:
        """One line back, or one up in the list of completions."""
        self._move(-1)

    def action_later(self) -> None:
        """One line on, or one down in the list of completions."""
        self._move(1)

    def action_complete(self) -> None:
        """Take the completion; without one, go to the next pane."""
        chat = self.query_ancestor(ChatPane)
        if not chat.complete():
            self.post_message(self.Left(step=1))

    def action_leave(self) -> None:
        """Back to the flow."""
        self.post_message(self.Left())

    def _move(self, step: int) -> None:
        chat = self.query_ancestor(ChatPane)
        if chat.move_in_completions(step) or not self._typed:
            return
        self._at = min(max(self._at + step, 0), len(self._typed))
        self.value = self._typed[self._at] if self._at < len(self._typed) else ""
        self.cursor_position = len(self.value)


class ChatPane(Vertical):
    """The log, the completions of slash commands, and the input line."""

    DEFAULT_CSS = """
    ChatPane {
        & #completions {
            display: none; height: auto; max-height: 8; border: none; padding: 0 1;
            background: $panel; scrollbar-size: 1 1;
        }
        & ChatInput {
            height: 1; border: none; padding: 0 1; background: $surface;
            &:focus { background: $panel; }
        }
    }
    """

    class Typed(Message):
        """The user sent a line."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.border_title = "Chat"
        self._commands: Sequence[tuple[str, str]] = ()

    async def furnish(self) -> None:
        """Mount the log, the completions and the input line, once the empty frame is painted."""
        from flowstudio.studio.chat_log import ChatLog

        await self.mount(
            ChatLog(id="log"),
            OptionList(id="completions", compact=True, markup=False),
            ChatInput(id="say"),
        )
        self.input.placeholder = "› message the agent, or / for commands"

    @property
    def log_view(self) -> ChatLog:
        """What was said."""
        return cast("ChatLog", self.query_one("#log"))

    @property
    def input(self) -> ChatInput:
        """The input line."""
        return self.query_one(ChatInput)

    def set_commands(self, commands: Sequence[tuple[str, str]]) -> None:
        """The slash commands that complete: name with its slash, and description."""
        self._commands = commands

    # Typing

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Send the line; a half-typed command is completed first."""
        event.stop()
        text = event.value.strip()
        is_half = text.startswith("/") and " " not in text and not self._is_command(text)
        if is_half and self.complete():
            return
        self.input.remember(text)
        self.input.value = ""
        self._hide_completions()
        self.post_message(self.Typed(text))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Offer the commands that begin with what is typed."""
        event.stop()
        text = event.value
        if not text.startswith("/") or " " in text:
            self._hide_completions()
            return
        word = text.casefold()
        found = [c for c in self._commands if c[0].casefold().startswith(word)]
        found += [c for c in self._commands if word[1:] in c[0].casefold() and c not in found]
        listing = self.query_one("#completions", OptionList)
        listing.clear_options()
        for name, description in found[:40]:
            row = Text(harmless(name), style_of(self, "text"), no_wrap=True, overflow="ellipsis")
            row.append(f"  {shorten(harmless(description), 80)}", style_of(self, "muted"))
            listing.add_option(Option(row, id=name))
        listing.display = bool(found)
        listing.highlighted = 0 if found else None

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click on a completion takes it."""
        event.stop()
        self.complete()
        self.input.focus()

    def on_key(self, event: events.Key) -> None:
        """Typing while the log has the focus goes to the input line."""
        if event.character == "/" and self.app.focused is self.log_view:
            event.stop()
            self.input.focus()
            self.input.value = "/"
            self.input.cursor_position = 1

    def complete(self) -> bool:
        """Put the highlighted completion into the line; False where there is none."""
        listing = self.query_one("#completions", OptionList)
        option = listing.highlighted_option if listing.display else None
        if option is None or option.id is None:
            return False
        self.input.value = f"{option.id} "
        self.input.cursor_position = len(self.input.value)
        self._hide_completions()
        return True

    def move_in_completions(self, step: int) -> bool:
        """Move the highlight; False where no completions are shown."""
        listing = self.query_one("#completions", OptionList)
        if not listing.display or listing.highlighted is None:
            return False
        listing.highlighted = (listing.highlighted + step) % listing.option_count
        return True

    def _hide_completions(self) -> None:
        self.query_one("#completions", OptionList).display = False

    def _is_command(self, text: str) -> bool:
        return any(name == text for name, _ in self._commands)
