"""What several commands of the command line have in common."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Literal


def later(module: str, function: str) -> Callable[[argparse.Namespace], int]:
    """A function of a module that is imported when it is called."""

    def call(args: argparse.Namespace) -> int:
        return getattr(importlib.import_module(f"flowstudio.cli.{module}"), function)(args)

    return call


def add_skills(parser: argparse.ArgumentParser) -> None:
    """`--skills-dir`."""
    parser.add_argument(
        "--skills-dir",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="one more folder of skills; may be given several times",
    )


def add_flow(parser: argparse.ArgumentParser, *, nargs: Literal["?"] | None = None) -> None:
    """The flow that a command is about."""
    parser.add_argument(
        "path",
        nargs=nargs,
        metavar="NAME|PATH",
        help="a flow skill's name, folder or file, or a chart",
    )


def add_variables(parser: argparse.ArgumentParser) -> None:
    """`--var`."""
    parser.add_argument(
        "--var",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="fills {{NAME}}; may be given several times",
    )


def add_model(
    parser: argparse.ArgumentParser, title: str = "who answers (default: the configured model)"
) -> None:
    """`--model`, `--script` and `--seed`."""
    group = parser.add_argument_group(title)
    who = group.add_mutually_exclusive_group()
    who.add_argument("--model", metavar="M", help="a model of the configuration, or `rehearsal`")
    who.add_argument(
        "--script", type=Path, metavar="FILE", help="scripted answers (YAML), without a model"
    )
    who.add_argument(
        "--seed", type=int, metavar="N", help="a walk that picks branches by chance, the same for N"
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """`--json`."""
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def add_attach(parser: argparse.ArgumentParser) -> None:
    """`--wait` and `--no-attach`."""
    group = parser.add_argument_group("attaching a studio (flowstudio attach ID)")
    which = group.add_mutually_exclusive_group()
    which.add_argument(
        "--wait",
        action="store_true",
        help="what a user has to decide waits for a studio to be attached, instead of ending the "
        "run",
    )
    which.add_argument(
        "--no-attach", action="store_true", help="let no studio be attached to the run"
    )


def add_leash(parser: argparse.ArgumentParser) -> None:
    """Teach a command the options, `--yolo` aside."""
    group = parser.add_argument_group("what the agent may do")
    group.add_argument(
        "--trust",
        action="store_true",
        help="trust the folder that the skill comes with, from now on",
    )
    add_sandbox(group)
    group.add_argument(
        "--answers",
        type=Path,
        metavar="FILE",
        help="answers to the agent's questions (YAML or JSON Lines), in order or by question",
    )


def add_sandbox(parser: argparse._ArgumentGroup | argparse.ArgumentParser) -> None:  # pyright: ignore[reportPrivateUsage]
    """Teach a command `--sandbox` and what goes with it."""
    parser.add_argument(
        "--sandbox",
        action="store_true",
        help="run commands in bubblewrap: they can write in the work folder only",
    )
    parser.add_argument(
        "--no-network", action="store_true", help="with --sandbox: commands have no network"
    )
    parser.add_argument(
        "--agent", type=Path, metavar="FILE", help="an agent file: who acts, and with which tools"
    )
