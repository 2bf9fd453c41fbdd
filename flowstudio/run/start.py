"""Where a walk begins that is not at BEGIN: the place at which an earlier run was left."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Start:
    """The position of a run that goes on."""

    node: str
    """The node that comes next."""
    path: tuple[str, ...]
    """The nodes whose visits are done, in order; the visits are counted on from them."""
    moves_left: int
    """How many moves it may still make."""
    spent: int = 0
    """Tokens that the answers of those visits took."""
    request_waits: bool = False
    """The flow's input has not gone before a prompt yet."""
