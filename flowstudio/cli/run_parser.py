"""The commands that run flows: what can be typed, and the help that teaches it."""

from __future__ import annotations

import argparse
from pathlib import Path

from flowstudio.cli.options import (
    add_attach,
    add_flow,
    add_json,
    add_leash,
    add_model,
    add_skills,
    add_variables,
    later,
)

_RUN_EPILOG = """\
examples:
  flowstudio run tour --seed 1
  flowstudio run code-review --model gpt-4.1 --input "the retry change"
  flowstudio run skills/code-review --script answers.yaml --json
  git diff | flowstudio run code-review --input - --var strictness=high
  flowstudio run --prompt "Make the tests pass." --max-ralph-iterations 10

exit status:
  0  END was reached                     6  a tool was refused
  1  the script's expectation failed     7  a node without an exit was reached
  2  wrong call, a missing value,        8  --max-ralph-iterations was reached
     unreadable flow, or no model        9  the loop got nowhere (--max-idle-visits)
  3  no valid choice after all retries  10  a breakpoint was reached (--break)
  4  the model failed (key, network,   130  interrupted
     server, script at its end)
  5  --max-moves was reached           11  the disk refused the run's record
                                       12  the user was asked something (--answers)
"""

_BATCH_EPILOG = """\
examples:
  flowstudio batch code-review --inputs branches.jsonl --parallel 4
  flowstudio batch tour --runs 200 --seed 1 --parallel 2 --draw heat.svg
  flowstudio batch translate --inputs texts.jsonl --engine dask --scheduler tcp://host:8786

With --seed N each run walks another way: the first one as `run --seed N`, the next as N+1.
Each run is kept like any other; Ctrl-C ends those that are on and sums up what was done.

exit status:
  0  all runs reached END                2  wrong call, bad line, no model
  1  some did not                      130  interrupted
"""

_STABILITY_EPILOG = """\
examples:
  flowstudio stability code-review --node verdict --times 20 --model gpt-4.1
  flowstudio stability code-review --node verdict --run last@verdict:2

exit status:
  0  each answer named a branch          2  wrong call, or no model
  1  some named none, or none came     130  interrupted
"""

_TEST_EPILOG = """\
The cases stand under `tests:` in the front matter, or in flow-tests.yaml beside the SKILL.md.

exit status:
  0  all cases passed     1  some failed     2  wrong call, bad cases, or no cases
"""


def build_run(parser: argparse.ArgumentParser) -> None:
    """`flowstudio run`."""
    add_flow(parser, nargs="?")
    add_skills(parser)
    add_model(parser)
    parser.add_argument(
        "--input", default=None, metavar="TEXT", help="fills $ARGUMENTS; - reads standard input"
    )
    add_variables(parser)
    parser.add_argument(
        "--prompt", metavar="TEXT", help="run a plain prompt instead of a flow; - reads it"
    )
    parser.add_argument(
        "--max-ralph-iterations",
        type=int,
        metavar="N",
        help="with --prompt: go on until the model says STOP, at most N rounds; -1 without bound",
    )
    parser.add_argument(
        "--break",
        action="append",
        default=[],
        dest="breakpoints",
        metavar="'NODE [after] [IF]'",
        help="end the run there, for `resume` or the studio to go on from: 'check visit >= 3', "
        "'check choice = No', 'check answer ~ (?i)error and tokens > 20k'",
    )
    parser.add_argument(
        "--max-moves", type=int, metavar="N", help="stop after N moves (default 1000)"
    )
    parser.add_argument(
        "--max-idle-visits",
        type=int,
        metavar="K",
        help="end a loop whose node gives nearly the same answer K times while nothing changes in "
        "the work folder (default 4; 0 never)",
    )
    parser.add_argument(
        "--yolo", action="store_true", help="let tools write and run commands without asking"
    )
    add_attach(parser)
    add_leash(parser)
    add_json(parser)
    parser.epilog = _RUN_EPILOG
    parser.set_defaults(func=later("run", "run_flow"))


def build_batch(parser: argparse.ArgumentParser) -> None:
    """`flowstudio batch`."""
    add_flow(parser)
    parser.add_argument(
        "--inputs",
        type=Path,
        metavar="FILE",
        help='JSON Lines, - for standard input; a line is a text or {"input": "...", "vars": {}}',
    )
    parser.add_argument(
        "--runs", type=int, default=1, metavar="N", help="runs of each line (default 1)"
    )
    parser.add_argument(
        "--parallel",
        type=int,
        default=1,
        metavar="K",
        help="runs at the same time, each in a process of its own (default 1)",
    )
    add_skills(parser)
    add_model(parser)
    parser.add_argument(
        "--max-moves", type=int, default=1000, metavar="N", help="stop a run after N moves"
    )
    parser.add_argument(
        "--yolo",
        action="store_true",
        help="let tools act without asking; parallel runs share the work folder",
    )
    parser.add_argument(
        "--engine",
        choices=("processes", "dask"),
        default="processes",
        help="worker processes here (default), or a Dask cluster: pip install 'flowstudio[batch]'",
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="the Dask cluster's; a local one if left out"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write the summary as JSON"
    )
    parser.add_argument(
        "--draw", type=Path, metavar="FILE", help="write the drawing with its heat as SVG"
    )
    add_json(parser)
    parser.epilog = _BATCH_EPILOG
    parser.set_defaults(func=later("batch", "run_batch"))


def build_stability(parser: argparse.ArgumentParser) -> None:
    """`flowstudio stability`."""
    add_flow(parser)
    parser.add_argument("--node", required=True, metavar="C", help="the decision's id")
    parser.add_argument(
        "--times", type=int, default=10, metavar="K", help="how often to ask (default 10)"
    )
    parser.add_argument(
        "--run",
        metavar="ID@VISIT",
        help="ask from where this run stood: a move (7) or NODE:N (q:2), as `fork` names it; "
        "without @VISIT at its last visit of the node",
    )
    parser.add_argument("--input", metavar="TEXT", help="the flow's input; - reads standard input")
    add_variables(parser)
    parser.add_argument(
        "--parallel", type=int, default=4, metavar="K", help="questions at a time (default 4)"
    )
    add_skills(parser)
    add_model(parser)
    parser.add_argument("--yolo", action="store_true", help="let tools act without asking")
    add_json(parser)
    parser.epilog = _STABILITY_EPILOG
    parser.set_defaults(func=later("stability", "ask_decision"))


def build_test(parser: argparse.ArgumentParser) -> None:
    """`flowstudio test`."""
    parser.add_argument(
        "paths", nargs="+", metavar="NAME|PATH", help="flow skills, or folders of them"
    )
    add_skills(parser)
    parser.add_argument(
        "--format",
        choices=("text", "junit", "tap"),
        default="text",
        help="for people (default), or for CI",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="instead of printing")
    parser.epilog = _TEST_EPILOG
    parser.set_defaults(func=later("cases", "test_flows"))
