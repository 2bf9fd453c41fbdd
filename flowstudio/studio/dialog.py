"""The base of all dialogs: a frame with a title, what is asked, and the keys that answer.

A subclass says what stands in the frame (`body`) and which keys it has (`BINDINGS`). From these
come the line of keys at its end, each of which can be clicked, the help behind `?` and the
palette's commands. Escape leaves without an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self, cast

from rich.console import RenderableType
from rich.markup import escape
from rich.text import Text
from textual import events
from textual.app import ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.geometry import Region, Size
from textual.renderables.background_screen import BackgroundScreen
from textual.screen import ModalScreen
from textual.widget import Widget

from flowstudio.studio.backdrop import Backdrop
from flowstudio.studio.keymap import show_key
from flowstudio.studio.marks import style_of
from flowstudio.text import harmless

_GAP = "   "
_ROOMY = 20
"""Rows of a screen from which an empty line parts the keys from what is above them."""


@dataclass(frozen=True, slots=True)
class Hint:
    """One key of a dialog and what it does there."""

    key: str
    """As Textual names it."""
    words: str
    action: str

    @property
    def shown(self) -> str:
        """The key as people read it."""
        return show_key(self.key)


class Dialog[Answer](ModalScreen[Answer]):
    """Asks something over the screen that it is about; gives the answer, None for none."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "cancels"),
        Binding("question_mark", "keys", "keys", show=False),
    ]

    DEFAULT_CSS = """
    Dialog {
        align: center middle;
        & > #dialog {
            width: 76; max-width: 100%; height: auto; max-height: 100%; padding: 1 2;
            border: round $role-accent; border-title-color: $role-accent; background: $surface;
        }
        &.-urgent > #dialog { border: round $role-now; border-title-color: $role-now; }
        & #dialog-hints { dock: bottom; width: 1fr; height: auto; color: $role-muted; }
        & Static { width: 1fr; height: auto; }
        & Input {
            height: 1; border: none; padding: 0 1; background: $panel;
            &:focus { border: none; background: $panel; }
        }
        & OptionList {
            height: auto; border: none; padding: 0; background: $surface; scrollbar-size: 1 1;
            text-wrap: nowrap; text-overflow: ellipsis;
            &:focus { border: none; }
            & > .option-list--option { padding: 0 1; }
            & > .option-list--option-highlighted { background: $panel; color: $role-text; }
            &:focus > .option-list--option-highlighted {
                background: $panel; color: $role-text; text-style: bold;
            }
        }
        & VerticalScroll { scrollbar-size: 1 1; }
    }
    Dialog.-low > #dialog { padding: 0 2; }
    Dialog.-flat > #dialog { padding: 0 1; border: none; }
    """

    def __init__(self, heading: str, *, is_urgent: bool = False) -> None:
        """`heading` is data: it may come from a file; an urgent dialog waits for the user."""
        super().__init__()
        self.heading = heading
        self.set_class(is_urgent, "-urgent")
        self._backdrop: Backdrop | None = None

    def body(self) -> Iterable[Widget]:
        """What stands in the frame above the keys."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        """The frame, what is in it, and the keys."""
        self._take_size()
        with Vertical(id="dialog") as frame:
            frame.border_title = escape(harmless(self.heading))
            yield KeyHints(id="dialog-hints")
            yield from self.body()

    def _take_size(self) -> None:
        """Take the classes of the terminal's size before the first frame: Textual sets them after
        it, and lays out and paints everything once more."""
        size = self.app.size
        for least, steps in (
            (size.width, self.app.HORIZONTAL_BREAKPOINTS),
            (size.height, self.app.VERTICAL_BREAKPOINTS),
        ):
            fitting = [step for step in steps or () if step[0] <= least]
            if fitting:
                self.add_class(max(fitting)[1], update=False)

    def render(self) -> RenderableType:
        """The screen below."""
        below = super().render()
        if not isinstance(below, BackgroundScreen):
            return below
        self._backdrop = self._backdrop or Backdrop(self.app.console)
        self._backdrop.show(below)
        return cast("RenderableType", self._backdrop)  # Textual takes either

    def refresh(
        self,
        *regions: Region,
        repaint: bool = True,
        layout: bool = False,
        recompose: bool = False,
    ) -> Self:
        """Paint again; regions are named by the screen below, which has changed there."""
        if regions and self._backdrop is not None:
            self._backdrop.is_stale = True
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def on_screen_resume(self) -> None:
        """While another dialog was open, the screen below told that one what changed."""
        if self._backdrop is not None:
            self._backdrop.is_stale = True

    def hints(self) -> Iterator[Hint]:
        """The keys that are named, in the order of `BINDINGS`; the way out comes last."""
        last: list[Hint] = []
        known: set[str] = set()
        for key, binding in self._bindings:
            if not binding.show or not binding.description or binding.action in known:
                continue
            known.add(binding.action)
            hint = Hint(key, binding.description, binding.action)
            if key == "escape":
                last.append(hint)
            else:
                yield hint
        yield from last

    def action_leave(self) -> None:
        """Close without an answer."""
        self.dismiss(None)

    def action_accept(self) -> None:
        """Enter where nothing has the focus: what is to be filled in takes it."""
        self.focus_next()

    def action_keys(self) -> None:
        """Show the keys that work here."""
        from flowstudio.studio.help_dialog import HelpDialog

        rows = [(hint.shown, hint.words, hint.action) for hint in self.hints()]
        self.app.push_screen(HelpDialog.of(self.heading, rows), self._do)

    def _do(self, action: str | None) -> None:
        if action is not None:
            self.call_later(self.run_action, action)

    def palette_commands(self) -> Iterator[SystemCommand]:
        """What can be done here, for the palette."""
        for hint in self.hints():
            title = f"{harmless(self.heading)}: {hint.words}"
            yield SystemCommand(title, f"key {hint.shown}", partial(self.run_action, hint.action))
        yield SystemCommand("Help: Show the keys that work here", "key ?", self.action_keys)


class KeyHints(Widget):
    """The keys of a dialog in its last lines; a click presses one."""

    ALLOW_SELECT = False

    def on_click(self, event: events.Click) -> None:
        """Press the key under the mouse."""
        if (key := event.style.meta.get("key")) is not None:
            self.app.simulate_key(key)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many lines as the keys take."""
        return len(self._lines(width))

    def render(self) -> Text:
        """The keys with their words, below an empty line where there is room for it."""
        return Text("\n").join(self._lines(self.size.width))

    def _lines(self, width: int) -> list[Text]:
        """A key and its words stay together where the line is broken."""
        dialog = self.screen
        assert isinstance(dialog, Dialog)
        key_style = style_of(self, "accent") + style_of(self, "bold")
        lines = [Text()] if self.app.size.height < _ROOMY else [Text(), Text()]
        for hint in dialog.hints():
            words = (f" {hint.words}", style_of(self, "muted"))
            one = Text.assemble((hint.shown, key_style), words)
            one.apply_meta({"key": hint.key})
            room = width - lines[-1].cell_len
            if lines[-1] and room < one.cell_len + len(_GAP):
                lines.append(one)
            else:
                lines[-1] = Text(_GAP if lines[-1] else "").join([lines[-1], one])
        return lines
