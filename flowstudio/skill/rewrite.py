"""Changes to a skill's flow as changes to its whole file: a label, a node's id.

The chart is changed where it stands; what surrounds it in the file stays as it is, to the byte.
What comes out is read again before it is given: it is the flow that was meant, or nothing changes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from flowstudio.flow.edit import replace_label
from flowstudio.flow.rename import Edit, apply_edits, rename_node
from flowstudio.flow.source import Source
from flowstudio.skill.front import find_front
from flowstudio.skill.manifest import reread
from flowstudio.skill.skill import Skill, SkillError

if TYPE_CHECKING:
    from flowstudio.flow.chart import Chart

_NEWLINE = re.compile(r"\r\n?|\n")


def with_label(skill: Skill, node_id: str, label: str) -> str:
    """The skill's file with the label of one node exchanged.

    Raises `SkillError`, fit to show, where that cannot be done.
    """
    chart = _chart_of(skill, node_id)
    if not label.strip():
        raise SkillError("an empty prompt is not written back: a node without one says nothing")
    try:
        changed = replace_label(skill.chart_text, chart, node_id, label)
    except ValueError as error:
        raise SkillError(f"{skill.path}: {error}") from error
    text = _put_back(skill, changed)
    now = reread(skill, text).chart
    wanted = {n.id: n.text.strip() for n in chart.nodes.values()}
    wanted[node_id] = _NEWLINE.sub("\n", label.strip())
    if now is None or {n.id: n.text.strip() for n in now.nodes.values()} != wanted:
        raise SkillError(_no_place(skill))
    return text


def with_name(skill: Skill, old: str, new: str) -> tuple[str, str]:
    """The skill's file with the node `old` renamed everywhere, and its new id as the chart has it.

    The node is named in the chart, and in the `nodes` of the front matter. Raises `SkillError`, fit
    to show, where there is no such node, or it cannot be called so.
    """
    chart = _chart_of(skill, old)
    try:
        changed = rename_node(skill.chart_text, chart, old, new)
    except ValueError as error:
        raise SkillError(f"{skill.path}: {error}") from error
    text = _put_back(skill, changed)
    now = reread(skill, text).chart
    if now is None or len(now.nodes) != len(chart.nodes):
        raise SkillError(_no_place(skill))
    ids = dict(zip(chart.nodes, now.nodes, strict=True))
    edges = [(ids[edge.src], ids[edge.dst], edge.label) for edge in chart.edges]
    if edges != [(edge.src, edge.dst, edge.label) for edge in now.edges]:
        raise SkillError(_no_place(skill))
    if changed != skill.chart_text and text == skill.source:
        raise SkillError(_no_place(skill))
    return _rename_in_front(text, ids), ids[old]


def _chart_of(skill: Skill, node_id: str) -> Chart:
    chart = skill.chart
    if chart is None:
        raise SkillError(f"{skill.path}: there is no chart in it")
    if node_id not in chart.nodes:
        from difflib import get_close_matches

        near = get_close_matches(node_id, chart.nodes, n=1)
        hint = (
            f"; did you mean {near[0]}?"
            if near
            else f"; it has {', '.join(list(chart.nodes)[:12])}"
        )
        raise SkillError(f"{skill.path}: the chart has no node “{node_id}”{hint}")
    return chart


def _no_place(skill: Skill) -> str:
    return f"{skill.path}: the chart's text cannot be changed from here; E opens the file"


def _put_back(skill: Skill, changed: str) -> str:
    """The whole file, with `changed` in place of the chart's text.

    `chart_text` has the lines and columns of the file, so each edit has its place there, too.
    """
    before = Source(skill.chart_text)
    file = Source(skill.source)
    edits: list[Edit] = []
    for edit in _edits_between(skill.chart_text, changed):
        try:
            start = file.offset(*before.place(edit.start))
            end = file.offset(*before.place(edit.end))
        except IndexError:
            raise SkillError(_no_place(skill)) from None
        if skill.source[start:end] != skill.chart_text[edit.start : edit.end]:
            raise SkillError(_no_place(skill))
        edits.append(Edit(start, end, edit.new))
    return apply_edits(skill.source, edits)


def _edits_between(before: str, after: str) -> list[Edit]:
    """What changed, line by line where the lines can be told apart, each edit within its line."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if len(old) != len(new):
        return [_shrink(0, before, after)]
    edits: list[Edit] = []
    at = 0
    for was, now in zip(old, new, strict=True):
        if was != now:
            edits.append(_shrink(at, was, now))
        at += len(was)
    return edits


def _shrink(at: int, was: str, now: str) -> Edit:
    """The edit without what both have in common at its ends."""
    start, shortest = 0, min(len(was), len(now))
    while start < shortest and was[start] == now[start]:
        start += 1
    end = 0
    while end < shortest - start and was[-1 - end] == now[-1 - end]:
        end += 1
    return Edit(at + start, at + len(was) - end, now[start : len(now) - end])


def _rename_in_front(text: str, ids: dict[str, str]) -> str:
    """The front matter's `nodes`, by their new ids: `  check: {model: cheap}`."""
    front = find_front(text)
    if front is None:
        return text
    import yaml

    try:
        loaded = cast("Any", yaml).compose(text[front.start : front.end], Loader=yaml.SafeLoader)
        root = cast("yaml.Node | None", loaded)
    except (yaml.YAMLError, RecursionError):
        return text
    edits: list[Edit] = []
    if isinstance(root, yaml.MappingNode):
        for key, value in root.value:
            if key.value != "nodes" or not isinstance(value, yaml.MappingNode):
                continue
            for name, _ in value.value:
                new = ids.get(str(name.value))
                if new is not None and new != name.value:
                    start = front.start + name.start_mark.index
                    edits.append(Edit(start, front.start + name.end_mark.index, _as_key(new)))
    return apply_edits(text, edits)


def _as_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_][\w-]*", name) else "'" + name.replace("'", "''") + "'"
