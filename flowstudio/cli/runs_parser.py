"""The commands about runs that are kept: what can be typed, and the help that teaches it."""

from __future__ import annotations

import argparse
from pathlib import Path

from flowstudio.cli.options import add_attach, add_json, add_leash, add_model, later

_NAMES = """\
A run goes by its id, by the beginning or the end of it (3f2a), or as `last`; flowstudio runs lists
them."""

_VISIT = """\
A visit is a move, counted from 1 for BEGIN (last@7), or a node's visit (last@verdict:2; without a
number its last one)."""

_RUNS_EPILOG = """\
examples:
  flowstudio runs
  flowstudio runs --flow code-review --json
  flowstudio runs prune --keep 50
  flowstudio runs prune --older-than 30d --state reached_end --dry-run

`prune` never deletes a run that somebody writes. It asks before it deletes; --yes answers.
"""

_RESUME_EPILOG = f"""\
Goes on in the run's own folder. Only the visit that was in flight is run again; a run that reached
END is refused: fork it. {_NAMES}

examples:
  flowstudio resume last
  flowstudio resume 3f2a --model openai
  flowstudio resume last --flow recorded

exit status: as of run; 2 also where the run cannot go on, is written by somebody else, or where its
flow has changed and --flow is missing
"""

_ATTACH_EPILOG = f"""\
Opens the studio on a run that `run`, `resume` or `fork` makes in another terminal of this machine:
watch it, pause it, step, take branches by hand, answer what is asked. Leaving the studio detaches
it, and the run goes on. Several studios may be attached at once.
{_NAMES}

examples:
  flowstudio run readme-check --model openai --wait &
  flowstudio attach last

exit status: 0 detached, 2 the run is not on or cannot be attached to
"""

_FORK_EPILOG = f"""\
Makes a new run that begins as a copy of the other one up to a visit, and runs it from there; the
other one is not touched. {_VISIT}
{_NAMES}

examples:
  flowstudio fork last@7
  flowstudio fork 3f2a@verdict:2 --choose No
  flowstudio fork last@5 --prompt better.txt --model openai
  flowstudio fork last@5 --undo-files      put the files back as they were there
  flowstudio fork last@5 --no-run          make it only; resume runs it

exit status: as of run
"""

_REPLAY_EPILOG = f"""\
Runs the flow on the answers that are recorded: no model is called, no tool runs, nothing is
written. Branches that were forced stay forced. With --strict a prompt that differs from the
recorded one fails, and the difference is shown.
{_NAMES}

examples:
  flowstudio replay last
  flowstudio replay 3f2a --strict --json

exit status: as of run; 1 where --strict found a difference
"""

_DIFF_EPILOG = f"""\
Compares path, prompts and answers, visit by visit. {_NAMES}

exit status: 0 they are the same, 1 they differ, 2 wrong call
"""


def build_runs(parser: argparse.ArgumentParser) -> None:
    """`flowstudio runs`."""
    parser.add_argument("what", nargs="?", choices=("prune",), help="delete runs")
    parser.add_argument("--flow", metavar="NAME", help="only runs of this flow")
    add_json(parser)
    group = parser.add_argument_group("prune")
    group.add_argument("--keep", type=int, metavar="N", help="all but the N latest")
    group.add_argument(
        "--older-than", metavar="AGE", help="that did not go on for so long: 30d, 12h, 2w"
    )
    group.add_argument(
        "--state", metavar="STATE", help="ended, broken-off, damaged, or an end such as reached_end"
    )
    group.add_argument("--dry-run", action="store_true", help="only say what would be deleted")
    group.add_argument("--yes", action="store_true", help="delete without asking")
    parser.epilog = _RUNS_EPILOG
    parser.set_defaults(func=later("runs", "show_runs"))


def _add_flow(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--flow",
        choices=("current", "recorded"),
        help="where the flow's file has changed: as it is now, or as the run used it",
    )


def _add_going_on(parser: argparse.ArgumentParser) -> None:
    _add_flow(parser)
    add_model(parser, "who answers (default: whoever did before)")
    parser.add_argument(
        "--yolo", action="store_true", help="let tools write and run commands without asking"
    )
    add_attach(parser)
    add_leash(parser)
    add_json(parser)


def build_attach(parser: argparse.ArgumentParser) -> None:
    """`flowstudio attach`."""
    parser.add_argument("run", metavar="ID", help="the run")
    parser.add_argument("--theme", metavar="NAME", help="a colour theme, such as studio-light")
    parser.epilog = _ATTACH_EPILOG
    parser.set_defaults(func=later("attach", "attach"))


def build_resume(parser: argparse.ArgumentParser) -> None:
    """`flowstudio resume`."""
    parser.add_argument("run", metavar="ID", help="the run")
    _add_going_on(parser)
    parser.epilog = _RESUME_EPILOG
    parser.set_defaults(func=later("resume", "resume"))


def build_fork(parser: argparse.ArgumentParser) -> None:
    """`flowstudio fork`."""
    parser.add_argument("visit", metavar="ID@VISIT", help="the run, and where the fork begins")
    parser.add_argument("--choose", metavar="BRANCH", help="take this branch there")
    parser.add_argument(
        "--prompt", type=Path, metavar="FILE", help="send this there instead of the node's label"
    )
    parser.add_argument(
        "--undo-files",
        action="store_true",
        help="put back what tools wrote at and after that visit; refused where a file was changed",
    )
    parser.add_argument("--no-run", action="store_true", help="make the run, and print its id")
    _add_going_on(parser)
    parser.epilog = _FORK_EPILOG
    parser.set_defaults(func=later("resume", "fork"))


def build_replay(parser: argparse.ArgumentParser) -> None:
    """`flowstudio replay`."""
    parser.add_argument("run", metavar="ID", help="the run")
    parser.add_argument("--strict", action="store_true", help="each prompt as it was recorded")
    parser.add_argument(
        "--flow",
        choices=("current", "recorded"),
        default="recorded",
        help="the flow as the run used it (default), or its file as it is now",
    )
    add_json(parser)
    parser.epilog = _REPLAY_EPILOG
    parser.set_defaults(func=later("replay", "replay"))


def build_diff(parser: argparse.ArgumentParser) -> None:
    """`flowstudio diff`."""
    parser.add_argument("one", metavar="ID", help="a run")
    parser.add_argument("other", metavar="ID", help="the run that it is compared with")
    add_json(parser)
    parser.epilog = _DIFF_EPILOG
    parser.set_defaults(func=later("replay", "diff"))
