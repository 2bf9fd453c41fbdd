"""Reads Mermaid flowcharts as mermaid.js 11 draws them.

The whole language of flowcharts is read: what only concerns looks is passed over, what cannot be
read is reported at its place, and the rest of the chart is read all the same.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flowstudio.flow import codes
from flowstudio.flow.build import ChartBuilder
from flowstudio.flow.compile import compile_flow
from flowstudio.flow.diagnostics import Related, finding
from flowstudio.flow.mermaid_head import read_head
from flowstudio.flow.mermaid_link import Link, find_link, read_link
from flowstudio.flow.mermaid_looks import (
    LOOKS_WORDS,
    skip_direction_or_accessibility,
    skip_looks,
)
from flowstudio.flow.mermaid_node import Mention, read_node
from flowstudio.flow.mermaid_plain import Hop, PlainNode, read_plain
from flowstudio.flow.mermaid_scan import ID, Scanner
from flowstudio.flow.mermaid_subgraph import Subgraph, read_subgraph

if TYPE_CHECKING:
    from flowstudio.flow.chart import Chart
    from flowstudio.flow.model import Flow, Span

MOST_EDGES = 10_000
"""Edges that one `A & B --> C & D` may stand for, so that a short text stays a small chart."""


def read_mermaid(text: str) -> Chart:
    """The chart that the text describes, with every finding about it. Never raises.

    Positions are those of `text`. Blank lines and indentation around the chart do not matter, so a
    caller may blank out what surrounds it to keep the positions of a whole file.
    """
    builder = ChartBuilder("mermaid")
    scan = Scanner(text, builder)
    if read_head(scan):
        _Reader(scan).read()
    return builder.build()


def find_mentions(text: str, node_id: str) -> list[tuple[int, int]]:
    """Every place at which the text writes a node's id, as offsets: in edges, and in looks."""
    scan = Scanner(text, ChartBuilder("mermaid"))
    if not read_head(scan):
        return []
    reader = _MentionReader(scan, node_id)
    reader.read()
    return sorted(reader.places)


def parse_mermaid_flowchart(text: str) -> Flow:
    """The flow that the text describes.

    Raises `FlowParseError` or `FlowValidationError`, whose message begins `Line N:` and which carry
    every finding.
    """
    return compile_flow(read_mermaid(text))


