"""The welcome: what can be done here, for who sees the studio for the first time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import ClassVar, Literal

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowstudio import paths
from flowstudio.studio.dialog import Dialog

type Wish = Literal["tour", "new", "flows", "key"]

_OFFERS: tuple[tuple[Wish, str, str], ...] = (
    ("tour", "t", "Take the tour: two minutes, no key, no cost"),
    ("new", "n", "Make a flow of your own, from a template"),
    ("flows", "l", "Look at the flows that come along"),
    ("key", "k", "Set a key, so that a model answers"),
)
_INTRO = (
    "A flow is a chart in a SKILL.md: each box is a prompt for an agent. Here you watch it run, "
    "stop it, bend it, and edit it while it runs."
)
_KEY = """\
A key in the environment is enough; it is never written anywhere. Leave the studio (ctrl+q) and \
set one:

  export OPENAI_API_KEY=…

or KIMI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY. Ollama and llama.cpp on this machine are found \
by themselves. `flowstudio models` lists what can be used, `flowstudio doctor` what else is \
missing. Without any of them you are the model."""


class WelcomeScreen(Dialog[Wish | None]):
    """Offers the first things to do; gives the one that was picked, None for looking around."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "accept", "does it, as its letter and a click do"),
        *(Binding(key, f"pick('{wish}')", words, show=False) for wish, key, words in _OFFERS),
        Binding("escape", "leave", "looks around"),
    ]

    DEFAULT_CSS = "WelcomeScreen #welcome-text { margin-bottom: 1; }"

    def __init__(self) -> None:
        super().__init__("Welcome to Flow Studio")

    def body(self) -> Iterable[Widget]:
        """What this is, and what can be done."""
        yield Static(_INTRO, id="welcome-text", markup=False)
        offers = (Option(f"{key}   {words}", id=wish) for wish, key, words in _OFFERS)
        yield OptionList(*offers, compact=True, markup=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """One was picked by mouse or enter."""
        if event.option.id is not None:
            self.action_pick(event.option.id)

    def action_pick(self, wish: str) -> None:
        """Do what was picked; how to set a key is told in place."""
        for known, _, _ in _OFFERS:
            if known == wish == "key":
                self.query_one("#welcome-text", Static).update(_KEY)
            elif known == wish:
                self.dismiss(known)


def was_welcomed() -> bool:
    """Whether the user has seen the welcome before."""
    return paths.state_file().with_name("welcomed").exists()


def keep_welcomed() -> None:
    """Remember that the user has seen it; where that cannot be kept they see it once more."""
    file = paths.state_file().with_name("welcomed")
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
