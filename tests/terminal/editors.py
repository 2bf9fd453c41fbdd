"""The editors that people use, each saving a change to a file as it does for them."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

PATIENCE = 30.0
"""Seconds after which an editor that has not ended counts as hung."""
EDITORS = ("vim", "nano", "ed", "sed -i", "formatter")
_FORMATTER = (
    "import sys, os; path, old, new = sys.argv[1:];"
    "text = open(path, encoding='utf-8').read().replace(old, new);"
    "beside = path + '.tmp'; open(beside, 'w', encoding='utf-8').write(text);"
    "os.replace(beside, path)"
)
"""As formatters do: the whole file anew, and a rename over the old one."""


def edit_with(name: str, path: Path, old: str, new: str) -> None:
    """Replace a text in a file with an editor; skips the test where it is not installed."""
    program = sys.executable if name == "formatter" else name.split()[0]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    match name:
        case "vim":  # a swap file beside it, then a new file under the old name
            options = "set backup writebackup backupcopy=no directory=."
            _drive(["vim", "-u", "NONE", "-c", options, path], f":%s/{old}/{new}/\r:wq\r")
        case "nano":  # empties the file, then writes it
            answers = [f"\x1c{old}\r", f"{new}\r", "a", "\x0f\r", "\x18"]
            _drive(["nano", "--ignorercfiles", path], *answers)
        case "ed":
            _drive(["ed", path], f"g/{old}/s//{new}/\nw\nq\n")
        case "sed -i":
            subprocess.run(["sed", "-i", f"s/{old}/{new}/", path], check=True, timeout=PATIENCE)
        case _:
            subprocess.run(
                [program, "-c", _FORMATTER, path, old, new], check=True, timeout=PATIENCE
            )


def _drive(command: list[str | Path], *keys: str) -> None:
    """Run a program in a terminal of its own; each piece is typed once it waits for more."""
    master, slave = pty.openpty()
    os.set_blocking(master, False)
    environ = {**os.environ, "TERM": "xterm", "HOME": str(Path(command[-1]).parent)}
    process = subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, env=environ, start_new_session=True
    )
    os.close(slave)
    end = time.monotonic() + PATIENCE
    try:
        for piece in keys:
            _until_quiet(master, end)
            os.write(master, piece.encode())
        while process.poll() is None:
            assert time.monotonic() < end, f"{command[0]} never ended"
            _until_quiet(master, end)
    finally:
        process.kill()
        process.wait()
        os.close(master)


def _until_quiet(master: int, end: float) -> None:
    """Read what a program shows, until it has shown something and says no more for a moment."""
    has_shown, quiet = False, 0
    while time.monotonic() < end and quiet < 10:
        shown = b""
        with suppress(OSError):
            shown = os.read(master, 65536)
        has_shown = has_shown or bool(shown)
        quiet = 0 if shown or not has_shown else quiet + 1
        if not has_shown and time.monotonic() > end - PATIENCE + 1:
            return  # ed says nothing until it is asked
        time.sleep(0.01)
