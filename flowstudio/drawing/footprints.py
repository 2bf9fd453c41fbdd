"""Stage 5: the room that each item takes: boxes with their self loops, labels, lanes.

Two axes serve both directions of drawing. *Depth* runs along the flow (down for TD), *cross* runs
across it (to the right for TD). An item's anchor is its own line, or the middle of its box;
`before` and `after` are the cells that it takes on either side of the anchor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flowstudio.drawing.layers import Kind, Layered
from flowstudio.drawing.measure import Face
from flowstudio.drawing.text import width_of

_SPREAD = 30
"""Cells up to which a box is widened for the labels of its exits."""


@dataclass(frozen=True, slots=True)
class Style:
    """The measures in which the two directions of drawing differ."""

    across: bool
    """True where the flow goes to the right, so that depth is a column."""
    inset: int
    """Cells of a box's border: ports keep off its corners."""
    gap: int
    """Blank cells between neighbours in a layer."""
    lane: int
    """From a box's border to the first lane beside it."""
    arrow: int
    """Depth that an arrow takes before a box."""
    port: int
    """From one port of a box to the next, where there is room."""
    side: int
    """From one port at a box's side to the next, in depth."""
    lead: int
    """Depth between a layer and the first track behind it."""
    easy: int
    """A breadth in which nothing is squeezed."""
    tight: bool = False
    """Whether lines may run with only one blank cell beside boxes and labels."""


DOWN = Style(across=False, inset=1, gap=2, lane=3, arrow=1, port=2, side=1, lead=0, easy=60)
RIGHT = Style(across=True, inset=1, gap=1, lane=2, arrow=3, port=1, side=2, lead=1, easy=24)


@dataclass(slots=True)
class SelfLoop:
    """A self loop at the later side of its box: where it leaves and returns, in depth."""

    edge: int
    out_at: int
    in_at: int
    reach: int
    """From the box's border to the loop's far side, in cross."""


@dataclass(slots=True)
class Footprints:
    """Sizes by item, and the places of the side ports."""

    before: list[int]
    after: list[int]
    depth: list[int]
    box_after: list[int]
    """As `after`, but of the outline alone, without self loops."""
    loops: dict[int, list[SelfLoop]] = field(default_factory=dict[int, list[SelfLoop]])
    port_at: dict[int, int] = field(default_factory=dict[int, int])
    """For each lane item, the depth from its box's start at which it meets the box's side."""


def take_footprints(
    graph: Layered,
    faces: Sequence[Face],
    labels: Sequence[tuple[str, ...]],
    self_loops: Sequence[Sequence[int]],
    style: Style,
) -> Footprints:
    """Sizes for every item, after the ordering has chosen sides and places."""
    count = len(graph.kind)
    prints = Footprints([0] * count, [0] * count, [1] * count, [0] * count)
    for item, kind in enumerate(graph.kind):
        if kind == Kind.LABEL:
            _size_label(prints, item, labels[graph.name[item]], style)
    room = _room_for_ports(graph, prints, style)
    for item, kind in enumerate(graph.kind):
        if kind == Kind.BOX:
            _size_box(prints, item, faces[graph.name[item]], room[item], style)
    for item, face_loops in enumerate(self_loops):
        _attach_sides(graph, prints, item, labels, face_loops, style)
    return prints


def _size_label(prints: Footprints, item: int, rows: tuple[str, ...], style: Style) -> None:
    width = max((width_of(row) for row in rows), default=0)
    if style.across:
        prints.before[item] = len(rows)
        prints.depth[item] = width + 2
    else:
        prints.after[item] = 1 + width
        prints.depth[item] = len(rows)


