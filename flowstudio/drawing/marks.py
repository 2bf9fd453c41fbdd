"""What is shown on top of a drawing: the state of each node and edge, as neutral values.

A drawing knows nothing of runs: whoever does (`flowstudio.run.marks`) says which node looks `now`,
which edge was taken how often, and what stands beside it. A colour never stands alone: each state
has a sign too, and lines that were taken or forced have strokes of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from flowstudio.drawing.drawing import EdgeRef, Glyphs, NodeRef, Owner, Zoom

type Look = Literal["plain", "done", "now", "fault", "forced", "chosen", "muted"]
"""How a node or edge looks: `done` is visited or taken, `now` where the run stands, `fault` failed,
`forced` was taken by hand, `chosen` waits to be taken by hand."""

VISITED, NOW, PAUSED, FAILED, BREAK, FORCED = "✓", "▶", "⏸", "✗", "●", "⇢"
DOT_BREAK = "◉"
"""A breakpoint where nodes are dots: BEGIN and END are `●` there."""

HEAVY = str.maketrans(
    "─│┌┐└┘╭╮╰╯┬┴├┤┼═║╔╗╚╝╤╧╟╢╥╨╞╡╦╩╠╣",
    "━┃┏┓┗┛┏┓┗┛┳┻┣┫╋━┃┏┓┗┛┳┻┣┫┳┻┣┫┳┻┣┫",
)
"""Outline of the current node, and line of an edge that was taken."""
DASHED = str.maketrans("─│━┃", "╌╎╍╏")
"""Line of an edge that was forced, where the other taken ones are drawn as light lines."""
HEAVY_DASHED = {**HEAVY, ord("─"): "╍", ord("│"): "╏"}
"""The same where they are drawn as heavy ones."""

HOLLOW = str.maketrans("▲►▼◄", "△▷▽◁")
"""Arrowheads of edges that were not taken, where others were: some lines are all arrowhead."""

STARS = str.maketrans(dict.fromkeys("-|+.'=#", "*"))
"""Outline of the current node in ASCII."""
TILDES = str.maketrans("-|", "~:")
"""Line of an edge that was forced, in ASCII."""
_WORDS = str.maketrans(
    {
        VISITED: "ok",
        NOW: ">>",
        PAUSED: "||",
        FAILED: "XX",
        BREAK: "(B)",
        DOT_BREAK: "B",
        FORCED: "~>",
        "×": "x",
        "…": "~",
    }
)


@dataclass(frozen=True, slots=True)
class Marks:
    """Everything that is laid over a drawing; edges go by their index in the chart's order."""

    nodes: Mapping[str, Look] = field(default_factory=dict[str, Look])
    edges: Mapping[int, Look] = field(default_factory=dict[int, Look])
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """A few characters for a box's upper border: `✓3`, `visit 3`."""
    flags: Mapping[str, str] = field(default_factory=dict[str, str])
    """One sign for a box: ▶ or ⏸ or ✗."""
    counts: Mapping[int, int] = field(default_factory=dict[int, int])
    """How often each taken edge was taken."""
    numbers: Mapping[int, int] = field(default_factory=dict[int, int])
    """The digit that takes each branch of the node where the run stands."""
    breakpoints: frozenset[str] = frozenset()
    jumps: Mapping[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    """Moves by hand from node to node along no edge, and how often."""
    letters: Mapping[int, str] = field(default_factory=dict[int, str])
    """A letter beside an edge: which of two runs took it."""

    def __bool__(self) -> bool:
        """Whether anything is marked."""
        return bool(self.nodes or self.edges or self.tags or self.breakpoints)

    def look_of(self, owner: Owner) -> Look:
        """How a node or edge looks."""
        match owner:
            case NodeRef(node):
                return self.nodes.get(node, "plain")
            case EdgeRef(index):
                return self.edges.get(index, "plain")

    def tag_of(self, node: str) -> str:
        """All that stands in a node's upper border, in one text: `● ▶ visit 2`; "" for nothing."""
        parts = [
            BREAK if node in self.breakpoints else "",
            self.flags.get(node, ""),
            self.tags.get(node, ""),
        ]
        return " ".join(part for part in parts if part)

    def sign_of(self, node: str) -> str:
        """The one sign that says most about a node, for where there is no room; "" for nothing."""
        if flag := self.flags.get(node):
            return flag
        if node in self.breakpoints:
            return BREAK
        return VISITED if self.nodes.get(node) == "done" else ""


def spell(text: str, glyphs: Glyphs) -> str:
    """Our own signs in a text as the glyph set can show them."""
    return text.translate(_WORDS) if glyphs == "ascii" else text


def legend(marks: Marks, glyphs: Glyphs = "unicode", zoom: Zoom = "full") -> str:
    """What the signs that are used mean, on one line: `✓ visited   ━ taken`; "" where none is."""
    flags = set(marks.flags.values())
    looks = set(marks.edges.values())
    ascii_, dots = glyphs == "ascii", zoom == "dot"
    heavy, dashed = ("", "~") if ascii_ else ("━ ▼", "╍")
    counted = any(count > (0 if ascii_ else 1) for count in marks.counts.values())
    by_hand = bool(looks & {"forced", "chosen"})
    found = [
        (NOW in flags, NOW, "now"),
        (PAUSED in flags, PAUSED, "paused or waiting"),
        (FAILED in flags, FAILED, "failed"),
        ("done" in marks.nodes.values(), VISITED, "visited"),
        (bool(marks.breakpoints), DOT_BREAK if dots else BREAK, "breakpoint"),
        (bool(heavy and looks & {"done", "forced"}), heavy, "taken"),
        (counted and not dots, "×", "times taken"),
        (by_hand, dashed if dots else f"{FORCED} {dashed}", "by hand"),
    ]
    return "   ".join(f"{spell(sign, glyphs)} {word}" for used, sign, word in found if used)


def is_break(text: str) -> bool:
    """Whether a stretch of a box's border is the sign of a breakpoint."""
    return text in (BREAK, spell(BREAK, "ascii"))
