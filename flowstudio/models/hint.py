"""What a call to the model is about, for providers that need more than the words.

The flow runner sets `turn_hint` around a node's turn. A rehearsal reads from it which node asks and
which branches may be answered; a real model's provider may use it to constrain its answer.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TurnHint:
    """The node whose prompt is being answered."""

    node: str | None
    visit: int | None
    branches: tuple[str, ...] = ()
    """The labels that may be chosen, in source order; empty where nothing is to be chosen."""
    attempt: int | None = None
    """1 for the first prompt of the visit, 2 for the first retry of a choice; None: not counted."""


turn_hint: ContextVar[TurnHint | None] = ContextVar("turn_hint", default=None)
"""The hint in force in this task; None in a plain conversation."""
