"""What can be typed after `flowstudio find` and `flowstudio library graph`."""

from __future__ import annotations

import argparse
from pathlib import Path

from flowstudio.cli.options import add_json, add_skills, later

_FIND_EPILOG = """\
examples:
  flowstudio find the totals in this export look wrong
  flowstudio find 线上挂了 --json
  flowstudio find "clean up" --context csv export --project shop
  flowstudio find "clean up" --reject file-io

exit status: 0 a skill fits, or several do and you choose; 1 none fits; 2 wrong call
"""
_GRAPH_EPILOG = """\
examples:
  flowstudio library graph csv
  flowstudio library graph csv --hops 2 --only skill state
  flowstudio library graph --format svg -o library.svg

Without a skill: all skills with their calls and states.
exit status: 0 done, 2 wrong call
"""


def build_find(parser: argparse.ArgumentParser) -> None:
    """`flowstudio find`"""
    parser.add_argument("words", nargs="+", metavar="WORDS", help="what you want to do")
    parser.add_argument(
        "--context",
        nargs="+",
        action="extend",
        default=[],
        metavar="WORDS",
        help="what you were at lately; default: what is recorded",
    )
    parser.add_argument("--project", default="", metavar="NAME", help="the project you are in")
    parser.add_argument(
        "--reject",
        action="append",
        default=[],
        metavar="NAME",
        help="not this one: those around it come in, and it is noted; may be given several times",
    )
    parser.add_argument(
        "--choose", metavar="NAME", help="this one is meant: note it, so that it can be learned"
    )
    parser.add_argument(
        "--top", type=int, default=3, metavar="N", help="skills to choose from (default 3)"
    )
    add_skills(parser)
    add_json(parser)
    parser.epilog = _FIND_EPILOG
    parser.set_defaults(func=later("library", "find"))


def build_graph(parser: argparse.ArgumentParser) -> None:
    """`flowstudio library graph`"""
    parser.add_argument(
        "skill", nargs="?", metavar="SKILL", help="what to show the surroundings of"
    )
    parser.add_argument(
        "--hops",
        type=int,
        default=1,
        metavar="N",
        help="lines to go from SKILL (default 1); a methodology ends the way",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=("skill", "state", "methodology", "artifact"),
        metavar="KIND",
        help="skill, state, methodology, artifact; default: all but methodologies, in JSON all",
    )
    parser.add_argument(
        "--format",
        choices=("text", "svg", "mermaid"),
        help="default: what the name of FILE asks for, else text",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="instead of printing")
    add_skills(parser)
    add_json(parser)
    parser.epilog = _GRAPH_EPILOG
    parser.set_defaults(func=later("library", "show_graph"))
