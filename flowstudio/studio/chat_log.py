"""The log of the chat: one widget that paints those entries which are in view.

It stays at its end while things come in, unless the user has scrolled up to read. A frame costs
what the window shows, however long the chat is; between frames nothing is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic, thread_time
from typing import TYPE_CHECKING, ClassVar, cast

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from flowstudio.studio.chat_ink import Ink
from flowstudio.studio.chat_paint import BAR, Painter
from flowstudio.studio.chat_stack import Stack

if TYPE_CHECKING:
    from textual.reactive import Reactive
    from textual.timer import Timer

    from flowstudio.studio.chat_card import ApprovalCard
    from flowstudio.studio.chat_entries import Entry

_FRAME = 1 / 15
"""Seconds between two looks at what is new, at least."""
_REST = 5
"""A frame is followed by a rest of so many times what it cost, where that is longer."""


class ChatLog(ScrollView, can_focus=True):
    """Holds the entries; `ChatFeed` makes them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "select(-1)", "Select the entry before", show=False),
        Binding("down,j", "select(1)", "Select the next entry", show=False),
        Binding("pageup", "turn(-1)", "A page up", show=False),
        Binding("pagedown", "turn(1)", "A page down", show=False),
        Binding("home", "go('home')", "The beginning", show=False),
        Binding("end", "go('end')", "The end", show=False),
        Binding("enter,space", "fold", "open", tooltip="Show more of the entry, or less"),
        Binding("y", "screen.command('view.copy')", "copy", id="view.copy", tooltip="Copy it"),
        Binding("tab", "talk", "talk", tooltip="To the input line"),
    ]

    DEFAULT_CSS = """
    ChatLog {
        height: 1fr; background: $background;
        overflow-x: hidden; overflow-y: scroll; scrollbar-size: 1 1;
    }
    """

    class Settled(Message):
        """What had the focus beside the log is gone: a tool's request was answered."""

    class Talk(Message):
        """The user wants to type."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.stack = Stack()
        self.on_frame: list[Callable[[], None]] = []
        """Called before each frame, to bring a growing entry up to date."""
        self.hint: Callable[[], Sequence[Entry]] | None = None
        """What stands here while nothing was said."""
        self._hints: list[Entry] = []
        self._is_following = True
        self._is_moving = False
        self._is_painting = False
        self._cursor: Entry | None = None
        self._frame_timer: Timer | None = None
        self._not_before = 0.0
        self._paint: Painter | None = None
        self._look: object = None

    # What it holds

    def forget(self) -> None:
        """Empty the log."""
        self.stack.clear()
        self._hints = []
        self._cursor = None
        self._is_following = True
        self.show_hint()
        self.ask_frame()

    def add[E: Entry](self, entry: E, *, is_first_word: bool = True) -> E:
        """Add an entry at the end; the hint goes with the first word that is said."""
        if is_first_word:
            self._drop_hint()
        self.stack.add(entry)
        self.ask_frame()
        return entry

    def renew(self, entry: Entry) -> None:
        """An entry has changed."""
        self.stack.renew(entry)
        self.ask_frame()

    def show_hint(self, *, anew: bool = False) -> None:
        """Say what can be done here, until something is said; `anew` where keys have changed."""
        if self.hint is None or bool(self._hints) != anew:
            return
        self._drop_hint()
        self._hints = list(self.hint())
        for one in self._hints:
            self.stack.add(one)
        self.ask_frame()

    def _drop_hint(self) -> None:
        for one in self._hints:
            one.is_gone = True
            self.stack.renew(one)
        self._hints = []

    @property
    def text(self) -> str:
        """All that stands here, scrolled away or not; what is folded only by its line."""
        return "\n".join(entry.plain for entry in self.stack.entries if not entry.is_gone)

    @property
    def selected(self) -> Entry | None:
        """The entry that the user has chosen; else the last one."""
        if self.stack.place_of(self._cursor) is not None:
            return self._cursor
        return next((one for one in reversed(self.stack.entries) if not one.is_gone), None)

    # What stands below it

    def show_below(self, card: ApprovalCard) -> None:
        """Ask something below the log; it has the focus at once unless the user is typing."""
        from textual.widgets import Input, TextArea

        assert isinstance(self.parent, Widget)
        self.parent.mount(card, after=self)
        if not isinstance(self.app.focused, Input | TextArea):
            self.call_after_refresh(card.focus)

    def settle_below(self, request: str) -> None:
        """What was asked is answered."""
        from flowstudio.studio.chat_card import ApprovalCard

        assert isinstance(self.parent, Widget)
        for card in self.parent.query(ApprovalCard):
            if card.request == request:
                if card.has_focus_within:
                    self.post_message(ChatLog.Settled())
                card.remove()

    # Frames

    def ask_frame(self) -> None:
        """Show what is new, soon."""
        if self._frame_timer is None and self.is_attached:
            wait = max(self._not_before - monotonic(), 0.001)
            self._frame_timer = self.set_timer(wait, self._frame)

    def _frame(self) -> None:
        self._frame_timer = None
        begin = thread_time()
        for show in self.on_frame:
            show()
        if gone := self.stack.trim():
            self.screen.clear_selection()
            self._move_to(self.scroll_y - gone)
        self._settle()
        self.refresh()
        self._not_before = monotonic() + max(_FRAME, _REST * (thread_time() - begin))

    def _settle(self) -> None:
        """Measure what is in view and a page around it, and keep what the user reads in place."""
        stack, height = self.stack, self.size.height
        stack.width = max(self.scrollable_content_region.width - BAR, 1)
        if not stack.entries or not height:
            self._grow()
            return
        if self._is_following:
            below = 0
            for place in range(len(stack.entries) - 1, -1, -1):
                stack.measure(place)
                below = stack.height - stack.tops[place]
                if below >= 2 * height:
                    break
            self._grow()
            self._move_to(self.max_scroll_y)
            return
        y = before = int(self.scroll_y)
        for place in range(stack.place_at(y), stack.place_at(y + 2 * height) + 1):
            more = stack.measure(place)
            if more and stack.tops[place] < y:
                y += more
        place = stack.place_at(y)
        while place > 0 and y - stack.tops[place] < height:
            place -= 1
            y += stack.measure(place)
        self._grow()
        if y != before or y > self.max_scroll_y:
            self._move_to(y)

    def _grow(self) -> None:
        """The count of rows is known anew: no layout of the screen hangs on it."""
        size = Size(max(self.size.width, 1), self.stack.height)
        if size == self.virtual_size:
            return
        self.set_reactive(cast("Reactive[Size]", Widget.virtual_size), size)
        bar = self.vertical_scrollbar
        bar.window_virtual_size, bar.window_size = size.height, self.size.height

    def _move_to(self, y: float) -> None:
        self._is_moving = True
        self.scroll_to(y=min(max(y, 0), self.max_scroll_y), animate=False, force=True)
        self._is_moving = False

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Who scrolls up wants to read there, whatever comes in; at the end, to see what comes."""
        super().watch_scroll_y(old_value, new_value)
        if not self._is_moving:
            self._is_following = new_value >= self.max_scroll_y - 0.5
            self._settle()

    def on_mount(self) -> None:
        """Nothing was said yet."""
        self.show_hint()

    def on_resize(self) -> None:
        """Lines are folded anew."""
        keep = self._top_entry() if not self._is_following else None
        self._settle()
        place = self.stack.place_of(keep)
        if place is not None:
            self._move_to(self.stack.tops[place])
            self._settle()
        self.refresh()

    def _top_entry(self) -> Entry | None:
        entries = self.stack.entries
        return entries[self.stack.place_at(int(self.scroll_y))] if entries else None

    # Choosing entries

    def action_select(self, step: int) -> None:
        """Go to the entry before or behind; within one that is higher than the window, scroll."""
        stack = self.stack
        place = stack.place_of(self._cursor)
        height = self.size.height
        if place is None:
            row = height - 1 if self._is_following else 0
            place = stack.place_at(int(self.scroll_y) + row)
        else:
            top, end = stack.tops[place], stack.tops[place + 1]
            if step > 0 and end > self.scroll_y + height > top:
                self.scroll_to(y=self.scroll_y + 3, animate=False)
                return
            if step < 0 and top < self.scroll_y < end:
                self.scroll_to(y=self.scroll_y - 3, animate=False)
                return
            place = self._next_place(place, step)
        if 0 <= place < len(stack.entries):
            self._choose(stack.entries[place])

    def _next_place(self, place: int, step: int) -> int:
        entries = self.stack.entries
        now = place
        while 0 <= (now := now + step) < len(entries):
            if not entries[now].is_gone:
                return now
        return place

    def _choose(self, entry: Entry) -> None:
        self._cursor = entry
        stack, height = self.stack, self.size.height
        place = stack.place_of(entry)
        if place is None:
            return
        stack.measure(place)
        self._grow()
        top, end = stack.tops[place], stack.tops[place + 1]
        if top < self.scroll_y:
            self.scroll_to(y=max(top, end - height), animate=False)
        elif end > self.scroll_y + height:
            self.scroll_to(y=min(top, end - height), animate=False)
        self.refresh()

    def action_turn(self, step: int) -> None:
        """A page up or down, two rows of the page before staying."""
        self.scroll_to(y=self.scroll_y + step * max(self.size.height - 2, 1), animate=False)

    def action_go(self, where: str) -> None:
        """To the beginning or the end; what is chosen comes along."""
        self._cursor = None
        self.scroll_to(y=0 if where == "home" else self.max_scroll_y, animate=False)

    def action_fold(self) -> None:
        """Show more of the chosen entry, or less."""
        entry = self.selected
        if entry is not None and entry.can_open:
            self._toggle(entry)

    def _toggle(self, entry: Entry) -> None:
        entry.toggle()
        self._is_following = False
        self.stack.renew(entry)
        self._settle()
        self._is_following = self.scroll_y >= self.max_scroll_y - 0.5
        self._choose(entry)

    def action_talk(self) -> None:
        """To the input line."""
        self.post_message(self.Talk())

    def on_click(self, event: events.Click) -> None:
        """Choose the entry under the mouse, and open or close it; a drag has marked text."""
        row = int(self.scroll_y) + event.y
        if self.text_selection is not None or not 0 <= row < self.stack.height:
            return
        entry = self.stack.entries[self.stack.place_at(row)]
        self._cursor = entry
        if entry.can_open:
            self._toggle(entry)
        self.refresh()

    def on_focus(self) -> None:
        """The chosen entry shows."""
        self.refresh()

    def on_blur(self) -> None:
        """It shows no longer."""
        self.refresh()

    # Painting

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of the window."""
        paint = self._painter()
        paint.chosen = self.selected if self.has_focus else None
        paint.marked = self.text_selection
        self._is_painting = True
        try:
            return super().render_lines(crop)
        finally:
            self._is_painting = False

    def render_line(self, y: int) -> Strip:
        """One row; with the place of each sign where Textual asks for what the mouse marks."""
        row = int(self.scroll_y) + y
        if self._is_painting and self._paint is not None:
            return self._paint.row(row, self.size.width)
        return self._painter().row_with_places(row)

    def _painter(self) -> Painter:
        look = (self.app.theme, self.rich_style)
        if self._paint is None or look != self._look:
            self._look = look
            mark = self.screen.get_component_rich_style("screen--selection")
            self._paint = Painter(self.stack, Ink(self.app.theme_variables, self.rich_style), mark)
        return self._paint

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text that was marked with the mouse."""
        return self._painter().text_of(selection), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Paint what is marked."""
        self.refresh()
