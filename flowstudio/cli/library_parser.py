"""The commands about the library of skills: what can be typed, and the help that teaches it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from flowstudio.cli import library_help
from flowstudio.cli.find_parser import build_graph
from flowstudio.cli.options import add_json, add_skills, later

_PLAN_EPILOG = """\
GOAL is a sentence in English or Chinese, or the names of states. A model reads it where one is
configured; else its words are matched with the states' names, what they mean, and the skills.

examples:
  flowstudio plan "a chart from this export" --have has_csv_file
  flowstudio plan 处理CSV并生成图表 --draw
  flowstudio plan has_chart -o plans/ && flowstudio run plans/plan-has_chart --model openai

exit status:
  0  there is a plan (what must be there to begin with is named as “needs”)
  1  a goal cannot be had, or was not understood: what is missing is named
  2  wrong call
"""


def build_plan(parser: argparse.ArgumentParser) -> None:
    """`flowstudio plan`."""
    parser.add_argument("goal", metavar="GOAL", nargs="+", help="what is wanted, or states by name")
    parser.add_argument(
        "--have",
        action="append",
        nargs="+",
        default=[],
        metavar="STATE",
        help="a state that holds already; may be given several times",
    )
    parser.add_argument("--model", metavar="M", help="the model that reads the goal")
    parser.add_argument(
        "--no-model", action="store_true", help="match the goal's words, even if there is a model"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE|DIR",
        help="write the plan as a skill: to FILE, or to DIR/NAME/SKILL.md",
    )
    parser.add_argument("--name", metavar="NAME", help="what the written skill is called")
    parser.add_argument("--force", action="store_true", help="with -o: replace what is there")
    parser.add_argument("--draw", action="store_true", help="draw the plan")
    add_skills(parser)
    add_json(parser)
    parser.epilog = _PLAN_EPILOG
    parser.set_defaults(func=later("plan", "plan"))


def build_library(parser: argparse.ArgumentParser) -> None:
    """`flowstudio library`."""
    parser.epilog = library_help.LIBRARY
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, (build, summary) in LIBRARY_COMMANDS.items():
        one = commands.add_parser(
            name,
            help=summary,
            description=summary,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        build(one)


def _build_add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", type=Path, metavar="PATH", help="a skill's folder or file")
    _add_target(parser)
    parser.epilog = library_help.ADD


def _build_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", type=Path, metavar="DIR|FILE.zip", help="skills, a folder each")
    _add_target(parser)
    parser.epilog = library_help.IMPORT


def _add_target(parser: argparse.ArgumentParser) -> None:
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--project", action="store_true", help="for this project; default: for you, everywhere"
    )
    where.add_argument("--to", type=Path, metavar="DIR", help="another folder of skills")
    parser.add_argument(
        "--replace", action="store_true", help="take the new one where a name is there already"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done")
    add_json(parser)
    parser.set_defaults(func=later("library_move", "bring_in"))


def _build_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE.zip", help="the archive to write")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="default: all but the bundled ones"
    )
    parser.add_argument("--force", action="store_true", help="replace FILE")
    parser.add_argument("--dry-run", action="store_true", help="say what would be packed")
    add_skills(parser)
    add_json(parser)
    parser.epilog = library_help.EXPORT
    parser.set_defaults(func=later("library_move", "export"))


def _build_stats(parser: argparse.ArgumentParser) -> None:
    add_json(parser)
    parser.epilog = library_help.STATS
    parser.set_defaults(func=later("library_stats", "stats"))


def _build_review(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--approve", type=int, metavar="ID", help="write the change")
    what.add_argument("--reject", type=int, metavar="ID", help="drop it; it is not proposed again")
    what.add_argument("--undo", type=int, metavar="ID", help="take a written change back")
    what.add_argument("--all", action="store_true", help="show all changes on record")
    add_skills(parser)
    add_json(parser)
    parser.epilog = (
        "exit status: 0 done, 1 the change is in conflict with a later edit, 2 no such change"
    )
    parser.set_defaults(func=later("library_review", "review"))


LIBRARY_COMMANDS: dict[str, tuple[Callable[[argparse.ArgumentParser], None], str]] = {
    "graph": (build_graph, "Show what a skill hangs on: what it calls, needs and produces."),
    "add": (_build_add, "Add one skill to yours, after checking it."),
    "import": (_build_import, "Add all skills of a folder or an archive."),
    "export": (_build_export, "Pack skills into an archive."),
    "stats": (_build_stats, "Show what use and feedback say of the skills."),
    "review": (_build_review, "Show the changes that wait for your answer, and answer."),
}
