"""How a drawing lies in its window: where its first cell is, and how far one can scroll.

Pure. One axis at a time, in cells. The *origin* is the window's column (or row) in which the
drawing's first cell is shown.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a frame."""

    lead: int
    """Empty cells before the drawing."""
    scroll: int
    """Cells that are scrolled away."""
    virtual: int
    """Cells that can be scrolled over: the drawing and what is left empty around it."""


def frame_axis(
    length: int, window: int, margin: int, home: int, wanted: int | None, *, keep: bool
) -> Axis:
    """The frame of a drawing of `length` in a `window`, its origin near `wanted` if that may be.

    A drawing that fits is shown whole, by default with its origin at `home`. A larger one is
    scrolled; with `keep` it may leave more of the window empty than its `margin`, so that nothing
    moves under the user's eyes.
    """
    if length + 2 * margin <= window:
        origin = home if wanted is None else min(max(wanted, margin), window - margin - length)
        return Axis(origin, 0, length + 2 * margin)
    last = window - margin - length
    origin = margin if wanted is None else wanted
    if not keep:
        origin = min(max(origin, last), margin)
    if origin > margin:
        return Axis(origin, 0, origin + length + margin)
    scroll = margin - origin
    return Axis(margin, scroll, max(length + 2 * margin, scroll + window))
