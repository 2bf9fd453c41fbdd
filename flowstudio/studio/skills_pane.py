"""The skill browser: what can be run here, by scope, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.timer import Timer
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from flowstudio.paths import show_path
from flowstudio.studio.marks import GLYPHS, style_of
from flowstudio.studio.row_list import RowList
from flowstudio.studio.shown import Shown
from flowstudio.text import harmless

if TYPE_CHECKING:
    from flowstudio.mindflow.search import Answer, Candidate
    from flowstudio.skill.skill import Skill

_REST = 0.25
"""Seconds that a sentence rests before it is searched by meaning."""
_FOUND = "\N{ALMOST EQUAL TO} "
"""Begins the ids of rows that were found by meaning: the same skill may be listed by its words."""
_TITLES = {"project": "PROJECT", "user": "USER", "extra": "EXTRA", "builtin": "BUILT-IN"}


class SkillsPane(Vertical):
    """Lists the skills and shows the selected one's description and path."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave_filter", "Clear the filter", show=False),
    ]

    DEFAULT_CSS = """
    SkillsPane {
        & Input {
            height: 1; border: none; padding: 0 1; background: $background;
            &:focus { background: $panel; }
        }
        & OptionList {
            height: 1fr; border: none; padding: 0; background: $background;
            scrollbar-size: 1 1;
            & > .option-list--option { padding: 0 1; }
            & > .option-list--option-disabled { color: $role-muted; }
            & > .option-list--option-highlighted { background: $panel; color: $role-text; }
            &:focus > .option-list--option-highlighted { background: $panel; text-style: bold; }
        }
        & #about {
            height: auto; max-height: 10; padding: 1 1 0 1; color: $role-muted;
            border-top: solid $role-line;
        }
    }
    """

    running: reactive[tuple[str, str] | None] = reactive[tuple[str, str] | None](None)
    """The name of the skill that runs, and the glyph of its state."""

    class Chosen(Message):
        """A skill was highlighted: show it."""

        def __init__(self, skill: Skill) -> None:
            super().__init__()
            self.skill = skill

    class Asked(Message):
        """A sentence stands in the filter: find by meaning; `show_answer` takes what is found."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Taken(Message):
        """Enter on a skill that was found by meaning."""

        def __init__(self, skill: Skill, *, is_choice: bool) -> None:
            super().__init__()
            self.skill = skill
            self.is_choice = is_choice
            """Whether the finder left the choice to the user."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.border_title = "Skills"
        self.work_dir: Path | None = None
        """The folder that paths are shown relative to."""
        self._skills: Sequence[Skill] = ()
        self._shown: dict[str, Skill] = {}
        self._selected: str | None = None
        self._rows: dict[int, tuple[Skill, object, Text]] = {}
        """Rows by their skill's identity, with what else they were made from: a skill is a value
        that never changes, and hundreds of rows take longer than a key may."""
        self._words: dict[int, tuple[Skill, str]] = {}
        """What the filter looks at of each skill."""
        self._row_id = ""
        """The row under the cursor."""
        self._answer: Answer | None = None
        """What was found by meaning for what stands in the filter."""
        self._found: dict[str, Candidate] = {}
        """The candidates by their rows."""
        self._rest: Timer | None = None
        self._about = Shown()

    async def furnish(self) -> None:
        """Mount what is in the pane: a filter line, the list, and what the skill is for.

        Called once the empty frame is painted.
        """
        await self.mount(
            Input(placeholder="⌕ type to filter", compact=True, id="filter"),
            RowList(compact=True, markup=False, id="skills"),
            Static("", id="about", markup=False),
        )

    @property
    def selected(self) -> Skill | None:
        """The highlighted skill."""
        return self._shown.get(self._row_id)

    def show_skills(self, skills: Sequence[Skill], select: str | None = None) -> None:
        """List these skills; the selection stays by name, or goes to `select`."""
        self._skills = skills
        known = {id(skill) for skill in skills}
        self._rows = {key: row for key, row in self._rows.items() if key in known}
        self._words = {key: words for key, words in self._words.items() if key in known}
        self._fill(select or self._selected)

    def focus_filter(self) -> None:
        """Put the cursor into the filter line."""
        # At once: a letter that comes right behind is text already.
        self.screen.set_focus(self.query_one("#filter", Input))

    def action_leave_filter(self) -> None:
        """Show all skills again and go back to the list."""
        self.query_one("#filter", Input).value = ""
        self.query_one(OptionList).focus()

    def on_resize(self) -> None:
        """Names are cut to the pane's width."""
        if self.children:
            self._fill(self._selected)

    def recolour(self) -> None:
        """The theme is another one: what was written in its colours is written anew."""
        self._rows.clear()
        self._fill(self._selected)

    def watch_running(self) -> None:
        """Mark the skill that runs."""
        if self.children:
            self._fill(self._selected)

    @property
    def found_name(self) -> str | None:
        """The skill found by meaning that is under the cursor, else the first one."""
        one = self._found.get(self._row_id) or next(iter(self._found.values()), None)
        return one.skill.name if one is not None else None

    @property
    def _sentence(self) -> str:
        return self.query_one("#filter", Input).value.strip()

    def show_answer(self, text: str, answer: Answer) -> None:
        """List what was found by meaning; an answer to what stands there no longer is dropped."""
        if not self.children or text != self._sentence:
            return
        self._answer = answer
        if self.query_one("#filter").has_focus and self._row_id in self._found:
            self._row_id = ""  # nobody chose that row: the best one takes its place
        self._fill(self._selected)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter as the user types; a sentence that rests is searched by meaning."""
        event.stop()
        if self._rest is not None:
            self._rest.stop()
            self._rest = None
        self._answer = None
        if is_sentence(self._sentence):
            self._rest = self.set_timer(_REST, self._ask)
        self._fill(self._selected)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter in the filter goes to the list; where nothing matches, meaning is asked."""
        event.stop()
        if not self._shown:
            self._ask()
        self.query_one(OptionList).focus()

    def _ask(self) -> None:
        if self._rest is not None:
            self._rest.stop()
            self._rest = None
        if self._answer is None and self._sentence:
            self.post_message(self.Asked(self._sentence))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter or a click on a skill that was found opens it."""
        event.stop()
        skill = self._shown.get(event.option_id or "")
        if skill is not None and event.option_id in self._found and self._answer is not None:
            self.post_message(self.Taken(skill, is_choice=self._answer.verdict != "best"))

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the skill under the cursor."""
        event.stop()
        row = event.option_id or ""
        skill = self._shown.get(row)
        if skill is None or (row == self._row_id and skill.name == self._selected):
            return
        self._row_id = row
        self._describe(skill, self._found.get(row))
        if skill.name != self._selected:
            self._selected = skill.name
            self.post_message(self.Chosen(skill))

    def _fill(self, select: str | None) -> None:
        from flowstudio.skill.skill import SCOPES, fold_name

        words = fold_name(self.query_one("#filter", Input).value).split()
        matching = [skill for skill in self._skills if self._matches(skill, words)]
        room = self.query_one(OptionList).scrollable_content_region.width - 4
        options: list[Option] = []
        self._shown = {}
        for scope in SCOPES:
            group = [skill for skill in matching if skill.scope == scope]
            if not group:
                continue
            if options:
                options.append(Option("", disabled=True))
            title = Text(_TITLES[scope], style_of(self, "muted") + style_of(self, "bold"))
            title.append(f"  {len(group)}", style_of(self, "dim"))
            options.append(Option(title, disabled=True))
            for skill in group:
                options.append(Option(self._row(skill, room), id=skill.name))
                self._shown[skill.name] = skill
        options += self._list_found(room, bool(options))
        if not options:
            note = "nothing matches" if words else "no skills found"
            options.append(Option(Text(note, style_of(self, "muted")), disabled=True))
        listing = self.query_one(OptionList)
        # A row that was found stays where it is; what was rejected makes room for the next best.
        in_found = next(iter(self._found), None) if self._row_id.startswith(_FOUND) else None
        same = self._shown.get(self._row_id)
        wanted = (
            self._row_id if same is not None and same.name == select else None,
            select,
            in_found,
            next(iter(self._shown), None),
        )
        chosen = next((row for row in wanted if row in self._shown), None)
        with self.prevent(OptionList.OptionHighlighted):
            listing.clear_options()
            listing.add_options(options)
            if chosen is not None:
                listing.highlighted = listing.get_option_index(chosen)
        self._row_id = chosen or ""
        skill = self._shown.get(self._row_id)
        self._describe(skill, self._found.get(self._row_id))
        if skill is not None and skill.name != self._selected:
            self._selected = skill.name
            self.post_message(self.Chosen(skill))

    def _list_found(self, room: int, has_others: bool) -> list[Option]:
        """The rows of what was found by meaning, below those whose words match."""
        self._found = {}
        if self._answer is None:
            return []
        by_name = {skill.name: skill for skill in self._skills}
        rows: list[Option] = []
        for one in self._answer.candidates:
            skill = by_name.get(one.skill.name)
            if skill is not None:
                row = f"{_FOUND}{skill.name}"
                marks = Text(f" {one.share:.0%}", style_of(self, "muted"))
                rows.append(Option(self._make_row(skill, room, "", marks), id=row))
                self._shown[row], self._found[row] = skill, one
        title = "BY WORDS ALONE" if self._answer.by == "words" else "BY MEANING"
        heading = Text(title, style_of(self, "muted") + style_of(self, "bold"))
        heading.append(f"  {len(rows)}", style_of(self, "dim"))
        if not rows:
            rows.append(Option(Text("nothing fits", style_of(self, "muted")), disabled=True))
        gap = [Option("", disabled=True)] if has_others else []
        return [*gap, Option(heading, disabled=True), *rows]

    def _matches(self, skill: Skill, words: Sequence[str]) -> bool:
        if not words:
            return True
        known = self._words.get(id(skill))
        if known is None:
            from flowstudio.skill.skill import fold_name

            text = fold_name(f"{skill.name} {skill.description}")
            known = self._words[id(skill)] = skill, text
        return all(word in known[1] for word in words)

    def _row(self, skill: Skill, room: int) -> Text:
        is_running = self.running is not None and self.running[0] == skill.name
        made_from = (room, self.app.theme, self.running if is_running else None)
        known = self._rows.get(id(skill))
        if known is None or known[1] != made_from:
            row = self._make_row(
                skill, room, self.running[1] if self.running and is_running else ""
            )
            known = self._rows[id(skill)] = skill, made_from, row
        return known[2]

    def _make_row(self, skill: Skill, room: int, state: str, marks: Text | None = None) -> Text:
        is_flow = skill.declared_type == "flow"
        marks = marks or Text()
        if skill.errors:
            marks.append(f" {GLYPHS['fault']} {len(skill.errors)}", style_of(self, "fault"))
        if state:
            marks.append(f" {state}", style_of(self, "now"))
        name = Text(harmless(skill.name), "" if is_flow else style_of(self, "muted"))
        name.truncate(max(room - marks.cell_len, 8), overflow="ellipsis")
        return Text.assemble(f"{GLYPHS['flow' if is_flow else 'standard']} ", name, marks)

    def _describe(self, skill: Skill | None, found: Candidate | None = None) -> None:
        about = self.query_one("#about", Static)
        note = self._note()
        if skill is None:
            self._about.show(about, Text(note, style_of(self, "now")))
            return
        text = Text()
        if found is not None:
            if note:
                text.append(f"{note}\n", style_of(self, "now"))
            text.append(f"{harmless('; '.join(found.why()))}\n", style_of(self, "text"))
        text.append(harmless(skill.description or "no description"))
        if skill.errors:
            first = skill.errors[0]
            text.append(
                f"\n{GLYPHS['fault']} line {first.span.line}: {harmless(first.message)}",
                style_of(self, "fault"),
            )
        place = show_path(skill.path, self.work_dir)
        text.append(f"\n{harmless(place)}", style_of(self, "dim"))
        self._about.show(about, text)

    def _note(self) -> str:
        """What is to be said of an answer: that nothing seems to fit, or what does not work."""
        if self._answer is None:
            return ""
        said = harmless(self._answer.notes[0]) if self._answer.notes else ""
        if self._answer.verdict == "nothing" and self._answer.candidates:
            said = f"None seems to fit; these are the nearest. {said}".strip()
        return said


def is_sentence(text: str) -> bool:
    """Whether a text says more than a name does: two words, or four signs of a script without
    spaces.
    """
    return len(text.split()) > 1 or sum(_is_east_asian(sign) for sign in text) >= 4


def _is_east_asian(sign: str) -> bool:
    return (
        "\u3040" <= sign <= "\u30ff"
        or "\u3400" <= sign <= "\u9fff"
        or "\uac00" <= sign <= "\ud7af"
        or "\uf900" <= sign <= "\ufaff"
        or "\U00020000" <= sign <= "\U0003ffff"
    )
