"""Saying something on the wire from inside a tool.

A consumer that raises (a journal on a full disk) must stop the run. Inside a tool the exception
would be taken for the tool's own failure and told to the model, so it travels in a `WireFailure`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowstudio.wire import Body, Wire


class WireFailure(Exception):
    """A consumer of the wire raised while a tool ran; `__cause__` is what it raised."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


def emit_from_tool(wire: Wire, body: Body) -> None:
    """Like `wire.emit`; what a consumer raises comes as a `WireFailure`."""
    try:
        wire.emit(body)
    except Exception as error:
        raise WireFailure(error) from error