def _room_for_ports(graph: Layered, prints: Footprints, style: Style) -> list[int]:
    """The cross that each box needs for its ports.

    Where labelled exits would have to spread below a narrow box, the box is made as wide as they
    are together, within reason: then they go straight down.
    """
    exits: list[list[int]] = [[] for _ in graph.kind]
    entries = [0] * len(graph.kind)
    for gap in graph.gaps:
        for upper, lower, _ in gap:
            exits[upper].append(lower)
            entries[lower] += 1
    room: list[int] = []
    for lowers, entered in zip(exits, entries, strict=True):
        ports = max(len(lowers), entered)
        need = style.port * (ports - 1) + 1 if ports > 1 else 1
        if style.inset and not style.across and len(lowers) > 1:
            sizes = sorted(
                1 + prints.after[i] + (style.gap if prints.after[i] else 1) for i in lowers
            )
            # The last label hangs over; which one that will be is not known yet.
            spread = sum(sizes) - sizes[0] + 1
            need = max(need, spread) if spread <= _SPREAD else need
        room.append(need)
    return room


def _size_box(prints: Footprints, item: int, face: Face, room: int, style: Style) -> None:
    inset = style.inset
    if inset:
        width, height = face.width + 4, len(face.rows) + 2
        width = max(width, width_of(face.mark) + 4 if face.mark else 0)
    else:
        width = height = 1
    cross, depth = (height, width) if style.across else (width, height)
    _set_cross(prints, item, max(cross, room + 2 * inset))
    prints.depth[item] = depth


def _set_cross(prints: Footprints, item: int, cross: int) -> None:
    prints.before[item] = (cross - 1) // 2
    prints.after[item] = prints.box_after[item] = cross - 1 - (cross - 1) // 2


def _attach_sides(
    graph: Layered,
    prints: Footprints,
    item: int,
    labels: Sequence[tuple[str, ...]],
    loops: Sequence[int],
    style: Style,
) -> None:
    """Give each lane and self loop of a box its place at the box's side; the box grows if it must.

    From the box's start: room for the labels of the lanes that leave, these lanes from the inner to
    the outer, the self loops, and the lanes that come in from the outer to the inner: so no two
    meet.
    """
    for side in (-1, 1):
        lanes = [lane for lane in graph.lanes.get(item, ()) if graph.side[lane] == side]
        row = graph.layers[graph.layer[item]]
        if len(lanes) > 1:
            place = {lane: row.index(lane) for lane in lanes}
            lanes.sort(key=place.__getitem__, reverse=side < 0)
        leaving = [i for i in lanes if graph.chains[graph.name[i]][-1] == i]
        entering = [i for i in lanes if graph.chains[graph.name[i]][0] == i]
        at = style.inset
        for lane in leaving:
            at = max(at, _size_lane_label(prints, lane, side, labels[graph.name[lane]], style))
        for lane in leaving:
            prints.port_at[lane] = at
            at += style.side
        if side > 0:
            # A label keeps off the lines of others that pass it at the box's side.
            at += (2 if style.across else 1) if leaving and any(labels[e] for e in loops) else 0
            for edge in loops:
                at = _add_loop(prints, item, edge, labels[edge], at, style)
        for lane in reversed(entering):
            prints.port_at[lane] = at
            at += style.side
        if lanes or loops:
            last = at - style.side + 1 if entering or (leaving and not loops) else at
            prints.depth[item] = max(prints.depth[item], last + style.inset)


def _size_lane_label(
    prints: Footprints, lane: int, side: int, rows: tuple[str, ...], style: Style
) -> int:
    """Room for a label beside the lane; the first depth that is free for ports behind it."""
    if not rows:
        return 0
    width = max(width_of(row) for row in rows)
    extent = len(rows) if style.across else 1 + width
    if side > 0:
        prints.after[lane] = extent
    else:
        prints.before[lane] = extent
    return width + 2 if style.across else len(rows)


def _add_loop(
    prints: Footprints, item: int, edge: int, rows: tuple[str, ...], at: int, style: Style
) -> int:
    """A self loop from depth `at` on; the depth behind it."""
    width = max((width_of(row) for row in rows), default=0)
    if style.across:
        loop = SelfLoop(edge, at, at + 2, 2)
        extent, depth = 2 + len(rows), max(3, width + 2)
    else:
        loop = SelfLoop(edge, at, at + 1, 3)
        extent, depth = 3 + (1 + width if rows else 0), max(2, len(rows) + 1 if rows else 0)
    prints.loops.setdefault(item, []).append(loop)
    prints.after[item] = max(prints.after[item], prints.box_after[item] + extent)
    return at + depth
