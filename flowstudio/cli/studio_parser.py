"""`flowstudio [PATH]`: what opens the studio, and the help that names all commands."""

from __future__ import annotations

import argparse
from pathlib import Path

from flowstudio import __version__
from flowstudio.cli.options import add_model, add_sandbox, add_skills, later

_STUDIO_HELP = """\
Flow Studio: see, run, step through and edit agent flows in the terminal.

  flowstudio                      open the studio on the skills of this folder
  flowstudio PATH                 … on a work folder, a skill folder, a SKILL.md or a .mmd/.d2 chart
  flowstudio COMMAND --help       the headless commands, for scripts and CI:

    list      the skills that are found here
    show      a flow's nodes and edges, as an outline or as JSON
    check     what is wrong with a flow, with line and column
    draw      a flow as a picture in characters
    new       a new flow skill from a template
    rename    another id for a node, everywhere
    convert   a chart from Mermaid to D2, or back
    run       run a flow without a screen
    runs      the runs that are kept, and how they stand; prune
    resume    go on with a run that was broken off or ended early
    fork      a new run from any visit of an earlier one
    replay    run a flow on an earlier run's answers, without a model
    diff      the first difference of two runs
    batch     run a flow many times, and see what the runs add up to
    stability ask one decision many times, and see how it splits
    test      check flows against the cases that their authors wrote
    plan      from a goal to a flow of the skills that bring it about
    library   the library of skills: add, export, statistics, changes to review
    models    the models that can be used here, and why the others cannot
    acp       the agent and the flows for an editor
    trust     the work folders whose skills may be run
    explain   what a diagnostic code means
"""

_STUDIO_EPILOG = """\
Without a key or a configured model the studio rehearses: you are the model and pick each branch.
With KIMI_API_KEY, OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY set, that model answers.

A folder whose name is a command's is opened with ./ before it: flowstudio ./list
"""


def studio_parser() -> argparse.ArgumentParser:
    """What can be typed to open the studio."""
    parser = argparse.ArgumentParser(
        prog="flowstudio",
        usage="flowstudio [PATH] [options]   or   flowstudio COMMAND …",
        description=_STUDIO_HELP,
        epilog=_STUDIO_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "path", nargs="?", type=Path, metavar="PATH", help="what to open; default: this folder"
    )
    parser.add_argument("--version", action="version", version=f"flowstudio {__version__}")
    parser.add_argument(
        "--prompt-flow", type=Path, metavar="FILE", help="a bare chart (.mmd, .d2); /begin runs it"
    )
    parser.add_argument("--theme", metavar="NAME", help="a colour theme, such as studio-light")
    parser.add_argument(
        "--glyphs",
        choices=("auto", "unicode", "console", "ascii"),
        help="the signs to draw with; auto asks the terminal",
    )
    parser.add_argument(
        "--max-ralph-iterations",
        type=int,
        metavar="N",
        help="what you type to the agent is repeated until it says STOP, at most N rounds; -1: "
        "without bound",
    )
    parser.add_argument("--yolo", action="store_true", help="let tools act without asking")
    add_sandbox(parser)
    add_skills(parser)
    add_model(parser)
    parser.set_defaults(func=later("studio", "open_studio"))
    return parser
