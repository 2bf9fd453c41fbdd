"""From D2 statements to the tree of what they say.

What a chart is made of can be seen only when the whole text is read, since a later line may relabel
or remove what an earlier one drew. So statements are carried out on the tree, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flowstudio.flow import codes, d2_codes
from flowstudio.flow.d2_globs import find_reach
from flowstudio.flow.d2_syntax import (
    Array,
    Arrow,
    Import,
    Item,
    Map,
    Part,
    Path,
    Scalar,
    Statement,
    Substitution,
)
from flowstudio.flow.d2_tree import (
    Field,
    Link,
    Tree,
    ends_key,
    find_field,
    is_parent_sign,
    is_variable,
    key_of,
)
from flowstudio.flow.d2_words import BOARDS, RESERVED, STYLE, fold

if TYPE_CHECKING:
    from flowstudio.flow.d2_findings import Findings

_LONGEST_ID = 600
"""D2 itself takes up to 518 characters for one name of a key."""
_MOST_HOPS = 100
"""How many edges one `(a -> b -> ...)[0]` may mean: each carries out the whole value again."""


def grow(body: Map, findings: Findings) -> Tree:
    """Carry out the statements of a text."""
    return _Grower(findings).grow(body)


class _Grower:
    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._root = Field("", None, 0, 0)
        self._links: list[Link] = []
        self._between: dict[tuple[int, int, bool, bool], list[Link]] = {}
        self._open: list[tuple[Iterator[Item], Field]] = []
        self._class_globs: list[Statement] = []

    def grow(self, body: Map) -> Tree:
        self._open.append((iter(body.items), self._root))
        while self._open:
            items, scope = self._open[-1]
            item = next(items, None)
            match item:
                case None:
                    self._open.pop()
                case Statement():
                    self._carry_out(item, scope)
                case Substitution():
                    self._refuse_spread(item, scope)
                case Import():
                    self._refuse_import(item, scope)
        self._refuse_labelling_classes()
        return Tree(self._root, [link for link in self._links if not link.is_gone])

    # ---- statements -------------------------------------------------------------------------

    def _carry_out(self, statement: Statement, scope: Field) -> None:
        if statement.is_filter:
            self._refuse(
                d2_codes.GLOB_UNREAD,
                "a filter has a meaning only inside a glob",
                statement,
                "remove the & and write out what is meant",
            )
        elif statement.has_glob:
            reach = find_reach(statement)
            if reach == "class":
                self._class_globs.append(statement)
            if not scope.is_looks and reach == "graph":
                self._refuse(
                    d2_codes.GLOB_UNREAD,
                    "a key with * that sets labels or edges is not read",
                    statement,
                    "write each one out, or put the name in quotes if the * belongs to it",
                )
        elif statement.arrows:
            self._carry_out_edges(statement, scope)
        elif (found := self._ensure(scope, statement.path)) is not None:
            if statement.value is None and found.is_looks and not scope.is_looks:
                part = statement.path[-1]
                message = f'"{part.text}" is a word for looks, and no value is given to it'
                self._refuse_word(part, message)
            self._assign(found, statement)

    def _assign(self, target: Field, statement: Statement) -> None:
        if statement.is_null and not is_variable(target):
            if self._is_open(target):
                self._refuse(
                    d2_codes.CONSTRUCT_UNREAD,
                    "this takes the container away in which it stands",
                    statement,
                    "write it behind the container, or remove the container",
                )
            else:
                self._remove(target)
            return
        value = statement.value
        for scalar in (statement.primary, value):
            if not isinstance(scalar, Scalar):
                continue
            if scalar.word in ("suspend", "unsuspend") and not target.is_looks:
                self._refuse(
                    d2_codes.CONSTRUCT_UNREAD,
                    f"{scalar.word} is not read",
                    statement,
                    "write null to take something away, or remove the line",
                )
                return
            target.replaced, target.primary = target.primary, scalar
            target.declared_at = statement.start
        match value:
            case Map():
                self._open.append((iter(value.items), target))
            case Array():
                target.array = value
                if not target.is_looks:
                    self._findings.add(
                        d2_codes.VALUE_IGNORED,
                        "a list means nothing here, and D2 draws nothing for it",
                        value.start,
                        value.end,
                        "put the text in quotes if it is a label",
                    )
            case Import():
                self._refuse_import(value, target)
            case _:
                pass

    # ---- fields -----------------------------------------------------------------------------

    def _ensure(self, scope: Field, path: Path) -> Field | None:
        """The field at `path`, made where it is missing; None, and a finding, where it can't be."""
        if len(path) == 1 and not scope.is_looks and not is_parent_sign(path[0]):
            known = scope.children.get(key_of(path[0]))
            if known is not None:
                return known
        at = 0
        while at < len(path) and is_parent_sign(path[at]):
            if scope.parent is None or scope.is_edge:
                self._refuse_parent_sign(path[at], "there is no container around this one")
                return None
            scope = scope.parent
            at += 1
        if at == len(path):
            self._refuse_parent_sign(path[-1], "something must follow the _")
            return None
        for part in path[at:]:
            if is_parent_sign(part):
                self._refuse_parent_sign(part, "_ may stand only at the beginning of a key")
                return None
            if ends_key(scope):
                message = f'nothing can follow "{scope.name}" in a key'
                self._refuse_word(part, message, "remove the rest of the key")
                return None
            key = key_of(part)
            known = scope.children.get(key)
            if known is None:
                known = self._make(scope, part, path)
                if known is None:
                    return None
                scope.children[key] = known
            scope = known
        return scope

    def _make(self, parent: Field, part: Part, path: Path) -> Field | None:
        word = "" if part.is_quoted else fold(part.text)
        is_looks = parent.is_looks or word in RESERVED
        made = Field(part.text, parent, path[0].start, part.end, part.is_quoted, is_looks)
        made.size = parent.size + len(part.text) + 1
        if made.size > _LONGEST_ID:
            self._findings.add(
                d2_codes.NESTING_TOO_DEEP,
                f"with its containers this id is longer than {_LONGEST_ID} characters",
                part.start,
                part.end,
                "give it a short id and a label:  id: long text",
            )
            return None
        if parent.is_looks:
            return made
        if word in STYLE:
            self._refuse_word(part, f'"{part.text}" is a word for looks and cannot be an id')
            return None
        if parent.is_edge and not is_looks:
            self._findings.add(
                codes.SYNTAX,
                f'"{part.text}" cannot be said about an edge',
                part.start,
                part.end,
                "an edge may have a label:  a -> b: {label: text}",
            )
            return None
        if word == "label" and part.text != word:
            message = f'D2 knows "{word}" in lower case only; here it is read as the label'
            self._findings.add(codes.LOOSE_SYNTAX, message, part.start, part.end, f"write {word}")
        if word in BOARDS or word == "classes":
            if parent is not self._root:
                message = f'"{part.text}" may stand only outside of all containers'
                self._refuse_word(part, message, "move it to the beginning of the chart")
                return None
            if word in BOARDS:
                self._findings.add(
                    d2_codes.BOARD_UNREAD,
                    f"what {part.text} holds is not part of the flow",
                    part.start,
                    part.end,
                    "draw everything that shall run on the first board",
                )
        return made

    def _is_open(self, target: Field) -> bool:
        """True where a map that is being carried out belongs to `target` or stands inside it."""
        seen: set[int] = set()
        for _, scope in self._open:
            here: Field | None = scope
            while here is not None and id(here) not in seen:
                seen.add(id(here))
                here = here.parent
        return id(target) in seen

    def _remove(self, target: Field) -> None:
        parent = target.parent
        if parent is None:
            return
        for key, child in parent.children.items():
            if child is target:
                del parent.children[key]
                break
        waiting = [target]
        while waiting:
            gone = waiting.pop()
            waiting.extend(gone.children.values())
            for link in gone.links:  # every edge between its ends goes, so all of the list
                link.is_gone = True
                self._between.pop(_link_key(link), None)

    # ---- edges ------------------------------------------------------------------------------

    def _carry_out_edges(self, statement: Statement, scope: Field) -> None:
        if statement.path:
            found = self._ensure(scope, statement.path)
            if found is None:
                return
            scope = found
        if scope.is_edge:
            message = "an edge cannot hold edges"
            self._refuse(codes.SYNTAX, message, statement, "write the edge on a line of its own")
            return
        if isinstance(statement.value, Array):
            self._refuse(
                codes.SYNTAX,
                "an edge cannot have a list as its value",
                statement,
                "put the label in quotes",
            )
            return
        if statement.index is not None and len(statement.arrows) > _MOST_HOPS:
            message = f"more than {_MOST_HOPS} edges are meant at once here"
            self._refuse(d2_codes.CONSTRUCT_UNREAD, message, statement, "write shorter chains")
            return
        for at, arrow in enumerate(statement.arrows):
            is_last = at == len(statement.arrows) - 1
            if statement.index is not None:
                self._change_edge(arrow, statement, scope)
            elif statement.is_null and not statement.arrow_path:
                self._remove_link(arrow, scope, 0)
            elif (link := self._draw(arrow, statement, scope)) and is_last:
                # KLIP-10: the label of a chain belongs to its last hop.
                self._say_about(link, statement)

    def _change_edge(self, arrow: Arrow, statement: Statement, scope: Field) -> None:
        assert isinstance(statement.index, int)
        links = self._find_links(arrow, scope)
        if statement.is_null and not statement.arrow_path:
            self._remove_link(arrow, scope, statement.index)
        elif statement.index < len(links):
            self._say_about(links[statement.index], statement)
        else:
            self._findings.add(
                d2_codes.EDGE_UNKNOWN,
                f"there is no edge number {statement.index} like this before this line",
                arrow.start,
                arrow.end,
                "draw the edge first; the first one has the number 0",
            )

    def _say_about(self, link: Link, statement: Statement) -> None:
        target = link.about
        if statement.arrow_path:
            found = self._ensure(target, statement.arrow_path)
            if found is None:
                return
            target = found
        self._assign(target, statement)

    def _draw(self, arrow: Arrow, statement: Statement, scope: Field) -> Link | None:
        src = self._ensure(scope, arrow.src)
        dst = self._ensure(scope, arrow.dst)
        if src is None or dst is None:
            return None
        for end, path in ((src, arrow.src), (dst, arrow.dst)):
            if end.is_looks and not scope.is_looks:
                self._refuse_word(path[-1], f'"{end.name}" is a word for looks and cannot be an id')
                return None
        about = Field("", scope, arrow.start, arrow.end, is_edge=True)
        link = Link(
            src,
            dst,
            arrow.at_src,
            arrow.at_dst,
            scope,
            arrow.start,
            arrow.end,
            statement.end,
            about,
        )
        self._links.append(link)
        self._between.setdefault(_link_key(link), []).append(link)
        for end in {src, dst}:
            end.links.append(link)
        return link

    def _find_links(self, arrow: Arrow, scope: Field) -> list[Link]:
        src, dst = find_field(scope, arrow.src), find_field(scope, arrow.dst)
        if src is None or dst is None:
            return []
        return self._between.get((id(src), id(dst), arrow.at_src, arrow.at_dst), [])

    def _remove_link(self, arrow: Arrow, scope: Field, index: int) -> None:
        links = self._find_links(arrow, scope)
        if index < len(links):
            links[index].is_gone = True
            del links[index]

    # ---- what is not read -------------------------------------------------------------------

    def _refuse(self, code: str, message: str, statement: Statement, hint: str) -> None:
        self._findings.add(code, message, statement.start, statement.end, hint)

    def _refuse_word(self, part: Part, message: str, hint: str = "") -> None:
        hint = hint or f'choose another id, or write "{part.text}" in quotes each time'
        self._findings.add(d2_codes.RESERVED_WORD, message, part.start, part.end, hint)

    def _refuse_parent_sign(self, part: Part, message: str) -> None:
        hint = "write _.name inside a container, for a name beside the container"
        self._findings.add(d2_codes.PARENT_UNKNOWN, message, part.start, part.end, hint)

    def _refuse_labelling_classes(self) -> None:
        classes = self._root.child("classes")
        if classes is None or not any(each.child("label") for each in classes.children.values()):
            return
        for statement in self._class_globs:
            self._refuse(
                d2_codes.GLOB_UNREAD,
                "a key with * sets a class here, and a class of this chart sets a label",
                statement,
                "write the label at each node, and leave only looks to the class",
            )

    def _refuse_spread(self, item: Substitution, scope: Field) -> None:
        if scope.is_looks:
            return
        self._findings.add(
            d2_codes.CONSTRUCT_UNREAD,
            f"what ${{{'.'.join(item.path)}}} spreads here is not read",
            item.start,
            item.end,
            "write the content of the variable out",
        )

    def _refuse_import(self, item: Import, scope: Field) -> None:
        code = d2_codes.IMPORT_LOOKS if scope.is_looks else d2_codes.IMPORT_UNREAD
        hint = "" if scope.is_looks else "copy what the file holds into this chart"
        self._findings.add(code, "an import is not read", item.start, item.end, hint)


def _link_key(link: Link) -> tuple[int, int, bool, bool]:
    return (id(link.src), id(link.dst), link.at_src, link.at_dst)
