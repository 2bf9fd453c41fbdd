"""The commands about this machine, and those that serve: what can be typed, and the help."""

from __future__ import annotations

import argparse
from pathlib import Path

from flowstudio.cli.options import add_json, add_model, add_sandbox, add_skills, later


def build_models(parser: argparse.ArgumentParser) -> None:
    """`flowstudio models`."""
    parser.add_argument(
        "--check", metavar="M", help="send this model one tiny request and say what came"
    )
    add_json(parser)
    parser.epilog = "exit status: 0 the list was printed, or the model answered; 1 it did not"
    parser.set_defaults(func=later("models", "show_models"))


def build_doctor(parser: argparse.ArgumentParser) -> None:
    """`flowstudio doctor`."""
    add_json(parser)
    parser.epilog = "exit status: 0 it works, 1 something must be put right"
    parser.set_defaults(func=later("doctor", "examine"))


def build_serve(parser: argparse.ArgumentParser) -> None:
    """`flowstudio serve`."""
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


def build_acp(parser: argparse.ArgumentParser) -> None:
    """`flowstudio acp`."""
    parser.add_argument("--model", metavar="M", help="a model of the configuration")
    parser.add_argument("--yolo", action="store_true", help="let tools act without asking")
    add_skills(parser)
    parser.set_defaults(func=later("acp", "serve_editor"))


def build_trust(parser: argparse.ArgumentParser) -> None:
    """`flowstudio trust`."""
    parser.add_argument(
        "path", nargs="?", metavar="PATH", help="the folder; default: the repository here"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="list the trusted folders")
    what.add_argument("--remove", action="store_true", help="trust the folder no longer")
    add_json(parser)
    parser.set_defaults(func=later("trust", "trust"))
