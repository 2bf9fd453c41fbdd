"""The commands that write skills and charts: what can be typed, and the help that teaches it."""

from __future__ import annotations

import argparse
from pathlib import Path

from flowstudio.cli.options import add_skills, later


def build_new(parser: argparse.ArgumentParser) -> None:
    """`flowstudio new`."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="such as code-review")
    parser.add_argument("--template", metavar="T", help="what to begin with (default: linear)")
    parser.add_argument(
        "--language", choices=("mermaid", "d2"), default="mermaid", help="the chart's language"
    )
    parser.add_argument("--description", default="", metavar="TEXT", help="when it is of use")
    parser.add_argument(
        "--dir", type=Path, metavar="DIR", help="the folder of skills (default: this project's)"
    )
    parser.add_argument("--list", action="store_true", help="list the templates")
    parser.epilog = "exit status: 0 written or listed; 2 no name, or something is there already"
    parser.set_defaults(func=later("new", "new"))


def build_rename(parser: argparse.ArgumentParser) -> None:
    """`flowstudio rename`."""
    parser.add_argument("path", metavar="NAME|PATH", help="a flow skill, or a chart")
    parser.add_argument("old", metavar="OLD", help="the node's id")
    parser.add_argument("new", metavar="NEW", help="what it is to be called")
    parser.add_argument("--diff", action="store_true", help="show the change, write nothing")
    add_skills(parser)
    parser.epilog = "exit status: 0 renamed, 2 no such node, or it cannot be called so"
    parser.set_defaults(func=later("rename", "rename"))
