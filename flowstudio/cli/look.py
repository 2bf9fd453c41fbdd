"""The commands that look at flows without running them: list, show, check, draw, explain."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

from flowstudio.cli.formats import github_line, sarif_log
from flowstudio.cli.output import can_show, fail, print_diagnostics, print_json, say
from flowstudio.flow import CODES, Diagnostic, FlowEdge, FlowNode, Span
from flowstudio.skill import (
    Root,
    Skill,
    SkillError,
    configured_dirs,
    discover,
    find_roots,
    load_skill,
    read_roots,
)


def list_skills(args: argparse.Namespace) -> int:
    """`flowstudio list`"""
    work_dir: Path = args.path or Path.cwd()
    if not work_dir.is_dir():
        return fail(f"{work_dir} is not a folder", "give a work folder, or leave PATH out")
    catalogue = discover(work_dir, extra_dirs=configured_dirs(args.skills_dir))
    if args.json:
        print_json([_skill_record(skill) for skill in catalogue.skills], indent=2)
        return 0
    width = max((len(skill.name) for skill in catalogue.skills), default=0)
    scope = None
    for skill in catalogue.skills:
        if skill.scope != scope:
            scope = skill.scope
            say(f"\n{scope}" if scope != catalogue.skills[0].scope else scope)
        mark = "◆" if skill.declared_type == "flow" else "◇"
        errors = f"  ▲{len(skill.errors)}" if skill.errors else ""
        say(f"  {mark} {skill.name:<{width}}  {_first_line(skill.description)}{errors}")
    print_diagnostics(catalogue.findings, {}, file=sys.stderr)
    return 0


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


def check(args: argparse.Namespace) -> int:
    """`flowstudio check`"""
    form = "json" if args.json else args.format
    skills: dict[Path, Skill] = {}
    for path in args.paths:
        found = _skills_at(path)
        if found is None:
            return 2
        for skill in found:
            skills.setdefault(skill.path.resolve(), skill)
    checked = list(skills.values())
    if args.fix:
        # Where a program reads the findings, the diffs must not stand between them.
        out = sys.stdout if form == "text" else sys.stderr
        checked = [_fix(skill, ask=not args.yes, file=out) for skill in checked]
    findings = [d for skill in checked for d in skill.diagnostics]
    errors = sum(d.severity == "error" for d in findings)
    match form:
        case "json":
            print_json([diagnostic_record(d) for d in findings], indent=2)
        case "sarif":
            print_json(sarif_log(findings), indent=2)
        case "github":
            for d in findings:
                say(github_line(d))
        case _:
            sources = {skill.path: skill.source for skill in checked}
            print_diagnostics(findings, sources, file=sys.stdout)
            warnings = len(findings) - errors
            counts = f"{errors} errors, {warnings} warnings" if findings else "all good"
            say(f"{len(checked)} checked: {counts}")
    return 1 if errors else 0


def _fix(skill: Skill, *, ask: bool, file: TextIO) -> Skill:
    """The skill after its safe repairs were shown and, if the user agrees, written."""
    from flowstudio.cli.fix import fixed_text, show_diff
    from flowstudio.skill import save

    text = fixed_text(skill)
    if text == skill.source:
        return skill
    show_diff(skill.path, skill.source, text, file)
    if ask:
        if not sys.stdin.isatty():
            say("  not written: nobody is here to agree; --yes writes it", file=sys.stderr)
            return skill
        say(f"write {skill.path}? [y/N] ", end="", file=file)
        file.flush()
        if sys.stdin.readline().strip().casefold() not in ("y", "yes"):
            return skill
    try:
        return save(skill, text)
    except SkillError as error:
        say(f"flowstudio: {error}", file=sys.stderr)
        return skill


def convert(args: argparse.Namespace) -> int:
    """`flowstudio convert`"""
    from flowstudio.flow.convert import write_d2, write_mermaid

    skill = find_skill(args.path, args.skills_dir)
    if skill is None:
        return 2
    chart = skill.chart
    if chart is None or not chart.nodes:
        print_diagnostics(skill.diagnostics, {skill.path: skill.source}, file=sys.stderr)
        return fail(f"{skill.path} holds no chart that could be converted", "")
    if any(CODES[d.code].parse for d in chart.errors):
        print_diagnostics(chart.errors, {skill.path: skill.source}, file=sys.stderr)
        return fail(f"{skill.path} cannot be read as a whole", "what is missing would be lost")
    to = args.to or ("d2" if chart.language == "mermaid" else "mermaid")
    return _write(write_d2(chart) if to == "d2" else write_mermaid(chart), args.output)


def draw_chart(args: argparse.Namespace) -> int:
    """`flowstudio draw`"""
    skill = find_skill(args.path, args.skills_dir)
    if skill is None:
        return 2
    if skill.chart is None or not skill.chart.nodes:
        print_diagnostics(skill.diagnostics, {skill.path: skill.source}, file=sys.stderr)
        return fail(f"{skill.path} holds no chart that could be drawn", "")
    from flowstudio.drawing import draw

    plain = args.ascii or (args.output is None and not can_show("─│┌▶"))
    drawing = draw(
        skill.chart,
        direction=args.direction,
        zoom=args.zoom,
        width=args.width,
        glyphs="ascii" if plain else "unicode",
    )
    text = drawing.svg() if args.format == "svg" else drawing.text()
    return _write(text, args.output)


def _write(text: str, output: Path | None) -> int:
    """Print the text, or write it to the file that was asked for."""
    if output is None:
        say(text, end="")
        return 0
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        return fail(f"{output}: {error.strerror}", "give another FILE to -o")
    return 0


def explain(args: argparse.Namespace) -> int:
    """`flowstudio explain`"""
    from flowstudio.flow.diagnostics import CODES

    # Each of these declares its codes when it is imported.
    for module in ("flow.codes", "flow.d2_codes", "skill.codes"):
        importlib.import_module(f"flowstudio.{module}")
    if args.code is None:
        width = max(map(len, CODES))
        for code in sorted(CODES.values(), key=lambda code: (code.severity, code.name)):
            say(f"{code.name:<{width}}  {code.severity}")
        return 0
    code = CODES.get(args.code)
    if code is None:
        return fail(f"there is no code {args.code!r}", "flowstudio explain lists them all")
    import textwrap

    say(f"{code.name} ({code.severity})\n")
    say(textwrap.fill(code.explanation, 80))
    return 0


def find_skill(wanted: str, extra_dirs: Sequence[Path]) -> Skill | None:
    """The skill of a path or a name; where there is none, says so and gives None."""
    path = Path(wanted)
    looks_like_path = os.sep in wanted or path.suffix in (".md", ".mmd", ".mermaid", ".d2", ".yaml")
    if path.exists() or looks_like_path:
        try:
            return load_skill(path)
        except SkillError as error:
            if looks_like_path or path.is_file():
                fail(str(error), "")
                return None
    catalogue = discover(Path.cwd(), extra_dirs=configured_dirs(extra_dirs))
    match = catalogue.find(wanted)
    if match.skill is None:
        near = " or ".join(match.suggestions)
        hint = f"did you mean {near}?" if near else "flowstudio list shows them all"
        fail(f"there is no skill {wanted!r} here", hint)
    return match.skill


def _skills_at(path: Path) -> Sequence[Skill] | None:
    try:
        return [load_skill(path)]
    except SkillError as error:
        if not path.is_dir():
            fail(str(error), "")
            return None
    below = _below(path)
    if not below:
        fail(f"{path} holds no skill and no chart", "give a skill folder, a SKILL.md or a chart")
        return None
    return below


def _below(folder: Path) -> list[Skill]:
    """The skills in a folder of skills, and those of a work folder's roots."""
    own = [root for root in find_roots(folder) if root.scope == "project"]
    catalogue = read_roots([Root(folder, "extra", folder), *own])
    found: dict[Path, Skill] = {}
    for skill in (*catalogue.skills, *catalogue.shadowed):
        found[skill.path.resolve()] = skill
    for file in sorted(folder.iterdir()):
        if file.suffix in (".mmd", ".mermaid", ".d2") and file.is_file():
            found.setdefault(file.resolve(), load_skill(file))
    return list(found.values())


