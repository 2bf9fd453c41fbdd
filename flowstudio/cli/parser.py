"""The command line: which command is meant, and the parser that it needs.

Only the parser of the command that is called is imported and made; the studio's plainest calls need
none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

_COMMANDS: dict[str, tuple[str, str]] = {
    "list": ("look_parser", "List the skills of a work folder, the user's and the bundled ones."),
    "show": ("look_parser", "Show a flow's nodes and edges, and what is wrong with it."),
    "check": ("look_parser", "Check flow skills and charts."),
    "draw": ("look_parser", "Draw any chart that can be read, whether or not it can be run."),
    "convert": ("look_parser", "Write a chart in the other language: the same flow."),
    "new": ("write_parser", "Make a new flow skill from a template; nothing is written over."),
    "rename": ("write_parser", "Give a node another id, in the chart and wherever it is named."),
    "run": ("run_parser", "Run a flow without a screen."),
    "runs": ("runs_parser", "List the runs that are kept, or delete some of them."),
    "attach": ("runs_parser", "Open the studio on a run that goes on in another process."),
    "resume": ("runs_parser", "Go on with a run that was broken off or ended early."),
    "fork": ("runs_parser", "Begin a new run from any visit of an earlier one."),
    "replay": ("runs_parser", "Run a flow on an earlier run's answers, without a model."),
    "diff": ("runs_parser", "Show the first difference of two runs."),
    "find": ("find_parser", "Find the skill for what you want to do, in your own words."),
    "plan": ("library_parser", "Plan which skills bring a goal about, as a flow that can be run."),
    "library": ("library_parser", "The library of skills: what is in it, what was learned of it."),
    "batch": ("run_parser", "Run a flow many times, and sum up what the runs did."),
    "stability": ("run_parser", "Ask one decision many times from the same context."),
    "test": ("run_parser", "Check flows against their cases, without a model."),
    "models": ("setting_parser", "List the models: which can be used here, and why others cannot."),
    "doctor": ("setting_parser", "Say what is set up here, what is missing, and what to do."),
    "serve": ("setting_parser", "Serve the studio to a browser."),
    "acp": ("setting_parser", "Serve an editor that speaks ACP, over standard input and output."),
    "trust": ("setting_parser", "Trust a work folder, so that the skills in it may be run."),
    "explain": ("look_parser", "Explain a diagnostic code, or list them all."),
}
"""Each command's module, in which `build_COMMAND` makes its parser, and what it is for."""


def find_call(argv: Sequence[str]) -> Callable[[], int]:
    """What carries out a call, and gives its exit status.

    Exits with status 2 and a message where the call is wrong.
    """
    is_plain = not argv or (len(argv) == 1 and not argv[0].startswith("-"))
    if is_plain and not set(argv) & _COMMANDS.keys():
        from pathlib import Path

        from flowstudio.cli.studio import open_plainly

        return partial(open_plainly, Path(argv[0]) if argv else None)
    args = parse(argv)
    return partial(args.func, args)


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The call, with `func` set to the function that carries it out.

    Exits with status 2 and a message where the call is wrong, as argparse does.
    """
    if argv and argv[0] in _COMMANDS:
        return _command_parser(argv[0]).parse_args(argv[1:])
    from flowstudio.cli.studio_parser import studio_parser

    commands = {name: summary for name, (_, summary) in _COMMANDS.items()}
    return studio_parser(commands).parse_args(argv)


def _command_parser(name: str) -> argparse.ArgumentParser:
    import argparse
    import importlib

    module, summary = _COMMANDS[name]
    parser = argparse.ArgumentParser(
        prog=f"flowstudio {name}",
        description=summary,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    getattr(importlib.import_module(f"flowstudio.cli.{module}"), f"build_{name}")(parser)
    return parser
