"""Commands that are typed ahead: kept until the run can take them, and shown meanwhile.

Whoever presses a key three times while a node runs means three steps, and whoever presses it while
a run is about to start means that run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from flowstudio.run.control import RunControl
    from flowstudio.wire import Event, PauseReason

type Kept = Literal["step", "continue", "pause"]

MOST = 5
"""Commands that are kept: a key that is held down must not send a flow's prompts unseen."""
_BETWEEN: frozenset[PauseReason] = frozenset({"step", "pause", "answered"})
"""Pauses between two steps. At any other there is something to be looked at first."""


def waits(control: RunControl) -> bool:
    """Whether the run is paused and was not told yet to go on."""
    return control.is_waiting and not control.command


class Ahead:
    """The commands that wait for the run, oldest first."""

    def __init__(
        self, control: Callable[[], RunControl | None], show: Callable[[str], object]
    ) -> None:
        """`show` takes what is to be said of them, empty where there is nothing."""
        self._control = control
        self._show = show
        self._kept: deque[Kept] = deque()
        self._is_starting = False

    @property
    def is_starting(self) -> bool:
        """True while a run was asked for and has not begun."""
        return self._is_starting and self._control() is None

    def begin(self) -> None:
        """A run was asked for."""
        self._is_starting = True
        self._kept.clear()
        self.tell()

    def end(self) -> None:
        """The run is over, or it did not begin."""
        self._is_starting = False
        self.drop()

    def keep(self, command: Kept) -> None:
        """Keep a command until the run can take it; those that are too many are not."""
        if len(self._kept) < MOST:
            self._kept.append(command)
        self.tell()

    def drop(self) -> bool:
        """Forget what is kept; True if anything was."""
        had_any = bool(self._kept)
        self._kept.clear()
        self.tell()
        return had_any

    def hear(self, event: Event) -> None:
        """Something happened in the run: perhaps it can take a command now."""
        match event.type:
            case "run_started" | "run_reopened":
                self._is_starting = False
                self._give()
            case "run_paused":
                self._give()
            case "user_asked" | "run_ended":
                self.drop()
            case _:
                pass

    def _give(self) -> None:
        control = self._control()
        while self._kept and control is not None:
            if waits(control) and control.paused_because not in _BETWEEN:
                self._kept.clear()
            elif not waits(control) and self._kept[0] == "step" and control.mode == "step":
                break  # one step after the other
            else:
                _carry_out(self._kept.popleft(), control)
        self.tell()

    def tell(self) -> None:
        """Show what is kept, and whether the run is about to pause."""
        steps = self._kept.count("step")
        said = ["starting"] if self._is_starting else []
        said += [f"{steps} step{'s' if steps > 1 else ''} ahead"] if steps else []
        control = self._control()
        said += ["pauses after this node"] if control is not None and control.is_pausing else []
        self._show(" · ".join(said))


def _carry_out(command: Kept, control: RunControl) -> None:
    match command:
        case "step":
            control.step()
        case "continue":
            control.go_on()
        case "pause" if control.mode == "run":
            control.pause()
        case _:
            pass  # it pauses by itself
