"""The source pane: the SKILL.md as it is edited, what is wrong with it, and what may be typed.

It shows and edits one text. Which file it is, and what becomes of it, is for the author's desk.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from rich.text import Text
from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import OptionList, Static, TextArea
from textual.widgets.option_list import Option

from flowstudio.studio.keymap import key_of
from flowstudio.studio.marks import GLYPHS, style_of
from flowstudio.studio.source_area import SourceArea
from flowstudio.studio.source_complete import Completions, complete
from flowstudio.studio.source_ink import Inked, ink
from flowstudio.studio.source_text import to_source
from flowstudio.text import harmless

if TYPE_CHECKING:
    from flowstudio.flow.diagnostics import Diagnostic
    from flowstudio.skill import Skill
    from flowstudio.studio.source_draft import Draft

_QUIET = 0.04
"""Seconds without a key after which the text is read."""
_HINT = "{save} saves · ctrl+space completes · ctrl+z undoes · esc back to the flow"


class SourcePane(Vertical):
    """Shows a draft; says what it would be if it were saved, a moment after each key."""

    DEFAULT_CSS = """
    SourcePane {
        & SourceArea {
            height: 1fr; border: none; padding: 0; background: $background;
            scrollbar-size: 1 1;
            &:focus { border: none; }
            & .text-area--gutter { color: $role-dim; background: $background; }
            & .text-area--cursor-gutter { color: $role-muted; background: $surface; }
            & .text-area--cursor-line { background: $surface; }
        }
        & #source-words {
            display: none; height: auto; max-height: 7; border: none; padding: 0 1;
            background: $panel; scrollbar-size: 1 1;
        }
        & #source-says { height: auto; max-height: 4; padding: 0 1; }
    }
    """

    class Read(Message):
        """The text was read: this is the skill that it would be."""

        def __init__(self, skill: Skill) -> None:
            super().__init__()
            self.skill = skill

    class NodeMet(Message):
        """The cursor came to another node."""

        def __init__(self, node: str) -> None:
            super().__init__()
            self.node = node

    class Left(Message):
        """Back to the flow (0), or on to the next pane (1)."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.border_title = "Source"
        self.draft: Draft | None = None
        """What is shown."""
        self.read: Skill | None = None
        """The text as it was last read."""
        self._node: str | None = None
        self._taken = ""
        self._said: tuple[Diagnostic | None, int] | None = None
        self._words = Completions((), 0)

    async def furnish(self) -> None:
        """Mount the text, the completions and the line below; done when it is first opened."""
        if self.children:
            return
        await self.mount(
            SourceArea(id="source"),
            OptionList(id="source-words", compact=True, markup=False),
            Static("", id="source-says", markup=False),
        )
        self.show(self.draft, self.read)

    def compose(self) -> ComposeResult:
        """Nothing yet."""
        yield from ()

    @property
    def area(self) -> SourceArea:
        """The text."""
        return self.query_one(SourceArea)

    @property
    def is_furnished(self) -> bool:
        """True once it was opened."""
        return bool(self.children)

    # What is shown

    def show(self, draft: Draft | None, skill: Skill | None) -> None:
        """Show another draft, or this one after it was changed from outside.

        `skill` is what its text was read as; None where that is still to be found out.
        """
        is_new = draft is not self.draft
        self.draft, self.read = draft, skill
        if not self.is_furnished:
            return
        text = draft.text if draft else ""
        if is_new or not self.area.text:
            self._taken = text
            self.area.load_text(text)
            self._node = None
        elif text != self.area.text:
            self._taken = text
            self.area.take_text(text)
        self.area.read_only = draft is None
        self._close_words()
        if skill is None and draft is not None:
            self._read_soon()
        else:
            self._show_read()
        self.show_state()

    def show_state(self) -> None:
        """The title: which file, and whether there is something to save."""
        draft = self.draft
        if draft is None:
            self.border_title, self.border_subtitle = "Source", ""
            return
        mark = f" {GLYPHS['breakpoint']} unsaved" if draft.is_dirty else ""
        gone = " · deleted on the disk" if draft.is_gone else ""
        fight = " · changed on the disk, too" if draft.theirs is not None else ""
        name = harmless(draft.path.name).replace("[", r"\[")
        self.border_title = f"Source · {name}{mark}{gone}{fight}"
        self._show_place()

    def _show_place(self) -> None:
        row, column = self.area.cursor_location if self.is_furnished else (0, 0)
        self.border_subtitle = f"{row + 1}:{column + 1}"

    @on(TextArea.Changed)
    def _text_changed(self, message: TextArea.Changed) -> None:
        message.stop()
        draft = self.draft
        if draft is None:
            return
        text = self.area.text
        is_own = text != self._taken
        self._taken = text
        if draft.text == text and not is_own:
            return
        draft.text = text
        self.show_state()
        self._read_soon()
        if is_own and self.area.has_focus:
            self._offer(asked=False)

    @work(group="source", exclusive=True, exit_on_error=False)
    async def _read_soon(self) -> None:
        """Read the text off the main thread, once the keys rest for a moment."""
        from flowstudio.skill import reread

        await asyncio.sleep(_QUIET)
        draft = self.draft
        if draft is None:
            return
        text, base = draft.text, draft.base

        def read() -> tuple[Skill, Inked]:
            skill = reread(base, to_source(text, base.source))
            return skill, ink(skill, text.split("\n"))

        skill, inked = await asyncio.to_thread(read)
        if draft is not self.draft or draft.text != text:
            return
        self.read = skill
        self._show_read(inked)
        self.post_message(self.Read(skill))

    def _show_read(self, inked: Inked | None = None) -> None:
        skill = self.read
        if skill is None:
            return
        if inked is None:
            inked = ink(skill, self.area.text.split("\n"))
        found: dict[int, Diagnostic] = {}
        for one in sorted(skill.diagnostics, key=lambda d: (d.severity != "error", d.span)):
            found.setdefault(one.span.line - 1, one)
        self.area.show_findings(inked, found)
        self._say()

    def _say(self) -> None:
        """The finding of the cursor's line, else the first one, else what the keys do."""
        says = self.query_one("#source-says", Static)
        skill = self.read
        findings = skill.diagnostics if skill else ()
        row = self.area.cursor_location[0] + 1
        here = [d for d in findings if d.span.line == row]
        chosen = next(iter(here or [d for d in findings if d.severity == "error"]), None)
        key = (chosen, len(findings))
        if key == self._said:
            return  # a new text lays out the whole screen
        self._said = key
        if chosen is None:
            hint = _HINT.format(save=key_of("edit.save"))
            says.update(Text(hint, style_of(self, "dim")))
            return
        role = "fault" if chosen.severity == "error" else "now"
        place = f"{GLYPHS['fault']} {chosen.span.line}:{chosen.span.column} "
        text = Text(place, style_of(self, role))
        text.append(harmless(chosen.message), style_of(self, role))
        if chosen.hint:
            text.append(f"\n  {harmless(chosen.hint)}", style_of(self, "muted"))
        more = len(findings) - 1
        if more > 0:
            text.append(f"  (+{more})", style_of(self, "dim"))
        says.update(text)

    def on_click(self, event: events.Click) -> None:
        """A click on the finding below goes to its place."""
        if event.widget is not None and event.widget.id == "source-says" and self.read:
            errors = self.read.errors or self.read.diagnostics
            if errors:
                span = errors[0].span
                self.area.focus()
                self.area.move_cursor((span.line - 1, span.column - 1), center=True)

    # Node and cursor

    @on(TextArea.SelectionChanged)
    def _cursor_moved(self, message: TextArea.SelectionChanged) -> None:
        message.stop()
        self._show_place()
        self._say()
        if not self.area.has_focus:
            return
        node = self.area.inked.node_at(*self.area.cursor_location)
        if node is not None and node != self._node:
            self._node = node
            self.post_message(self.NodeMet(node))

    def reveal(self, node: str) -> None:
        """Go to the place of a node that was selected in the drawing."""
        if not self.is_furnished or self.area.has_focus or self.read is None:
            return
        chart = self.read.chart
        found = chart.nodes.get(node) if chart else None
        if found is None or found.span is None:
            return
        self._node = node
        self.area.move_cursor((found.span.line - 1, found.span.column - 1), center=True)

    # Completion

    def _offer(self, *, asked: bool) -> None:
        area, words = self.area, self.query_one("#source-words", OptionList)
        inked = area.inked
        row = area.cursor_location[0]
        chart = self.read.chart if self.read else None
        in_chart = bool(inked.chart) and inked.chart.start <= row <= inked.chart.stop
        lines = inked.lines
        closing = next((n for n in range(1, len(lines)) if lines[n].rstrip() == "---"), 0)
        found = complete(
            area.before_cursor,
            chart.nodes if chart else (),
            inked.language if in_chart else None,
            in_front=bool(lines) and lines[0].rstrip() == "---" and 0 < row < closing,
            first=row == inked.chart.start,
        )
        if not found.words or (not asked and found.replaces == 0):
            self._close_words()
            return
        words.clear_options()
        words.add_options(
            [Option(harmless(word), id=f"w{i}") for i, word in enumerate(found.words)]
        )
        self._words = found
        words.highlighted = 0
        words.display = True
        area.offers = True

    def _close_words(self) -> None:
        self.query_one("#source-words", OptionList).display = False
        self.area.offers = False

    @on(SourceArea.Picked)
    def _key_for_words(self, message: SourceArea.Picked) -> None:
        message.stop()
        words = self.query_one("#source-words", OptionList)
        if message.step < 0:
            words.action_cursor_up()
        elif message.step > 0:
            words.action_cursor_down()
        elif words.highlighted is not None:
            self._take_word(words.highlighted)

    @on(OptionList.OptionSelected)
    def _word_picked(self, message: OptionList.OptionSelected) -> None:
        message.stop()
        self._take_word(message.option_index)
        self.area.focus()

    def _take_word(self, index: int) -> None:
        word, length = self._words.words[index], self._words.replaces
        row, column = self.area.cursor_location
        self.area.replace(
            word, (row, column - length), (row, column), maintain_selection_offset=False
        )
        self._taken = self.area.text
        self._close_words()

    @on(SourceArea.Offered)
    def _asked(self) -> None:
        self._offer(asked=True)

    @on(SourceArea.Left)
    def _left(self, message: SourceArea.Left) -> None:
        message.stop()
        words = self.query_one("#source-words", OptionList)
        if self.area.offers:
            if message.step and words.highlighted is not None:
                self._take_word(words.highlighted)
            else:
                self._close_words()
            return
        self.post_message(self.Left(message.step))
