"""Asks under which name a plan is saved; says at once what is wrong with a name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input, Static

from flowstudio.paths import show_path
from flowstudio.skill.starting import problem_of
from flowstudio.studio.dialog import Dialog
from flowstudio.studio.marks import style_of
from flowstudio.text import harmless


class SaveDialog(Dialog[str | None]):
    """Gives a name that is free in a folder of skills; None where the user changes their mind."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "accept", "saves it")]

    DEFAULT_CSS = "SaveDialog #says { margin-top: 1; }"

    def __init__(self, name: str, folder: Path, work_dir: Path) -> None:
        super().__init__("Save the plan as a skill")
        self._wanted = name
        self._folder = folder
        self._shown = show_path(folder, work_dir)

    def body(self) -> Iterable[Widget]:
        """A line with a name, and what becomes of it. A name that is taken is added to, another one
        replaced."""
        is_taken = (self._folder / self._wanted).exists()
        yield Input(self._wanted, compact=True, select_on_focus=not is_taken)
        yield Static("", id="says", markup=False)

    def on_mount(self) -> None:
        """Say where it goes."""
        self._show()

    def on_input_changed(self) -> None:
        """Say at once what is wrong with a name."""
        self._show()

    def on_input_submitted(self) -> None:
        """Take the name, if it can be taken."""
        if self._problem():
            self.app.bell()
        else:
            self.dismiss(self._name_given)

    @property
    def _name_given(self) -> str:
        return self.query_one(Input).value.strip()

    def _problem(self) -> str:
        name = self._name_given
        problem = problem_of(name)
        if not problem and (self._folder / name).exists():
            return f"{self._shown}/{name} is there already: give another name"
        return problem

    def _show(self) -> None:
        problem = self._problem()
        text = problem or f"→ {self._shown}/{self._name_given}/SKILL.md"
        says = Text(harmless(text), style_of(self, "fault" if problem else "done"))
        self.query_one("#says", Static).update(says)
