"""The help: the keys of the pane in use, then all others; each line can be clicked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import ClassVar, cast

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from flowstudio.studio.commands import (
    COMMANDS,
    FOOTERS,
    HELP_GROUPS,
    PANE_KEYS,
    SIGNS,
    Command,
    commands_of,
)
from flowstudio.studio.dialog import Dialog
from flowstudio.studio.keymap import Keymap, shown_keys as shown_keys
from flowstudio.studio.marks import style_of
from flowstudio.text import harmless

_KEYS_WIDTH = 18
"""Columns of the keys, at most; they take no more than a third."""
_GAP = 2
_ROLES = {"key": ("accent", "bold"), "heading": ("muted", "bold")}
"""What is not written in the colour of a role by its own name."""
_BRANCHES = "Take that branch, whatever the model says: before or after it answers"


def help_rows(pane: str, keymap: Keymap) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """Headings, each with its lines: keys, what they do, and the command's id (empty for none)."""
    here = [(keys, text, "") for keys, text in PANE_KEYS.get(pane, ())]
    # A screen of its own has its keys and no others.
    if screen := [one for one in COMMANDS if one.scope == pane]:
        yield f"Here: {pane}", here + [row_of(command, keymap) for command in screen]
        yield "Everywhere", [(keys, text, "") for keys, text in PANE_KEYS["everywhere"]]
        return
    known = {command.id: command for command in commands_of("studio")}
    own = [known[one] for one in FOOTERS.get(pane, ()) if one in known]
    here += [row_of(command, keymap) for command in own if command.id != "help"]
    yield f"Here: {pane}", here
    for prefix, title in HELP_GROUPS:
        rows = [
            row_of(command, keymap)
            for command in known.values()
            if command.id.startswith(prefix)
            and (not command.id.startswith("run.branch") or command.id == "run.branch1")
        ]
        yield title, rows
    yield "Everywhere", [(keys, text, "") for keys, text in PANE_KEYS["everywhere"]]


def row_of(command: Command, keymap: Keymap) -> tuple[str, str, str]:
    """A command as a line of the help."""
    if command.id == "run.branch1":
        return "1-9", _BRANCHES, ""
    return shown_keys(command, keymap) or "—", command.help, command.id


class HelpDialog(Dialog[str | None]):
    """All keys, those of the pane in use first; gives the command of the line that is clicked."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q", "leave", "closes"),
        Binding("down,j", "scroll(1)", "scrolls"),
        Binding("up,k", "scroll(-1)", show=False),
    ]

    DEFAULT_CSS = """
    HelpDialog {
        & > #dialog { width: 92; }
        & #dialog-body { height: auto; max-height: 100%; scrollbar-gutter: stable; }
    }
    """

    def __init__(self, pane: str = "flow", keymap: Keymap | None = None) -> None:
        super().__init__("Keys; a click on a line does what it says")
        self._groups = [*help_rows(pane, keymap or Keymap())]
        self._has_signs = True

    @classmethod
    def of(cls, heading: str, rows: Sequence[tuple[str, str, str]]) -> HelpDialog:
        """The keys of something else, a dialog perhaps: key, what it does, what a click gives."""
        made = cls()
        everywhere = [(keys, text, "") for keys, text in PANE_KEYS["everywhere"] if keys != "?"]
        made._groups = [(f"Here: {harmless(heading)}", [*rows]), ("Everywhere", everywhere)]
        made._has_signs = False
        return made

    def body(self) -> Iterable[Widget]:
        """One table."""
        with VerticalScroll(id="dialog-body"):
            yield HelpTable([*self._rows()], id="keys")

    def action_scroll(self, step: int) -> None:
        """The arrows, while nothing has the focus."""
        self.query_one("#dialog-body").scroll_relative(y=step, animate=False)

    def _rows(self) -> Iterator[HelpRow]:
        """All groups, an empty row between them."""
        for at, (title, rows) in enumerate(self._groups):
            if at:
                yield HelpRow()
            yield HelpRow(text=title, is_heading=True)
            for keys, text, command in rows:
                yield HelpRow(keys, text, command=command)
        if self._has_signs:
            yield HelpRow()
            yield HelpRow(text="Signs in the flow", is_heading=True)
            for sign, role, text in SIGNS:
                yield HelpRow(sign, text, role)


@dataclass(frozen=True, slots=True)
class HelpRow:
    """Keys or a sign, and what is said of them."""

    keys: str = ""
    text: str = ""
    role: str = ""
    """The colour of a sign; keys have none of their own."""
    command: str = ""
    """What a click gives."""
    is_heading: bool = False


class HelpTable(Widget):
    """Rows with their keys on the right of one column; only the lines that show are painted."""

    DEFAULT_CSS = "HelpTable { height: auto; }"

    ALLOW_SELECT = False

    def __init__(self, rows: Sequence[HelpRow], *, id: str) -> None:
        super().__init__(id=id)
        self._rows = rows
        self._longest = max((cell_len(row.keys) for row in rows), default=0)
        self._folded: tuple[int, list[tuple[HelpRow, str, str]]] = (0, [])
        """The width that the lines were folded for, and each line's row, keys and text."""
        self._looks: dict[str, Style] = {}

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many lines as the rows take."""
        return len(self._lines(width))

    def notify_style_update(self) -> None:
        """The theme may be another one."""
        super().notify_style_update()
        self._looks.clear()

    def render_line(self, y: int) -> Strip:
        """A line, in the theme's colours."""
        base, width = self._look(""), self.size.width
        lines = self._lines(width)
        if y >= len(lines):
            return Strip.blank(width, base)
        row, keys, text = lines[y]
        style = self._look("heading") if row.is_heading else base
        if row.command:
            style += Style(meta={"command": row.command})
        room = self._keys_width(width)
        segments = [
            Segment(" " * (room - cell_len(keys)), base),
            Segment(keys, self._look(row.role or "key")),
            Segment(" " * _GAP, base),
            Segment(text, style),
        ]
        return Strip(segments).adjust_cell_length(width, base)

    def _look(self, what: str) -> Style:
        """The style of a part of a line, looked up once: there are as many as lines."""
        if what not in self._looks:
            roles = _ROLES.get(what, (what,) if what else ())
            style = sum((style_of(self, role) for role in roles), self.rich_style)
            self._looks[what] = style
        return self._looks[what]

    def on_click(self, event: events.Click) -> None:
        """A line was clicked: its command is carried out."""
        if (command := event.style.meta.get("command")) is not None:
            cast("HelpDialog", self.screen).dismiss(command)

    def _keys_width(self, width: int) -> int:
        return min(self._longest, _KEYS_WIDTH, width // 3)

    def _lines(self, width: int) -> list[tuple[HelpRow, str, str]]:
        if self._folded[0] != width:
            room = self._keys_width(width)
            lines = [
                (row, keys, text)
                for row in self._rows
                for keys, text in zip_longest(
                    self._fold(row.keys, room),
                    self._fold(row.text, width - room - _GAP),
                    fillvalue="",
                )
            ]
            self._folded = (width, lines)
        return self._folded[1]

    def _fold(self, text: str, width: int) -> list[str]:
        if cell_len(text) <= width:
            return [text]
        folded = Text(text).wrap(self.app.console, max(width, 1))
        return [line.plain.rstrip() for line in folded]
