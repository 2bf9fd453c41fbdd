"""The last line: the keys of the pane in use, each of which can be clicked.

Textual's own footer has a widget for each key and makes all of them anew whenever the focus moves,
which costs a tenth to a quarter of a second; this is one line that is painted anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, TextArea

from flowstudio.studio.commands import FOOTERS, TEXT_FOOTERS
from flowstudio.studio.keymap import NO_KEY

if TYPE_CHECKING:
    from textual.screen import Screen

_HELP = "help')"
"""How the action of every help ends: each screen has its own."""
_MORE = "… "


@dataclass(frozen=True, slots=True)
class Key:
    """One key and what it does."""

    key: str
    """As Textual names it, to press it."""
    shown: str
    """As the user reads it."""
    label: str
    action: str
    enabled: bool
    tooltip: str

    @property
    def width(self) -> int:
        """Cells that it takes."""
        return cell_len(self.shown) + cell_len(self.label) + 3


class KeyLine(Widget):
    """Names the keys that work now; where not all fit, the help's key stays."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"keys--key", "keys--label", "keys--hover"}

    DEFAULT_CSS = """
    KeyLine {
        dock: bottom; height: 1;
        color: $role-muted; background: $surface;
        & .keys--key { color: $footer-key-foreground; text-style: bold; }
        & .keys--label { color: $footer-description-foreground; }
        & .keys--hover { background: $panel; }
    }
    """

    ALLOW_SELECT = False

    keys: reactive[tuple[Key, ...]] = reactive[tuple[Key, ...]](())
    """The keys that work now, in their order."""
    hovered: reactive[str | None] = reactive[str | None](None)
    """The action under the mouse."""

    def on_mount(self) -> None:
        """Hear of each change of the keys."""
        self.screen.bindings_updated_signal.subscribe(self, self._take)

    def _take(self, screen: Screen[object]) -> None:
        if not self.is_attached or screen is not self.screen or not screen.app.app_focus:
            return
        found: dict[str, Key] = {}
        listed = FOOTERS.get(getattr(screen, "place_in_use", ""), ())
        for _, binding, enabled, tooltip in screen.active_bindings.values():
            wanted = binding.show or binding.id in listed
            if wanted and binding.action not in found:
                shown = self.app.get_key_display(binding)
                text = binding.description
                found[binding.action] = Key(
                    binding.key, shown, text, binding.action, enabled, tooltip or text
                )
        self.keys = tuple(self._chosen(found))

    def _chosen(self, found: dict[str, Key]) -> Iterable[Key]:
        """Those that serve where the user is: where text is typed, letters are text."""
        pane = getattr(self.screen, "place_in_use", "")
        focused = self.screen.focused  # a dialog over the screen names its own keys
        if isinstance(focused, (Input, TextArea)) and pane in TEXT_FOOTERS:
            return [
                Key(key, sign, label, f"press {key}", enabled=True, tooltip=label)
                for key, sign, label in TEXT_FOOTERS[pane]
            ]
        found = {action: key for action, key in found.items() if not key.key.startswith(NO_KEY)}
        if pane not in FOOTERS:
            return found.values()
        actions = (f"command('{command}')" for command in FOOTERS[pane])
        return [found[action] for action in actions if action in found]

    def render_line(self, y: int) -> Strip:
        """The only line."""
        base = self.rich_style
        key_style = base + self.get_component_rich_style("keys--key", partial=True)
        label_style = base + self.get_component_rich_style("keys--label", partial=True)
        over = self.get_component_rich_style("keys--hover", partial=True)
        segments: list[Segment] = []
        for _, key in self._places():
            if key is None:
                segments.append(Segment(_MORE, label_style))
                continue
            hover = over if key.action == self.hovered else None
            segments.append(Segment(f" {key.shown} ", key_style + hover))
            segments.append(Segment(f"{key.label} ", label_style + hover))
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def _places(self) -> Sequence[tuple[int, Key | None]]:
        """The keys that fit with their columns; None stands for those that do not."""
        room = self.size.width
        if sum(key.width for key in self.keys) <= room:
            shown: list[Key | None] = list(self.keys)
        else:
            last = [key for key in self.keys if key.action.endswith(_HELP)]
            room -= len(_MORE) + sum(key.width for key in last)
            shown = []
            for key in self.keys:
                room -= key.width
                if room < 0:
                    break
                if key not in last:
                    shown.append(key)
            shown += [None, *last]
        places: list[tuple[int, Key | None]] = []
        x = 0
        for key in shown:
            places.append((x, key))
            x += key.width if key else len(_MORE)
        return places

    def _key_at(self, x: int) -> Key | None:
        for start, key in self._places():
            if key is None and start <= x < start + len(_MORE):
                # What does not fit is behind the help, whose lines can be clicked.
                return next((one for one in self.keys if one.action.endswith(_HELP)), None)
            if key is not None and start <= x < start + key.width:
                return key
        return None

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Say in a tooltip what the key under the mouse does."""
        key = self._key_at(event.x)
        self.hovered = key.action if key else None
        self.tooltip = key.tooltip if key else None

    def on_leave(self) -> None:
        """The mouse went away."""
        self.hovered = None

    def on_click(self, event: events.Click) -> None:
        """Press the key."""
        key = self._key_at(event.x)
        if key is not None and key.enabled:
            self.app.simulate_key(key.key)
