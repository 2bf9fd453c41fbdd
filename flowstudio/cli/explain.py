"""`flowstudio explain`: what a diagnostic code means."""

from __future__ import annotations

import argparse
import importlib

from flowstudio.cli.output import fail, say


def explain(args: argparse.Namespace) -> int:
    """`flowstudio explain`"""
    from flowstudio.flow.diagnostics import CODES

    # Each of these declares its codes when it is imported.
    rooms = ("flow.codes", "flow.d2_codes", "skill.codes", "run.case_codes", "mindflow.codes")
    for module in rooms:
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
