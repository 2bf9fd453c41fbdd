"""The command line: what can be typed, and the help that teaches it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from flowstudio import __version__
from flowstudio.cli.leash import add_leash, add_sandbox
from flowstudio.cli.library_parser import MIND_COMMANDS
from flowstudio.cli.options import add_attach, add_json, add_model, add_skills, later
from flowstudio.cli.runs_parser import RUN_COMMANDS

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

_DRAW_EPILOG = """\
examples:
  flowstudio draw tour --zoom title
  flowstudio draw code-review --theme auto -o review.svg
  flowstudio draw --run last

exit status: 0 drawn (what could be read of it), 2 wrong call, or nothing that could be drawn
"""


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The call, with `func` set to the function that carries it out.

    Exits with status 2 and a message where the call is wrong, as argparse does.
    """
    if argv and argv[0] in _COMMANDS:
        return _command_parser(argv[0]).parse_args(argv[1:])
    return _studio_parser().parse_args(argv)


def _studio_parser() -> argparse.ArgumentParser:
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


def _command_parser(name: str) -> argparse.ArgumentParser:
    build, summary = _COMMANDS[name]
    parser = argparse.ArgumentParser(
        prog=f"flowstudio {name}",
        description=summary,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    build(parser)
    return parser


def _build_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", type=Path, metavar="PATH", help="the work folder")
    add_skills(parser)
    add_json(parser)
    parser.set_defaults(func=later("list", "list_skills"))


def _build_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="a skill's name, folder or file, or a chart")
    add_skills(parser)
    add_json(parser)
    parser.set_defaults(func=later("show", "show"))


def _build_check(parser: argparse.ArgumentParser) -> None:
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


def _build_draw(parser: argparse.ArgumentParser) -> None:
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


def _build_convert(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="a skill's name, folder or file, or a chart")
    add_skills(parser)
    parser.add_argument(
        "--to", choices=("mermaid", "d2"), help="default: the language that it is not in"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="instead of printing")
    parser.set_defaults(func=later("convert", "convert"))


def _build_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path",
        nargs="?",
        metavar="NAME|PATH",
        help="a flow skill's name, folder or file, or a chart",
    )
    add_skills(parser)
    add_model(parser)
    parser.add_argument(
        "--input", default=None, metavar="TEXT", help="fills $ARGUMENTS; - reads standard input"
    )
    parser.add_argument(
        "--var",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="fills {{NAME}}; may be given several times",
    )
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


def _build_batch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path", metavar="NAME|PATH", help="a flow skill's name, folder or file, or a chart"
    )
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


def _build_stability(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path", metavar="NAME|PATH", help="a flow skill's name, folder or file, or a chart"
    )
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
    parser.add_argument(
        "--var",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="fills {{NAME}}; may be given several times",
    )
    parser.add_argument(
        "--parallel", type=int, default=4, metavar="K", help="questions at a time (default 4)"
    )
    add_skills(parser)
    add_model(parser)
    parser.add_argument("--yolo", action="store_true", help="let tools act without asking")
    add_json(parser)
    parser.epilog = _STABILITY_EPILOG
    parser.set_defaults(func=later("stability", "ask_decision"))


def _build_test(parser: argparse.ArgumentParser) -> None:
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


def _build_models(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--check", metavar="M", help="send this model one tiny request and say what came"
    )
    add_json(parser)
    parser.epilog = "exit status: 0 the list was printed, or the model answered; 1 it did not"
    parser.set_defaults(func=later("models", "show_models"))


def _build_serve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path", nargs="?", type=Path, metavar="PATH", help="what to open; default: this folder"
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="where to listen (default 127.0.0.1: this machine only)",
    )
    parser.add_argument(
        "--port", type=int, default=8000, metavar="N", help="default 8000; 0 takes a free one"
    )
    parser.add_argument(
        "--token",
        metavar="T",
        help="what a browser must show; one is made where others than this machine can connect",
    )
    parser.add_argument("--theme", metavar="NAME", help="a colour theme, such as studio-light")
    parser.add_argument("--yolo", action="store_true", help="let tools act without asking")
    add_sandbox(parser)
    add_skills(parser)
    add_model(parser)
    parser.epilog = "needs the extra: pip install 'flowstudio[web]'"
    parser.set_defaults(func=later("serve", "serve"))


def _build_doctor(parser: argparse.ArgumentParser) -> None:
    add_json(parser)
    parser.epilog = "exit status: 0 it works, 1 something must be put right"
    parser.set_defaults(func=later("doctor", "examine"))


def _build_acp(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", metavar="M", help="a model of the configuration")
    parser.add_argument("--yolo", action="store_true", help="let tools act without asking")
    add_skills(parser)
    parser.set_defaults(func=later("acp", "serve_editor"))


def _build_trust(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path", nargs="?", metavar="PATH", help="the folder; default: the repository here"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="list the trusted folders")
    what.add_argument("--remove", action="store_true", help="trust the folder no longer")
    add_json(parser)
    parser.set_defaults(func=later("trust", "trust"))


def _build_explain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("code", nargs="?", metavar="CODE", help="such as end-unreachable")
    parser.set_defaults(func=later("explain", "explain"))


def _build_new(parser: argparse.ArgumentParser) -> None:
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


def _build_rename(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="NAME|PATH", help="a flow skill, or a chart")
    parser.add_argument("old", metavar="OLD", help="the node's id")
    parser.add_argument("new", metavar="NEW", help="what it is to be called")
    parser.add_argument("--diff", action="store_true", help="show the change, write nothing")
    add_skills(parser)
    parser.epilog = "exit status: 0 renamed, 2 no such node, or it cannot be called so"
    parser.set_defaults(func=later("rename", "rename"))


_COMMANDS: dict[str, tuple[Callable[[argparse.ArgumentParser], None], str]] = {
    "list": (_build_list, "List the skills of a work folder, the user's and the bundled ones."),
    "show": (_build_show, "Show a flow's nodes and edges, and what is wrong with it."),
    "check": (_build_check, "Check flow skills and charts."),
    "draw": (_build_draw, "Draw any chart that can be read, whether or not it can be run."),
    "convert": (_build_convert, "Write a chart in the other language: the same flow."),
    "new": (_build_new, "Make a new flow skill from a template; nothing is written over."),
    "rename": (_build_rename, "Give a node another id, in the chart and wherever it is named."),
    "run": (_build_run, "Run a flow without a screen."),
    **RUN_COMMANDS,
    **MIND_COMMANDS,
    "batch": (_build_batch, "Run a flow many times, and sum up what the runs did."),
    "stability": (_build_stability, "Ask one decision many times from the same context."),
    "test": (_build_test, "Check flows against their cases, without a model."),
    "models": (_build_models, "List the models: which can be used here, and why others cannot."),
    "doctor": (_build_doctor, "Say what is set up here, what is missing, and what to do."),
    "serve": (_build_serve, "Serve the studio to a browser."),
    "acp": (_build_acp, "Serve an editor that speaks ACP, over standard input and output."),
    "trust": (_build_trust, "Trust a work folder, so that the skills in it may be run."),
    "explain": (_build_explain, "Explain a diagnostic code, or list them all."),
}
