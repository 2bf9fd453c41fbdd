"""Copying to the clipboard: by a tool that says whether it worked, and by the terminal's escape.

A terminal never answers the escape (OSC 52), and many refuse it: “copied” is said only where a
tool ended well.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flowstudio import paths

_PATIENCE = 3.0
"""Seconds that a tool may take."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A program that reads a text and keeps it."""

    argv: Sequence[str]
    where: str
    """Where the text is then, for a sentence: `the clipboard`, `tmux's buffer`."""

    @property
    def name(self) -> str:
        """The program's name."""
        return Path(self.argv[0]).name


def tools(environ: Mapping[str, str] | None = None, platform: str = sys.platform) -> Iterator[Tool]:
    """The tools that are there and have somewhere to put a text, the best first."""
    env = os.environ if environ is None else environ
    wanted: list[tuple[bool, list[str], str]] = [
        (platform == "darwin", ["pbcopy"], "the clipboard"),
        ("WAYLAND_DISPLAY" in env, ["wl-copy"], "the clipboard"),
        ("DISPLAY" in env, ["xclip", "-selection", "clipboard"], "the clipboard"),
        ("DISPLAY" in env, ["xsel", "--clipboard", "--input"], "the clipboard"),
        ("WSL_DISTRO_NAME" in env, ["clip.exe"], "the clipboard"),
        ("TMUX" in env, ["tmux", "load-buffer", "-w", "-"], "tmux's buffer"),
    ]
    for is_at_home, argv, where in wanted:
        found = shutil.which(argv[0], path=env.get("PATH")) if is_at_home else None
        if found:
            yield Tool([found, *argv[1:]], where)


async def copy_by_tool(text: str, found: Iterator[Tool] | None = None) -> Tool | None:
    """Give a text to the first tool that takes it; None where none did."""
    for tool in tools() if found is None else found:
        if await _give(tool, text):
            return tool
    return None


async def _give(tool: Tool, text: str) -> bool:
    """Whether the tool ended well. It may leave a child behind that holds the clipboard, so
    nothing of what it writes is waited for."""
    try:
        process = await asyncio.create_subprocess_exec(
            *tool.argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return False
    assert process.stdin is not None
    try:
        async with asyncio.timeout(_PATIENCE):
            process.stdin.write(text.encode("utf-8", "replace"))
            await process.stdin.drain()
            process.stdin.close()
            return await process.wait() == 0
    except (TimeoutError, OSError):
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        return False


def save_copy(text: str) -> Path:
    """Write a text to a file of the user's own, for where no clipboard takes it.

    Raises:
        OSError: it cannot be written.
    """
    from flowstudio.run.folder import write_safely

    place = paths.state_file().parent / "copied.md"
    place.parent.mkdir(parents=True, exist_ok=True)
    write_safely(place, text)
    return place
