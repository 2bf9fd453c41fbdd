"""`flowstudio convert`: a chart in the other language."""

from __future__ import annotations

import argparse
import sys

from flowstudio.cli.find import find_skill
from flowstudio.cli.output import fail, print_diagnostics, write_out
from flowstudio.flow import CODES


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
    return write_out(write_d2(chart) if to == "d2" else write_mermaid(chart), args.output)
