"""Where the runs of a batch went, on the drawing: a count and a heat for each edge and node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from flowstudio.flow.model import Flow, FlowEdge

if TYPE_CHECKING:
    from flowstudio.drawing import Drawing, Owner
    from flowstudio.run.state import EdgeKey

_COOL = (0x4B, 0x52, 0x68)
_SCALE = ((0x3B, 0x82, 0xC4), (0x2F, 0xB5, 0x8C), (0xF5, 0xB8, 0x3D), (0xEF, 0x5A, 0x4A))
"""From rarely to often; told by the count beside it as well, so never by colour alone."""


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A flow with the counts of its edges and nodes."""

    flow: Flow
    taken: Mapping[EdgeKey, int]
    visits: Mapping[str, int]

    def text(self, *, glyphs: Literal["unicode", "ascii"] = "unicode") -> str:
        """The drawing in characters: the count stands beside each branch and arrow."""
        return self._draw(glyphs).text()

    def svg(self) -> str:
        """The drawing as an SVG file: from blue and thin for rare to red and wide for common."""
        from flowstudio.drawing import EdgeRef, NodeRef

        ways = [self.taken.get(_key(self.flow, edge), 0) for edge in self.flow.edges]
        heat: dict[Owner, tuple[int, int]] = {
            EdgeRef(index): (count, max(ways)) for index, count in enumerate(ways)
        }
        most = max(self.visits.values(), default=0)
        heat |= {NodeRef(node): (self.visits.get(node, 0), most) for node in self.flow.nodes}
        return self._draw("unicode").svg(
            colour={owner: find_colour(*counts) for owner, counts in heat.items()},
            weight={owner: _weight(*counts) for owner, counts in heat.items()},
            title="How often each way was taken",
        )

    def _draw(self, glyphs: Literal["unicode", "ascii"]) -> Drawing:
        from flowstudio.drawing import draw

        times = "×" if glyphs == "unicode" else "x"
        marks = {node: f"{count}{times}" for node, count in self.visits.items()}
        return draw(self._counted(times), zoom="title", glyphs=glyphs, marks=marks)

    def _counted(self, times: str) -> Flow:
        """The flow with counts in its labels, so that the layout leaves room for them."""
        outgoing = {
            node: [
                replace(edge, label=f"{edge.label or ''} {count}{times}".strip())
                for edge in edges
                for count in (self.taken.get(_key(self.flow, edge), 0),)
            ]
            for node, edges in self.flow.outgoing.items()
        }
        return replace(self.flow, outgoing=outgoing)


def _key(flow: Flow, edge: FlowEdge) -> EdgeKey:
    """The edge as runs count it: an only exit has no branch, whatever is written at it."""
    return edge.src, edge.dst, edge.label if len(flow.outgoing[edge.src]) > 1 else None


def find_colour(count: int, most: int) -> str:
    """The colour of a count, as CSS: grey for never, then evenly along the scale up to `most`."""
    if count <= 0 or most <= 0:
        return _hex(_COOL)
    place = count / most * (len(_SCALE) - 1)
    low = min(int(place), len(_SCALE) - 2)
    part = place - low
    return _hex([round(a + (b - a) * part) for a, b in zip(*_SCALE[low : low + 2], strict=True)])


def _weight(count: int, most: int) -> float:
    """How wide a line is: half as wide as usual for never, up to three times for the most."""
    return 0.5 if count <= 0 or most <= 0 else 1 + 2 * count / most


def _hex(parts: Sequence[int]) -> str:
    return "#" + "".join(f"{part:02x}" for part in parts)
