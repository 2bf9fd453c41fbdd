"""`flowstudio draw`: a flow as a picture."""

from __future__ import annotations

import argparse
import sys

from flowstudio.cli.find import find_skill
from flowstudio.cli.output import can_show, fail, print_diagnostics, write_out


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
    return write_out(text, args.output)
