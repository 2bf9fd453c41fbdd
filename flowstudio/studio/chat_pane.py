"""The chat: the log of the conversation, what is asked below it, and the line to type in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from flowstudio.studio.marks import style_of
from flowstudio.text import harmless, shorten

if TYPE_CHECKING:
    from textual.widgets import TextArea

    from flowstudio.studio.chat_entries import Entry
    from flowstudio.studio.chat_input import ChatInput
    from flowstudio.studio.chat_log import ChatLog


class ChatPane(Vertical):
    """The log, the completions of slash commands, and the input line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "slash", "A slash command", show=False),
    ]

    DEFAULT_CSS = """
    ChatPane {
        & #completions {
            display: none; height: auto; max-height: 8; border: none; padding: 0 1;
            background: $panel; scrollbar-size: 1 1; text-wrap: nowrap; text-overflow: ellipsis;
        }
        & ChatInput {
            height: 1; border: none; padding: 0 1; background: $surface; scrollbar-size: 1 1;
            &:focus { background: $panel; border: none; }
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
        from flowstudio.studio.chat_input import ChatInput
        from flowstudio.studio.chat_log import ChatLog

        log = ChatLog(id="log")
        log.hint = hint
        await self.mount(
            log,
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
        return cast("ChatInput", self.query_one("#say"))

    def set_commands(self, commands: Sequence[tuple[str, str]]) -> None:
        """The slash commands that complete: name with its slash, and description."""
        self._commands = commands
        if self.children:
            self.log_view.show_hint(anew=True)

    # Typing

    def on_chat_input_sent(self, event: ChatInput.Sent) -> None:
        """Send what is typed; a half-typed command is completed first."""
        event.stop()
        text = self.input.value.strip()
        is_half = text.startswith("/") and not (set(" \n") & set(text)) and not self._knows(text)
        if is_half and self.complete():
            return
        self._hide_completions()
        self.post_message(self.Typed(self.input.take()))

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Offer the commands that begin with what is typed."""
        event.stop()
        text = self.input.value
        if not text.startswith("/") or set(" \n") & set(text):
            self._hide_completions()
            return
        word = text.casefold()
        found = [c for c in self._commands if c[0].casefold().startswith(word)]
        found += [c for c in self._commands if word[1:] in c[0].casefold() and c not in found]
        listing = self.query_one("#completions", OptionList)
        listing.clear_options()
        for name, description in found[:40]:
            row = Text(harmless(name), style_of(self, "text"), no_wrap=True, overflow="ellipsis")
            row.append(f"  {shorten(harmless(description), 200)}", style_of(self, "muted"))
            listing.add_option(Option(row, id=name))
        listing.display = bool(found)
        listing.highlighted = 0 if found else None

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click on a completion takes it."""
        event.stop()
        self.complete()
        self.input.focus()

    def action_slash(self) -> None:
        """A slash while the log has the focus begins a slash command."""
        self.screen.set_focus(self.input)
        self.input.value = "/"

    def on_chat_log_talk(self, event: ChatLog.Talk) -> None:
        """From the log to the line, or to what is asked above it."""
        event.stop()
        if not self.go_to_request():
            self.input.focus()

    def go_to_request(self) -> bool:
        """Go to what a tool asks leave for; False where nothing is asked."""
        card = next(iter(self.query("ApprovalCard")), None)
        if card is not None:
            card.focus()
        return card is not None

    def complete(self) -> bool:
        """Put the highlighted completion into the line; False where there is none."""
        listing = self.query_one("#completions", OptionList)
        option = listing.highlighted_option if listing.display else None
        if option is None or option.id is None:
            return False
        self.input.value = f"{option.id} "
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

    def _knows(self, text: str) -> bool:
        return any(name == text for name, _ in self._commands)


def hint() -> list[Entry]:
    """What can be done here, while nothing was said."""
    from flowstudio.studio.chat_entries import Entry
    from flowstudio.studio.keymap import key_of

    keys = (
        (key_of("run.start"), "runs the flow: its prompts and answers stand here"),
        (key_of("run.step"), "takes it prompt by prompt"),
        (key_of("view.talk"), "talks to the agent"),
        ("/", "lists commands"),
    )
    rows = [[(f"{key:>4}  ", "accent bold"), (what, "muted")] for key, what in keys]
    return [Entry(*rows, above=1)]
