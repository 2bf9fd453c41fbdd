"""Small questions around runs: where to rewind to, which flow is meant, what may go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from flowstudio.studio.dialog import Dialog, Hint
from flowstudio.studio.keymap import key_of
from flowstudio.studio.marks import GLYPHS, style_of
from flowstudio.text import first_line, harmless, shorten

if TYPE_CHECKING:
    from flowstudio.run.state import Visit


class ChoiceDialog(Dialog[str | None]):
    """A question with a few answers, each by its key or a click; None where none is given."""

    def __init__(
        self, title: str, question: str, answers: Mapping[str, str], *, cancel: str = "cancel"
    ) -> None:
        """`answers` are words by key; the key is what is given back."""
        super().__init__(title)
        self._question = question
        self._answers = dict(answers)
        self._cancel = cancel

    def body(self) -> Iterable[Widget]:
        """The question; its answers are the keys."""
        yield Static(harmless(self._question), markup=False)

    def hints(self) -> Iterator[Hint]:
        """The answers."""
        for key, words in self._answers.items():
            yield Hint(key, words, f"answer({key!r})")
        yield Hint("escape", self._cancel, "leave")

    def action_answer(self, key: str) -> None:
        """Give an answer."""
        self.dismiss(key)

    def on_key(self, event: events.Key) -> None:
        """Each answer has its key."""
        if event.character in self._answers:
            event.stop()
            self.dismiss(event.character)


class NumberDialog(Dialog[int | None]):
    """Asks for a number from 1 on."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "accept", "takes it")]

    DEFAULT_CSS = "NumberDialog Static { margin-bottom: 1; }"

    def __init__(self, title: str, question: str, value: int) -> None:
        super().__init__(title)
        self._question = question
        self._value = value

    def body(self) -> Iterable[Widget]:
        """A sentence and a line."""
        yield Static(harmless(self._question), markup=False)
        yield Input(str(self._value), type="integer", max_length=6, compact=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Use it, if it is a number that makes sense."""
        if event.value.isdecimal() and int(event.value) > 0:
            self.dismiss(int(event.value))


@dataclass(frozen=True, slots=True)
class Rewind:
    """Where a run is forked, and which branch is taken there by hand."""

    move: int
    branch: str | None = None


class RewindDialog(Dialog[Rewind | None]):
    """Picks the visit before which a run is forked, and perhaps a branch to take there."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "accept", "forks there"),
        *(Binding(str(number), f"branch({number})", show=False) for number in range(1, 10)),
    ]

    DEFAULT_CSS = """
    RewindDialog {
        & OptionList { max-height: 14; margin: 1 0; }
        & #prompt { color: $role-muted; max-height: 12; }
    }
    """

    def __init__(
        self, visits: Sequence[Visit], at: int, exits: Mapping[str, Sequence[tuple[str, str]]]
    ) -> None:
        """`at` is the visit that is offered first, `exits` the branches with targets by node."""
        super().__init__("Rewind")
        self._visits = tuple(visits)
        self._at = at
        self._exits = exits

    def body(self) -> Iterable[Widget]:
        """The visits, and what can be done at the one that is picked."""
        yield Static(
            "A new run goes on before the visit that you pick. This one stays as it is.",
            markup=False,
        )
        yield OptionList(
            *(Option(self._line(visit)) for visit in self._visits), compact=True, markup=False
        )
        yield Static("", id="prompt", markup=False)

    def on_mount(self) -> None:
        """Begin with the visit that was looked at."""
        self.query_one(OptionList).highlighted = self._at

    def _line(self, visit: Visit) -> Text:
        text = Text(f"{visit.move:>4} ", style_of(self, "dim"), no_wrap=True)
        text.append(shorten(harmless(visit.node), 20), style_of(self, "text"))
        if visit.visit > 1:
            text.append(f" visit {visit.visit}", style_of(self, "muted"))
        if visit.branch is not None:
            glyph = GLYPHS["forced" if visit.forced else "chosen"]
            role = "forced" if visit.forced else "done"
            text.append(f" {glyph} {shorten(harmless(visit.branch), 20)}", style_of(self, role))
        said = first_line(visit.answer or visit.prompt or visit.label)
        text.append(f"  {shorten(harmless(said), 40)}", style_of(self, "dim"))
        return text

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the prompt and the branches of the visit under the cursor."""
        visit = self._visits[event.option_index]
        said = shorten(harmless(visit.prompt or visit.label), 150)
        text = Text(said, style_of(self, "muted"))
        for number, (label, target) in enumerate(self._exits.get(visit.node, ())[:9], 1):
            text.append(f"\n {number} ", style_of(self, "accent") + style_of(self, "bold"))
            text.append(f"take {harmless(label)}", style_of(self, "forced"))
            text.append(f"  → {shorten(harmless(target), 40)}", style_of(self, "muted"))
        self.query_one("#prompt", Static).update(text)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Fork there."""
        self.dismiss(Rewind(self._visits[event.option_index].move))

    def action_branch(self, number: int) -> None:
        """Fork there and take that branch."""
        at = self.query_one(OptionList).highlighted
        if at is None:
            return
        visit = self._visits[at]
        exits = self._exits.get(visit.node, ())
        if number <= len(exits):
            self.dismiss(Rewind(visit.move, exits[number - 1][0]))


type Aim = tuple[Literal["set", "clear", "go"], int]


class PointsDialog(Dialog["Aim | None"]):
    """Lists breakpoints: what is to be done with which."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "accept", "shows the node"),
        Binding("e,B", "set", "edits"),
        Binding("x,b,delete", "clear", "clears"),
        Binding("escape,L", "leave", "closes"),
    ]

    DEFAULT_CSS = "PointsDialog OptionList { max-height: 16; }"

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("Breakpoints")
        self._lines = tuple(lines)

    def body(self) -> Iterable[Widget]:
        """One line for each."""
        if self._lines:
            options = [Option(f"● {harmless(line)}") for line in self._lines]
            yield OptionList(*options, compact=True, markup=False)
        else:
            keys = f"{key_of('run.breakpoint')} or {key_of('run.condition')}"
            yield Static(f"none yet: select a node, then {keys} sets one", markup=False)

    def hints(self) -> Iterator[Hint]:
        """What can be done; nothing but leaving where there is no breakpoint."""
        return (hint for hint in super().hints() if self._lines or hint.key == "escape")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Show its node."""
        self.dismiss(("go", event.option_index))

    def action_clear(self) -> None:
        """Clear it."""
        self._give("clear")

    def action_set(self) -> None:
        """Change its condition."""
        self._give("set")

    def _give(self, what: Literal["set", "clear"]) -> None:
        for listing in self.query(OptionList):
            if listing.highlighted is not None:
                self.dismiss((what, listing.highlighted))
