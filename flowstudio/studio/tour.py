"""The tour of the bundled flow: what the guide asks for next, told from how the run stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flowstudio.studio.keymap import with_keys

if TYPE_CHECKING:
    from flowstudio.run.state import RunState

FLOW = "tour"
"""The bundled flow that is toured."""
DECISION = "branch"
"""Its box with several exits."""

STEPS: Sequence[str] = (
    "Press {run.step}. The run begins and stops before its first box; nothing is sent yet.",
    "Below the drawing stands the prompt that is about to be sent. Press {run.step} to send it.",
    "Look back: press {view.earlier} for the visit before. All of the screen shows that moment.",
    "That is how it was then. Press {view.now} to come back to what is now.",
    "Press {run.step} until the box with several exits shines: “Which way now?”",
    "Now overrule the agent: press 1, 2 or 3. That branch is taken, whatever it would say.",
)
"""What is asked of the user, one after the other; commands in braces stand for their keys."""
DONE = (
    "You forced a branch: it is drawn dashed ⇢. {run.continue} runs to the end, {help} shows all "
    "keys, {view.welcome} ends this."
)
OVER = "The run ended, and no branch was forced. Press {run.step} to begin again."
ASKED = (
    "You are asked as the model now: answer with a number. To force, press it before {run.step}."
)
CHOSE = (
    "That was the model's own answer. To force one, press its number before {run.step} sends the "
    "box."
)


@dataclass(slots=True)
class Tour:
    """How far the user is; `hear` is told each news of the run."""

    at: int = 0
    """The step that is asked for, an index of `STEPS`; their number when all are done."""
    hint: str = ""
    """What to say instead of the step, where the user went another way."""

    @property
    def text(self) -> str:
        """What the guide says now."""
        if self.is_done:
            return with_keys(DONE)
        return with_keys(self.hint or STEPS[self.at])

    @property
    def is_done(self) -> bool:
        """True once a branch was forced."""
        return self.at >= len(STEPS)

    def hear(self, state: RunState | None, *, looks_back: bool) -> None:
        """The run, or the look at it, has changed: go on to the first step that is not done."""
        while not self.is_done and _is_met(self.at, state, looks_back=looks_back):
            self.at += 1
        self.hint = ""
        if state is None or self.is_done:
            return
        if state.phase == "ended":
            self.hint = OVER
        elif state.waits_for and state.current == DECISION:
            self.hint = ASKED
        elif state.done[DECISION] and self.at == len(STEPS) - 1 and state.current != DECISION:
            self.hint = CHOSE


def _is_met(step: int, state: RunState | None, *, looks_back: bool) -> bool:
    if state is None:
        return False
    stands = state.phase == "paused" or bool(state.waits_for)
    if state.forced:
        return True  # whoever can do that need not be shown the rest
    match step:
        case 0:
            return stands and bool(state.visits)
        case 1:
            return stands and len(state.visits) > 2
        case 2:
            return looks_back
        case 3:
            return not looks_back
        case 4:
            return stands and state.current == DECISION
        case _:
            return False
