"""Gives a node another id, wherever the text names it, and touches nothing else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from flowstudio.flow.d2_words import fold, write_name
from flowstudio.flow.edit import replace_label
from flowstudio.flow.mermaid_scan import KEYWORD, KEYWORD_INSIDE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flowstudio.flow.chart import Chart

_MERMAID_ID = re.compile(r"\w+(?:[-.]\w+)*")
_DIRECTED_BY_LABEL = ("begin", "end")


class Edit(NamedTuple):
    """Put `new` in place of `text[start:end]`."""

    start: int
    end: int
    new: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """`text` with edits that do not overlap, in order of place."""
    pieces: list[str] = []
    at = 0
    for edit in edits:
        pieces += [text[at : edit.start], edit.new]
        at = edit.end
    return "".join([*pieces, text[at:]])


def rename_node(text: str, chart: Chart, old: str, new: str) -> str:
    """`text` with the node `old` called `new`: in its edges, its looks, the ids of what it holds.

    `chart` is what reading this very text gave. Labels stay as they are; a node without one is
    labelled by its id, so its label changes with it, but for BEGIN and END, which get theirs
    written. In D2, `new` is the last part of the id alone, or the whole id within the same
    container. Raises `KeyError` where the chart has no node `old`, and `ValueError`, fit to show,
    where `new` is no id, is another node's, or where the text has no place for it.
    """
    if old not in chart.nodes:
        raise KeyError(old)
    target = _check_name(chart, old, new)
    if target == old:
        return text
    renamed = apply_edits(text, _find_edits(text, chart, old, target))
    expected = _rename_ids(chart, old, target)
    node = chart.nodes[old]
    now = _read(chart, renamed)
    if node.label_span is None and node.kind in _DIRECTED_BY_LABEL and target in now.nodes:
        renamed = replace_label(renamed, now, target, node.text)
        now = _read(chart, renamed)
    if not _is_same(chart, now, expected):
        raise ValueError(f"“{old}” cannot be called “{target}” here: the flow would change")
    return renamed


def _check_name(chart: Chart, old: str, new: str) -> str:
    """The whole new id."""
    new = new.strip()
    if not new:
        raise ValueError("an id cannot be empty")
    if chart.language == "mermaid":
        if not _MERMAID_ID.fullmatch(new):
            raise ValueError(f"“{new}” is no id: write letters, digits, _ and - without spaces")
        if KEYWORD.match(new) or KEYWORD_INSIDE.search(new):
            raise ValueError(f"“{new}” cannot be an id: Mermaid takes it for a word of its own")
        target = new
    else:
        container = _container_of(chart, old)
        if container and new.startswith(container):
            new = new.removeprefix(container)
        if "\n" in new:
            raise ValueError("an id stands on one line")
        is_written = new[:1] in "\"'" and new[-1:] == new[:1] and len(new) > 1
        target = container + (new if is_written else write_name(new))
    taken = {fold(one) for one in chart.nodes if one != old} if chart.language == "d2" else ()
    if target != old and (target in chart.nodes or fold(target) in taken):
        raise ValueError(f"there is a node “{target}” already")
    return target


def _container_of(chart: Chart, node_id: str) -> str:
    """The path before a D2 node's own name, with its dot; empty for a node of the top level."""
    parts = d2_parts(node_id)
    return node_id[: len(node_id) - len(parts[-1])] if parts else ""


_D2_PART = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\']|\'\')*\'|[^.]+')


def d2_parts(node_id: str) -> list[str]:
    """The names of a D2 id as they are written: `a."b.c"` has two."""
    return _D2_PART.findall(node_id)


def _find_edits(text: str, chart: Chart, old: str, target: str) -> list[Edit]:
    if chart.language == "mermaid":
        from flowstudio.flow.mermaid import find_mentions

        return [Edit(start, end, target) for start, end in find_mentions(text, old)]
    from flowstudio.flow.d2_mentions import find_mentions_d2

    name = d2_parts(target)[-1]
    return [Edit(start, end, name) for start, end in find_mentions_d2(text, d2_parts(old))]


def _read(chart: Chart, text: str) -> Chart:
    if chart.language == "mermaid":
        from flowstudio.flow.mermaid import read_mermaid

        return read_mermaid(text)
    from flowstudio.flow.d2 import read_d2

    return read_d2(text)


def _rename_ids(chart: Chart, old: str, target: str) -> dict[str, str]:
    """Old ids to new ones: the node's own, and in D2 those of the nodes within it."""
    inside = f"{old}."
    return {
        node_id: target
        if node_id == old
        else target + node_id[len(old) :]
        if chart.language == "d2" and node_id.startswith(inside)
        else node_id
        for node_id in chart.nodes
    }


def _is_same(before: Chart, after: Chart, ids: dict[str, str]) -> bool:
    """True where `after` is `before` with other ids: same order, labels, kinds and edges."""
    if list(after.nodes) != list(ids.values()) or before.direction != after.direction:
        return False
    for node_id, new_id in ids.items():
        old, new = before.nodes[node_id], after.nodes[new_id]
        follows_id = old.label_span is None and node_id != new_id and new.kind == old.kind
        if new.kind != old.kind or (new.text != old.text and not follows_id):
            return False
    edges = [(ids[e.src], ids[e.dst], e.label) for e in before.edges]
    return edges == [(e.src, e.dst, e.label) for e in after.edges]
