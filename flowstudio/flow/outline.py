"""A chart as an indented outline in words, for reading aloud and for reading at all.

Each node has a number, in the order in which it is listed; what follows it is named by that
number. What only one branch leads to stands indented below the branch; where branches meet again,
the outline goes on at the level of the decision that parted them. A way back is called one, and
the node that it leads back to says that a loop begins there.

The order is that of the dominator tree of the chart without its ways back: a node stands below the
last node that every way to it passes. (networkx could find it, but takes longer to import than a
screen reader takes to begin.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flowstudio.flow.model import FlowEdge, FlowNode

if TYPE_CHECKING:
    from flowstudio.flow.chart import Chart
    from flowstudio.flow.model import Flow

_STEP = 3
"""Columns of one level."""
_DEEPEST = 12
"""Levels that are indented; deeper branches say where they go on, at the same column."""
_NAMED = 6
"""Other nodes that are named in one sentence."""
_KINDS = {"begin": "Begin", "end": "End", "task": "Task", "decision": "Decision"}


def outline(chart: Chart | Flow, *, lines: bool = False) -> Iterator[str]:
    """The lines of the outline. `lines` adds each node's line in its file.

    Any chart will do, valid flow or not; its size costs no more than its number of edges.
    """
    tree = _read_tree(chart)
    entries = list(_list(tree))
    told = [entry.node for entry in entries if entry.node is not None]
    numbers = {node: number for number, node in enumerate(told, start=1)}
    for entry in entries:
        lead = " " * (_STEP * entry.depth)
        if entry.node is not None:
            for line in _describe(tree, chart.nodes[entry.node], numbers, with_line=lines):
                yield lead + line if line else ""
        elif entry.edge is not None:
            where = "" if entry.is_open else f" {_lead(tree, entry.edge, numbers)}."
            yield f"{lead}{_branch(entry.edge)}:{where}"
        else:
            yield entry.text


@dataclass(frozen=True, slots=True)
class _Entry:
    """One thing to say: a node, a branch with what is below it, or a line of text."""

    depth: int
    node: str | None = None
    edge: FlowEdge | None = None
    is_open: bool = False
    """Whether what the branch leads to stands below it."""
    text: str = ""


@dataclass(slots=True)
class _Tree:
    """A chart as the outline tells it."""

    nodes: Mapping[str, FlowNode]
    exits: dict[str, list[FlowEdge]]
    back: set[int]
    """The edges that lead back, by identity."""
    loops: dict[str, list[str]]
    """By node: the nodes that lead back to it."""
    entries: dict[str, list[str]]
    """By node: the nodes that lead on to it, each as often as it does."""
    parent: dict[str, str | None]
    """By node: the last one that every way to it passes."""
    after: dict[str, list[str]]
    """By node: the nodes where the ways that part at it meet again, or that it alone leads to."""
    first: list[str] = field(default_factory=list[str])
    """Where the chart begins: BEGIN, or what nothing leads to."""
    rest: list[str] = field(default_factory=list[str])
    """Beginnings of the parts that cannot be reached from there."""

    def is_nested(self, edge: FlowEdge) -> bool:
        """Whether a branch is the only way to what it leads to, which may then stand below it."""
        return self.parent[edge.dst] == edge.src and self.entries[edge.dst] == [edge.src]


def _read_tree(chart: Chart | Flow) -> _Tree:
    exits: dict[str, list[FlowEdge]] = {node: [] for node in chart.nodes}
    entered: set[str] = set()
    for edge in chart.edges:
        exits[edge.src].append(edge)
        if edge.src != edge.dst:
            entered.add(edge.dst)
    begins = [node.id for node in chart.nodes.values() if node.kind == "begin"]
    first = begins or [node for node in chart.nodes if node not in entered][:1]
    first = first or list(chart.nodes)[:1]
    order, back = _walk(exits, [*first, *(n for n in chart.nodes if n not in entered)])
    entries: dict[str, list[str]] = {node: [] for node in chart.nodes}
    loops: dict[str, list[str]] = {}
    for node in order:
        for edge in exits[node]:
            if edge.dst == node:
                continue
            if id(edge) in back:
                loops.setdefault(edge.dst, []).append(node)
            else:
                entries[edge.dst].append(node)
    reached = _reach(exits, first)
    # What leads here from a part that is never reached is said, but decides nothing.
    counted = {
        node: [one for one in entries[node] if one in reached or node not in reached]
        for node in chart.nodes
    }
    parent = _dominators(order, {**counted, **dict.fromkeys(first, ())})
    after: dict[str, list[str]] = {node: [] for node in chart.nodes}
    top: list[str] = []
    for node in order:
        above = parent[node]
        (top if above is None else after[above]).append(node)
    first = [node for node in top if node in reached]
    rest = [node for node in top if node not in reached]
    return _Tree(chart.nodes, exits, back, loops, entries, parent, after, first, rest)


def _walk(
    exits: Mapping[str, Sequence[FlowEdge]], starts: Sequence[str]
) -> tuple[list[str], set[int]]:
    """The nodes, such that all edges but the ways back lead on in this order; and the ways back."""
    state: dict[str, int] = {}
    """1 while a node is on the way, 2 when all behind it is done."""
    done: list[str] = []
    back: set[int] = set()
    for root in (*starts, *exits):
        if root in state:
            continue
        state[root] = 1
        way = [(root, iter(reversed(exits[root])))]
        while way:
            node, edges = way[-1]
            for edge in edges:
                seen = state.get(edge.dst)
                if seen == 1:
                    back.add(id(edge))
                elif seen is None:
                    state[edge.dst] = 1
                    way.append((edge.dst, iter(reversed(exits[edge.dst]))))
                    break
            else:
                state[node] = 2
                done.append(node)
                way.pop()
    return done[::-1], back


def _dominators(
    order: Sequence[str], entries: Mapping[str, Sequence[str]]
) -> dict[str, str | None]:
    """The last node that every way to a node passes; None where there is none.

    `order` has each node behind all of its `entries`. Each costs the logarithm of the depth: it is
    the lowest node that is above all of its entries in the tree so far, found by jumps that double.
    """
    parent: dict[str, str | None] = {}
    depth: dict[str, int] = {}
    jumps: dict[str, list[str]] = {}
    """By node: the nodes 1, 2, 4, 8 … levels above it."""
    for node in order:
        above: str | None = None
        for number, entry in enumerate(entries[node]):
            above = entry if not number else above and _meet(above, entry, depth, jumps)
            if above is None:
                break
        parent[node] = above
        depth[node] = 0 if above is None else depth[above] + 1
        ups: list[str] = []
        up = above
        while up is not None:
            ups.append(up)
            further = jumps[up]
            up = further[len(ups) - 1] if len(further) >= len(ups) else None
        jumps[node] = ups
    return parent


def _meet(
    one: str, other: str, depth: Mapping[str, int], jumps: Mapping[str, Sequence[str]]
) -> str | None:
    """The lowest node that is above both or one of them; None where they are in different trees."""
    if depth[one] < depth[other]:
        one, other = other, one
    lift = depth[one] - depth[other]
    while lift:
        bit = lift.bit_length() - 1
        one = jumps[one][bit]
        lift -= 1 << bit
    for level in range(len(jumps[one]) - 1, -1, -1):
        mine, theirs = jumps[one], jumps[other]
        if level < len(mine) and level < len(theirs) and mine[level] != theirs[level]:
            one, other = mine[level], theirs[level]
    if one == other:
        return one
    return jumps[one][0] if jumps[one] and jumps[one][:1] == jumps[other][:1] else None


def _reach(exits: Mapping[str, Sequence[FlowEdge]], starts: Sequence[str]) -> set[str]:
    seen = set(starts)
    waiting = list(starts)
    while waiting:
        for edge in exits[waiting.pop()]:
            if edge.dst not in seen:
                seen.add(edge.dst)
                waiting.append(edge.dst)
    return seen


def _list(tree: _Tree) -> Iterator[_Entry]:
    """Everything that is said, in order."""
    waiting: list[_Entry] = [_Entry(0, node) for node in tree.rest]
    if tree.rest and tree.first:
        begin = "BEGIN" if tree.nodes[tree.first[0]].kind == "begin" else "the first node"
        waiting.insert(0, _Entry(0, text=f"Not reached from {begin}:"))
    waiting = [*(_Entry(0, node) for node in tree.first), *waiting]
    waiting.reverse()
    while waiting:
        entry = waiting.pop()
        yield entry
        if entry.node is None:
            continue
        node, depth = entry.node, entry.depth
        below: list[_Entry] = []
        told: set[str] = set()
        if len(tree.exits[node]) > 1:
            nested = [edge for edge in tree.exits[node] if tree.is_nested(edge)]
            # A single way on, beside ways back, is no deeper; nor is what would stand too far in.
            is_open = len(nested) > 1 and depth + 2 <= _DEEPEST
            for edge in tree.exits[node]:
                opens = is_open and tree.is_nested(edge)
                below.append(_Entry(depth + 1, edge=edge, is_open=opens))
                if opens:
                    below.append(_Entry(depth + 2, edge.dst))
                    told.add(edge.dst)
        below.extend(_Entry(depth, one) for one in tree.after[node] if one not in told)
        waiting.extend(reversed(below))


def _describe(
    tree: _Tree, node: FlowNode, numbers: Mapping[str, int], *, with_line: bool
) -> Iterator[str]:
    """A node and where its exits lead, but for those that are told below it."""
    number = numbers[node.id]
    head = f"{number}. {_KINDS[node.kind]}"
    if node.kind not in ("begin", "end") and node.text.strip() != node.id:
        head += f" {node.id}"
    if with_line and node.span:
        head += f", line {node.span.line}"
    words = [line.rstrip() for line in _split(node.text)]
    if node.kind in ("begin", "end"):
        yield head + "."
    else:
        yield f"{head}: {words[0]}" if words else f"{head}: no prompt"
        for line in words[1:]:
            yield f"   {line}" if line else ""
    if loops := tree.loops.get(node.id):
        yield f"   A loop begins here: {_name(loops, numbers)} {_come(loops)} back."
    if len(set(tree.entries[node.id])) > 1:
        yield f"   Reached from {_name(tree.entries[node.id], numbers)}."
    exits = tree.exits[node.id]
    if not exits and node.kind != "end":
        yield "   Nothing follows."
    if len(exits) == 1:
        said = f", “{_one_line(exits[0].label)}”:" if exits[0].label else ""
        where = _lead(tree, exits[0], numbers).removeprefix("go to ")
        yield f"   Then{said} {where}."


def _lead(tree: _Tree, edge: FlowEdge, numbers: Mapping[str, int]) -> str:
    """Where an edge leads."""
    target = numbers[edge.dst]
    if edge.dst == edge.src:
        return f"do {target} again"
    return f"go back to {target}" if id(edge) in tree.back else f"go to {target}"


def _split(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n")
    return lines if any(line.strip() for line in lines) else []


def _branch(edge: FlowEdge) -> str:
    return f"On “{_one_line(edge.label)}”" if edge.label else "Without a label"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _name(nodes: Sequence[str], numbers: Mapping[str, int]) -> str:
    """Nodes by number, in order: `3, 5 and 8`."""
    found = [str(number) for number in sorted({numbers[node] for node in nodes})]
    if len(found) > _NAMED:
        found = [*found[: _NAMED - 1], f"{len(found) - _NAMED + 1} others"]
    return found[0] if len(found) == 1 else f"{', '.join(found[:-1])} and {found[-1]}"


def _come(nodes: Sequence[str]) -> str:
    return "comes" if len(set(nodes)) == 1 else "come"
