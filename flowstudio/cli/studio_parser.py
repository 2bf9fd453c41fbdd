"""`flowstudio [PATH]`: what opens the studio, and the help that names all commands."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from flowstudio import __version__
from flowstudio.cli.options import add_model, add_sandbox, add_skills, later

_STUDIO_HELP = """\
Flow Studio: see, run, step through and edit agent flows in the terminal.

  flowstudio                      open the studio on the skills of this folder
  flowstudio PATH                 … on a work folder, a skill folder, a SKILL.md or a .mmd/.d2 chart
  flowstudio COMMAND --help       the headless commands, for scripts and CI:

"""

_STUDIO_EPILOG = """\
Without a key or a configured model the studio rehearses: you are the model and pick each branch.
With KIMI_API_KEY, OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY set, that model answers.

A folder whose name is a command's is opened with ./ before it: flowstudio ./list
"""


def studio_parser(commands: Mapping[str, str]) -> argparse.ArgumentParser:
    """What can be typed to open the studio; its help names all commands, and what each is for."""
    named = "".join(f"    {name:<9} {about}\n" for name, about in commands.items())
    parser = argparse.ArgumentParser(
        prog="flowstudio",
        usage="flowstudio [PATH] [options]   or   flowstudio COMMAND …",
        description=_STUDIO_HELP + named,
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
