"""`flowstudio show`: a flow as an outline in words, or as JSON."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import Any

from flowstudio.cli.find import find_skill
from flowstudio.cli.output import print_diagnostics, print_json, say
from flowstudio.cli.records import diagnostic_record
from flowstudio.flow import FlowNode, Span
from flowstudio.flow.outline import outline
from flowstudio.skill import Skill
from flowstudio.text import first_line


def show(args: argparse.Namespace) -> int:
    """`flowstudio show`"""
    skill = find_skill(args.path, args.skills_dir)
    if skill is None:
        return 2
    if args.json:
        print_json(_chart_record(skill), indent=2)
    else:
        _print_outline(skill)
        print_diagnostics(skill.diagnostics, {skill.path: skill.source}, file=sys.stderr)
    return 1 if skill.errors else 0


def _print_outline(skill: Skill) -> None:
    chart = skill.chart
    say(f"{skill.name}  ({skill.declared_type}, {skill.path})")
    if skill.description:
        say(first_line(skill.description))
    if chart is None:
        return
    say(f"\n{len(chart.nodes)} nodes, {len(chart.edges)} edges, {chart.language}\n")
    for line in outline(chart, lines=True):
        say(line)


def _chart_record(skill: Skill) -> dict[str, Any]:
    chart = skill.chart
    nodes: Iterable[FlowNode] = chart.nodes.values() if chart else ()
    return {
        "name": skill.name,
        "description": skill.description,
        "type": skill.declared_type,
        "path": str(skill.path),
        "language": chart.language if chart else None,
        "direction": chart.direction if chart else None,
        "valid": skill.flow is not None,
        "begin": next((node.id for node in nodes if node.kind == "begin"), None),
        "end": next((node.id for node in nodes if node.kind == "end"), None),
        "nodes": [
            {"id": node.id, "label": node.text, "kind": node.kind, **_place(node.span)}
            for node in nodes
        ],
        "edges": [
            {"src": edge.src, "dst": edge.dst, "label": edge.label, **_place(edge.span)}
            for edge in (chart.edges if chart else ())
        ],
        "diagnostics": [diagnostic_record(d) for d in skill.diagnostics],
    }


def _place(span: Span | None) -> dict[str, int | None]:
    return {"line": span.line if span else None, "column": span.column if span else None}
