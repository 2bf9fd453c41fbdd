"""The wizard for a new flow skill: a name, a template, a language, and how it will look."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from flowstudio.paths import show_path
from flowstudio.skill.starting import TEMPLATES, problem_of, text_from
from flowstudio.studio.dialog import Dialog
from flowstudio.studio.marks import style_of
from flowstudio.text import harmless

if TYPE_CHECKING:
    from flowstudio.flow.model import Language

_ROOM_FOR_PICTURE = 76
"""Columns from which the picture stands beside the fields."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the new skill is to be."""

    name: str
    template: str
    language: Language
    description: str


class Wizard(Dialog[Wish | None]):
    """Asks what a new skill is to be; None where the user does not want one after all."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "make", "makes it", priority=True),
        Binding("tab", "app.focus_next", "next field"),
        Binding("ctrl+l", "language", "Mermaid or D2", priority=True),
    ]

    DEFAULT_CSS = """
    Wizard {
        & > #dialog { width: 110; height: 36; padding: 0 1; }
        & Input { margin-bottom: 1; }
        & Horizontal { height: 1fr; }
        & .name { color: $role-muted; }
        & #wizard-left { width: 3fr; max-width: 46; height: 1fr; padding-right: 1; }
        & #wizard-says { margin-top: 1; }
        & #wizard-picture { width: 2fr; height: 1fr; border-left: solid $role-line; padding: 0 1; }
        & #wizard-picture Static { width: auto; }
    }
    Wizard.-small #wizard-picture { display: none; }
    Wizard.-small #wizard-left { max-width: 100%; }
    Wizard.-low Input { margin-bottom: 0; }
    """

    def __init__(self, folder: Path, work_dir: Path) -> None:
        super().__init__("A new flow skill")
        self._folder = folder
        self._shown = show_path(folder, work_dir)
        self._language: Language = "mermaid"

    def body(self) -> Iterable[Widget]:
        """Fields on the left, the picture on the right."""
        with Horizontal():
            with VerticalScroll(id="wizard-left", can_focus=False):
                yield Static("Name", classes="name", markup=False)
                yield Input(id="wizard-name", placeholder="code-review", compact=True)
                yield Static("When it is of use", classes="name", markup=False)
                yield Input(id="wizard-about", placeholder="one sentence", compact=True)
                yield Static("Template", classes="name", markup=False)
                yield OptionList(
                    *(
                        Option(f"{one.name:<9} {one.about}", id=one.name)
                        for one in TEMPLATES.values()
                    ),
                    id="wizard-template",
                    compact=True,
                    markup=False,
                )
                yield Static("", id="wizard-says", markup=False)
            with VerticalScroll(id="wizard-picture", can_focus=False):
                yield Static("", id="wizard-drawing", markup=False)

    def on_mount(self) -> None:
        """Begin with the name and the first template."""
        self.query_one("#wizard-template", OptionList).highlighted = 0
        self.query_one("#wizard-name", Input).focus()
        self._show()

    @property
    def _template(self) -> str:
        listing = self.query_one("#wizard-template", OptionList)
        return list(TEMPLATES)[listing.highlighted or 0]

    @property
    def _name_given(self) -> str:
        return self.query_one("#wizard-name", Input).value.strip()

    def on_resize(self) -> None:
        """Another size has room for another picture, or for none."""
        self.set_class(self.size.width < _ROOM_FOR_PICTURE, "-small")
        self.call_after_refresh(self._show)

    def on_input_changed(self) -> None:
        """Say at once what is wrong with a name."""
        self._show()

    def on_option_list_option_highlighted(self) -> None:
        """Draw the template."""
        self._show()

    def on_option_list_option_selected(self) -> None:
        """Enter on a template."""
        self.action_make()

    def on_input_submitted(self) -> None:
        """Enter in a field."""
        self.action_make()

    def action_language(self) -> None:
        """The other language."""
        self._language = "d2" if self._language == "mermaid" else "mermaid"
        self._show()

    def action_make(self) -> None:
        """Make it, if it can be."""
        if self._problem():
            self.app.bell()
            self._show()
            return
        about = self.query_one("#wizard-about", Input).value
        self.dismiss(Wish(self._name_given, self._template, self._language, about))

    def _problem(self) -> str:
        name = self._name_given
        problem = problem_of(name)
        if not problem and (self._folder / name).exists():
            return f"{self._shown}/{name} is there already"
        return problem

    def _show(self) -> None:
        problem = self._problem()
        says = Text()
        says.append(f"{TEMPLATES[self._template].about}\n", style_of(self, "muted"))
        language = "Mermaid" if self._language == "mermaid" else "D2"
        says.append(f"written in {language}\n", style_of(self, "muted"))
        if problem:
            quiet = not self._name_given
            says.append(harmless(problem), style_of(self, "dim" if quiet else "fault"))
        else:
            where = f"→ {self._shown}/{self._name_given}/SKILL.md"
            says.append(harmless(where), style_of(self, "done"))
        self.query_one("#wizard-says", Static).update(says)
        width = self.query_one("#wizard-picture").size.width - 4
        picture = _picture(self._template, max(width, 20))
        self.query_one("#wizard-drawing", Static).update(Text(picture, no_wrap=True))


def _picture(template: str, width: int) -> str:
    from flowstudio.drawing import draw
    from flowstudio.flow import read_mermaid
    from flowstudio.skill.fence import find_fences

    text = text_from("a", template)
    fence = next(find_fences(text))
    chart = read_mermaid(text[fence.start : fence.end])
    return draw(chart, zoom="title", width=width).text()
