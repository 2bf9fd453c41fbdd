"""`flowstudio trust`: the work folders whose skills may be run."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio.cli.output import fail, print_json, say
from flowstudio.skill.roots import find_project
from flowstudio.skill.trust import TrustError, TrustGuard, TrustStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowstudio.skill import Skill


TRUST_HINT = "read it, then give --trust, or once: flowstudio trust PATH"
"""For the commands that have `--trust`."""
TRUST_FIRST = "read it, then say once: flowstudio trust PATH"
"""For those that run a flow many times, and have it not."""


def trust(args: argparse.Namespace) -> int:
    """Trust a folder, list those that are trusted, or trust one no longer."""
    store = TrustStore.of_user()
    try:
        if args.list:
            folders = [str(one) for one in store.folders()]
            if args.json:
                print_json({"trusted": folders})
            elif folders:
                say("\n".join(folders))
            else:
                say("no folder is trusted", file=sys.stderr)
            return 0
        wanted = Path(args.path or ".")
        if args.remove:
            # The folder may be gone by now.
            if store.remove(wanted) or store.remove(find_project(wanted)):
                say(f"no longer trusted: {wanted}")
                return 0
            return fail(f"{wanted} is not among the trusted folders", "flowstudio trust --list")
        if not wanted.is_dir():
            return fail(f"{wanted}: no such folder", "")
        folder = find_project(wanted)
        store.trust(folder)
    except TrustError as error:
        return fail(str(error), "")
    say(f"trusted: {folder}")
    return 0


def require_trust(
    skill: Skill, work_dir: Path, extra_dirs: Sequence[Path], *, trust_now: bool
) -> str:
    """Why a skill may not be run with tools; empty where it may.

    Args:
        trust_now: trust its folder from now on, if it is not yet.
    """
    guard = TrustGuard(work_dir, tuple(extra_dirs))
    if trust_now:
        try:
            if (folder := guard.untrusted(skill)) is not None:
                TrustStore.of_user().trust(folder)
        except TrustError as error:
            return str(error)
    return guard.why_no_skill(skill)
