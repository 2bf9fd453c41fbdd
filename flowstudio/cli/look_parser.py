"""The commands that look at skills and charts: what can be typed, and the help that teaches it."""

from __future__ import annotations

import argparse
from pathlib import Path

from flowstudio.cli.options import add_json, add_skills, later

_DRAW_EPILOG = """\
examples:
  flowstudio draw tour --zoom title
  flowstudio draw code-review --theme auto -o review.svg
  flowstudio draw --run last

exit status: 0 drawn (what could be read of it), 2 wrong call, or nothing that could be drawn
"""


def build_list(parser: argparse.ArgumentParser) -> None:
    """`flowstudio list`."""
    parser.add_argument("path", nargs="?", type=Path, metavar="PATH", help="the work folder")
    add_skills(parser)
    add_json(parser)
    parser.set_defaults(func=later("list", "list_skills"))


def build_show(parser: argparse.ArgumentParser) -> None:
    """`flowstudio show`."""
    parser.add_argument("path", metavar="PATH", help="a skill's name, folder or file, or a chart")
    add_skills(parser)
    add_json(parser)
    parser.set_defaults(func=later("show", "show"))


def build_check(parser: argparse.ArgumentParser) -> None:
    """`flowstudio check`."""
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="skills, charts, or folders of them"
    )
    add_json(parser)
    parser.add_argument(
        "--format",
        choices=("text", "json", "github", "sarif"),
        default="text",
        help="for people (default), or for another program",
    )
    parser.add_argument(
        "--fix",
        action="store_true",
        help="repair what can mean only one thing, after showing it as a diff",
    )
    parser.add_argument("--yes", action="store_true", help="with --fix: write without asking")
    parser.epilog = "exit status: 0 no errors (warnings allowed), 1 errors, 2 wrong call"
    parser.set_defaults(func=later("check", "check"))


def build_draw(parser: argparse.ArgumentParser) -> None:
    """`flowstudio draw`."""
    parser.add_argument(
        "path",
        nargs="?",
        metavar="PATH",
        help="a skill's name, folder or file, or a chart; with --run it may be left out",
    )
    add_skills(parser)
    parser.add_argument(
        "--format",
        choices=("text", "ascii", "svg", "mermaid", "d2"),
        help="default: what the name of FILE asks for, else text",
    )
    parser.add_argument("--ascii", action="store_true", help="the same as --format ascii")
    parser.add_argument(
        "--zoom",
        choices=("full", "title", "dot"),
        default="full",
        help="whole prompts (default), their first lines, or dots",
    )
    parser.add_argument(
        "--direction", choices=("TD", "LR", "BT", "RL"), help="instead of the chart's own"
    )
    parser.add_argument("--width", type=int, metavar="N", help="the columns that are wished for")
    parser.add_argument(
        "--run",
        metavar="ID",
        help="show this run's path, counts and states: a run's id, its beginning or end, or `last`",
    )
    parser.add_argument(
        "--theme",
        metavar="NAME",
        help="the colours; `auto` makes an SVG that is dark or light as its reader wants it",
    )
    parser.add_argument(
        "--color",
        "--colour",
        choices=("auto", "always", "never"),
        default="auto",
        help="colour in text (default: on a terminal, unless NO_COLOR is set)",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="instead of printing")
    parser.epilog = _DRAW_EPILOG
    parser.set_defaults(func=later("draw", "draw"))


def build_convert(parser: argparse.ArgumentParser) -> None:
    """`flowstudio convert`."""
    parser.add_argument("path", metavar="PATH", help="a skill's name, folder or file, or a chart")
    add_skills(parser)
    parser.add_argument(
        "--to", choices=("mermaid", "d2"), help="default: the language that it is not in"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="instead of printing")
    parser.set_defaults(func=later("convert", "convert"))


def build_explain(parser: argparse.ArgumentParser) -> None:
    """`flowstudio explain`."""
    parser.add_argument("code", nargs="?", metavar="CODE", help="such as end-unreachable")
    parser.set_defaults(func=later("explain", "explain"))
