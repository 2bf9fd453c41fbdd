"""A line that takes names of states, and completes them by name and by what they mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from flowstudio.studio.marks import style_of
from flowstudio.text import harmless, shorten

_MOST = 30
_PARTING = re.compile(r"[\s,，、;；]+")


class _Line(Input):
    """The line itself: arrows and tab go to the list below it while that shows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "go(-1)", "Up", show=False),
        Binding("down", "go(1)", "Down", show=False),
        Binding("tab", "complete", "Complete", show=False),
    ]

    def action_go(self, step: int) -> None:
        """Up or down in the list."""
        self.query_ancestor(StateField).move(step)

    def action_complete(self) -> None:
        """Take what is highlighted; without a list, go on to what comes next."""
        if not self.query_ancestor(StateField).complete():
            self.screen.focus_next()


class StateField(Vertical):
    """Takes the states that hold already; `Submitted` says that the user is done."""

    DEFAULT_CSS = """
    StateField {
        height: auto;
        & Input { height: 1; border: none; padding: 0 1; }
        & OptionList {
            display: none; height: auto; max-height: 8; border: none; padding: 0 1;
            background: $panel; scrollbar-size: 1 1;
        }
    }
    """

    class Submitted(Message):
        """Enter, where nothing was to be completed."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.states: Mapping[str, str] = {}
        """What can be completed, with what it means."""
        self._words: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        """The line, and the list below it."""
        yield _Line(placeholder="what is there already: has_csv_file …", compact=True)
        yield OptionList(compact=True, markup=False)

    @property
    def line(self) -> Input:
        """The line."""
        return self.query_one(_Line)

    @property
    def value(self) -> tuple[str, ...]:
        """The states that were given."""
        return tuple(dict.fromkeys(one for one in _PARTING.split(self.line.value) if one))

    @value.setter
    def value(self, states: tuple[str, ...]) -> None:
        # Given, not typed: nothing is to be completed.
        with self.prevent(Input.Changed):
            self.line.value = ", ".join(states)
        self.line.cursor_position = len(self.line.value)

    @property
    def _list(self) -> OptionList:
        return self.query_one(OptionList)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Offer the states that fit the word that is typed."""
        event.stop()
        word = _PARTING.split(event.value)[-1].casefold()
        given = set(self.value)
        found = [
            state
            for state, meaning in self.states.items()
            if word
            and state not in given
            and (word in state.casefold() or word in meaning.casefold())
        ]
        found.sort(key=lambda state: (word not in state.casefold(), state))
        listing = self._list
        listing.clear_options()
        for state in found[:_MOST]:
            row = Text(harmless(state), style_of(self, "text"), no_wrap=True, overflow="ellipsis")
            row.append(f"  {shorten(harmless(self.states[state]), 100)}", style_of(self, "muted"))
            listing.add_option(Option(row, id=state))
        listing.display = bool(found)
        listing.highlighted = 0 if found else None

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter takes the completion; where there is none, the user is done."""
        event.stop()
        if not self.complete():
            self.post_message(self.Submitted())

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click takes it."""
        event.stop()
        self.complete()
        self.line.focus()

    def on_descendant_blur(self) -> None:
        """The list goes with the focus, but not while it is clicked."""
        if not self.has_focus_within:
            self._list.display = False

    def move(self, step: int) -> None:
        """Up or down in the list."""
        listing = self._list
        if listing.display and listing.highlighted is not None:
            listing.highlighted = (listing.highlighted + step) % listing.option_count

    def complete(self) -> bool:
        """Take what is highlighted; False where there is no list."""
        option = self._list.highlighted_option if self._list.display else None
        if option is None or option.id is None:
            return False
        before = self.line.value
        head = before[: len(before) - len(_PARTING.split(before)[-1])]
        with self.prevent(Input.Changed):
            self.line.value = f"{head}{option.id}, "
        self.line.cursor_position = len(self.line.value)
        self._list.display = False
        return True

    def hide(self) -> bool:
        """Put the list away; False where there was none."""
        was, self._list.display = self._list.display, False
        return was
