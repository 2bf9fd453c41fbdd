"""`flowstudio serve`: the studio in a browser."""

from __future__ import annotations

import argparse
import asyncio
import secrets
import shlex
import sys
from pathlib import Path
from urllib.parse import quote

from flowstudio.cli.output import fail, say


def serve(args: argparse.Namespace) -> int:
    """Serve studios until Ctrl-C."""
    if not 0 <= args.port <= 65535:
        return fail(f"{args.port} is no port", "0 takes one that is free")
    if args.token is not None and len(args.token) < 8:
        return fail("the token is too short", "leave --token out, and a good one is made")
    if args.path is not None and not args.path.exists():
        return fail(f"{args.path}: no such file or folder", "")
    try:
        from flowstudio.studio.serve_web import StudioServer
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith(("textual_serve", "aiohttp")):
            raise
        return fail("what serves browsers is not installed", "pip install 'flowstudio[web]'")
    from flowstudio.studio.serve_guard import Guard, is_loopback

    token: str | None = args.token
    if token is None and not is_loopback(args.host):
        token = secrets.token_urlsafe(24)
    guard = Guard(args.host, token)
    server = StudioServer(shlex.join(_command(args)), guard, title="Flow Studio")

    def announce(port: int) -> None:
        host = f"[{args.host}]" if ":" in args.host else args.host
        secret = f"?token={quote(token, safe='')}" if token else ""
        say(f"Flow Studio is at http://{host}:{port}/{secret}  (Ctrl-C ends it)")
        if token and not is_loopback(args.host):
            say(
                "Whoever has the token can run commands here. What is typed and shown goes over "
                "the network as it is: put it behind HTTPS, or use ssh -L.",
                file=sys.stderr,
            )
        sys.stdout.flush()

    try:
        asyncio.run(server.run(args.port, announce))
    except OSError as error:
        reason = error.strerror or str(error)
        return fail(f"cannot serve at {args.host}:{args.port}: {reason}", "--port 0 finds a port")
    return 0


def _command(args: argparse.Namespace) -> list[str]:
    """The call that opens a studio as this one was asked to."""
    call = [sys.executable, "-m", "flowstudio"]
    for name in ("model", "script", "seed", "theme", "agent"):
        value = getattr(args, name)
        if value is not None:
            call += [f"--{name}", str(value)]
    for folder in args.skills_dir:
        call += ["--skills-dir", str(folder)]
    for name in ("yolo", "sandbox", "no_network"):
        if getattr(args, name):
            call.append(f"--{name.replace('_', '-')}")
    if args.path is not None:
        call += ["--", str(Path(args.path).absolute())]
    return call
