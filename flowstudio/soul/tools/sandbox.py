"""A sandbox for Shell, by bubblewrap (`bwrap`): the work folder can be written, the rest only read.

Inside there are no other processes to be seen or ended, `/tmp` is the command's own, and on wish
there is no network. When the studio ends, however it ends, all that runs inside ends with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from flowstudio.config import Config

type SandboxMode = Literal["auto", "on", "off"]

_PROBE_SECONDS = 10.0


class SandboxError(Exception):
    """The sandbox that was asked for cannot be had; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """Runs commands in bubblewrap."""

    program: str
    network: bool = True
    why_not: str = ""
    """Why it does not work, where no command may be run without it."""

    def wrap(
        self, command: Sequence[str], work_dir: Path, readable: Sequence[Path] = ()
    ) -> list[str]:
        """The command that runs `command` inside, in `work_dir`.

        Args:
            readable: folders below `/tmp` that can be read all the same.

        Raises:
            SandboxError: it does not work, and no command may be run without it.
        """
        if self.why_not:
            raise SandboxError(self.why_not)
        place = str(work_dir)
        # The order counts: each line lies over those before it.
        words = [self.program, "--ro-bind", "/", "/", "--dev", "/dev", "--tmpfs", "/tmp"]
        for folder in readable:
            words += ["--ro-bind", str(folder), str(folder)]
        words += ["--bind", place, place, "--proc", "/proc"]
        words += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent"]
        # Without these root could mount the rest again, writable.
        words += ["--unshare-user-try", "--cap-drop", "ALL"]
        if not self.network:
            words.append("--unshare-net")
        return [*words, "--chdir", place, "--", *command]


def find_sandbox(mode: SandboxMode, *, network: bool = True) -> tuple[Sandbox | None, str]:
    """The sandbox of a mode, and a sentence where `auto` found none (empty otherwise).

    Starts `bwrap` once to see whether this machine lets it work.

    Raises:
        SandboxError: `on` was asked for, and there is none.
    """
    if mode == "off":
        return None, ""
    why = ""
    program = shutil.which("bwrap")
    if program is None:
        why = "bubblewrap (bwrap) is not installed; the package is called bubblewrap"
    else:
        sandbox = Sandbox(program, network)
        why = _probe(sandbox)
        if not why:
            return sandbox, ""
    if mode == "on":
        raise SandboxError(
            f"There is no sandbox: {why}. Install it, or run without --sandbox: then commands can "
            "do whatever you can."
        )
    return None, f"Shell runs without a sandbox: {why}."


async def open_sandbox(config: Config) -> tuple[Sandbox | None, str]:
    """`find_sandbox` as the configuration wants it, without holding up the event loop.

    Raises:
        SandboxError: see there.
    """
    if config.sandbox == "off":
        return None, ""
    return await asyncio.to_thread(find_sandbox, config.sandbox, network=config.sandbox_network)


def _probe(sandbox: Sandbox) -> str:
    """Why the sandbox does not work here; empty where it does."""
    try:
        done = subprocess.run(
            sandbox.wrap(["true"], Path.cwd()),
            capture_output=True,
            timeout=_PROBE_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bwrap cannot be started: {error}"
    if done.returncode == 0:
        return ""
    said = ""
    with contextlib.suppress(IndexError):
        said = done.stderr.decode(errors="replace").strip().splitlines()[0]
    return (
        "bwrap is not allowed to work here (the kernel or the container forbids it)"
        f"{': ' if said else ''}{said}"
    )
