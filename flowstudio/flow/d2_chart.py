"""From the tree of fields to the chart: which fields are nodes, what their labels are.

A container is a node only where an edge ends at it or where it is labelled BEGIN or END; otherwise
it is a frame around nodes, as in Mermaid a subgraph is. Rows of a table (`shape: sql_table` or
`class`) are not nodes, and an edge to a row is an edge to its table, as D2 draws it. A node without
edges that is pinned to a corner (`near: top-center`) is a caption; the first is the chart's title.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flowstudio.flow import codes, d2_codes
from flowstudio.flow.build import ChartBuilder
from flowstudio.flow.d2_hints import shorten
from flowstudio.flow.d2_syntax import Scalar
from flowstudio.flow.d2_variables import Variables
from flowstudio.flow.d2_words import TABLE_SHAPES, fold, write_name
from flowstudio.flow.model import Direction, find_kind

if TYPE_CHECKING:
    from flowstudio.flow.chart import Chart
    from flowstudio.flow.d2_findings import Findings
    from flowstudio.flow.d2_tree import Field, Link, Tree

_DIRECTIONS: dict[str, Direction] = {"down": "TD", "up": "BT", "right": "LR", "left": "RL"}
_SIDES = "top-left top-center top-right center-left center-right bottom-left bottom-center"
_CORNERS = frozenset([*_SIDES.split(), "bottom-right"])
_ARROWS_OF_OTHERS = frozenset("→⟶⇒➔➜➞➝⟹↦←⇐⟵↔")


@dataclass(frozen=True, slots=True, eq=False)
class _Said:
    """A label as it stands in the text."""

    label: Scalar
    scope: Field
    """Where its variables are looked up."""
    declared_at: int | None
    """Where the statement begins that says so; None if a class of the chart does."""
    before: Scalar | None
    """Another label that it replaced."""


def make_chart(tree: Tree, text: str, findings: Findings) -> Chart:
    """The chart that the tree describes, with all findings."""
    return _Maker(tree, text, findings).make()


class _Maker:
    def __init__(self, tree: Tree, text: str, findings: Findings) -> None:
        self._root = tree.root
        self._fields = _list_fields(tree.root)
        self._links = [link for link in tree.links if not (link.src.is_looks or link.dst.is_looks)]
        self._findings = findings
        self._span = findings.source.span
        self._variables = Variables(text, [tree.root, *self._fields], findings)
        self._builder = ChartBuilder("d2")
        self._said: dict[Field, _Said | None] = {}
        self._texts: dict[_Said, str] = {}

    def make(self) -> Chart:
        self._read_root()
        tables = {f for f in self._fields if self._word_of(f, "shape") in TABLE_SHAPES}
        rows: dict[Field, Field] = {}
        for found in self._fields:  # parents first, so that a table in a table is a row, too
            if found.parent in tables:
                rows[found] = rows.get(found.parent, found.parent)
        ends = [(rows.get(e.src) or e.src, rows.get(e.dst) or e.dst, e) for e in self._links]
        touched = {end for src, dst, _ in ends for end in (src, dst)}
        ids: dict[Field, str] = {}
        nodes: list[Field] = []
        for found in self._fields:
            name = write_name(found.name)
            ids[found] = f"{ids[found.parent]}.{name}" if found.parent in ids else name
            if found not in rows and self._is_node(found, touched, is_table=found in tables):
                nodes.append(found)
        nodes.sort(key=lambda node: node.start)
        for node in nodes:
            self._add_node(node, ids[node], is_alone=node not in touched)
        for src, dst, link in ends:
            self._add_edges(ids[src], ids[dst], link)
        for diagnostic in self._findings.all():
            self._builder.report(diagnostic)
        return self._builder.build()

    def _read_root(self) -> None:
        direction = self._root.child("direction")
        if direction and direction.primary:
            word = self._word_of(self._root, "direction")
            self._builder.direction = _DIRECTIONS.get(word, "TD")
        for scope in (self._root, *self._fields):
            shape = scope.child("shape")
            if shape and shape.primary and self._word_of(scope, "shape") == "sequence_diagram":
                self._findings.add(
                    codes.CHART_TYPE,
                    "a sequence diagram is not a flow",
                    shape.start,
                    shape.primary.end,
                    "remove this line if the edges say what comes after what",
                )

    # ---- nodes ------------------------------------------------------------------------------

    def _is_node(self, found: Field, touched: set[Field], *, is_table: bool) -> bool:
        if found in touched or is_table:
            return True
        said = self._find_label(found)
        label = found.name if said is None else self._text_of(said)
        if find_kind(label, 0) in ("begin", "end"):
            return True
        if any(not child.is_looks for child in found.children.values()):
            return False
        if found.parent is self._root and self._word_of(found, "near") in _CORNERS:
            self._builder.title = self._builder.title or label.strip()
            return False
        return True

    def _add_node(self, node: Field, node_id: str, *, is_alone: bool) -> None:
        said = self._find_label(node)
        if said is None:
            self._builder.node(node_id, self._span(node.start, node.end), node.name)
            if is_alone and not node.is_quoted:
                self._warn_of_stray_text(node)
            return
        text = self._text_of(said)
        if said.declared_at is None:
            self._builder.node(node_id, self._span(node.start, node.end), text)
        else:
            declaration = self._span(said.declared_at, said.label.end)
            label_span = self._span(said.label.start, said.label.end)
            self._builder.label(node_id, text, declaration, label_span)
        if said.before is not None:
            message = f'"{node_id}" already has another label, which is replaced here'
            self._warn_of_replaced(codes.LABEL_REPLACED, message, said.label, said.before)

    def _find_label(self, about: Field) -> _Said | None:
        """The label of a node or an edge; None where nothing gives one.

        As in D2: `label` wins over a class, a class over the text behind the colon.
        """
        if about in self._said:
            return self._said[about]
        said: _Said | None = None
        around = about.parent or self._root
        if about.primary:
            said = _Said(about.primary, around, about.declared_at, about.replaced)
        if by_class := self._find_class_label(about):
            said = _Said(by_class, self._root, None, said.label if said else None)
        own = about.child("label")
        if own and own.primary:
            before = own.replaced or (said.label if said and said.declared_at is not None else None)
            said = _Said(own.primary, about, own.declared_at, before)
        self._said[about] = said
        return said

    def _find_class_label(self, about: Field) -> Scalar | None:
        named, classes = about.child("class"), self._root.child("classes")
        if named is None or classes is None:
            return None
        values = [named.primary] if named.primary or not named.array else named.array.values
        label: Scalar | None = None
        for value in values:
            if not isinstance(value, Scalar):
                continue
            name = self._variables.text_of(value, about)
            found = classes.children.get(fold(name))
            by_class = found.child("label") if found else None
            if by_class and by_class.primary:
                label = by_class.primary
        return label

    def _text_of(self, said: _Said) -> str:
        if said not in self._texts:
            self._texts[said] = self._variables.text_of(said.label, said.scope)
        return self._texts[said]

    def _word_of(self, about: Field, word: str) -> str:
        said = about.child(word)
        if said is None or said.primary is None:
            return ""
        return "".join(p for p in said.primary.pieces if isinstance(p, str)).strip().lower()

    # ---- edges ------------------------------------------------------------------------------

    def _add_edges(self, src: str, dst: str, link: Link) -> None:
        said = self._find_label(link.about)
        text = self._text_of(said).strip() if said else None
        end = link.end
        label_span = None
        if said and said.declared_at is not None:
            label_span = self._span(said.label.start, said.label.end)
            if link.end <= said.label.start < link.statement_end:
                end = said.label.end
        if said and said.before:
            message = "this edge already has another label, which is replaced here"
            self._warn_of_replaced(d2_codes.EDGE_RELABELLED, message, said.label, said.before)
        span = self._span(link.start, end)
        if link.at_src and not link.at_dst:
            src, dst = dst, src
        self._builder.edge(src, dst, text, span, label_span)
        if link.at_src and link.at_dst and src != dst:
            self._builder.edge(dst, src, text, span, label_span)

    # ---- warnings ---------------------------------------------------------------------------

    def _warn_of_stray_text(self, node: Field) -> None:
        has_arrow = any(char in _ARROWS_OF_OTHERS for char in node.name)
        if not has_arrow and not any(char.isspace() for char in node.name):
            return
        if self._findings.has_errors:  # then it is mostly what was left of a broken line
            return
        hint = (
            "D2 writes an arrow as ->" if has_arrow else "begin the line with # if it is a remark"
        )
        message = f'"{shorten(node.name)}" is read as a node of its own'
        self._findings.add(d2_codes.STRAY_TEXT, message, node.start, node.end, hint)

    def _warn_of_replaced(self, code: str, message: str, label: Scalar, before: Scalar) -> None:
        if label.pieces != before.pieces:
            notes = [(before.start, before.end, "the label that is replaced")]
            hint = "keep one of the two"
            self._findings.add(code, message, label.start, label.end, hint, notes)


def _list_fields(root: Field) -> list[Field]:
    """All fields below `root` that are not looks, each behind its container."""
    found: list[Field] = []
    waiting = [root]
    while waiting:
        children = [c for c in waiting.pop().children.values() if not c.is_looks]
        found += children
        waiting += children
    return found