def _print_outline(skill: Skill) -> None:
    chart = skill.chart
    say(f"{skill.name}  ({skill.declared_type}, {skill.path})")
    if skill.description:
        say(_first_line(skill.description))
    if chart is None:
        return
    say(f"\n{len(chart.nodes)} nodes, {len(chart.edges)} edges, {chart.language}")
    exits: dict[str, list[FlowEdge]] = {}
    for edge in chart.edges:
        exits.setdefault(edge.src, []).append(edge)
    for node in chart.nodes.values():
        line = f"line {node.span.line}" if node.span else ""
        say(f"\n{node.id}  ({node.kind}, {line})")
        if node.kind in ("task", "decision") and node.text != node.id:
            for text in node.text.splitlines():
                say(f"    {text}")
        for edge in exits.get(node.id, []):
            say(f"  → {edge.dst}" if edge.label is None else f"  {edge.label} → {edge.dst}")


def _skill_record(skill: Skill) -> dict[str, Any]:
    return {
        "name": skill.name,
        "description": skill.description,
        "type": skill.declared_type,
        "scope": skill.scope,
        "path": str(skill.path),
        "valid": not skill.errors,
        "diagnostics": [diagnostic_record(d) for d in skill.diagnostics],
    }


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


def diagnostic_record(d: Diagnostic) -> dict[str, Any]:
    """A diagnostic as JSON; lines and columns from 1, the end exclusive."""
    return {
        "path": d.path,
        "line": d.span.line,
        "column": d.span.column,
        "end_line": d.span.end_line,
        "end_column": d.span.end_column,
        "severity": d.severity,
        "code": d.code,
        "message": d.message,
        "hint": d.hint,
    }


def _first_line(text: str) -> str:
    return next(iter(text.splitlines()), "")
