"""`flowstudio acp`: the agent and the flows for an editor, over standard input and output."""

from __future__ import annotations

import argparse
import asyncio
import sys

from flowstudio.cli.output import fail, say
from flowstudio.config import load_config


def serve_editor(args: argparse.Namespace) -> int:
    """Serve until the editor closes the pipe."""
    if sys.stdin.isatty():
        return fail(
            "an editor starts this command and talks to it; it is of no use in a terminal",
            "the README shows what to write into the editor's settings",
        )
    loaded = load_config()
    for problem in loaded.problems:
        say(f"flowstudio: {problem}", file=sys.stderr)
    from flowstudio.acp.agent import serve
    from flowstudio.acp.session import Settings

    settings = Settings(loaded.config, tuple(args.skills_dir), args.yolo)
    asyncio.run(serve(settings, args.model))
    return 0