_NODE_FOLLOWS = re.compile(r"[\[({>]|:::|@\{|&\s")
_WIDE = {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | {
    "【": "[",
    "】": "]",
    "“": '"',
    "”": '"',
    "、": "&",
    "。": ";",
}


class _Reader:
    """Reads the statements of one chart."""

    def __init__(self, scan: Scanner) -> None:
        self._scan = scan
        self._builder = scan.builder
        # Places are offsets until it is known which of them stand.
        self._mentions: dict[str, tuple[int, int]] = {}
        self._labels: dict[str, tuple[str, int, int, int, int]] = {}
        self._edge_ids: set[str] = set()
        self._subgraphs: dict[str, Subgraph] = {}
        self._open: list[int] = []

    def read(self) -> None:
        """Read all statements and hand what they say to the builder."""
        scan = self._scan
        while True:
            scan.skip_gap()
            if scan.is_done():
                break
            if scan.peek(";"):
                scan.at += 1
                continue
            is_plain = False
            while plain := read_plain(scan):
                self._take(*plain)
                is_plain = True
            if not is_plain:
                self._read_statement()
        for start in self._open:
            message = "the subgraph that begins here is not closed"
            scan.fault(codes.SYNTAX, message, start, start + 8, "add a line `end` behind its nodes")
        self._hand_over()

    # ---- statements ---------------------------------------------------------------------

    def _read_statement(self) -> None:
        scan = self._scan
        if skip_direction_or_accessibility(scan):
            return
        start = scan.at
        word = scan.match(ID)
        name = word[0] if word else ""
        if (name not in LOOKS_WORDS and name not in ("subgraph", "end")) or self._is_node(
            start + len(name)
        ):
            self._read_edges()
        else:
            scan.at += len(name)
            self._read_keyword(name, start)

    def _read_keyword(self, name: str, start: int) -> None:
        scan = self._scan
        if name == "end":
            self._close_subgraph(start)
        elif name == "subgraph":
            self._open.append(start)
            if subgraph := read_subgraph(scan, start):
                self._subgraphs[subgraph.id] = subgraph
            self._end_statement()
        else:
            target = skip_looks(scan, start)
            if name == "style" and target:
                # As in Mermaid, `style A fill:#fff` makes the node `A` where nothing else does.
                self._mention(target.text, target.start, target.end)

    def _is_node(self, behind: int) -> bool:
        """True where what follows a word shows that it is a node's id."""
        scan = self._scan
        start, scan.at = scan.at, behind
        blank = scan.skip_blank()
        is_node = bool(scan.match(_NODE_FOLLOWS)) or find_link(scan, at_line_start=blank)
        scan.at = start
        return is_node

    def _close_subgraph(self, start: int) -> None:
        if self._open:
            self._open.pop()
            return
        self._scan.fault(
            codes.SYNTAX,
            "this `end` closes no subgraph",
            start,
            start + 3,
            "delete it, or give the node another id if a node is meant",
        )

    def _end_statement(self) -> None:
        """Go behind the statement; what is left on its line is reported."""
        scan = self._scan
        scan.skip_blank()
        if scan.is_done() or scan.peek("\n") or scan.peek("%%"):
            return
        if scan.peek(";"):
            scan.at += 1
            return
        self._report_rest("expected an arrow or the end of the statement")

    def _report_rest(self, expected: str) -> None:
        scan = self._scan
        start, sign = scan.at, scan.text[scan.at]
        scan.skip_line()
        hint = 'write one statement per line, and text in double quotes: A["text"] --> B'
        if sign in _WIDE:
            hint = f'"{sign}" is a wide sign: write {_WIDE[sign]}'
        elif not sign.isprintable():
            sign = f"U+{ord(sign):04X}"
            hint = "delete this invisible sign"
        rest = scan.text[start : scan.at].rstrip()
        what = f'"{sign}"' if len(rest) > 30 or not rest.isprintable() else f'"{rest}"'
        scan.fault(codes.SYNTAX, f"{expected}, found {what}", start, start + len(rest), hint)

    # ---- nodes and edges ----------------------------------------------------------------

    def _take(self, source: PlainNode, hops: list[Hop]) -> None:
        """The same as `_read_edges`, for a statement that was read at one glance."""
        span, edge = self._scan.source.span, self._builder.edge
        self._take_node(source)
        for label, target in hops:
            self._take_node(target)
            where = span(source[1], target[3])
            if label is None:
                edge(source[0], target[0], None, where)
            else:
                text, start, end = label
                edge(source[0], target[0], text, where, span(start, end))
            source = target

    def _take_node(self, node: PlainNode) -> None:
        name, start, id_end, end, label, label_start, label_end = node
        if name not in self._mentions:
            self._mentions[name] = start, id_end
        if label is not None:
            self._label(name, label, label_start, label_end, start, end)

    def _read_edges(self) -> None:
        scan = self._scan
        sources = self._read_group("expected a statement")
        while sources:
            crossed = scan.skip_gap()
            if not find_link(scan, at_line_start=crossed):
                if not crossed:
                    self._end_statement()
                return
            start = scan.at
            link = read_link(scan, self._edge_ids, at_line_start=crossed)
            if not link:
                return
            if self._leads_nowhere(start):
                return
            targets = self._read_group("expected a node behind the arrow")
            if targets and link.is_edge:
                self._connect(sources, targets, link, start)
            sources = targets

    def _leads_nowhere(self, start: int) -> bool:
        """True, and a finding, where an arrow is followed by the text's or the subgraph's end."""
        scan = self._scan
        is_end = scan.is_done() or scan.peek(";")
        if not is_end and self._open and (word := scan.match(ID)) and word[0] == "end":
            crossed = scan.shadow.find("\n", start, scan.at) >= 0
            is_end = crossed and not self._is_node(word.end())
        if is_end:
            arrow = scan.text[start : scan.at].strip()
            scan.fault(
                codes.SYNTAX,
                "this arrow leads nowhere",
                start,
                start + len(arrow),
                "write the node that it leads to behind it",
            )
        return is_end

    def _connect(
        self, sources: list[Mention], targets: list[Mention], link: Link, start: int
    ) -> None:
        scan = self._scan
        if len(sources) * len(targets) > MOST_EDGES:
            count = len(sources) * len(targets)
            message = f"this arrow stands for {count} edges, which is more than {MOST_EDGES}"
            scan.fault(codes.SYNTAX, message, start, start + 1, "write fewer nodes between the &")
            return
        label = link.label.text if link.label else None
        label_span = scan.span(link.label.start, link.label.end) if link.label else None
        for source in sources:
            for target in targets:
                span = scan.span(source.start, target.end)
                self._builder.edge(source.id, target.id, label, span, label_span)
                if link.is_both_ways:
                    self._builder.edge(target.id, source.id, label, span, label_span)

    def _read_group(self, expected: str) -> list[Mention]:
        """`A & B`: one node or several; none, and a finding, where there is not even one."""
        scan = self._scan
        group: list[Mention] = []
        while True:
            if scan.is_done() or not scan.match(ID):
                if not scan.is_done():
                    self._report_rest(expected)
                return []
            if mention := read_node(scan, self._edge_ids):
                self._register(mention)
                group.append(mention)
            behind = scan.at
            scan.skip_blank()
            if not scan.peek("&"):
                scan.at = behind
                return group
            sign = scan.at
            scan.at += 1
            if scan.at == behind + 1 or not scan.skip_blank() or scan.peek("\n"):
                message = "there must be blanks around the &"
                scan.loose(sign, sign + 1, message, "write: A & B")
            scan.skip_gap()
            expected = "expected a node behind the &"

    def _mention(self, name: str, start: int, end: int) -> None:
        if name not in self._mentions:
            self._mentions[name] = start, end

    def _register(self, mention: Mention) -> None:
        """Keep a node's first place, and the last of its labels."""
        name = mention.id
        self._mention(name, mention.start, mention.id_end)
        for label, end in mention.labels:
            self._label(name, label.text, label.start, label.end, mention.start, end)

    def _label(
        self, name: str, text: str, start: int, end: int, whole: int, whole_end: int
    ) -> None:
        """Label a node by `text[start:end]` within the declaration `text[whole:whole_end]`."""
        before = self._labels.get(name)
        if before and before[0] != text:
            scan = self._scan
            scan.fault(
                codes.LABEL_REPLACED,
                f'"{name}" is given a second label; this one stands',
                start,
                end,
                "give one of the two nodes another id if two nodes are meant",
                [Related(scan.span(before[1], before[2]), "the first label")],
            )
        self._labels[name] = text, start, end, whole, whole_end

    # ---- the end ------------------------------------------------------------------------

    def _hand_over(self) -> None:
        """Give the nodes to the builder. A subgraph is one only where an edge uses its id."""
        span, label_node = self._scan.source.span, self._builder.label
        linked = self._builder.ends() if self._subgraphs else set[str]()
        for name, place in self._mentions.items():
            if name in self._subgraphs:
                if name in linked:
                    self._hand_over_subgraph(name, self._subgraphs[name], span(*place))
            elif label := self._labels.get(name):
                text, start, end, whole, whole_end = label
                label_node(name, text, span(whole, whole_end), span(start, end))
            else:
                self._builder.node(name, span(*place))

    def _hand_over_subgraph(self, name: str, subgraph: Subgraph, mention: Span) -> None:
        title, scan = subgraph.title, self._scan
        header = scan.span(subgraph.start, subgraph.end)
        self._builder.label(name, title.text, header, scan.span(title.start, title.end))
        self._builder.report(
            finding(
                codes.SUBGRAPH_NODE,
                f'the edges of "{name}" lead to the subgraph itself and not to a node in it',
                mention,
                "lead the edge to the node inside that is meant",
                [Related(header, "the subgraph")],
            )
        )


_IDS = re.compile(r"(?:[^\s,;]+[^\S\n]*,[^\S\n]*)*[^\s,;]+")
_ONE_ID = re.compile(r"[^\s,;]+")


class _MentionReader(_Reader):
    """Reads the chart once more, to learn where one id stands."""

    def __init__(self, scan: Scanner, node_id: str) -> None:
        super().__init__(scan)
        self._wanted = node_id
        self.places: set[tuple[int, int]] = set()

    def _take_node(self, node: PlainNode) -> None:
        if node[0] == self._wanted:
            self.places.add((node[1], node[2]))
        super()._take_node(node)

    def _mention(self, name: str, start: int, end: int) -> None:
        if name == self._wanted:
            self.places.add((start, end))
        super()._mention(name, start, end)

    def _read_keyword(self, name: str, start: int) -> None:
        scan = self._scan
        behind = scan.at
        super()._read_keyword(name, start)
        if name == "subgraph":
            header = self._subgraphs.get(self._wanted)
            if header is not None and header.start == start:
                at = scan.text.find(self._wanted, behind)
                self.places.add((at, at + len(self._wanted)))
        elif name in ("class", "click", "style"):
            while scan.text[behind : behind + 1].isspace():
                behind += 1
            if named := _IDS.match(scan.text, behind, scan.at):
                ids = _ONE_ID.finditer(scan.text, named.start(), named.end())
                self.places.update(one.span() for one in ids if one[0] == self._wanted)
