"""What keeps its place on the screen when another drawing comes: the node the user looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from textual.geometry import Offset, Region

if TYPE_CHECKING:
    from flowstudio.drawing.drawing import Box, Drawing
    from flowstudio.studio.places import Places

type Change = Literal["new", "edit", "zoom"]
"""Why another drawing is shown: of another chart, of the edited one, at another zoom level."""


class Anchor:
    """Remembers what a zoom holds in its place, so that zooming back leads back there."""

    def __init__(self) -> None:
        self._held: tuple[str, Offset, Offset] | None = None
        """The node, its place on the screen, and the origin that came of it."""

    def hold(
        self,
        before: Drawing,
        now: Drawing,
        change: Change,
        *,
        places: Places,
        window: Region,
        origin: Offset,
        selected: str | None,
    ) -> Offset | None:
        """The origin with which the anchor stays where it is; None where there is no anchor.

        `places`, `window` and `origin` are of the drawing that goes.
        """
        if change == "zoom" and self._held and self._held[2] == origin:
            node, place, _ = self._held  # zooming on: the picture comes back to where it was
        else:
            found = _find(before, now, places, window, selected)
            if found is None:
                return None
            node, place = found, _grip(before.boxes[found], change) + origin
        if node not in now.boxes:
            return None
        self._held = (node, place, origin) if change == "zoom" else self._held
        return place - _grip(now.boxes[node], change)

    def settle(self, origin: Offset | None) -> None:
        """The new drawing lies at this origin; None where nothing was held, or not by a zoom."""
        self._held = (*self._held[:2], origin) if self._held and origin is not None else None


def _find(
    before: Drawing, now: Drawing, places: Places, window: Region, selected: str | None
) -> str | None:
    """The selected node if it is in view, else the node nearest to the middle of the window, of
    those that the new drawing has too."""
    from flowstudio.studio.places import nearest_to

    boxes = [box for box in places.boxes_in(window) if box.id in now.boxes]
    if any(box.id == selected for box in boxes):
        return selected
    if not boxes:
        boxes = [box for box in before.boxes.values() if box.id in now.boxes]
    near = nearest_to(boxes, window.x + window.width // 2, window.y + window.height // 2)
    return near.id if near else None


def _grip(box: Box, change: Change) -> Offset:
    """The cell of a box that keeps its place: boxes change their size with the zoom in all
    directions, with an edit of their text downwards."""
    height = box.height // 2 if change == "zoom" else 0
    return Offset(box.x + box.width // 2, box.y + height)
