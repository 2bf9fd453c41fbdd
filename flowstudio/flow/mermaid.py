"""Reads Mermaid flowcharts as mermaid.js 11 draws them.

The whole language of flowcharts is read: what only concerns looks is passed over, what cannot be
read is reported at its place, and the rest of the chart is read all the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flowstudio.flow import codes
from flowstudio.flow.build import ChartBuilder
from flowstudio.flow.compile import compile_flow
from flowstudio.flow.diagnostics import Related, finding
from flowstudio.flow.mermaid_data import read_data
from flowstudio.flow.mermaid_head import read_head
from flowstudio.flow.mermaid_link import Link, find_link, read_link
from flowstudio.flow.mermaid_scan import ID, KEYWORD, Piece, Scanner
from flowstudio.flow.mermaid_shape import read_quoted, read_shape

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


def parse_mermaid_flowchart(text: str) -> Flow:
    """The flow that the text describes.

    Raises `FlowParseError` or `FlowValidationError`, whose message begins `Line N:` and which carry
    every finding.
    """
    return compile_flow(read_mermaid(text))


_STATEMENT_WORDS = frozenset(
    {"style", "linkStyle", "classDef", "class", "click", "subgraph", "end"}
)
_DIRECTION = re.compile(r"direction[^\S\n]+(?:TB|TD|BT|LR|RL)\b[^\n;]*")
_ACCESSIBILITY = re.compile(r"acc(?:Title\s*:[^\n]*|Descr\s*:[^\n]*|Descr\s*\{)")
_BRACE_END = re.compile(r"[^}]*\}?")
_LOOKS = re.compile(r'(?:[^\n;"]+|"[^"\n]*"|")*')
_MORE_LOOKS = re.compile(r";[^\S\n]*[a-z-]+[^\S\n]*:(?!:)[^\n;]*")
_SUBGRAPH_ID = re.compile(r"(?:[^\n;\[({%]|%(?!%))*")
_TITLE_BRACKET = re.compile(r"[\[({]")
_END_IN_TITLE = re.compile(r"(?:^|\s)(end)(?=\s|$)")
_COMMENT = re.compile(r"[^\S\n]*%%[^\n]*")
_SPACED = re.compile(r"\s")
_TWO_WORDS = re.compile(r"\s+\S+\s+\S")
_NODE_FOLLOWS = re.compile(r"[\[({>]|:::|@\{|&\s")
_LETTER_ARROW = re.compile(r"[xo](?=--|==|-\.)")
_WIDE = {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | {
    "【": "[",
    "】": "]",
    "“": '"',
    "”": '"',
    "、": "&",
    "。": ";",
}


@dataclass(frozen=True, slots=True)
class _Mention:
    """One place where a node stands, with its label if it has one there."""

    id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Subgraph:
    title: Piece
    header: Span


class _Reader:
    """Reads the statements of one chart."""

    def __init__(self, scan: Scanner) -> None:
        self._scan = scan
        self._builder = scan.builder
        self._mentions: dict[str, Span] = {}
        self._labels: dict[str, tuple[str, Span, Span]] = {}
        self._linked: set[str] = set()
        self._edge_ids: set[str] = set()
        self._subgraphs: dict[str, _Subgraph] = {}
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
            self._read_statement()
        for start in self._open:
            message = "the subgraph that begins here is not closed"
            scan.fault(codes.SYNTAX, message, start, start + 8, "add a line `end` behind its nodes")
        self._hand_over()

    # ---- statements ---------------------------------------------------------------------

    def _read_statement(self) -> None:
        scan = self._scan
        if scan.take(_DIRECTION):
            return
        if found := scan.take(_ACCESSIBILITY):
            if found[0].endswith("{"):
                scan.take(_BRACE_END)
            return
        word = scan.match(ID)
        if not word or word[0] not in _STATEMENT_WORDS or self._is_node(word.end()):
            self._read_edges()
            return
        start, scan.at = scan.at, word.end()
        match word[0]:
            case "subgraph":
                self._read_subgraph(start)
                self._end_statement()
            case "end":
                self._close_subgraph(start)
            case "style":
                self._read_style(start)
            case _:
                self._skip_looks(start)

    def _is_node(self, behind: int) -> bool:
        """True where what follows a word shows that it is a node's id."""
        scan = self._scan
        start, scan.at = scan.at, behind
        blank = scan.skip_blank()
        is_node = bool(scan.match(_NODE_FOLLOWS)) or find_link(scan, at_line_start=blank)
        scan.at = start
        return is_node

    def _skip_looks(self, start: int) -> None:
        scan = self._scan
        behind = scan.at
        scan.take(_LOOKS)
        while scan.take(_MORE_LOOKS):
            pass
        if not _TWO_WORDS.match(scan.shadow, behind, scan.at):
            message = "this line about looks is not complete"
            scan.loose(start, scan.at, message, "say what shall look how, or delete the line")

    def _read_style(self, start: int) -> None:
        """`style A fill:#fff` makes the node `A`, as in Mermaid, where nothing else does."""
        scan = self._scan
        behind = scan.at
        if scan.skip_blank() and (name := scan.match(ID)):
            self._mentions.setdefault(name[0], scan.span(name.start(), name.end()))
        scan.at = behind
        self._skip_looks(start)

    def _read_subgraph(self, start: int) -> None:
        scan = self._scan
        self._open.append(start)
        title: Piece | None
        if not scan.skip_blank():
            scan.loose(start, scan.at, "a subgraph without a name", "write: subgraph name")
        if scan.peek('"'):
            title = read_quoted(scan)
            name = title.text if title else ""
        else:
            title = self._read_bare_title()
            name = title.text
            if scan.match(_TITLE_BRACKET):
                if not scan.peek("["):
                    message = "the title of a subgraph stands in square brackets"
                    scan.loose(scan.at, scan.at + 1, message, f"write: subgraph {name} [title]")
                title = read_shape(scan, name)
            elif not name or _SPACED.search(name):
                scan.take(_COMMENT)
                return
        scan.take(_COMMENT)
        if name and title:
            self._subgraphs[name] = _Subgraph(title, scan.span(start, scan.at))

    def _read_bare_title(self) -> Piece:
        """A subgraph's id, or its title in several words without quotes."""
        scan = self._scan
        begin = scan.at
        scan.take(_SUBGRAPH_ID)
        raw = scan.text[begin : scan.at]
        title = Piece(raw.strip(), begin, begin + len(raw.rstrip()))
        if word := _END_IN_TITLE.search(scan.shadow, begin, scan.at):
            message = 'the title holds the word "end"'
            scan.loose(word.start(1), word.end(1), message, "put the title in double quotes")
        return title

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
        self, sources: list[_Mention], targets: list[_Mention], link: Link, start: int
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
        self._linked.update(mention.id for mention in (*sources, *targets))

    def _read_group(self, expected: str) -> list[_Mention]:
        """`A & B`: one node or several; none, and a finding, where there is not even one."""
        scan = self._scan
        group: list[_Mention] = []
        while True:
            if scan.is_done() or not scan.match(ID):
                if not scan.is_done():
                    self._report_rest(expected)
                return []
            if mention := self._read_vertex():
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

    def _read_vertex(self) -> _Mention | None:
        """One node with its brackets, class and properties; None for an edge's properties."""
        scan = self._scan
        start = scan.at
        word = scan.take(ID)
        name = word[0] if word else ""
        if len(name) > 1 and name.endswith("&"):
            name = name[:-1]
            scan.at -= 1
        end = scan.at
        if scan.peek("@{") and name in self._edge_ids:
            read_data(scan, name)
            return None
        self._check_name(name, start, end)
        if name not in self._mentions:
            self._mentions[name] = scan.span(start, end)
        self._read_bracket(name, start)
        self._read_extras(name, start)
        return _Mention(name, start, scan.at)

    def _read_extras(self, name: str, start: int) -> None:
        """A class (`:::x`) and properties (`@{ ... }`) behind the brackets."""
        scan = self._scan
        seen = ""
        while True:
            place = scan.at
            if scan.peek(":::"):
                scan.at += 3
                if scan.skip_blank() or seen:
                    message = "the class stands directly behind the node, and there is only one"
                    scan.loose(place, scan.at, message, f"write: {name}:::class")
                scan.take(ID)
                seen = ":::"
            elif scan.peek("@{"):
                label = read_data(scan, name)
                if label:
                    self._label(name, label, start)
                seen = "@{"
            else:
                return

    def _read_bracket(self, name: str, start: int) -> None:
        scan = self._scan
        behind = scan.at
        blank = scan.skip_blank()
        if blank and scan.peek(">"):
            scan.at = behind
            return
        bracket = scan.at
        label = read_shape(scan, name)
        if not label:
            if not (blank and scan.peek("@{")):
                scan.at = behind
            elif blank:
                message = f'blanks stand between "{name}" and its properties'
                scan.loose(behind, bracket + 2, message, "take the blanks out")
            return
        if blank:
            message = f'blanks stand between "{name}" and its label'
            scan.loose(behind, bracket + 1, message, "take the blanks out")
        self._label(name, label, start)

    def _check_name(self, name: str, start: int, end: int) -> None:
        scan = self._scan
        if keyword := KEYWORD.match(scan.shadow, start):
            word = keyword[0].rstrip(" \t\n:{")
            what = f'the id "{name}" is' if word == name else f'the id "{name}" begins with'
            scan.loose(start, end, f'{what} the word "{word}"', "choose another id")
        elif _LETTER_ARROW.match(scan.shadow, start) and end == start + 1:
            scan.fault(
                codes.ARROW_LETTER,
                f'Mermaid takes this "{name}" for a part of the arrow behind it',
                start,
                end,
                "put a space between the name and the arrow",
            )
        elif not name.isascii() and not all(map(_is_name_sign, name)):
            message = f'the id "{name}" holds a sign that is not a letter'
            scan.loose(start, end, message, "choose an id of letters and write it in a label")

    def _label(self, name: str, label: Piece, start: int) -> None:
        scan = self._scan
        span, label_span = scan.span(start, scan.at), scan.span(label.start, label.end)
        before = self._labels.get(name)
        if before and before[0] != label.text:
            scan.fault(
                codes.LABEL_REPLACED,
                f'"{name}" is given a second label; this one stands',
                label.start,
                label.end,
                "give one of the two nodes another id if two nodes are meant",
                [Related(before[2], "the first label")],
            )
        self._labels[name] = (label.text, span, label_span)

    # ---- the end ------------------------------------------------------------------------

    def _hand_over(self) -> None:
        """Give the nodes to the builder. A subgraph is one only where an edge uses its id."""
        for name, span in self._mentions.items():
            subgraph = self._subgraphs.get(name)
            if subgraph and name not in self._linked:
                continue
            self._builder.node(name, span)
            label = self._labels.get(name)
            if subgraph:
                self._hand_over_subgraph(name, subgraph, span)
            elif label:
                self._builder.label(name, *label)

    def _hand_over_subgraph(self, name: str, subgraph: _Subgraph, mention: Span) -> None:
        title = subgraph.title
        span = self._scan.span(title.start, title.end)
        self._builder.label(name, title.text, subgraph.header, span)
        self._builder.report(
            finding(
                codes.SUBGRAPH_NODE,
                f'the edges of "{name}" lead to the subgraph itself and not to a node in it',
                mention,
                "lead the edge to the node inside that is meant",
                [Related(subgraph.header, "the subgraph")],
            )
        )


def _is_name_sign(sign: str) -> bool:
    return sign.isascii() or (sign.isalpha() and sign <= "\uffff")
