"""D-Mail: a message that the agent sends back to an earlier checkpoint of its own context.

What happened since then is forgotten, and the message is what is known of it instead: a way to drop
a long wrong track, or a huge file that turned out not to matter.
"""

from __future__ import annotations

from dataclasses import dataclass


class DenwaRenjiError(Exception):
    """A D-Mail cannot be sent; the message says why."""


@dataclass(frozen=True, slots=True)
class DMail:
    """A message and the checkpoint that it goes back to."""

    message: str
    checkpoint_id: int


class DenwaRenji:
    """Takes a D-Mail from the tool and keeps it until the soul fetches it; one at a time."""

    def __init__(self) -> None:
        self._pending: DMail | None = None
        self._n_checkpoints = 0

    def set_n_checkpoints(self, n_checkpoints: int) -> None:
        """Tell how many checkpoints the context has now."""
        self._n_checkpoints = n_checkpoints

    def send_dmail(self, dmail: DMail) -> None:
        """Accept a D-Mail.

        Raises:
            DenwaRenjiError: one is pending already, or its checkpoint does not exist.
        """
        if self._pending is not None:
            raise DenwaRenjiError("Only one D-Mail can be sent at a time.")
        if not 0 <= dmail.checkpoint_id < self._n_checkpoints:
            raise DenwaRenjiError(
                f"There is no checkpoint {dmail.checkpoint_id}; "
                f"the checkpoints go from 0 to {self._n_checkpoints - 1}."
            )
        self._pending = dmail

    def fetch_pending_dmail(self) -> DMail | None:
        """The D-Mail that waits, if any; it waits no longer."""
        pending, self._pending = self._pending, None
        return pending
