"""What all screens with a drawing of their own share: the drawing with its map, its zoom and its
line to find nodes, a title above it, texts beside or below it, the keys, the help and the palette.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, cast

from rich.text import Text
from textual.app import ComposeResult, SystemCommand
from textual.containers import Container, VerticalScroll
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import Worker, WorkerState

from flowstudio.studio.commands import Scope
from flowstudio.studio.find_bar import FindBar
from flowstudio.studio.flow_pane import FlowPane
from flowstudio.studio.key_line import KeyLine
from flowstudio.studio.scoped import palette_of, show_help
from flowstudio.text import harmless

if TYPE_CHECKING:
    from flowstudio.studio.flow_view import FlowView
    from flowstudio.studio.keymap import Keymap

type Handler = Callable[[], Awaitable[object] | object]
"""Carries out one command."""


class DrawnScreen[Result](Screen[Result]):
    """A drawing and what is said about it. A subclass names its scope in the table of commands,
    adds what carries its commands out, and begins once the drawing can be filled.
    """

    SCOPE: ClassVar[Scope]

    DEFAULT_CSS = """
    DrawnScreen {
        background: $background; color: $role-text;
        & #title { height: auto; padding: 0 1; background: $surface; color: $role-muted; }
        & #body { height: 1fr; layout: vertical; }
        & #flow-pane {
            height: 1fr; border: round $role-line; border-title-color: $role-muted;
            border-subtitle-color: $role-dim;
            &:focus-within { border: round $role-accent; border-title-color: $role-accent; }
        }
        & .said {
            height: 38%; min-height: 5; padding: 0 1; border: round $role-line;
            border-title-color: $role-muted; border-subtitle-color: $role-dim;
            scrollbar-size: 1 1;
            &:focus, &:focus-within {
                border: round $role-accent; border-title-color: $role-accent;
            }
        }
        & .said > Static { width: 1fr; height: auto; }
    }
    DrawnScreen.-wide.-beside {
        & #body { layout: horizontal; }
        & #flow-pane { width: 1fr; height: 1fr; }
        & .said { width: 38%; max-width: 72; height: 1fr; }
    }
    """

    def __init__(self, *, classes: str | None = None) -> None:
        """With the class `-beside` the texts stand beside the drawing where there is room."""
        super().__init__(classes=classes)
        self._clock: Timer | None = None
        self._seconds = 0

    # Composition

    def compose(self) -> ComposeResult:
        """Title, what stands above the drawing, the drawing, what is said of it, and the keys."""
        yield Static("", id="title", markup=False)
        yield from self.compose_head()
        with Container(id="body"):
            yield FlowPane(id="flow-pane")
            yield from self.compose_said()
        yield KeyLine(id="keys")

    def compose_head(self) -> Iterable[Widget]:
        """What stands between title and drawing."""
        return ()

    def compose_said(self) -> Iterable[Widget]:
        """What stands beside or below the drawing."""
        said = VerticalScroll(Static("", id="about", markup=False), id="said", classes="said")
        return (said,)

    async def on_mount(self) -> None:
        """Fill the drawing's pane, then begin."""
        await self.pane.furnish()
        self.pane.view.focus()
        self.begin()

    def begin(self) -> None:
        """The screen stands: read and draw what it shows."""
        raise NotImplementedError

    @property
    def pane(self) -> FlowPane:
        """The drawing with its map and the line to find nodes."""
        return self.query_one(FlowPane)

    @property
    def view(self) -> FlowView:
        """The drawing itself."""
        return self.pane.view

    @property
    def keymap(self) -> Keymap:
        """The keys in force."""
        return cast("Any", self.app).keymap

    def say_title(self, text: Text | str) -> None:
        """Say at the top what is shown."""
        self.query_one("#title", Static).update(text)

    def say(self, text: str, *, seconds: float = 4) -> None:
        """A short notice."""
        self.notify(harmless(text), markup=False, timeout=seconds)

    def warn(self, text: str) -> None:
        """A short notice of what cannot be done."""
        self.notify(harmless(text), severity="warning", markup=False, timeout=5)

    # What takes its time

    def show_work(self, what: str) -> None:
        """Say at the top what is being done, and for how long, until `end_work`."""
        self._seconds = 0
        if self._clock is not None:
            self._clock.stop()
        said = harmless(what)
        self.say_title(f"… {said}")

        def tick() -> None:
            self._seconds += 1
            self.say_title(f"… {said}, {self._seconds} s")

        self._clock = self.set_interval(1.0, tick)

    def end_work(self) -> None:
        """It is done: whoever calls this says the title."""
        if self._clock is not None:
            self._clock.stop()
            self._clock = None

    @property
    def is_at_work(self) -> bool:
        """True while something is being read or drawn up."""
        return self._clock is not None

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A fault of ours ended the work: say it instead of waiting for ever."""
        error = event.worker.error
        if event.worker.node is self and event.state is WorkerState.ERROR and error is not None:
            self.end_work()
            text = f"A fault in Flow Studio: {type(error).__name__}: {error}"
            self.say_title(harmless(text))

    # The drawing

    def on_flow_pane_drawn(self) -> None:
        """A picture was laid out: say how, and lay over it what is known."""
        pane = self.pane
        drawing = pane.view.drawing
        pane.border_subtitle = f"{drawing.direction} · {pane.zoom}" if drawing else ""
        self.drawn()

    def drawn(self) -> None:
        """A picture is shown; another one is, after each zoom."""

    # Commands

    def commands(self) -> dict[str, Handler]:
        """What carries out the commands of the screen's scope, by their ids without the scope."""
        pane = self.pane
        return {
            "zoom": pane.next_zoom,
            "zoom_in": lambda: pane.zoom_by(1),
            "zoom_out": lambda: pane.zoom_by(-1),
            "fit": pane.fit,
            "map": self._toggle_map,
            "find": pane.find,
            "find_next": lambda: pane.find_next(1),
            "find_previous": lambda: pane.find_next(-1),
            "help": self._help,
            "close": self.close,
        }

    async def action_command(self, command: str) -> None:
        """Carry out a command of the table, by its id."""
        outcome = self.commands()[command.partition(".")[2]]()
        if isinstance(outcome, Awaitable):
            await cast("Awaitable[object]", outcome)

    def close(self) -> None:
        """Back to where the user came from."""
        self.dismiss(None)

    def _toggle_map(self) -> None:
        if said := self.pane.toggle_map():
            self.say(said, seconds=2)

    # Keys, help, palette

    @property
    def place_in_use(self) -> str:
        """Where the user is, for the keys that are named; a line of text has its own."""
        focused = self.focused
        in_text = isinstance(focused, Input) and isinstance(focused.parent, FindBar)
        return "flow" if in_text else self.SCOPE

    def _help(self) -> None:
        """Show the keys of this screen."""
        show_help(self, self.SCOPE, self.action_command)

    def palette_commands(self) -> Iterable[SystemCommand]:
        """Every command of the screen by name, for the palette."""
        return palette_of(self, self.SCOPE, self.action_command)
